"""Try a compiler on four functions that a tracer may get wrong, and time a compiled training step, for lesson 20."""

import timeit

import numpy as np

import autograd_lib as ag
from autograd_lib import nn, optim
from autograd_lib.nn.functional import cross_entropy

from .tracer import trace

scale = 2.0


def bend(x):
    if x > 0:
        return 3 * x
    return -x


def grow(x):
    while x < 50:
        x = 2 * x
    return x


def scaled(x):
    return scale * x


def noisy(x):
    return x + np.random.random()


# Each function, where it is called first, and where after that.
CALLS = [(bend, 2.0, -1.0), (grow, 3.0, 20.0), (scaled, 1.0, 1.0), (noisy, 0.0, 0.0)]


def careless(f):
    """Compile f as the lesson's own tracer does, without any check at later calls.

    The program is recorded at the first call, and used even if it no longer fits.
    """
    programs = []

    def program(x):
        programs.extend([] if programs else [trace(f, x=x)])
        return programs[0](x=x)

    return program


def answers(compiled_by, number=float):
    """Return a dict that describes how a compiler handles a second call that differs from the first one.

    The dict maps the name of each function to "right", "WRONG" or "refused". The second call takes
    the other branch of an `if`, more rounds of a `while`, a different `scale`, and a different
    random number.

    Parameters
    ----------
    compiled_by : callable
        Takes a function and returns the compiled program.
    number : callable
        Converts a float to the argument of the program.
    """
    global scale
    found = {}
    for f, first, then in CALLS:
        scale, program = 2.0, compiled_by(f)
        try:
            before, scale = float(program(number(first))), 3.0
            after = float(program(number(then)))
            right = after != before if f is noisy else after == f(then)
            found[f.__name__] = "right" if right else "WRONG"
        except (TypeError, RuntimeError):  # the second is that of `check=True`
            found[f.__name__] = "refused"
    return found


def asked(name, compiled_by, number=float):
    """Print the `answers` of the compiler `compiled_by` in one line that begins with `name`."""
    print(
        f"{name:14}",
        "   ".join(
            f"{f} {answer:7}" for f, answer in answers(compiled_by, number).items()
        ).rstrip(),
    )


def step_times(hidden, images, labels):
    """Return the times of a training step, in μs, with the tape and with the program of `ag.compile`.

    The network has one hidden layer of `hidden` neurons, and is trained on `images` and `labels`.
    The two kinds of steps take turns, and the fastest step of each kind counts.
    """
    model = nn.MLP([images.shape[1], hidden, 10], rng=0)

    def taped(x, labels):
        return cross_entropy(model(x), labels)

    def step(loss, optimizer):
        optimizer.zero_grad()
        loss(images, labels).backward()
        optimizer.step()

    ways = [(loss, optim.SGD(model.parameters(), lr=0.0)) for loss in (taped, ag.compile(taped))]
    for way in ways:
        step(*way)
    rounds = [
        [timeit.timeit(lambda way=way: step(*way), number=1) for way in ways] for _ in range(50)
    ]
    tape, program = 1e6 * np.min(rounds, axis=0)
    return tape, program
