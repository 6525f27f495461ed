"""Draw the pictures of lesson 19: a guess from counts, a training curve, a comparison of two models, and their mixture."""

from html import escape

import numpy as np

from ...drawing import style
from ...drawing.axes import Axes, round_step, ticks
from ...drawing.formatting import number
from ...drawing.picture import Picture, svg
from .texts import nats

MONO = "font:14px/1.75 ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere"
NETWORK, COUNTING = style.VALUE_GROUND, style.GROUND


def _share(p):
    """Return a probability as text with two decimals, or as "< 0.01" or "> 0.99" near 0 and 1."""
    return "< 0.01" if p < 0.005 else "> 0.99" if p >= 0.995 else f"{p:.2f}"


def guess(letters, p, context, most=8):
    """Draw the probabilities of the likeliest next letters as bars, and one more bar for all other letters.

    Parameters
    ----------
    letters : str
        All letters.
    p : array of float
        The probability of each letter.
    context : str
        The text before the next letter.
    most : int
        The number of letters that have a bar of their own.
    """
    shown = [letter if letter.strip() else {" ": "␣", "\n": "↵"}[letter] for letter in letters]
    first = np.argsort(-p, kind="stable")[:most]
    rows = [(shown[i], p[i]) for i in first] + [(f"{len(p) - most} others", 1 - p[first].sum())]
    end = 2.5 * round_step(
        max(share for _, share in rows) / 2.5
    )  # the longest bar is most of the axis, or half of it
    plot = Axes((122, 44, 350, 26 * len(rows)), (0, min(1, end)), (0, 1))
    plot.frame(ticks(*plot.x, most=5), [], "probability", f"what follows {escape(context)} …")
    for k, (name, share) in enumerate(rows):
        x, y, last = plot.at(share, 0)[0], 48 + 26 * k, k == len(rows) - 1
        plot.words(116, y + 14, escape(name), anchor="end", size=13)
        plot.parts.append(
            f'<rect x="122" y="{y}" width="{x - 122:.1f}" height="18" '
            f'fill="{style.GROUND if last else style.INK}" stroke="{style.INK}"/>'
        )
        plot.words(x + 8, y + 14, escape(_share(share)), anchor="start", size=13)
    text = f"After {context}: " + ", ".join(f"{shown[i]} {_share(p[i])}" for i in first[:4])
    return Picture(svg(f"0 0 560 {26 * len(rows) + 92}", "".join(plot.parts), text), text)


def learning(run, counted, step):
    """Draw a training run up to `step`: its validation loss, the losses of the n-grams, and a sample of its text.

    `run` is a result of `Task.follow`, and `step` is one of its steps. `counted` holds the losses
    of the 1-gram, the 2-gram, and so on.
    """
    steps, held_out, k = run["steps"], run["held_out"], run["steps"].index(step)
    end = steps[-1] or 1  # 0 if the run was stopped before it was looked at again
    plot = Axes(
        (56, 40, 346, 290),
        (-end / 30, end),
        tuple(np.log([0.93 * min([*counted, *held_out]), 1.15 * max(held_out)])),
    )
    heights = [
        (np.log(loss), number(loss)) for loss in (1, 1.5, 2, 3, 4) if np.log(loss) > plot.y[0]
    ]
    plot.frame(ticks(0, end, 4), heights, "step", "loss on held-out text, in nats per letter")
    py = 54
    plot.words(410, py, f"network {held_out[k]:.2f}", style.VALUE, "start", 13)
    for n, loss in sorted(enumerate(np.log(counted), 1), key=lambda pair: -pair[1]):
        plot.line([0, end], [loss, loss], style.INK, 1.2, "5 4")
        py = max(plot.at(0, loss)[1] + 4, py + 17)  # two names never on each other
        plot.words(410, py, f"{n}-gram {np.exp(loss):.2f}", anchor="start", size=13, halo=True)
    plot.line(steps, np.log(held_out), style.VALUE, 0.7)
    plot.line(steps[: k + 1], np.log(held_out[: k + 1]), style.VALUE, 2.8)
    plot.dot(step, np.log(held_out[k]), style.VALUE, style.VALUE, size=6)
    beaten = [n for n, loss in enumerate(counted, 1) if held_out[k] < loss]
    says = (
        f"beats the counts up to the {beaten[-1]}-gram"
        if beaten
        else "beats none of the n-gram counts"
    )
    first = f"Step {step}: loss {held_out[k]:.2f}, {says}. It writes:"
    wrote = run["wrote"][k].strip("\n")
    return Picture(
        svg("0 0 560 376", "".join(plot.parts), first) + "<br>" + page(escape(wrote)),
        f"{first}\n{wrote}",
        says_all=True,
    )


def page(html):
    """Return HTML that shows the text `html` in a box, with its line breaks.

    The style keeps underlines from hiding underscores.
    """
    return (
        f'<div style="{style.CARD};{MONO};color:{style.INK};background:{style.PAPER};max-width:600px;'
        f'padding:8px 14px;text-underline-offset:5px">{html}</div>'
    )


def written(text, first="It writes:"):
    """Show a text that a model has written; its description begins with the line `first`."""
    return Picture(page(escape(text)), f"{first}\n{text}", says_all=True)


def compare_predictions(text, network, counting):
    """Draw a text, and colour each letter that one of two models predicted much better than the other.

    Much better means at least twice the probability that the other model gave to the letter. `network`
    and `counting` hold the probability that each of the two models gave to each letter. The letters
    of the network are underlined, and those of the n-gram, `counting`, are overlined.
    """
    parts, said = [], {"network": "", "counting": ""}
    for letter, p, q in zip(text, network, counting, strict=True):
        who = "network" if p >= 2 * q else "counting" if q >= 2 * p else ""
        for name in said:
            said[name] += letter if who == name else "·"
        if who:
            ground, line = (NETWORK, "underline") if who == "network" else (COUNTING, "overline")
            parts.append(
                f'<span style="background:{ground};text-decoration:{line};text-decoration-thickness:2px">'
                f"{escape(letter)}</span>"
            )
        else:
            parts.append(escape(letter))
    pays = f"Loss here: network {nats(network):.2f} nats per letter, counting {nats(counting):.2f}."
    legend = (
        f'<div style="font:13px/1.6 {style.FONT};color:{style.INK};padding-bottom:6px;white-space:normal">'
        f'<span style="background:{NETWORK};text-decoration:underline">network at least twice as probable</span> &nbsp; '
        f'<span style="background:{COUNTING};text-decoration:overline">counting at least twice as probable</span>'
        f"<br>{pays}</div>"
    )
    told = "\n".join(
        [
            pays,
            text,
            f"The network gave at least twice the probability: {said['network']}",
            f"Counting gave at least twice the probability: {said['counting']}",
        ]
    )
    return Picture(page(legend + "".join(parts)), told, says_all=True)


def mixture(network, counting, w):
    """Draw the loss of the mixture w·network + (1 − w)·counting against w, with a mark at the given `w`.

    `network` and `counting` hold the probability that each of the two models gave to each letter.
    """
    at = np.linspace(0, 1, 41)
    losses = [nats(one * network + (1 - one) * counting) for one in at]
    here = nats(w * network + (1 - w) * counting)
    low, high = min(losses) - 0.02, max(losses) + 0.02
    plot = Axes((64, 40, 440, 210), (-0.03, 1.03), (low, high))
    plot.frame(
        ticks(0, 1, most=5),
        ticks(low, high, most=5),
        "share of the network, w",
        "loss of the mixture, in nats",
    )
    plot.line(at, losses, style.FAINT, 2.4)
    for end, who, anchor, colour in [
        (0, "counting alone", "start", style.INK),
        (1, "the network alone", "end", style.VALUE),
    ]:
        plot.dot(end, losses[-end], colour)
        px, py = plot.at(end, losses[-end])
        plot.words(px + 16 - 32 * end, py + 5, who, colour, anchor, 13, halo=True)
    plot.dot(w, here, style.FAINT, style.FAINT, size=6)
    x, y = plot.at(w, here)
    plot.words(
        x + 36 * (1 - 2 * w), y - 14, f"{here:.3f}", style.FAINT, halo=True
    )  # inside the bowl
    text = f"w = {number(w)}: loss {here:.3f}. Counting alone {losses[0]:.3f}, the network alone {losses[-1]:.3f}."
    return Picture(svg("0 0 560 300", "".join(plot.parts), text), text)
