"""Lesson 13: a rule of two terms, the weight that was used at every step, and gradients cut to a length."""
from functools import wraps

import numpy as np

from ...ask import NotYet, exercise, expect, expect_call, has_blank, is_stub
from ...ask.mistakes import printed, sign_lost
from ...ask.texts import Question, card, prediction, recall

recall("13", [
    Question("A classifier is right on 100 % of the scans it was trained on, and on 60 % of those held out. Which number says how it "
             "will do on new ones? (Lesson 12)", "60 %", "**60 %**. The other one says how much fits into it.", ["100 %", "80 %", "60 %"]),
    Question("Adam, lr = 0.01. The first gradient of a weight is 250. By how much does the weight move in this first step? (11)", 0.01,
             "**0.01**: Adam measures every gradient in its own usual size, and the first one is all it has seen."),
    Question("z = tanh(x) is 0.8, and g = 10 arrives. What goes to x? (04)", 3.6,
             "g · (1 − z²) = 10 · 0.36 = **3.6**. The rule needs the output alone.")])

prediction(
    "13.two", question="""A wave like $\\sin x \\cdot \\cos x$ is sampled at equal, known distances, and its formula is known to you. But
        you are not told *where* you are: you only see the latest values. How many of them do you need, to compute the next one exactly?""",
    answer="two", choices=["one", "two", "about half a period", "a whole period"],
    reveal="""**Two.** One is too few: at the same height the wave may be rising or falling. The two latest tell which, and then everything
        is settled. The next lines turn that into a formula.""")

prediction(
    "13.uses", question="""A state starts at 1, and three times it is multiplied by the same weight $w = 2$. That gives 2, then 4, then
        $L = 8$. What is the gradient of $w$?""",
    answer=12,
    reveal="""**12.** w is used three times. Raise it by a nudge: the first use, the second and the third all feel it, and each brings 4.
        It is the slope of $w^3$, which is $3 w^2$. With 4 you have counted one use alone.""")

prediction(
    "13.fifty", question="""Each step of a recurrence turns the state, and makes it longer or shorter by the factor ρ (rho). A gradient of
        length 1 arrives at step 50 and is carried back to the start. About how long is it there, with ρ = 0.9? And with ρ = 1.1?""",
    answer={"ρ = 0.9": "0.005", "ρ = 1.1": "117"},
    choices={"ρ = 0.9": ["0.9", "0.45", "0.1", "0.005", "0.0000005"], "ρ = 1.1": ["1.1", "5", "55", "117", "1000000"]},
    reveal="""$0.9^{50}$ is about **0.005**, and $1.1^{50}$ about **117**. Every step back multiplies once more by ρ. Ten percent less or
        more a step, and after fifty steps the two differ by a factor of more than twenty thousand.""")

prediction(
    "13.cure", question="""A recurrence of 50 steps learns its factor ρ in 120 steps of gradient descent; right would be 1. Begun at 1.1,
        where the gradient is huge, the first step lands at −154. Begun at 0.8, where the gradient is tiny, it does not get anywhere. Now
        no gradient may be longer than 1: a longer one is shortened. From where does it arrive?""",
    answer="from 1.1 alone", choices=["from both", "from 1.1 alone", "from 0.8 alone", "from neither"],
    reveal="""**From 1.1 alone.** A gradient that is too long still points the right way, so shortening it is enough. Where it is too short
        there is nothing to cut, and the run from 0.8 is the same to the last digit.""")

card("13", [
    "y[n+1] = 2cos(2h)·y[n] − y[n−1], exactly. Look for the simple rule before you train.",
    "A recurrent network hands a state on from step to step, with the same weights at each.",
    "Through time: the ordinary backward pass of the unrolled graph.",
    "A weight used n times: its gradient is the sum over n uses.",
    "Over n steps a gradient's length is multiplied by ρⁿ: with ρ below 1 it vanishes, above 1 it explodes.",
    "Clipping all by one norm cures exploding, and keeps the direction. It cures no vanishing."])

# --- 13.rule --------------------------------------------------------------------------------------------------------------


def _two(angle):
    return 2 * np.cos(angle), -1


@exercise(
    "13.rule", minutes=3, difficulty="optional",
    question="""
        Another wave: $\\sin 3x$, sampled at x = 0, 0.2, 0.4, … Its next value, too, is a multiple of the latest value, plus a multiple of
        the one before. Give the two factors.""",
    stub="""
        of_the_latest = ...
        of_the_one_before = ...""",
    hints=["From one sample to the next, by how much does what stands inside the sine grow?",
           "In the derivation, $b$ is that growth. For $\\sin 2x$ it was $2h$.",
           ("Help: I get 1.8", "That is 2cos(0.4), of the wave above. Here x is multiplied by 3.")],
    solution="""
        of_the_latest = 2 * np.cos(3 * 0.2)
        of_the_one_before = -1""",
    explained="A sample further on, $3x$ has grown by 0.6. Everything else is as above; the height of the wave does not matter.",
    why="Every pure wave, sampled evenly, has a rule of two terms.",
    mistakes=[
        (_two(0.4), "That is the factor of the lesson's wave, with 2x inside. Here it is 3x."),
        (_two(1.2), "Doubled once too often: the 2 in 2h came from sin 2x. What stands inside here?"),
        (_two(0.2), "From sample to sample x grows by 0.2. By how much does 3x grow?"),
        (_two(0.3), "That is for samples 0.1 apart. Here they are 0.2 apart."),
        (_two(3), "3 per unit of x: but from sample to sample x grows by 0.2 only."),
        (_two(np.radians(0.6)), "Degrees? np.cos counts in radians."),
        ((3 * np.cos(0.6), -1), "The 2 in front stays: it comes from adding the two lines, not from sin 2x."),
        ((6 * np.cos(0.6), -1), "The 3 belongs into the cosine alone: it says how far the angle grows."),
        ((np.cos(0.6), -1), "The 2 in front is missing: two neighbours are added in the derivation."),
        ((np.cos(1.2), -1), "The 2 belongs in front of the cosine, not into it."),
        ((2 * np.sin(0.6), -1), "Which of the two, sin b or cos b, stayed when the two lines were added?"),
        ((2 * np.cos(0.6), 1), "The sign of the second: the value before went to the other side."),
        ((-1, 2 * np.cos(0.6)), "The right factors in the wrong order."),
        (sign_lost(_two(0.6)))],
    planted=[((1.65, -1), "keep more digits"), (1.65067, "2 values were expected"), ((0.6, -1), "Number 1 of 2")])
def rule(answer):
    expect(answer, _two(0.6), tried="the two factors of sin 3x, sampled every 0.2", shown="two other numbers", hints=[
        *rule.mistakes, lambda got, right: "About right: keep more digits, or write the formula." if np.shape(got) == (2,)
        and np.allclose(got, right, atol=0.006) else None])


# --- 13.uses --------------------------------------------------------------------------------------------------------------

def _uses(total=lambda total, new: total + new, slope=lambda s: 1 - s * s, met=-1, on=lambda g, w, slope: g * w, stop=0):
    """A `gradient_of_w`; the right one, unless something is said otherwise."""
    def gradient_of_w(w, states, g):
        sum_ = 0.0
        for k in range(len(states) - 1, stop, -1):
            g = g * slope(states[k])
            sum_ = total(sum_, g * states[k + met])
            g = on(g, w, slope(states[k]))
        return sum_
    return gradient_of_w


def _last_only(w, states, g):
    return g * (1 - states[-1] ** 2) * states[-2]


def _before_tanh(w, states, g):
    total = 0.0
    for k in range(len(states) - 1, 0, -1):
        total += g * states[k - 1]
        g = g * (1 - states[k] ** 2) * w
    return total


def _slope_of_the_state_before(w, states, g):
    total = 0.0
    for k in range(len(states) - 1, 0, -1):
        g = g * (1 - states[k - 1] ** 2)
        total += g * states[k - 1]
        g = g * w
    return total


def _slots(to_w=lambda g, w, state: g * w, on=lambda g, w, state: g * w):
    def gradient_of_w(w, states, g):
        total = 0.0
        for k in range(len(states) - 1, 0, -1):
            g = g * (1 - states[k] ** 2)
            total = total + to_w(g, w, states[k - 1])
            g = on(g, w, states[k - 1])
        return total
    return gradient_of_w


def _w_twice(w, states, g):
    total = 0.0
    for k in range(len(states) - 1, 0, -1):
        g = g * (1 - states[k] ** 2) * w
        total += g * states[k - 1]
        g = g * w
    return total


def _without_g(w, states, g):
    return sum((1 - states[k] ** 2) * states[k - 1] for k in range(1, len(states)))


def _last_many_times(w, states, g):
    return (len(states) - 1) * _last_only(w, states, g)


def _states(w, start, steps):
    states = [start]
    for _ in range(steps):
        states.append(np.tanh(w * states[-1]))
    return states


@exercise(
    "13.uses", minutes=7, difficulty="medium",
    question="""
        Now with a bend: $s_k = \\tanh(w \\cdot s_{k-1})$. `states` is the list $s_0, s_1, \\ldots, s_n$, and g arrives at the last one.
        Fill the three blanks, so that the function returns the gradient of w. (The loop runs backwards: k is n at first, 1 at the end.)""",
    stub="""
        def gradient_of_w(w, states, g):
            total = 0.0
            for k in range(len(states) - 1, 0, -1):
                g = ...          # from states[k] back through tanh, to the product
                total = ...      # and what this use brings to w
                g = ...          # on to states[k - 1]
            return total""",
    hints=["Lesson 04: back through tanh, g is multiplied by $1 - z^2$, where z is the output. Which of the states is it?",
           "The product is $w \\cdot s_{k-1}$. Each slot gets g times what stands in the other.",
           ("Help: too small, whatever I do", "`total = g * …` forgets what the other uses brought. Over the uses you add.")],
    solution="""
        def gradient_of_w(w, states, g):
            total = 0.0
            for k in range(len(states) - 1, 0, -1):
                g = g * (1 - states[k] ** 2)
                total = total + g * states[k - 1]
                g = g * w
            return total""",
    explained="Three rules that you have known since lesson 04, in a loop. That is all there is to *through time*.",
    why="That is backpropagation through time, whole. The engine does the same, and has never heard of time.",
    mistakes=[
        (_last_only, "The last step alone. w was used at every step: what do the other uses bring?"),
        (_last_many_times, "The last use, times the number of steps. Each use brings its own share: walk on to the state before."),
        (_uses(total=lambda total, new: new), "One use survives: `total = …` forgets the others. Over the uses you add."),
        (_uses(slope=lambda s: 1), "The tanh is missing on the way back: 1 − z², with its output z."),
        (_uses(on=lambda g, w, slope: g), "On to the state before, g has to pass the product: what stands in the other slot?"),
        (_uses(met=0), "The product was w · states[k − 1]. So which state does g meet there?"),
        (_before_tanh, "w's share is taken in front of tanh's slope. First back through tanh, then to the two slots of the product."),
        (_slope_of_the_state_before, "tanh's slope is 1 − z² of its *output*. Which state came out of step k?"),
        (_uses(slope=lambda s: 1 - np.tanh(s) ** 2), "states[k] is tanh's output already: no second tanh."),
        (_uses(slope=lambda s: 1 - s), "tanh's slope from its output z is 1 − z²: the square is missing."),
        (_uses(slope=np.tanh), "Back through tanh, g meets its *slope*: 1 − z², with its output z."),
        (_uses(slope=lambda s: s * s), "That is z². The slope of tanh is 1 − z²."),
        (_uses(total=lambda total, new: total * new), "The uses are multiplied. Each is a route of its own: over routes you add."),
        (_uses(stop=1), "The first step is missing: the loop has to reach k = 1."),
        (_slots(), "What this use brings to w: g times what stands in the *other* slot of the product. There stands a state."),
        (_slots(on=lambda g, w, state: g * state),
         "The two slots are swapped: w gets g times the state, and the state gets g times w."),
        (_slots(to_w=lambda g, w, state: g * state, on=lambda g, w, state: g * state),
         "On to the state before: g times what stands in the *other* slot of the product. There stands w."),
        (_uses(slope=lambda s: 1 / (1 - s * s)), "Divided by tanh's slope. Back through an op, too, g is multiplied by it."),
        (_without_g, "What arrives is lost: at each place it is g that is multiplied."),
        (lambda w, states, g: sum(states[:-1]),
         "The states alone: each use brings g times the state it met."),
        (_uses(slope=lambda s: (1 - s) ** 2), "The square belongs to the state alone: 1 − states[k] ** 2, without brackets."),
        (_uses(on=lambda g, w, slope: g + w), "g and w are added. Through a product you multiply."),
        (_uses(on=lambda g, w, slope: w), "On to the state before: g times w. What arrived is lost here."),
        (_w_twice, "w twice. The first line stops at the product; w belongs to the way on to states[k - 1]."),
        (_uses(on=lambda g, w, slope: g * w * slope), "tanh's slope twice: the first line has it already. Left to pass is the product."),
        (lambda w, states, g: w * _uses()(w, states, g),
         "w times too much. w itself gets g times the state; the factor w is for the state before."),
        sign_lost(_uses()), printed(_uses())],
    planted=[(lambda w, states, g: 0.0, "got"), (_uses(total=lambda total, new: total + new / 50), "another number")])
def uses(answer):
    if has_blank(answer):
        raise NotYet
    for w, start, n, g in [(1.2, 0.5, 3, 2.0), (0.9, 0.8, 1, -1.5), (1.1, 0.3, 50, 1.0)]:
        states = _states(w, start, n)
        expect_call(answer, w, states, g, gives=_uses()(w, states, g), shown="another number", hints=uses.mistakes,
                    tried=f"gradient_of_w for {n} step{'s' * (n > 1)}, with w = {w}, s₀ = {start} and g = {g}")


# --- 13.clip --------------------------------------------------------------------------------------------------------------

def _norm(gradients):
    return np.sqrt(sum(np.sum(g * g) for g in gradients))


def _clip(norm=_norm, factor=lambda c, norm: c / norm, always=False):
    """A `clip`; the right one, unless something is said otherwise."""
    def clip(gradients, max_norm):
        long = norm(gradients)
        return [g * factor(max_norm, long) for g in gradients] if always or long > max_norm else gradients
    return clip


def _on_copies(answer):
    """An answer that writes into its arrays, as PyTorch's does, leaves the mistakes theirs to compare with."""
    return wraps(answer)(lambda gradients, c: answer([g.copy() for g in gradients], c)) if callable(answer) else answer


def _in_place(factor):
    """A `clip` that shortens the arrays it was given, by factor(gradients, max_norm)."""
    def clip(gradients, c):
        by = factor(gradients, c)
        for g in gradients:
            g *= by
        return gradients
    return clip


def _each_array(gradients, max_norm):
    return [_clip()([g], max_norm)[0] for g in gradients]


@exercise(
    "13.clip", minutes=6, difficulty="medium",
    question="""
        Write `clip(gradients, max_norm)`. It gets a list of arrays of several shapes, all gradients of a model, and gives back such a
        list: as it was, if their **common** norm is at most `max_norm`; else shortened, so that the common norm *is* `max_norm` and the
        direction is the old one.""",
    stub="""
        def clip(gradients, max_norm):
            ...""",
    hints=["First one number: the norm over everything. The squares of *all* entries of *all* arrays, added up, and the root of that.",
           "`sum(np.sum(g * g) for g in gradients)` adds up all squares. Then one factor for all: what makes `norm` into `max_norm`?",
           ("Help: why not np.clip?", """
            `np.clip` cuts each entry by itself. (3, 0.1) cut at 1 becomes (1, 0.1): beside the first, the second entry counts three times
            what it did. The step goes another way than the one that was measured.""")],
    solution="""
        def clip(gradients, max_norm):
            norm = np.sqrt(sum(np.sum(g * g) for g in gradients))
            if norm <= max_norm:
                return gradients
            return [g * (max_norm / norm) for g in gradients]""",
    explained="One norm, one factor. So the long vector of all gradients is shorter, and points where it pointed.",
    why="One factor for all keeps the direction: the step is shorter, and still the way that was measured.",
    mistakes=[
        (lambda gradients, c: [np.clip(g, -c, c) for g in gradients],
         "Each entry is clipped by itself. The large ones lose, the small ones do not: the direction has changed."),
        (lambda gradients, c: [np.minimum(g, c) for g in gradients],
         "Each entry is clipped by itself, and a large negative one not at all. It is the length of all together that counts."),
        (_each_array, "Each array is clipped by its own norm, so some shrink more than others. One norm for all together."),
        (_clip(factor=lambda c, norm: 1 / norm), "Their norm is now 1. Wanted is max_norm."),
        (_clip(factor=lambda c, norm: norm / c), "The factor is upside down: what is too long grows."),
        (_clip(norm=lambda gs: sum(np.sum(g * g) for g in gs)), "The root is missing: that is the norm squared."),
        (_clip(norm=lambda gs: sum(np.sum(np.abs(g)) for g in gs)), "Sizes are added. The norm is the root of the sum of squares."),
        (_clip(norm=lambda gs: max(np.max(np.abs(g)) for g in gs)), "That is the largest entry. The norm takes all of them."),
        (_clip(norm=lambda gs: sum(np.sqrt(np.sum(g * g)) for g in gs)), "The arrays' norms are added. Add all squares, then one root."),
        (_clip(norm=lambda gs: np.sqrt(np.mean(np.concatenate([g.ravel() for g in gs]) ** 2))), "That is a mean of squares: sum them."),
        (_clip(norm=lambda gs: np.sqrt(sum(np.sum(g) for g in gs) ** 2)), "Added before they are squared, so signs cancel. Square first."),
        (_clip(always=True), "These were short enough, and have been stretched. Leave alone what is not too long."),
        (_clip(factor=lambda c, norm: 0), "They are thrown away. Their direction is worth keeping: shorten them."),
        (lambda gradients, c: gradients,
         "Nothing got shorter. Is a comparison or the factor upside down? Or does a loop only rename: `g = g * …` changes no list."),
        (lambda gradients, c: gradients ** 2, "`gradients` is a list, and knows no arithmetic: go through its arrays, one by one."),
        (lambda gradients, c: gradients * (c / _norm(gradients)), "A list cannot be multiplied so: multiply each of its arrays."),
        (lambda gradients, c: _norm(gradients), "The norm came back, as from clip_grad_norm_. Wanted here is the list."),
        (lambda gradients, c: [g.grad for g in gradients], "The arrays *are* the gradients. clip_grad_norm_ wants weights: write it out."),
        (lambda gradients, c: np.linalg.norm(gradients), "The arrays differ in shape: add up squares array by array, then add those sums."),
        (lambda gradients, c: np.concatenate(gradients), "The arrays differ in shape: add up squares array by array, then add those sums."),
        (_clip(norm=lambda gs: np.sqrt(sum(g * g for g in gs))), "Your norm is an array. `np.sum(g * g)` makes one number of each array."),
        (_clip(norm=lambda gs: np.sqrt(np.sum(gs[0] * gs[0]))), "The norm of the first array alone. All of them count."),
        printed(_clip())],
    planted=[(lambda gradients, c: _clip()(gradients, c)[0], "Number 1 of 2"), (2.6, "give it the function"),
             (lambda gradients, c: [g * 0.3 for g in gradients], "times"),
             (_clip(norm=lambda gs: np.sqrt(sum(sum(g * g) for g in gs))), "norm is an array"),
             (_in_place(lambda gradients, c: c / _norm(gradients) ** 2), "root is missing")])
def clip(answer):
    if is_stub(answer):
        raise NotYet
    answer = _on_copies(answer)
    long, short = [np.array([3.0, -4.0]), np.array([[0.0, 12.0]])], [np.array([0.3, -0.4]), np.array([[0.0]])]
    for gradients, c in [(long, 2.6), (short, 2.6), ([np.array([30.0, 0.1]), np.array([-0.2])], 1.0)]:
        expect_call(answer, gradients, c, gives=_clip()(gradients, c), hints=clip.mistakes)
