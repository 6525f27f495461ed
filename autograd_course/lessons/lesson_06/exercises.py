"""Lesson 06: models of single numbers, trained: the loop, the weights by hand, and what goes wrong in silence."""
from operator import attrgetter

import numpy as np

from ...ask import NotYet, exercise, expect, expect_call, has_blank
from ...ask.compare import same
from ...ask.mistakes import printed
from ...ask.probes import engine
from ...ask.texts import Question, card, prediction, recall
from ..lesson_05.engine import Value

# --- The slide: three paths from w₃ ------------------------------------------------------------------------------------------

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
    ((_B, _C), "0.3010 is the path through b alone, and it is given. Asked are the two others."),
    ((_BOTH, _C), "The two are swapped: the path through c alone is w₃ → c → ŷ → L."),
    ((_C, 0.0), "The third path is there: w₃ moves b, and b moves c as well. Block each arrow in turn: which one does it need?"),
    ((_C, _B + _C), "Through b and c is a path of its own, not the sum of two others: w₃ → b → c → ŷ → L."),
    ((_C, _B * _C), "Multiply the arrows along the last path. What the other paths bring has no place in it."),
    ((_C + _BOTH, _BOTH), "One path is counted twice: through c alone is w₃ → c → ŷ → L, without b."),
    ((_C, _C + _BOTH), "One path is counted twice: through b and c is w₃ → b → c → ŷ → L, and nothing else."),
    ((_C, 0.8 * P * Q * 2), "That is the way from w₃ to c. Carry it on to L: from c to ŷ, and from there to L."),
    ((2 * Q, 0.8 * P * Q * 2), "These are local. Carry each path on to L: from c to ŷ, and from there to L."),
    ((2 * P * _C / (2 * Q), _BOTH), "The arrow from w₃ to c has the local gradient 0.8376; 1.09 is that from w₃ to b."),
    ((_C / FROM_C, _BOTH / FROM_C), "From c the paths go to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing."),
    ((_C / FROM_C, _BOTH), "The path goes from c to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing."),
    ((_C, _BOTH / FROM_C), "The path goes from c to ŷ and then to L: the arrow from c to ŷ, 0.8905, is missing."),
    ((_C, _B + _BOTH), "That is all that goes by way of b, also what goes from b straight to ŷ. Through c it is w₃ → b → c → ŷ → L."),
    ((_C, ARRIVES * 0.8 * Q), "The last path begins at w₃: its first arrow, with local 1.09, is missing."),
    ((_C, ARRIVES * 2 * P * 0.4), "The arrow from b to c has the local gradient 0.335. 0.4 is the value of w₂ alone."),
    ((_C, 2 * P * 2 * Q * ARRIVES), "0.8376 belongs to the arrow from w₃ to c. This path comes from b, and that arrow has 0.335."),
]


@exercise(
    "06.routes", minutes=5, difficulty="medium",
    question="""
        w₃ reaches L by three paths. Through b alone it brings 1.09 · 0.8905 · 0.3101 = 0.3010, the local gradients along
        w₃ → b → ŷ → L in the picture at the top. What do the others bring, through c alone, and through b *and* c? Four digits are
        enough.""",
    stub="""
        through_c = ...
        through_both = ...""",
    hints=["The second path is w₃ → c → ŷ → L. Three arrows, three numbers from the picture.",
           "The third has four arrows: w₃ → b → c → ŷ → L.",
           ("Help: with mine, the three add up to 0.5323", """
            So did the talk's. Two paths end in c's own arrow to ŷ: one comes from w₃ directly, the other by way of b.""")],
    solution="""
        through_c = 0.8376 * 0.8905 * 0.3101
        through_both = 1.09 * 0.335 * 0.8905 * 0.3101""",
    explained="0.3010 + 0.2313 + 0.1008 = 0.6331. The first two alone make 0.5323, the slide's number.",
    why="Add over all paths, and that means all. A weight that is used in several places is where one is forgotten first.",
    mistakes=[*_ROUTES, *(_about(*pair) for pair in _ROUTES)],
    planted=[(tuple(np.round(wrong, 4)), hint) for wrong, hint in _ROUTES[:2]] + [((0.6331, 0.6331), "Number 1 of 2")])
def routes(answer):
    expect(answer, ROUTES[1:], tried="what the two paths bring", shown="two other numbers", atol=6e-4, hints=routes.mistakes)


# --- The loop ------------------------------------------------------------------------------------------------------------------

class _Value(Value):
    """Adds, subtracts and multiplies by itself, whatever the learner's `multiply` does."""

    def __add__(self, other):
        return _Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return _Value(self.data * other.data, (self, other), (other.data, self.data))


_Value.__name__ = "Value"        # what an error of Python calls it
backward = engine().backward


def _line(parameters, x, y):
    w, b = parameters
    error = w * _Value(x) + b + _Value(-y)
    return error * error


def _curve(parameters, x, y):
    """Three parameters, one of them used twice; not a square."""
    a, b, c = parameters
    z = a * _Value(x) + b * b * _Value(x * x) + c
    return z * _Value(y) + z * z * a


CASES = [      # (words, where the parameters start, what their .grad holds, loss, examples, rate)
    ("a line w·x + b, from w = 0.5 and b = −0.25, on three examples, rate 0.1",
     (0.5, -0.25), 0.0, _line, [(1.0, 2.0), (-2.0, 1.0), (0.5, -1.0)], 0.1),
    ("the same line from w = −1 and b = 2, on two examples, rate 0.03, with 5 left in each .grad from before",
     (-1.0, 2.0), 5.0, _line, [(0.5, -1.0), (3.0, 0.25)], 0.03),
    ("another loss, of three parameters, on four examples, rate 0.02",
     (0.5, -0.75, 0.25), 0.0, _curve, [(1.0, 2.0), (-2.0, 1.0), (0.5, -1.0), (1.5, 0.5)], 0.02)]


def _loop(forget="first", sign=-1, rate=None, steps="each", examples=lambda all: all, moved=lambda all: all, by=attrgetter("grad"),
          arguments=lambda x, y: (x, y), walks=1):
    """A training loop with one thing changed."""
    def train(parameters, loss, given, rate_given):
        def clear():
            for p in parameters:
                p.grad = 0.0

        def step():
            for p in moved(parameters):
                p.data = p.data + sign * (rate_given if rate is None else rate) * by(p)

        for i, (x, y) in enumerate(examples(given)):
            if forget == "first" or forget == "once" and i == 0:
                clear()
            if steps == "early":
                step()
            for _ in range(walks):
                backward(loss(parameters, *arguments(x, y)))
            if forget == "between":
                clear()
            if steps == "each":
                step()
            if forget == "last":
                clear()
        if steps == "once":
            step()
    return train


OLD = "The gradients of the examples before are still in it: p.grad = 0.0 for every parameter, at the beginning of each example."
ONCE = "That is one step, after the last example. The step belongs into the loop: one after each example."
STILL = ("Nothing has moved. Is there a p.data -= rate * p.grad for every p in parameters, after the walk back, and before anything is "
         "forgotten? (p -= … only makes a new Value.)")
SLIPS = [
    (_loop(forget=None), OLD), (_loop(forget="once"), OLD),
    (_loop(forget="last"), "What is in .grad before the first example is old too: forget first, then walk back."),
    (_loop(forget="between"), STILL),
    (_loop(sign=1), "It goes uphill: against the gradient, so minus."),
    (_loop(steps="once", forget=None), ONCE), (_loop(steps="once"), ONCE),
    (_loop(steps="early"), STILL),
    (_loop(rate=1.0), "That is a step without the rate: rate * p.grad."),
    (_loop(rate=0.1), "The rate is not always 0.1: it is handed in, as rate."),
    (_loop(examples=lambda all: all[:1]), "It learns from the first example alone. Is a return, or an indent, too early?"),
    (_loop(examples=lambda all: all[::-1]), "The examples come in their order: each step begins where the one before ended."),
    (_loop(moved=lambda all: all[:1]), "Only the first parameter has moved. The step is a loop over all of them."),
    (_loop(moved=lambda all: all[-1:]), "Only the last parameter has moved. Is the step outside its loop over the parameters?"),
    (_loop(moved=lambda all: []), STILL),
    (_loop(by=attrgetter("data")), "The gradient moves it, not its own value: rate * p.grad."),
    (_loop(by=lambda p: p.data + p.grad), "The gradient alone moves it: p.data -= rate * p.grad."),
    (_loop(by=lambda p: np.sign(p.grad)), "The size of the gradient counts too, not only its sign."),
    (_loop(by=lambda p: max(p.grad, 0.0)), "A negative gradient moves its parameter too: upwards."),
    (_loop(by=lambda p: p.grad * p.data), "The gradient alone moves it: p.data -= rate * p.grad."),
    (_loop(arguments=lambda x, y: (y, x)), "x and y are exchanged: loss(parameters, x, y)."),
    (_loop(walks=2), "Exactly two gradients a step: backward is called twice."),
    (_loop(sign=-0.5), "Half a step each time: the step is rate * p.grad, without a half.")]
# What Python says of a slip, and the hint
SAID = {
    "has no attribute 'backward'": "In your engine backward is a function: backward(L).",
    "'NoneType'": "The way back adds to .grad, so to forget is to make it 0.0, not None.",
    "unpack": "There may be any number of parameters: take them in a loop, for p in parameters.",
    "'list' object has no attribute": "parameters is a list. Take them one by one: for p in parameters.",
    "has no attribute 'zero_grad'": "In your engine to forget is p.grad = 0.0, for every p in parameters.",
    "name 'backward' is not defined": "Run the cell above that fetches your engine: backward comes from it."}


def _after(train, start, left, loss, examples, rate):
    """Where the parameters are after training."""
    parameters = [_Value(number) for number in start]
    for p in parameters:
        p.grad = left
    train(list(parameters), loss, list(examples), rate)
    return [float(p.data) for p in parameters]


@exercise(
    "06.train", minutes=6, difficulty="medium",
    question="""
        Complete `train(parameters, loss, examples, rate)`. For each example (x, y), one after the other: **forget** the old gradients;
        go **forward**, to `L = loss(parameters, x, y)`; walk **backward**; make a **step**: move the number of every parameter against
        its gradient. Nothing need be returned.""",
    stub="""
        def train(parameters, loss, examples, rate):
            for x, y in examples:
                L = ...""",
    hints=["One line before `L = …`, and two after it. To forget is a loop: `for p in parameters: p.grad = 0.0`. The way back is "
           "`backward(L)`.",
           "The step is a loop of its own, inside the other: `for p in parameters: p.data -= rate * p.grad`.",
           ("Help: the loss does not fall", """
            Look at how far the lines are indented. What stands outside the loop happens once, after all examples."""),
           ("Help: has no attribute 'backward'", "`backward` is the function that you wrote in lesson 05: `backward(L)`.")],
    solution="""
        def train(parameters, loss, examples, rate):
            for x, y in examples:
                for p in parameters:
                    p.grad = 0.0
                L = loss(parameters, x, y)
                backward(L)
                for p in parameters:
                    p.data -= rate * p.grad""",
    explained="Forget, forward, backward, step: every training loop has these four.",
    why="This loop does not know what it trains: any calculation that your engine can record.",
    mistakes=SLIPS,
    planted=[
        (lambda parameters, loss, examples, rate: [loss(parameters, x, y).backward() for x, y in examples], "backward(L)"),
        (lambda parameters, loss, examples, rate: [p.zero_grad() for p in parameters], "p.grad = 0.0"),
        (lambda parameters, loss, examples, rate: parameters.zero_grad(), "one by one"),
        (lambda parameters, loss, examples, rate: _with_none(parameters, loss, examples), "not None"),
        (lambda parameters, loss, examples, rate: _two_names(parameters, loss, examples, rate), "any number of parameters"),
        (lambda parameters, loss, examples, rate: [backward(_line(parameters[:2], x, y)) for x, y in examples], "Nothing has moved"),
        (lambda parameters, loss, examples, rate: _new_values(parameters, loss, examples, rate), "Nothing has moved"),
        (lambda parameters, loss, examples, rate: _loop()(parameters, _line if len(parameters) == 2 else _other, examples, rate),
         "expected")])
def train(answer):
    if has_blank(answer):
        raise NotYet
    for words, *case in CASES:
        right, tried = _after(_loop(), *case), f"the parameters after training {words}"
        try:
            got = _after(answer, *case)
        except Exception as error:
            error.tried = tried
            error.hint = next((hint for piece, hint in SAID.items() if piece in str(error)), "")
            raise
        expect(got, right, tried=tried, hints=[(_after(wrong, *case), hint) for wrong, hint in SLIPS
                                               if not same(_after(wrong, *case), right, 1e-9, 1e-12)])


def _with_none(parameters, loss, examples):
    for x, y in examples:
        for p in parameters:
            p.grad = None
        backward(loss(parameters, x, y))


def _two_names(parameters, loss, examples, rate):
    w, b = parameters
    _loop()([w, b], loss, examples, rate)


def _new_values(parameters, loss, examples, rate):
    for x, y in examples:
        backward(loss(parameters, x, y))
        for i, p in enumerate(parameters):
            parameters[i] = _Value(p.data - rate * p.grad)


def _other(parameters, x, y):
    return _line([parameters[0], parameters[2]], x, y)


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
    "06.forget", question="""
        Somebody thinks that to forget is mere tidiness, and leaves it out: the same four neurons, the same 2,000 steps, nothing is ever
        forgotten. How many of the forty points are right at the end? And whose gradients pile up from step to step: those of the 17
        parameters, or those of all values of the graph?""",
    answer={"right at the end": "about half", "what piles up": "those of the parameters"},
    choices={"right at the end": ["all forty", "thirty-odd", "about half"],
             "what piles up": ["those of the parameters", "those of all values"]},
    reveal="""**About half**, 22: it says the same of every point. Only the gradients **of the parameters** pile up. Every example makes a
        new graph, whose values have had no gradient before; the parameters are what stays from step to step, and `.grad` adds until
        somebody clears it.""")

prediction(
    "06.rate", question="""
        Now the rate: 500 steps each time, from 0.00001 up to 0.1. At 0.001 the mean squared error went from 10.2 to 0.016. What is it at
        0.1, at a rate a hundred times as large?""",
    answer="stuck in between", choices=["below 0.016", "stuck in between", "far above 10.2"],
    reveal="""**Stuck in between**, at 1.491. It cannot run away, for 4 sin lies between −4 and 4. It dies instead: slide, and see.""")

prediction(
    "06.edge", question="Which arrow did the slide's author overlook?",
    answer="from b to c", choices=["from x to a", "from w₃ to c", "from b to c", "from c to ŷ"],
    reveal="""**From b to c.** w₁ and w₃ reach L through b, and b goes two ways: straight into ŷ, and by way of c. Only w₂ has no way
        through b, and only its number was right.""")

card("06", [
    "Forget, forward, backward, step: once for each example, all four inside the loop.",
    "One neuron draws a straight line. Neurons behind neurons bend it.",
    ".grad adds up until somebody clears it. Left out, the model trains on gradients of long ago.",
    "Too small a rate crawls. Too large a one can close every relu: no example moves anything any more.",
    "What is minimised is the loss, penalty included; what you plot may be something else.",
    "A weight used twice has two paths: add them all. A falling loss does not say that you did."])
