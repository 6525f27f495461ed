"""PyTorch runs the code that the playground writes for it, and every gradient agrees with the
engine's.
"""

import contextlib
import io

import numpy as np
import playground_texts
import pytest

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: the playground's PyTorch texts are not run"
)

from autograd_course.play.interpreter import run  # noqa: E402
from autograd_course.play.pytorch import torch_text  # noqa: E402
from autograd_course.play.reader import read  # noqa: E402


@pytest.mark.parametrize("what", playground_texts.DRAWN)
def test_the_text_for_pytorch_gives_the_same_gradients(what):
    program = read(playground_texts.DRAWN[what])
    computed, names = run(program), {}
    computed.output.backward(np.ones(computed.output.shape))
    before = torch.get_default_dtype()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(torch_text(program), names)
    finally:
        torch.set_default_dtype(before)
    for name, tensor in computed.inputs.items():
        theirs = names.get(f"{name}_input", names[name]).grad
        ours = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad
        theirs = np.zeros(tensor.shape) if theirs is None else theirs
        assert np.allclose(theirs, ours, rtol=1e-9, equal_nan=True), name
