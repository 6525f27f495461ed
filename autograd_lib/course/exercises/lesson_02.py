"""Lesson 02: two knobs, and the walk over a graph."""
from math import prod

import numpy as np

from ... import Tensor, elementwise
from .. import Picture, draw_graph
from . import exercise, expect, expect_call, times


def hidden_edge():
    """The graph of L = z · w, where z is made from x by an op whose name and local gradient are covered."""
    cover = elementwise(lambda x: 10 / x, lambda g, z, x: -g * z / x, name="?")
    z = cover(Tensor(2.0, True, "x"))
    z.name = "z"
    L = z * Tensor(-4.0, True, "w")
    L.name = "L"
    shown = draw_graph(L)
    covered = [part.replace("local −2.5", "local ?").replace("local gradients: x -2.5", "local gradients: x ?")
               for part in (shown.html, shown.text)]
    return Picture(*covered)


def _steep(x, y):
    return x * x * y


def _mixed(x, y):
    return np.sin(x) * y + y * y


@exercise("02.two_knobs", why="Each knob brings slope × nudge, and the parts add. Every gradient in this course rests on that.")
def two_knobs(answer):
    for f, x, y, dx, dy, slope_x, slope_y in [
            (_steep, 3.0, 2.0, 0.1, 0.3, 12.0, 9.0),
            (_mixed, 0.5, -2.0, 0.3, -0.4, np.cos(0.5) * -2.0, np.sin(0.5) - 4.0),
            (_mixed, 0.5, -2.0, 0.0, 0.7, np.cos(0.5) * -2.0, np.sin(0.5) - 4.0)]:
        part_x, part_y = slope_x * dx, slope_y * dy
        expect_call(
            answer, f, x, y, dx, dy, gives=part_x + part_y, rtol=1e-4,
            hints=[(f(x + dx, y + dy) - f(x, y), "That is the change itself. Predict it, from the two slopes at (x, y)."),
                   (f(x + dx, y + dy), "That is the new value. The change is asked for, predicted from the two slopes."),
                   (f(x, y) + part_x + part_y, "That is the new value. Return the change alone."),
                   (slope_x * dy + slope_y * dx, "Each slope took the other knob's nudge: x's slope belongs to dx."),
                   ((slope_x + slope_y) * (dx + dy), "Both knobs were turned to measure each slope. Hold one still."),
                   (part_x * part_y, "The parts are changes that both arrive. Do changes multiply or add?"),
                   (part_x - part_y, "Subtracted: the parts add, whatever their signs."),
                   (slope_x + slope_y, "A slope is a rate. Multiply each by its own nudge."),
                   (part_x, "Only x has brought its part. What does y bring?"),
                   (part_y, "Only y has brought its part. What does x bring?"),
                   times(2, "Exactly double: how far apart are the two points of each central difference?"),
                   times(1e-5, "The slopes are not divided by 2 * h."),
                   times(2e-5, "The slopes are not divided by 2 * h.")])


@exercise("02.hidden_edge", why="What leaves is what arrived times local, so any one of the three is known from the other two.")
def hidden(answer):
    expect(answer, -2.5, tried="the local gradient on the covered edge", shown="another number",
           hints=[(2.5, "The right size. What arrived is negative, what left is positive: which sign was on the edge?"),
                  (-0.4, "Upside down. Arrived × local = left: divide what left by what arrived."),
                  (0.4, "Upside down, and the sign is lost. Arrived × local = left."),
                  (-40, "You multiplied. −4 times which number is 10?"),
                  (14, "You subtracted. Along a path gradients multiply, so undo a multiplication."),
                  (6, "You added. Along a path gradients multiply, so undo a multiplication."),
                  (10, "That is what left the op and reached x. It was multiplied by something on the way."),
                  (-4, "That is what arrived at z. What multiplied it on the way to x?"),
                  (5, "That is a value, or the other edge. Look at the gradients of z and of x."),
                  (2, "That is the value of x. Look at the gradients of z and of x.")])


@exercise("02.routes", why="12 through b and 24 through c. Each route is a change that arrives, and changes add.")
def routes(answer):
    expect(answer, 36, tried="∂L/∂a at a = 2", shown="another number",
           hints=[(288, "You multiplied the routes. Each route is a change that arrives: do changes multiply or add?"),
                  (12, "That is one route, the one through b. What arrives through c?"),
                  (24, "That is the value of L, or the one route through c. What arrives through b?"),
                  (7, "That is the sum of a's own two edges, both local. Carry each on to L first."),
                  (17, "Along one route the edges multiply; only then do you add the routes."),
                  (70, "Keep the routes apart: 3 belongs to b's edge alone, 4 to c's."),
                  (34, "Two edges are swapped: in L = b·c the edge of b carries c, and the edge of c carries b."),
                  (28, "Keep the routes apart: each edge of a goes on through its own edge of L."),
                  (18, "b alone can change by 3; but L = b·c multiplies that by c, which is 4. And there is another route."),
                  (20, "Is ∂c/∂a = 2a taken at a = 2? That is 4. And what arrives at c is b = 6."),
                  (10, "That is the sum of the last two edges. Each has to be multiplied by the edge before it.")])


@exercise("02.sum_over_paths", why="Multiply along a path, add over the paths: that is the chain rule, whole. No path gives 0.")
def sum_over_paths(answer):
    for paths in ([[3.0, 4.0], [4.0, 6.0]], [[2.0, -1.5, 3.0], [0.5], [4.0, 0.25]], [[7.0, 0.0, 2.0], [1.5, 2.0]], [[5.0]], []):
        along = [prod(path) for path in paths]
        right = sum(along)
        hints = [] if len(paths) < 2 else [
            (prod(along), "The routes are multiplied too. Each is a change that arrives: do changes multiply or add?"),
            (sum(map(sum, paths)), "Everything is added. Along one path the local gradients multiply."),
            (prod(map(sum, paths)), "The other way round: multiply along a path, add over the paths."),
            (along[0], "Only the first path has arrived. Is the return inside the loop?"),
            (along[-1], "Only the last path is left. Add to the total, do not replace it."),
            (along, "Those are what the paths bring, one by one. Add them up."),
            (1 + right, "One too many: a sum begins at 0."),
            (0, "Always 0: a product begins at 1.")]
        if not paths:
            hints = [(1, "With no path at all nothing arrives: that is 0. (A published engine says 1.)")]
        expect_call(answer, paths, gives=right, hints=hints)


def _slopes(f, x, y, h=1e-5):
    return (f(x + h, y) - f(x - h, y)) / (2 * h), (f(x, y + h) - f(x, y - h)) / (2 * h)


def _knobs(combine):
    """A `two_knobs` that combines the two slopes and the two nudges in its own way."""
    return lambda f, x, y, dx, dy: combine(*_slopes(f, x, y), dx, dy)


def _no_path_is_one(paths):
    return sum(map(prod, paths)) if paths else 1


def _last(paths):
    total = 0
    for path in paths:
        total = prod(path)
    return total


def _zero(paths):
    total = 0
    for path in paths:
        part = 0
        for local in path:
            part *= local
        total += part
    return total


PLANTED = {
    "02.two_knobs": [(lambda f, x, y, dx, dy: f(x + dx, y + dy) - f(x, y), "change itself"),
                     (lambda f, x, y, dx, dy: f(x + dx, y + dy), "new value"),
                     (_knobs(lambda a, b, dx, dy: a * dx * b * dy), "multiply or add"),
                     (_knobs(lambda a, b, dx, dy: a * dy + b * dx), "other knob's nudge"),
                     (_knobs(lambda a, b, dx, dy: (a + b) * (dx + dy)), "Hold one still"),
                     (_knobs(lambda a, b, dx, dy: a * dx - b * dy), "Subtracted"),
                     (_knobs(lambda a, b, dx, dy: a + b), "a rate"),
                     (_knobs(lambda a, b, dx, dy: a * dx), "What does y bring"),
                     (_knobs(lambda a, b, dx, dy: b * dy), "What does x bring"),
                     (_knobs(lambda a, b, dx, dy: 2 * (a * dx + b * dy)), "double"),
                     (_knobs(lambda a, b, dx, dy: 2e-5 * (a * dx + b * dy)), "not divided"),
                     (lambda f, x, y, dx, dy: 12 * dx + 9 * dy, "")],
    "02.hidden_edge": [(2.5, "which sign"), (-0.4, "Upside down"), (-40, "multiplied"), (14, "subtracted"), (10, "reached x"),
                       (-4, "arrived at z"), (5, "a value"), (-2.4, "")],
    "02.routes": [(288, "multiply or add"), (12, "through c"), (24, "through b"), (7, "both local"), (17, "multiply"),
                  (70, "apart"), (34, "swapped"), (35.9, "")],
    "02.sum_over_paths": [(lambda paths: prod(map(prod, paths)), "multiply or add"),
                          (lambda paths: sum(map(sum, paths)), "Everything is added"),
                          (lambda paths: prod(map(sum, paths)), "other way round"),
                          (lambda paths: prod(paths[0]), "first path"),
                          (_last, "last path"), (_zero, "begins at 1"),
                          (lambda paths: [prod(path) for path in paths], "Add them up"),
                          (lambda paths: 1 + sum(map(prod, paths)), "begins at 0"),
                          (_no_path_is_one, "nothing arrives"),
                          (lambda paths: abs(sum(map(prod, paths))), "")],
}
