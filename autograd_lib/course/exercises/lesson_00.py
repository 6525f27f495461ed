"""Lesson 00: the value, the gradient, and the way down."""
import numpy as np

from ... import grad
from . import Wrong, brief, exercise, expect, expect_call


def hidden(x):
    """The curve that the lesson does not show: lowest at x = −2.4, where its value is 3."""
    return np.exp((x + 2.4) / 4) + np.exp(-(x + 2.4) / 4) + 1


@exercise("00.value", why="f(0) is the height of the curve over x = 0.")
def value(answer):
    expect(answer, 14, tried="f(0), where f(x) = (x − 3)² + 5", shown="the height of the curve over x = 0",
           hints=[(5, "That is f(3). At 0 the square is not 0: (0 − 3)² comes before the + 5."),
                  (9, "That is the square alone. Then comes + 5."),
                  (-4, "(−3)² is −3 times −3: a positive number."),
                  (-1, "A square is a number times itself, not times 2."),
                  (4, "The square comes first, then + 5."),
                  (-6, "That is the gradient at 0. The question asks for the value.")])


@exercise("00.nudge", why="Value, plus gradient times nudge: every use of a gradient begins with this line.")
def nudge(answer):
    expect(answer, 11.94, tried="value 12, gradient −3, and x moves by 0.02", shown="the value after the nudge",
           hints=[(9, "The gradient is a rate, so much per unit of x: multiply it by the nudge first."),
                  (15, "The gradient is a rate: multiply it by the nudge first. And mind the sign."),
                  (12.06, "The gradient is negative: does the value rise or fall when x grows?"),
                  (-0.06, "That is the change. What is the value after it?"),
                  (0.06, "That is the size of the change. What is the value after it?"),
                  (12.02, "That is how far x moved; the value does not move as fast: multiply by the gradient."),
                  (9.02, "Multiply the gradient by the nudge; do not add them."),
                  (11.98, "You moved the value by the nudge alone. Multiply it by the gradient first."),
                  (11.4, "The decimal point slipped: 3 · 0.02 is 0.06."),
                  (12.6, "The decimal point slipped: 3 · 0.02 is 0.06. And the gradient is negative."),
                  (-138, "You divided the gradient by the nudge. Multiply them."),
                  (-3, "That is the gradient. The question asks for the value.")])


def _near(got, expected):
    gradient = float(grad(hidden)(float(got)))
    return f"At your x the gradient is {gradient:.3g}, and not 0: downhill is to the {'left' if gradient > 0 else 'right'}."


@exercise("00.lowest", why="You found the lowest point of a curve you never saw, by the gradient's sign alone.")
def lowest(answer):
    tried, shown = "the x where the hidden curve is lowest", "the x at the lowest point"
    if np.ndim(answer):
        raise Wrong(tried, brief(answer), shown, "Give one number: the x.")
    expect(answer, -2.4, tried=tried, shown=shown, atol=0.01,
           hints=[(3, "That is the value there. The question asks for x."),
                  (0, "0 is what the gradient shows there. Which x does the slider show?"), _near])


@exercise("00.downhill", why="Minus the gradient is the way down, whichever side you stand on. Training a network is this line.")
def downhill(answer):
    for x, gradient in [(2.0, 4.0), (-1.0, -3.0), (5.0, 0.0)]:
        step = 0.1 * gradient
        hints = [(x + step, "You went uphill: a positive gradient means that uphill is to the right." if gradient > 0
                  else "You always go left. With a negative gradient, downhill is to the right."),
                 (-step, "That is the step. Return where you stand after it: start from x."),
                 (step, "That is the length of the step. Return where you stand after it: start from x."),
                 (x - gradient, "The right way, ten times too far: a tenth of the gradient."),
                 (x - 0.1 * x * gradient, "The step depends on the gradient alone, not on x."),
                 (x - 0.1, "A tenth of the gradient, not a tenth: the step grows with the gradient."),
                 (x + 0.1, "A tenth of the gradient, not a tenth: the step grows with the gradient."),
                 (x - 0.4, "Your step ignores the gradient: 0.4 is a tenth of 4, and right for that one alone."),
                 (1.6, "Your answer ignores both x and the gradient: 1.6 was one example."),
                 (x, "You did not move.")]
        expect_call(answer, x, gradient, gives=x - step, hints=hints if gradient else [])


PLANTED = {
    "00.value": [(5, "That is f(3)"), (9, "square alone"), (-4, "positive number"), (-1, "not times 2"),
                 (4, "square comes first"), (-6, "asks for the value"), (15, "")],
    "00.nudge": [(9, "rate"), (15, "mind the sign"), (12.06, "rise or fall"), (-0.06, "the change"), (0.06, "size of the change"),
                 (12.02, "how far x moved"), (9.02, "do not add"), (-3, "asks for the value"), (11.4, "0.06"), (12.6, "And the gradient"),
                 (11.98, "nudge alone"), (-138, "You divided"), (11.9, "")],
    "00.lowest": [((-2.4, 3), "one number: the x"), ([-2.4], "one number: the x"),
                  (3, "asks for x"), (0, "Which x does the slider show"), (2.4, "to the left"),
                  (-3.0, "to the right"), (5.0, "to the left")],
    "00.downhill": [(lambda x, gradient: x + 0.1 * gradient, "You went uphill"),
                    (lambda x, gradient: -0.1 * gradient, "That is the step"),
                    (lambda x, gradient: 0.1 * gradient, "length of the step"),
                    (lambda x, gradient: x - gradient, "ten times too far"),
                    (lambda x, gradient: x - 0.1, "not a tenth"),
                    (lambda x, gradient: x - 0.1 * abs(gradient), "always go left"),
                    (lambda x, gradient: x - 0.1 * x * gradient, "not on x"),
                    (lambda x, gradient: x - 0.4, "ignores the gradient"),
                    (lambda x, gradient: 1.6, "one example"),
                    (lambda x, gradient: x, "did not move"),
                    (lambda x, gradient: x - 0.1 * gradient if gradient else 0.0, "")],
}
