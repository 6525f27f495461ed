"""Draw graph.svg, the README's animated picture: `.venv/bin/python web/readme_graph.py`."""

import re
from itertools import accumulate
from pathlib import Path

from autograd_course import draw_graph
from autograd_course.drawing import style
from autograd_course.widgets import graph, stepper
from autograd_lib import Tensor

FILE = Path(__file__).parents[1] / "docs/graph.svg"
WALK, SLIDE = 1.2, 0.4  # seconds per picture during the backward pass, and while w slides
TWICE = 2


def output(w):
    x, y, w = (
        Tensor(value, requires_grad=True, name=name)
        for name, value in {"x": 2.0, "y": 3.0, "w": w}.items()
    )
    z = x + y
    L = z * w
    z.name, L.name = "z", "L"
    return L


def draw():
    """Return an animated SVG of the graph of L = (x + y)·w.

    The animation shows the backward pass, and then the graph while w changes from −4 to 4 and back.
    Where animations are disabled, only the last picture is shown.
    """
    walk = [
        graph.draw(frame.nodes, frame.placed, "", frame.cards, frame.beads, frame.grads)
        for frame in stepper.frames(output(-4.0))
    ]
    slide = [draw_graph(output(float(w))).html for w in [*range(-4, 5), *range(3, -5, -1)]]
    shown = [
        re.search(r"<svg[^>]*><g>(.*?)</g></svg>", html, re.DOTALL)[1] for html in [*walk, *slide]
    ]
    shown = [re.sub(r"<title>.*?</title>", "", body, flags=re.DOTALL) for body in shown]
    *starts, whole = accumulate([0, *[WALK] * len(walk), *[SLIDE] * len(slide)])
    moves, layers = [], []
    for number, (body, start, end) in enumerate(zip(shown, starts, [*starts[1:], None])):
        shows = f"0%{{visibility:{'hidden' if start else 'visible'}}}{start / whole:.2%}{{visibility:visible}}"
        hides = f"{end / whole:.2%}{{visibility:hidden}}" if end else ""
        moves.append(
            f"@keyframes k{number}{{{shows}{hides}}}g.k{number}{{animation-name:k{number}}}"
        )
        layers.append(f'<g class="k{number}">{body}</g>')
    sheet = (
        f"@media(prefers-color-scheme:dark){{{style.sheet(1)}}}"
        f"g[class]{{visibility:hidden;animation:{whole:g}s step-end {TWICE} both}}"
        f"g[class]:last-of-type{{visibility:visible}}{''.join(moves)}"
        "@media(prefers-reduced-motion:reduce){svg g[class]{animation:none}}"
    )
    head, title = re.search(
        r"(<svg.*?)<g>(<title>.*?</title>)", draw_graph(output(-4.0)).html, re.DOTALL
    ).groups()
    return f"{head}{title}<style>{sheet}</style>{''.join(layers)}</svg>\n"


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
