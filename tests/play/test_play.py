"""The playground draws the typed text with right gradients or explains why it cannot, and never
runs it.
"""

import ast
import json
import re
import sys
from itertools import product
from pathlib import Path

import lab
import numpy as np
import playground_texts as programs
import pytest
from drawn import hard_to_read
from playwright.sync_api import sync_playwright

import autograd_lib as ag
from autograd_course import playground
from autograd_course.play.interpreter import MOST_STEPS, run
from autograd_course.play.pytorch import torch_text
from autograd_course.play.reader import KNOWN, CannotDraw, read
from autograd_course.play.view import controls, explorer, gathered, measured, picture

NOTEBOOK = Path(__file__).parents[2] / "notebooks/playground.ipynb"
DRAWING = "autograd_course/drawing/", "autograd_course/play/", "autograd_course/widgets/"


@pytest.mark.parametrize("what", programs.DRAWN)
def test_every_gradient_of_a_drawn_text_is_the_measured_slope(what):
    program = read(programs.DRAWN[what])
    computed = run(program)
    computed.output.sum().backward()
    values = {name: np.array(tensor.data) for name, tensor in computed.inputs.items()}
    differ = []
    for name, tensor in computed.inputs.items():
        gradient = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad
        for index in np.ndindex(tensor.shape):
            slope = measured(program, values, name, index)
            if not np.isclose(gradient[index], slope, rtol=1e-5, atol=1e-6):
                differ.append(f"{name}{index}: {gradient[index]}, measured {slope}")
    assert bool(differ) == (what in programs.DIFFERENT), differ


@pytest.mark.rotating(*DRAWING)
@pytest.mark.parametrize("what", programs.DRAWN)
def test_a_drawn_text_has_a_picture_for_each_step(what):
    program = read(programs.DRAWN[what])
    specs = controls(program)
    start = {name: spec[-1] for name, spec in specs.items() if name != "step"}
    whole = picture(program, gathered(program, start))
    assert "measured slope" in whole.text
    assert ("≠" in whole.text) == (what in programs.DIFFERENT)
    last = specs["step"][-1]
    step = picture(program, gathered(program, start), last)
    assert f"Step {last} of {last}" in step.text
    for one in (whole, step):  # no words overlap; a drawing too wide for a phone scrolls
        assert 'class="part"' in one.html or not hard_to_read(one.html)


@pytest.mark.parametrize("text", programs.POSTS)
def test_the_program_of_a_post_is_the_one_that_it_means(text):
    value, gradients = programs.POSTS[text]
    computed = run(read(text))
    computed.output.sum().backward()
    assert np.isclose(np.sum(computed.output.data), value)
    for name, gradient in gradients.items():
        ours = computed.inputs[name].grad
        assert np.allclose(0.0 if ours is None else ours, gradient, rtol=1e-7, atol=1e-8), name


@pytest.mark.parametrize("text", programs.ANSWERED)
def test_what_is_not_drawn_gets_a_sentence_that_says_what_to_do(text):
    with pytest.raises(CannotDraw) as told:
        explorer(text)
    assert programs.ANSWERED[text] in str(told.value)
    assert len(str(told.value)) < 250 and str(told.value).endswith(".")


# --- Safe to open -------------------------------------------------------------------------------------------------------

events, listening = [], False


def hear(event, arguments):
    if listening and event != "compile":
        events.append((event, arguments))


sys.addaudithook(hear)  # cannot be removed; it does nothing while no test is listening


def heard(text):
    """Return what a text made Python do: imports, file accesses, executed code."""
    global listening
    events.clear()
    listening = True
    try:
        program = read(text)
        run(program)
    except CannotDraw:
        pass
    finally:
        listening = False
    # Python itself calls id, and looks for the source of a text with a syntax error.
    expected = {"builtins.id", "sys._getframe", ("open", "<unknown>")}
    return [
        (event, given)
        for event, given in events
        if event not in expected and (event, *given[:1]) not in expected
    ]


def test_the_test_detects_a_text_that_is_run():
    global listening
    events.clear()
    listening = True
    exec(compile("x = 1", "", "exec"))
    listening = False
    assert [event for event, _ in events] == ["exec"]


@pytest.mark.parametrize("text", programs.HOSTILE)
def test_nothing_that_is_typed_runs(text):
    run(read("tanh(x)"))  # import the modules that load at first use
    assert heard(text) == []


def test_every_hostile_text_is_refused_or_is_arithmetic():
    drawn = []
    for text in programs.HOSTILE:
        try:
            drawn.append((text, run(read(text)).output))
        except CannotDraw:
            continue
    assert all(isinstance(output, ag.Tensor) for _, output in drawn)
    assert len(drawn) <= 6, drawn


def test_every_draw_of_random_numbers_gives_others_and_always_the_same():
    text = "a = torch.randn(3)\nb = torch.randn(3)\nc = [random.random() for _ in range(3)]\nsum(a*b*c)"
    a, b, c = read(text).inputs.values()
    assert not np.array_equal(a, b) and len(set(c)) == 3
    assert all(np.array_equal(*pair) for pair in zip((a, b, c), read(text).inputs.values()))


def test_a_product_without_a_sign_binds_as_in_mathematics():
    for text, value in {
        "1/2 (x - 3)^2": 2.0,
        "x(x + 1)^2": 4.0,
        "(x + 1)(x + 2)^2": 18.0,
        "sin 2x^2": np.sin(2),
        "2|x - 4|": 6.0,
        "f(x, y) = e^xy at (1, 2)": np.exp(2),
        "f(x, y) = xy^2 at (2, 3)": 18.0,
        "f(x, y) = 6/xy^2 at (2, 3)": 6 / 18,
        "d/dx (x^3 - 4x)": -3.0,
    }.items():
        assert np.isclose(run(read(text)).output.data, value), text


def test_inputs_start_where_value_and_gradient_are_finite():
    for text in ("ln(x - 4) + sqrt(9 - x)", "arccos(x) / x", "sqrt((x1 - x2)**2 + (y1 - y2)**2)"):
        program = read(text)
        computed = run(program)
        computed.output.sum().backward()
        assert np.isfinite(computed.output.data), program.inputs
        assert all(np.isfinite(one.grad) for one in computed.inputs.values()), program.inputs


def test_a_start_outside_the_domain_is_named():
    drawn = explorer("x = -1.0\ny = log(x)").picture.text
    assert "no finite value at x = −1" in drawn and "not finite here" in drawn
    assert "no finite value" not in explorer("x = 1.0\ny = log(x)").picture.text


@pytest.mark.parametrize(
    "text, told",
    [
        ("x2", "Write x*2 for a product or x**2 for a power."),
        ("0.5mv2", "Write m*v*2 for a product or m*v**2 for a power."),
        ("nRT", "Write n*R*T for a product."),
        ("v0 + at", "at is one name, so it gets one slider. Write a*t for a product."),
        *product(
            ["x1*w1 + x2*w2", "x_2", "lr*g", "x + dx", "xy", "loss", "h = w2*x\nh + b2"], [""]
        ),
    ],
)
def test_a_name_that_may_be_a_product_is_explained_above_the_graph(text, told):
    drawn = explorer(text).picture
    assert told in drawn.text
    assert ("one slider" in drawn.html.partition("<svg")[0]) == bool(told)


def test_the_page_draws_the_examples_of_its_sentences():
    script = (NOTEBOOK.parents[1] / "web/playground.js").read_text(encoding="utf-8")
    examples = re.findall(r'"([^"]+)"', re.search(r"EXAMPLES = \[([^\]]*)\]", script)[1])
    told = []
    for text in programs.ANSWERED:
        with pytest.raises(CannotDraw) as refused:
            explorer(text)
        told.append(str(refused.value))
    for example in examples:
        assert np.isfinite(run(read(example)).output.data), example
        assert any(example in one for one in told), example


def test_lines_left_out_need_not_be_python():
    text = "Here (see above\n```\nx = 2.0\ny = x*x\n```\nI'd expect `4"
    below = explorer(text).below
    assert "Here (see above" in below and "I&#x27;d expect" in below


def test_the_call_of_a_function_without_arguments_is_its_body():
    text = "def main():\n    a = Value(3.0)\n    y = a*a\n    y.backward()\n"
    for call in ("main()", "if __name__ == '__main__':\n    main()"):
        assert read(text + call).inputs == {"a": 3.0}


def test_a_value_of_a_no_grad_block_is_a_constant():
    program = read(
        "x = torch.tensor(3.)\nwith torch.no_grad():\n    y = x * 2\nz = x**2 + y\nz.backward()"
    )
    computed = run(program)
    computed.output.backward()
    assert computed.output.data == 15.0 and computed.inputs["x"].grad == 6.0


def test_an_array_that_another_is_shaped_like_is_an_input():
    text = "x = torch.ones(2, 2)\nt = torch.ones_like(x) * 16\nv = x + 2\nF.mse_loss(v**2, t)"
    assert [*read(text).inputs] == ["x"]


def test_attributes_of_objects_get_names_that_are_free():
    text = "class N:\n    def __init__(self, n):\n        self.w = torch.randn(n)\n    def forward(self, x):\n        return self.w*x\n"
    program = read(text + "a = N(1)\nb = N(2)\ny = a(b.forward(x))")
    assert [*program.inputs] == ["w", "b_w", "x"]


def test_a_length_of_0_is_a_length():
    for text in ("np.linspace(0, 1, 0)", "torch.linspace(0, 1, steps=0)", "np.eye(2, 0)"):
        assert run(read(f"w + sum({text})")).output.data == 1.0, text


def test_a_text_ends_after_a_fixed_number_of_steps():
    with pytest.raises(CannotDraw, match=f"{MOST_STEPS:,} steps"):
        run(read("for i in range(1000):\n    for j in range(1000):\n        x = x + 0.0"))


# --- What the page shows ------------------------------------------------------------------------------------------------


def test_detach_is_marked_where_gradient_and_slope_differ():
    text = explorer("x = 3\ny = x*x\nL = x*detach(y)").picture.text
    assert "x = 3: gradient 9, measured slope 27 (≠" in text
    assert "≠" not in explorer("x = 3\nL = x*x").picture.text


def test_controls_begin_where_the_text_and_the_link_say():
    specs = controls(
        read("x = 2\nA = [[1, 2], [3, 4]]\nsum(A)*x*w"), {"w": -3.0, "A[0, 1]": 7, "y": 1}
    )
    starts = {name: spec[-1] for name, spec in specs.items() if name != "step"}
    assert starts == {"x": 2.0, "A[0, 0]": 1, "A[0, 1]": 7, "A[1, 0]": 3, "A[1, 1]": 4, "w": -3.0}
    for low, high, _, start in (spec for name, spec in specs.items() if name != "step"):
        assert low <= start <= high
    assert explorer("w*x", {"w": -1e6, "step": 99}).sliders["step"].value == 6


def test_the_widget_draws_what_is_typed_and_keeps_the_picture_of_what_cannot_be():
    ui = playground("L = w*x", w=2)
    assert "gradient" in ui.explorer.picture.text and ui.explorer.sliders["w"].value == 2
    ui.box.value = "y = q**3\nq = 2"
    assert list(ui.explorer.sliders) == ["q", "step"] and not ui.message.value
    before = ui.explorer
    ui.box.value = "y = nn.Linear(2, 3)(x)"
    assert "W @ x + b" in ui.message.value and ui.explorer is before
    assert "torch.tensor" in before.below and "ag.compile" in before.below


def test_arrays_of_at_most_4_by_4_have_a_box_for_each_entry():
    ui = playground("A = [[1, 2], [3, 4]]\nx = torch.randn(5, 4)\nsum(A)*sum(x)")
    assert list(ui.explorer.sliders) == [f"A[{i}, {j}]" for i in (0, 1) for j in (0, 1)] + ["step"]
    grid = ui.explorer.children[0]
    assert len(grid.children) == 4 and "repeat(2" in grid.layout.grid_template_columns


def test_what_is_left_out_is_listed():
    program = read("import torch\nx = torch.tensor(2.0)\ny = x*x\nprint(y)\ny.backward()\ny.grad")
    assert program.left_out == ["import torch", "print(y)", "y.backward()", "y.grad"]


def test_gradients_that_pytorch_would_add_are_named():
    text = "x = torch.ones(2)\ny = x**2\ny.backward(torch.ones(2), retain_graph=True)\n{}\ny.backward(v)"
    note = "# the gradients of y, to which the next backward call adds its gradients"
    assert note in read(text.format("x.grad")).left_out
    for clears in ("x.grad.zero_()", "optimizer.zero_grad()", "x.grad = None"):
        assert note not in read(text.format(clears)).left_out


def test_the_program_for_pytorch_is_python_and_names_every_input():
    for text in programs.DRAWN.values():
        program = read(text)
        source = torch_text(program)
        ast.parse(source)
        assert all(re.search(rf"\b{name}(_input)?\.grad", source) for name in program.inputs)


def test_the_notebook_lists_every_function_that_is_known():
    cells = {
        cell["id"]: "".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"]
    }
    listed = re.search(r"You can use these functions: (.*)\.", cells["what"])[1]
    assert re.findall(r"`(\w+)`", listed) == KNOWN


def test_the_gallery_shows_what_its_sentences_say():
    cells = {
        cell["id"]: "".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"]
    }
    texts = {
        name: re.search(r'playground\("""\n(.*)\n"""\)', source, re.DOTALL)[1]
        for name, source in cells.items()
        if name.endswith("-graph")
    }
    assert len(texts) == 12

    def gradients(name, **values):
        computed = run(read(texts[f"{name}-graph"]), values)
        with np.errstate(all="ignore"):
            computed.output.sum().backward()
        return {
            key: tensor.grad if tensor.ndim else float(tensor.grad)
            for key, tensor in computed.inputs.items()
        }

    assert max(map(abs, gradients("neuron", w=-10.0).values())) < 1e-9
    assert gradients("twice") == {"x": -3 + 1, "y": 2}
    assert np.isclose(np.sum(gradients("cross-entropy")["z"]), 0)
    assert set(gradients("dead").values()) == {0} and gradients("dead", b=-0.4)["w"] == 1
    assert gradients("detach") == {"x": 9}
    assert np.array_equal(gradients("broadcast")["b"], [2 * (2 + 5), 2 * (1 + 4), 2 * (3 + 6)])
    assert np.array_equal(gradients("matmul")["A"], [[1, 2], [1, 2]])
    assert np.isclose(gradients("gate")["c"], 1 / (1 + np.exp(-1.5)))
    scores = np.exp([0.5, -1.0])
    assert np.allclose(gradients("attention")["V"], scores / scores.sum())
    assert np.isclose(gradients("power")["x"], 1.5**1.5 * (1 + np.log(1.5)))
    assert abs(gradients("power", x=np.exp(-1))["x"]) < 1e-12
    assert np.isnan(gradients("where")["x"])
    assert gradients("doublings") == {"x": 256}


def test_the_page_draws_again_after_a_drawing_failed():
    """If `draw` rejects, the next key starts another drawing."""
    script = (NOTEBOOK.parents[1] / "web/playground.js").read_text(encoding="utf-8")
    with sync_playwright() as playwright, lab.chromium(playwright) as browser:
        if not browser:
            pytest.skip("no Chromium here")
        page = browser.new_page()
        page.set_content("<div id=cell><p class=input></p><pre></pre><p id=output></p></div>")
        page.add_script_tag(
            content="const element = (tag, parts) => Object.assign(document.createElement(tag), parts);"
            + script
        )
        page.evaluate(
            """() => {
                const box = document.getElementById("cell"), own = box.querySelector("pre");
                window.drawn = [];
                playground({box, own, output: document.getElementById("output"), text: ""}, async source => {
                    drawn.push(source);
                    if (drawn.length === 1)
                        throw new Error("Python stopped");
                });
            }"""
        )
        for text in ["x", "x**2"]:
            page.get_by_role("textbox", name="Function").fill(text)
        sources = page.evaluate("drawn")
    assert len(sources) == 2 and '"x**2"' in sources[1]
