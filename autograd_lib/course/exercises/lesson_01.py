"""Lesson 01: slopes from two points."""
import numpy as np

from . import Wrong, exercise, expect, expect_call, times


def _cube(x):
    return x ** 3


def _square(x):
    return x ** 2


@exercise("01.central", why="One step each way: the largest part of the error cancels, and no new idea is needed.")
def central(answer):
    # at h = 0.2 no two of the usual mistakes give the same number
    for f, x, h in [(_cube, 2.0, 0.2), (_cube, -1.0, 0.1), (np.exp, 1.0, 1e-4)]:
        forward, undivided = (f(x + h) - f(x)) / h, f(x + h) - f(x - h)
        expect_call(answer, f, x, h, gives=undivided / (2 * h), rtol=1e-10,
                    hints=[times(2, "Exactly double: how far apart are your two points?"),
                           (forward, "This is the one-sided difference again. The left point is at x − h."),
                           ((f(x) - f(x - h)) / h, "One-sided, to the left. Use both neighbours, and not x itself."),
                           (undivided / 2 * h, "Python reads a / 2 * h as (a / 2) · h: put parentheses around 2 * h."),
                           (undivided, "That is how far the value moved. Divide by how far x moved."),
                           (undivided / 2, "Divide by the distance of the two points, which is 2 * h."),
                           (f(x + h) - f(x - h) / (2 * h), "Only the second value is divided: mind the parentheses."),
                           (f(x + h) - f(x - h) / 2 * h, "Parentheses around the difference, and around 2 * h."),
                           times(-1, "The sign is lost: which of the two points is subtracted?")])


@exercise("01.kink", why="The two sides disagree, so there is no slope at 0, though the central difference says 0.")
def kink(answer):
    expect(answer, (-1.0, 1.0), tried="the slope of |x| at 0, from the left and from the right",
           shown="two other numbers", atol=1e-6,
           hints=[((0, 0), "That is the mean of the two. Try each side alone: forward with a negative h, then a positive."),
                  ((1, 1), "From the left, h is negative: the value rises by |h|, and you divide by h itself."),
                  ((-1, -1), "Try the right side again: which sign does h have there?"),
                  ((1, -1), "The right numbers in the wrong order: the left side first."),
                  ((-1, 0), "The left is right. Measure the right side alone too: forward with a positive h."),
                  ((0, 1), "The right side is right. Measure the left alone too: forward with a negative h.")])


@exercise("01.fool", why="A check at one point can be passed by a wrong rule. Check at several, and at none that is special.")
def fool(answer):
    at_1 = 3.0
    expect_call(answer, 1.0, gives=at_1, rtol=1e-4, hints=[
        (1.0, "At 1 the check measures 3, and yours gives 1: it is caught at once."),
        (2.0, "At 1 the check measures 3, and yours gives 2: it is caught at once.")])
    elsewhere = [answer(x) for x in (0.5, 2.0, -1.5)]
    if np.allclose(elsewhere, [3 * x * x for x in (0.5, 2.0, -1.5)]):
        raise Wrong("wrong_slope at 0.5, 2 and −1.5", "the true slope of x³ each time", "a wrong slope somewhere",
                    "This one is right everywhere, so nobody is fooled. Change it so that only x = 1 still fits.")


@exercise("01.descend", why="Measure, step, repeat: from here on only the measuring will get better.")
def descend(answer):
    for f, slope, x, rate, steps in [(_cube, lambda x: 3 * x * x, 1.0, 0.1, 3),
                                     (_square, lambda x: 2 * x, -3.0, 0.25, 4)]:
        right, up, stale = [x], [x], [x]
        for _ in range(steps):
            right.append(right[-1] - rate * slope(right[-1]))
            up.append(up[-1] + rate * slope(up[-1]))
            stale.append(stale[-1] - rate * slope(x))
        expect_call(answer, f, x, rate, steps, gives=right, rtol=1e-4, shown=f"the start and {steps} further positions",
                    hints=[(up, "You walk uphill: against the slope means minus."),
                           (stale, "The slope at the start served every step. Measure inside the loop, at the newest x."),
                           (right[1:], "The start belongs to the list."),
                           (right[:-1], "One step is missing: the start, and then one x per step."),
                           (right[-1], "Return all the x, not only the last: the list."),
                           ([x] * (steps + 1), "x never changed: is the new x kept?")])


def _walk(sign=-1, stale=False, start=True, last=False, still=False, fewer=0):
    """A wrong or right `descend`, for the planted answers."""
    def descend(f, x, rate, steps):
        def slope(x):
            return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
        first, xs = slope(x), [x]
        for _ in range(steps - fewer):
            xs.append(xs[-1] if still else xs[-1] + sign * rate * (first if stale else slope(xs[-1])))
        return xs[-1] if last else xs if start else xs[1:]
    return descend


PLANTED = {
    "01.central": [(lambda f, x, h: (f(x + h) - f(x - h)) / h, "how far apart"),
                   (lambda f, x, h: (f(x + h) - f(x)) / h, "one-sided difference again"),
                   (lambda f, x, h: (f(x) - f(x - h)) / h, "to the left"),
                   (lambda f, x, h: (f(x + h) - f(x - h)) / 2 * h, "parentheses around 2 * h"),
                   (lambda f, x, h: f(x + h) - f(x - h), "how far x moved"),
                   (lambda f, x, h: f(x + h) - f(x - h) / (2 * h), "Only the second value"),
                   (lambda f, x, h: (f(x - h) - f(x + h)) / (2 * h), "sign is lost"),
                   (lambda f, x, h: (f(x + 1e-5) - f(x - 1e-5)) / 2e-5, ""),
                   (lambda f, x, h: 3 * x ** 2, "")],
    "01.kink": [((0, 0), "each side alone"), ((1, 1), "h is negative"), ((1, -1), "wrong order"), ((-1, 0), "positive h"),
                ((0, 1), "negative h"), ((-1, -1), "which sign"), ((0.5, 0.5), "")],
    "01.fool": [(lambda x: 3 * x ** 2, "nobody is fooled"), (lambda x: 3 * x * x + 1e-9, "nobody is fooled"),
                (lambda x: x ** 2, "yours gives 1"), (lambda x: 2 * x, "yours gives 2"), (lambda x: x + 7, "")],
    "01.descend": [(_walk(sign=1), "uphill"), (_walk(stale=True), "inside the loop"), (_walk(start=False), "start belongs"),
                   (_walk(last=True), "not only the last"), (_walk(still=True), "never changed"),
                   (_walk(fewer=1), "One step is missing")],
}
