"""Draws graph.svg, the README's picture:  .venv/bin/python docs/graph.py"""
import re
from pathlib import Path

from autograd_course import draw_graph
from autograd_lib import Tensor

FILE = Path(__file__).with_suffix(".svg")


def draw():
    x, y, w = (Tensor(value, requires_grad=True, name=name) for name, value in {"x": 2.0, "y": 3.0, "w": -4.0}.items())
    z = x + y
    L = z * w
    return re.search(r"<svg.*</svg>", draw_graph(L).html, re.DOTALL)[0] + "\n"


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
