"""Lesson 06: models of single numbers, trained: the loop, the weights by hand, and what goes wrong in silence."""
from operator import attrgetter

import numpy as np

from autograd_lib import Tensor, nn

from ...ask import NotYet, Wrong, brief, exercise, expect, expect_call, has_blank
from ...ask.compare import returned, same
from ...ask.mistakes import printed
from ...ask.texts import Question, card, prediction, recall

# --- The slide: three routes from w₃ ------------------------------------------------------------------------------------------

P = 0.5 * 0.49 + 0.3                      # w₁·a + w₃
Q = 0.4 * P * P + 0.3                     # w₂·b + w₃
ARRIVES = 2 * (np.sin(P * P + Q * Q) - 0.3) * np.cos(P * P + Q * Q)      # at b + c
ROUTES = ARRIVES * 2 * P, ARRIVES * 2 * Q, ARRIVES * 2 * Q * 0.4 * 2 * P


def _about(wrong, hint):
    """Recognises numbers that were rounded on the way."""
    return lambda got, expected: hint if same(got, wrong, 0, 6e-4) else None


_B, _C, _BOTH = ROUTES
FROM_C = np.cos(P * P + Q * Q)            # the arrow from c to ŷ
_ROUTES = [
    ((_B, _C), "0.3010 is the route through b alone, and it is given. Asked are the two others."),
    ((_BOTH, _C), "The two are swapped: the route through c alone is w₃ → c → ŷ → L."),
    ((_C, 0.0), "The third route is there: w₃ moves b, and b moves c as well. Block each arrow in turn: which one does it need?"),
    ((_C, _B + _C), "Through b and c is a route of its own, not the sum of two others: w₃ → b → c → ŷ → L."),
    ((_C, _B * _C), "Multiply the arrows along the last route. What the other routes bring has no place in it."),
    ((_C + _BOTH, _BOTH), "One route is counted twice: through c alone is w₃ → c → ŷ → L, without b."),
    ((_C, _C + _BOTH), "One route is counted twice: through b and c is w₃ → b → c → ŷ → L, and nothing else."),
    ((_C, 0.8 * P * Q * 2), "That is the way from w₃ to c. Carry it on to L: from c to ŷ, and from there to L."),
    ((2 * Q, 0.8 * P * Q * 2), "These are local. Carry each route on to L: from c to ŷ, and from there to L."),
    ((2 * P * _C / (2 * Q), _BOTH), "The arrow from w₃ to c has the local gradient 0.8376; 1.09 is that from w₃ to b."),
    ((_C / FROM_C, _BOTH / FROM_C), "From c the routes go to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing."),
    ((_C / FROM_C, _BOTH), "The route goes from c to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing."),
    ((_C, _BOTH / FROM_C), "The route goes from c to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing."),
    ((_C, _B + _BOTH), "That is all that goes by way of b, also what goes from b straight to ŷ. Through c it is w₃ → b → c → ŷ → L."),
    ((_C, ARRIVES * 0.8 * Q), "The last route begins at w₃: its first arrow, with local 1.09, is missing."),
    ((_C, ARRIVES * 2 * P * 0.4), "The arrow from b to c has the local gradient 0.335. 0.4 is the value of w₂ alone."),
    ((_C, 2 * P * 2 * Q * ARRIVES), "0.8376 belongs to the arrow from w₃ to c. This route comes from b, and that arrow has 0.335."),
]


@exercise(
    "06.routes", minutes=5, difficulty="medium",
    question="""
        w₃ reaches L by three routes. Through b alone it brings 1.09 · 0.8905 · 0.3101 = 0.3010, the local gradients along
        w₃ → b → ŷ → L in the picture at the top. What do the others bring, through c alone, and through b *and* c? Four digits are
        enough.""",
    stub="""
        through_c = ...
        through_both = ...""",
    hints=["The second route is w₃ → c → ŷ → L. Three arrows, three numbers from the picture.",
           "The third has four arrows: w₃ → b → c → ŷ → L.",
           ("Help: with mine, the three add up to 0.5323", """
            So did the talk's. Two routes end in c's own arrow to ŷ: one comes from w₃ directly, the other by way of b.""")],
    solution="""
        through_c = 0.8376 * 0.8905 * 0.3101
        through_both = 1.09 * 0.335 * 0.8905 * 0.3101""",
    explained="0.3010 + 0.2313 + 0.1008 = 0.6331. The first two alone make 0.5323, the slide's number.",
    why="Add over all paths, and that means all. A weight that is used in several places is where one is forgotten first.",
    mistakes=[*_ROUTES, *(_about(*pair) for pair in _ROUTES)],
    planted=[(tuple(np.round(wrong, 4)), hint) for wrong, hint in _ROUTES[:2]] + [((0.6331, 0.6331), "Number 1 of 2")])
def routes(answer):
    expect(answer, ROUTES[1:], tried="what the two routes bring", shown="two other numbers", atol=6e-4, hints=routes.mistakes)


# --- The loop ------------------------------------------------------------------------------------------------------------------

class _Line(nn.Module):
    def __init__(self, w, b):
        self.w, self.b = Tensor(w, True), Tensor(b, True)

    def forward(self, x):
        return self.w * x + self.b


def _squared(model, x, y):
    error = model(x) - y
    return error * error


EXAMPLES = [(1.0, 2.0), (-2.0, 1.0), (0.5, -1.0)]


def _loop(zero="before", sign=-1, rate=None, each=True, use=slice(None), sum_up=True, what="losses", update="grad"):
    """A training loop with one thing changed, as the mistakes need them."""
    def train(model, loss, examples, rate_given):
        by, losses = rate_given if rate is None else rate, []

        def move():
            for p in model.parameters():
                p.data = p.data + sign * by * attrgetter(update)(p)

        for i, (x, y) in enumerate(list(examples)[use]):
            if zero == "before" or zero == "once" and i == 0:
                model.zero_grad()
            L = loss(model, x, y)
            L.backward()
            losses.append(L.item())
            if zero == "between":
                model.zero_grad()
            if each:
                move()
        if not each:
            move()
        return {"losses": losses, "last": losses[-1], "model": model, "tensors": [Tensor(one) for one in losses]}[what]
    return train


def _outcome(train, start=(0.5, -0.25), rate=0.1):
    """(the losses, w, b) after training a line."""
    model = _Line(*start)
    losses = train(model, _squared, list(EXAMPLES), rate)
    return losses, model.w.item(), model.b.item()


def _runs(train, *args):
    try:
        return _outcome(train, *args)
    except Exception:       # of a mistake: then the learner's was another
        return None


@exercise(
    "06.train", minutes=6, difficulty="medium",
    question="""
        Complete `train(model, loss, examples, rate)`. For each example (x, y), one after the other: forget the old gradients; compute
        `L = loss(model, x, y)`; walk back; move every parameter against its gradient.""",
    stub="""
        def train(model, loss, examples, rate):
            losses = []
            for x, y in examples:
                L = ...
                losses.append(L.item())      # a plain number, without its graph
            return losses""",
    hints=["One line before `L = …`, and the rest after it: `model.zero_grad()`, `L = loss(model, x, y)`, `L.backward()`, then the step.",
           "The step is a loop of its own, inside the other: `for p in model.parameters(): p.data -= rate * p.grad`.",
           ("Help: the losses do not fall", """
            Look at how far the lines are indented. What stands outside the loop happens once, after all examples: in a copy of the
            talk's code that went around, the update does, so that 500 examples make one step."""),
           ("Help: 'NoneType' object", """
            `p.grad` is None until `L.backward()` has run, and again after `zero_grad()`. First forget, then walk back, then move.""")],
    solution="""
        def train(model, loss, examples, rate):
            losses = []
            for x, y in examples:
                model.zero_grad()
                L = loss(model, x, y)
                L.backward()
                for p in model.parameters():
                    p.data -= rate * p.grad
                losses.append(L.item())      # a plain number, without its graph
            return losses""",
    explained="Forget, forward, backward, step: every training loop has these four. The list is for the curious.",
    why="This loop does not know what the model is. It will train everything in this course.",
    planted=[
        (_loop(zero=None), "The gradients of the examples before are still in it"),
        (_loop(zero="once"), "The gradients of the examples before are still in it"),
        (_loop(sign=1), "uphill"),
        (_loop(each=False, zero=None), "one step"),
        (_loop(each=False), "one step"),
        (_loop(rate=1.0), "without the rate"),
        (_loop(use=slice(1)), "first example alone"),
        (_loop(update="data"), "The gradient moves it, not its own value"),
        (_loop(what="last"), "one loss for each example"),
        (_loop(what="model"), "one loss for each example"),
        (_loop(what="tensors"), "plain numbers"),
        (_loop(zero="between"), "None until"),
        (_loop(update="grad.data"), "is an array"),
        (lambda model, loss, examples, rate: [p for p in model.parameters], "called with brackets"),
        (lambda model, loss, examples, rate: [loss(model, x, y).item() for x, y in examples], "Nothing has moved"),
        printed(_loop(), "write return")])
def train(answer):
    if has_blank(answer):
        raise NotYet
    for start, rate in [((0.5, -0.25), 0.1), ((-1.0, 2.0), 0.03)]:
        model, said = _Line(*start), f"train a line w·x + b from w = {start[0]:g}, b = {start[1]:g} on three examples, rate {rate}"
        losses, w, b = _outcome(_loop(), start, rate)
        try:
            got = returned(answer, model, _squared, list(EXAMPLES), rate, tried=said, shown=brief(losses))
        except TypeError as error:
            if "NoneType" in str(error):
                error.hint = ("p.grad is None until L.backward() has run, and again after zero_grad(): "
                              "first forget, then walk back, then move.")
            elif "'method'" in str(error):
                error.hint = "A method is called with brackets: model.parameters()."
            elif "memoryview" in str(error):
                error.hint = "p.grad is an array already, and has no graph: p.grad, without .data."
            raise
        here = f"w and b after: {said}"
        moved = model.w.item(), model.b.item()
        for wrong, hint in [(_loop(zero=None), "The gradients of the examples before are still in it: model.zero_grad(), with "
                                                 "its brackets, once for each example."),
                            (_loop(sign=1), "It goes uphill: against the gradient, so minus."),
                            (_loop(each=False, zero=None), "All the examples, and one step: the update stands outside the loop."),
                            (_loop(each=False), "All the examples, and one step: the update stands outside the loop."),
                            (_loop(rate=1.0), "A step without the rate: rate * p.grad."),
                            (_loop(use=slice(1)), "It has moved for the first example alone: does the return stand inside the loop?"),
                            (_loop(update="data"), "The gradient moves it, not its own value: p.grad."),
                            (lambda *given: [0.0], "Nothing has moved. Is there a step, p.data -= rate * p.grad, in the loop? "
                                                    "(p -= … only makes a new Tensor.)")]:
            found = _runs(wrong, start, rate)
            if found and same(moved, found[1:], 1e-9, 1e-12):
                raise Wrong(here, brief(moved), brief((w, b)), hint)
        expect(moved, (w, b), tried=here)
        if not isinstance(got, (list, tuple, np.ndarray)) or len(got) != len(losses):
            raise Wrong(f"what comes back: {said}", brief(got), brief(losses), "Give back a list: one loss for each example.")
        if any(isinstance(one, Tensor) for one in got):
            raise Wrong(f"what comes back: {said}", brief(got), brief(losses),
                        "These are Tensors, and each keeps its whole graph alive. Keep plain numbers: L.item().")
        expect(list(got), losses, tried=f"what comes back: {said}")


# --- The talk's model by hand --------------------------------------------------------------------------------------------------

def _by_hand(open_b=None, open_c=None, slope=4.0, height=4.0, outer=2.0, inner=None, third=None, order=(0, 1, 2), closed=False,
             bend=lambda p: max(p, 0.0), gate=None, wave=np.cos):
    """The three gradients, with one thing changed."""
    def gradients(w1, w2, w3, x, y):
        a = x * x
        p, q = w1 * a + w3, w2 * a + w3
        b, c = bend(p), bend(q)
        g = outer * (height * np.sin(b + c) - y) * slope * wave(b + c)
        gb, gc = (g if open_b or p > 0 else 0.0), (g if open_c or q > 0 else 0.0)
        if gate:
            gb, gc = gate(g, b), gate(g, c)
        if closed and (p <= 0 or q <= 0):
            gb = gc = 0.0
        last = {None: gb + gc, "b": gb, "c": gc, "a": (gb + gc) * a, "mean": (gb + gc) / 2}[third]
        every = gb * (a if inner is None else inner(x, b, p)), gc * (a if inner is None else inner(x, c, q)), last
        return tuple(every[i] for i in order)
    return gradients


right_by_hand = _by_hand()


_GATE = "A relu whose sum is not above 0 lets nothing pass: the gate of b or of c is missing."
_WHOLE = "w₃ stands in both branches: what comes through b and what comes through c are added, whole."


@exercise(
    "06.by_hand", minutes=5, difficulty="medium",
    question="""
        Complete `by_hand(w1, w2, w3, x, y)`: the gradients of w₁, w₂ and w₃, from plain numbers. The way forward is there; the box is the
        way back. (`np.sin`, `np.cos`.)""",
    stub="""
        def by_hand(w1, w2, w3, x, y):
            a = x * x
            b = max(w1 * a + w3, 0)
            c = max(w2 * a + w3, 0)
            g = ...
            gb = ...
            gc = ...
            return gb * a, gc * a, gb + gc""",
    hints=["g is the second line of the derivation, as it stands, with $\\hat y = 4 \\sin(b + c)$.",
           "What passes the relu of b: `gb = g if b > 0 else 0.0`. The same for c. Each relu has its own gate.",
           ("Help: at first right, then wrong", "The first numbers have both gates open. Later ones do not: where b is 0, what is gb?")],
    solution="""
        def by_hand(w1, w2, w3, x, y):
            a = x * x
            b = max(w1 * a + w3, 0)
            c = max(w2 * a + w3, 0)
            g = 2 * (4 * np.sin(b + c) - y) * 4 * np.cos(b + c)
            gb = g if b > 0 else 0.0
            gc = g if c > 0 else 0.0
            return gb * a, gc * a, gb + gc""",
    explained="Both branches get the same g; each relu lets it pass or not. `b > 0` asks the same as `w1 * a + w3 > 0`.",
    why="While both gates are open w₁ and w₂ get the same, g·a, and w₃ gets g twice. When one closes, w₃ keeps the other.",
    mistakes=[
        (_by_hand(open_b=True, open_c=True), _GATE), (_by_hand(open_b=True), _GATE), (_by_hand(open_c=True), _GATE),
        (_by_hand(bend=lambda p: p), "On the way forward relu is missing: below 0, b and c are 0. `max(…, 0)`."),
        (_by_hand(bend=lambda p: p, open_b=True, open_c=True),
         "The relus are missing on both ways: below 0, b is 0 on the way forward, and nothing passes on the way back. The same for c."),
        (_by_hand(gate=lambda g, b: g * b), "A gate lets all of g through, or nothing: how large b is has no place in it."),
        (_by_hand(gate=lambda g, b: b), "What passes the gate is g, not b."),
        (_by_hand(gate=lambda g, b: 1.0 if b > 0 else 0.0), "The gate is 1 or 0, and what passes is g times that."),
        (_by_hand(closed=True), "Each branch has a gate of its own: when one is closed, the other still lets g pass."),
        (_by_hand(gate=lambda g, b: max(g, 0.0)), "The gate asks b, not g: where b is above 0, a negative g passes too."),
        (_by_hand(third="b"), _WHOLE), (_by_hand(third="c"), _WHOLE), (_by_hand(third="mean"), _WHOLE),
        (_by_hand(third="a"), "w₃ is added, not multiplied by a: its local gradient is 1."),
        (_by_hand(slope=1.0), "One 4 is missing, the second: ŷ = 4 sin(b + c) has the slope 4 cos(b + c)."),
        (_by_hand(height=1.0), "One 4 is missing, the first: the error is 4 sin(b + c) − y."),
        (_by_hand(height=1.0, slope=1.0), "Both 4s are missing: ŷ is 4 sin(b + c), in the error and in the slope."),
        (_by_hand(slope=1.0, wave=np.ones_like), "That is the gradient of ŷ. To go on to b + c, multiply by the slope, 4 cos(b + c)."),
        (_by_hand(wave=np.ones_like), "The slope of 4 sin is 4 cos(b + c): the cos is missing."),
        (_by_hand(wave=lambda s: np.cos(4 * np.sin(s))), "The slope of 4 sin is taken where sin was: at b + c, not at ŷ."),
        (_by_hand(slope=-4.0), "The slope of sin is cos, without a minus; and the error is ŷ − y."),
        (_by_hand(outer=1.0), "L = (ŷ − y)² has the slope 2 (ŷ − y): the 2 is missing. (There is no half in front here.)"),
        (_by_hand(inner=lambda x, z, p: x), "w₁ is multiplied by a, and a is x²: the local gradient is a, not x."),
        (_by_hand(inner=lambda x, z, p: 1.0), "w₁ is multiplied by a: its local gradient is a."),
        (_by_hand(order=(1, 0, 2)), "The gradients of w₁ and w₂ are swapped."),
        (_by_hand(order=(2, 0, 1)), "The order is w₁, w₂, w₃."),
        printed(right_by_hand)],
    planted=[(lambda w1, w2, w3, x, y: right_by_hand(w1, w2, w3, x, y)[2], "3 values were expected"),
             (lambda w1, w2, w3, x, y: tuple(2 * w for w in (w1, w2, w3)), "expected"),
             (lambda w1, w2, w3, x, y: tuple(-1e-3 * one for one in right_by_hand(w1, w2, w3, x, y)), "Every entry is")])
def by_hand(answer):
    if has_blank(answer):
        raise NotYet
    for given in [(1.7, 0.2, 0.6, 0.9, 1.0), (1.3, 0.1, -0.4, 0.9, 2.5), (-0.5, 1.5, -0.25, 0.8, 1.0), (1.3, 0.1, -0.4, 0.3, 0.5),
                  (1.6, 0.3, 0.1, 0.5, 0.25)]:
        expect_call(answer, *given, gives=right_by_hand(*given), hints=by_hand.mistakes)


# --- Predictions, questions, card ----------------------------------------------------------------------------------------------

recall("06", [
    Question("Walking back, 7 arrives at b from L, and later 6 from c. b is 2a. What must go on to a? (Lesson 05)", 26.0, """
        (7 + 6) · 2 = **26**: b waits until all that it will ever get is there."""),
    Question("z = relu(x), and g = 5 arrives at z. What goes on to x, if x is −2? (04)", 0.0, """
        **0**. Below 0 relu is flat: nothing passes. Above 0 its slope is 1, and all 5 would pass."""),
    Question("x is 3, the gradient is 4, the rate is 0.1. Where does one step downhill lead? (01)", 2.6, """
        3 − 0.1 · 4 = **2.6**: against the gradient.""")])

prediction(
    "06.edge", question="Which arrow did the slide's author overlook?",
    answer="from b to c", choices=["from x to a", "from w₃ to c", "from b to c", "from c to ŷ"],
    reveal="""**From b to c.** w₁ and w₃ reach L through b, and b goes two ways: straight into ŷ, and by way of c. Only w₂ has no way
        through b, and only its number was right.""")

prediction(
    "06.forget", question="""
        Somebody thinks of `zero_grad` as mere tidiness and leaves it out: 200 steps, and nothing is ever forgotten. With it w ends at 1.10.
        Where does w end without it? And whose gradients pile up: those of w and b, or those of all values of the graph?""",
    answer={"w ends": "beyond 50", "what piles up": "those of w and b alone"},
    choices={"w ends": ["at 1.10 too", "near 2", "beyond 50"], "what piles up": ["those of w and b alone", "those of all values"]},
    reveal="""w runs away, **beyond 50**. Only the gradients **of w and b** pile up: every step makes a new graph, and what is under way
        lives in the ledger of one walk. The parameters are what stays from step to step, and `.grad` adds until somebody clears it.""")

prediction(
    "06.furthest", question="""
        500 steps from $w_1 = 1.7$, $w_2 = 0.2$, $w_3 = 0.6$. Which weight moves furthest? And before the first step, at x = 0.9 and
        without the penalty: which of w₁ and w₂ has the larger gradient?""",
    answer={"moves furthest": "w₃", "larger gradient": "they are equal"},
    choices={"moves furthest": ["w₁", "w₂", "w₃"], "larger gradient": ["that of w₁", "that of w₂", "they are equal"]},
    reveal="""**w₃** moves furthest: it has two routes where the others have one, and theirs are multiplied by a, which is at most 1. The
        gradients of w₁ and w₂ are **equal**, although their values are not. Why? Work it out below.""")

prediction(
    "06.longer", question="""
        After 500 steps the error is 0.016. Train forty times as long, 20,000 steps, with the same rate and the same penalty. Is the error
        then smaller, the same, or larger?""",
    answer="larger", choices=["smaller", "the same", "larger"],
    reveal="""**Larger**, about 0.04. Nothing broke. The error is not what is minimised: the error *plus the penalty* is, and that is
        smaller than before.""")

prediction(
    "06.rate", question="""
        Now the rate: 500 steps each time, from 0.00001 up to 0.1. At 0.001 the error went from 10.2 to 0.016. What is it at 0.1, at a
        rate a hundred times as large?""",
    answer="stuck in between", choices=["below 0.016", "stuck in between", "far above 10.2"],
    reveal="""**Stuck in between**, at 1.491. It cannot run away, for 4 sin lies between −4 and 4. It dies instead: slide, and see.""")

card("06", [
    "A model is a function with parameters; a module finds its own.",
    "Forget, forward, backward, step: once for each example, all four inside the loop.",
    "A weight used twice has two routes: add them all. A falling loss does not say that you did.",
    ".grad adds up until zero_grad. Left out, the model trains on gradients of long ago.",
    "What is minimised is the loss, penalty included; what you plot may be something else.",
    "Too small a rate crawls. Too large a one can close every relu: no gradient, no way back."])
