"""Lesson 01: slopes from two points."""
import numpy as np

from . import Wrong, exercise, expect, expect_call, times


def cube(x):
    return x ** 3


def square(x):
    return x ** 2


@exercise("01.central", why="One step each way: the largest part of the error cancels, and no new idea is needed.")
def central(answer):
    # at h = 0.2 no two of the usual mistakes give the same number
    for f, x, h in [(cube, 2.0, 0.2), (cube, -1.0, 0.1), (np.exp, 1.0, 1e-4)]:
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
                           ((f(x + h) + f(x - h)) / (2 * h), "A plus where a minus belongs: how far did the value move?"),
                           ((f(x + h / 2) - f(x - h / 2)) / h, "Your points are half a step away. They belong at x + h and x − h."),
                           ((f(x + h / 2) - f(x - h / 2)) / (2 * h), "Your points are half a step away: at x + h / 2 and x − h / 2."),
                           (undivided / (2 * x), "You divide by 2 * x. How far apart are the points? That has no x in it."),
                           (0.0, "Both points are the same one: one is at x + h, the other at x − h."),
                           times(-1, "The sign is lost: which of the two points is subtracted?")])


def _alone(got, expected):
    return None if np.ndim(got) else "Left and right: two numbers."


@exercise("01.kink", why="The two sides disagree, so there is no slope at 0, though the central difference says 0.")
def kink(answer):
    expect(answer, (-1.0, 1.0), tried="the slope of |x| at 0, from the left and from the right",
           shown="the slope on each side", atol=1e-6,
           hints=[_alone,
                  ((0, 0), "That is the mean of the two. Try each side alone: forward with a negative h, then a positive."),
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


def _positions(steps, x, move):
    """x, and where `move` leads from it in that many steps."""
    xs = [x]
    for _ in range(steps):
        xs.append(move(xs[-1]))
    return xs


def _count(got, expected):
    if np.ndim(got) != 1 or len(got) == len(expected):
        return None
    if len(got) == 6:
        return f"You always take 5 steps: here {len(expected) - 1} were asked for, by `steps`."
    return f"You gave {len(got)} positions: the start and {len(expected) - 1} steps make {len(expected)}."


@exercise("01.descend", why="Measure, step, repeat: from here on only the measuring will get better.")
def descend(answer):
    for f, slope, x, rate, steps in [(cube, lambda x: 3 * x * x, 1.0, 0.1, 3),
                                     (square, lambda x: 2 * x, -3.0, 0.25, 4)]:
        def walk(slope=slope, x=x, rate=rate, steps=steps):
            return _positions(steps, x, lambda at: at - rate * slope(at))

        def bowl_slope(at):
            return 2 * (at - 3)

        right, start = walk(), x
        stale = walk(lambda at: slope(start))
        from_start = _positions(steps, x, lambda at: start - rate * slope(at))
        expect_call(answer, f, x, rate, steps, gives=right, rtol=1e-4, shown=f"the start and {steps} further positions",
                    hints=[(walk(rate=-rate), "You walk uphill: against the slope means minus."),
                           (stale, "The slope at the start served every step. Measure inside the loop, at the newest x."),
                           (from_start, "Each step must begin where the last one ended: xs[-1] − …, and not x − …"),
                           ([x] + [right[1]] * steps, "Every step begins at the start again: "
                            "measure at xs[-1], and move from xs[-1]."),
                           (walk(rate=0.3), "You walk at a rate of 0.3: use the parameter rate."),
                           (walk(rate=1.0), "The rate is missing: move by rate times the slope."),
                           (walk(f), "You move by the value, f(x). Move by the slope: central(f, …)."),
                           (walk(bowl_slope), "You measure the slope of bowl: use the parameter f."),
                           (walk(bowl_slope, 0.0, 0.3), "This walk starts at 0, at the rate 0.3, on bowl: use the parameters."),
                           (walk(bowl_slope, rate=0.3), "You walk on bowl at a rate of 0.3: use the parameters f and rate."),
                           (walk(x=0.0), "You start at 0: start at the parameter x."),
                           (right[1:], "The start belongs to the list."),
                           (right[:-1], "One step is missing: the start, and then one x per step."),
                           (right[-1], "Return all the x, not only the last: the list."),
                           ([x] * (steps + 1), "x never changed: is the new x kept?"), _count])


def _bowl(x):
    return (x - 3) ** 2 + 5


def _walk(sign=-1, stale=False, start=True, last=False, still=False, fewer=0, value=False, again="", **fixed):
    """A wrong or right `descend`, for the planted answers. `fixed` overrides f, x, rate or steps."""
    def descend(f, x, rate, steps):
        f, x, rate, steps = ({"f": f, "x": x, "rate": rate, "steps": steps} | fixed).values()

        def slope(x):
            return f(x) if value else (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
        first, xs = slope(x), [x]
        for _ in range(steps - fewer):
            here = x if again else xs[-1]
            xs.append(here if still else here + sign * rate * (first if stale or again == "both" else slope(xs[-1])))
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
                   (lambda f, x, h: (f(x + h) + f(x - h)) / (2 * h), "A plus where"),
                   (lambda f, x, h: (f(x + h / 2) - f(x - h / 2)) / h, "half a step away"),
                   (lambda f, x, h: (f(x + h / 2) - f(x - h / 2)) / (2 * h), "half a step away"),
                   (lambda f, x, h: (f(x + h) - f(x - h)) / (2 * x), "divide by 2 * x"),
                   (lambda f, x, h: (f(x - h) - f(x - h)) / (2 * h), "the same one"),
                   (lambda f, x, h: (f(x + 1e-5) - f(x - 1e-5)) / 2e-5, ""),
                   (lambda f, x, h: 3 * x ** 2, "")],
    "01.kink": [((0, 0), "each side alone"), ((1, 1), "h is negative"), ((1, -1), "wrong order"), ((-1, 0), "positive h"),
                ((0, 1), "negative h"), ((-1, -1), "which sign"), ((0.5, 0.5), ""),
                (-1, "two numbers"), (0, "two numbers")],
    "01.fool": [(lambda x: 3 * x ** 2, "nobody is fooled"), (lambda x: 3 * x * x + 1e-9, "nobody is fooled"),
                (lambda x: x ** 2, "yours gives 1"), (lambda x: 2 * x, "yours gives 2"), (lambda x: x + 7, "")],
    "01.descend": [(_walk(sign=1), "uphill"), (_walk(stale=True), "inside the loop"), (_walk(start=False), "start belongs"),
                   (_walk(last=True), "not only the last"), (_walk(still=True), "never changed"),
                   (_walk(fewer=1), "One step is missing"), (_walk(fewer=2), "You gave 2 positions"),
                   (_walk(steps=5), "always take 5"), (_walk(rate=0.3), "rate of 0.3"), (_walk(rate=1.0), "rate is missing"),
                   (_walk(x=0.0), "start at 0"), (_walk(value=True), "by the value"), (_walk(again="from"), "not x − "),
                   (_walk(again="both"), "start again"), (_walk(f=_bowl), "slope of bowl"),
                   (_walk(f=_bowl, rate=0.3), "f and rate"), (_walk(f=_bowl, rate=0.3, x=0.0), "on bowl: use the parameters"),
                   (_walk(f=_bowl, rate=0.3, x=0.0, steps=5), "always take 5")],
}
