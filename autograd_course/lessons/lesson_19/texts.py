"""Lesson 19: texts included with every Python, n-gram counts, and the recording of a training run."""

import json
import re
import sys
import unicodedata
import zlib
from pathlib import Path

import numpy as np

import autograd_lib as ag

from .writer import Writer, encode, surprise, train, write

FOLDER = Path(__file__).parent
PRINTABLE = "\n" + "".join(map(chr, range(32, 127)))  # what prose() is written in, in every Python


# --- Texts ----------------------------------------------------------------------------------------------------------


def names():
    """Return the 1,379 names of Unicode's pictographs and symbols, the same in every Python from 3.8 on."""
    blocks = [(0x1F300, 0x1F650), (0x1F680, 0x1F6D3), (0x2600, 0x27C0)]
    found = [unicodedata.name(chr(code), "") for first, end in blocks for code in range(first, end)]
    return [name for name in found if name]


def prose():
    """Return the prose paragraphs of the texts behind Python's `help()`, each once, one per line.

    They have about 0.2 million letters, and differ between versions of Python.
    """
    from pydoc_data.topics import topics

    found, plain = {}, str.maketrans("“”‘’–—", "\"\"''--")
    for topic in sorted(topics):
        for block in re.split(r"\n\s*\n", topics[topic]):
            text = " ".join(block.split()).translate(plain)
            if len(text) >= 60 and re.fullmatch(r'["A-Z][ -~]+\.', text):
                found[text] = None
    return list(found)


def split(texts):
    """Split texts into a training set and a validation set, by a checksum of each text.

    Each text is in the same set in every version of Python.
    """
    held_out = [zlib.crc32(text.encode()) % 10 == 0 for text in texts]
    return tuple(
        [text for text, out in zip(texts, held_out) if out == side] for side in (False, True)
    )


def joined(texts, letters):
    """Return the texts, one per line, as integers."""
    return encode("\n" + "\n".join(texts) + "\n", letters)


# --- Counting -------------------------------------------------------------------------------------------------------


def counted(text, held_out, many, n=5, trust=4.0):
    """Return the probability that each n-gram gives to each held-out letter: one array for each n.

    The k-gram counts what followed the same k − 1 letters in `text`, and adds `trust` letters
    distributed as the (k−1)-gram predicts; the 1-gram adds `trust` letters distributed evenly over
    all `many`.
    """
    p, tables = np.full(len(held_out), 1 / many), []
    before, asked = 0 * text, 0 * held_out  # the k letters before each letter, as one number
    for k in range(n):
        with_it = np.concatenate([before * many + text[k:], asked * many + held_out[k:]])
        with_it = np.unique(with_it, return_inverse=True)[
            1
        ]  # the same as small numbers, however large k is
        found, wanted = with_it[: len(before)], with_it[len(before) :]
        shares = p.copy()
        shares[k:] = (times(found, wanted) + trust * p[k:]) / (times(before, asked) + trust)
        p, before, asked = shares, found[:-1], wanted[:-1]
        tables.append(p)
    return tables


def times(found, asked):
    """Return how often each entry of `asked` occurs in `found`, both of small ints."""
    return np.bincount(found, minlength=asked.max() + 1)[asked]


def after(text, context, many):
    """Return how often each of the `many` letters followed `context`, all as ints: (many,)."""
    k = len(context)
    here = np.all(
        [text[i : len(text) - k + i] == context[i] for i in range(k)] or [text == text], axis=0
    )
    return np.bincount(text[k:][here], minlength=many)


def opened(text):
    """Return, for each ")" of a text, the distance back to its "("; 0 for other letters."""
    back, waiting = np.zeros(len(text), int), []
    for i, letter in enumerate(text):
        if letter == "\n":
            waiting = []
        elif letter == "(":
            waiting.append(i)
        elif letter == ")" and waiting:
            back[i] = i - waiting.pop()
    return back


def nats(p):
    """Return the mean surprise of letters that had these probabilities."""
    return float(-np.log(p).mean())


# --- A writer and its rival, on one text ----------------------------------------------------------------------------


class Task:
    """Hold a training text and a held-out text as integers, a model for them, and the settings of its training.

    Every model predicts the held-out letters at the positions `asked`, which have at least half of
    the network's context, `seen` letters, before them. So all models predict the same letters.
    """

    def __init__(self, what, texts, letters, steps, every, many, **model):
        self.what, self.letters, self.model = what, letters, model
        self.steps, self.every, self.many = steps, every, many
        self.known, self.unseen = split(texts)
        self.text, self.test = joined(self.known, letters), joined(self.unseen, letters)
        context = self.writer().context
        half = context // 2
        self.windows = np.arange(0, len(self.test) - context, half)[:, None] + np.arange(context)
        self.asked = (self.windows[:, half:] + 1).ravel()
        self.seen = np.tile(np.arange(half, context) + 1, len(self.windows))

    def writer(self):
        """Return the untrained model."""
        return Writer(self.letters, **self.model)

    def guessed(self, model):
        """Return the probability that the model gives to each held-out letter."""
        half, found = self.windows.shape[1] // 2, []
        with ag.no_grad():
            for i in range(0, len(self.windows), 32):
                here = self.windows[i : i + 32]
                found.append(
                    np.exp(
                        -surprise(model, self.test[here], self.test[here + 1]).data[:, half:]
                    ).ravel()
                )
        return np.concatenate(found)

    def counted(self, n=5, trust=4.0):
        """Return the probabilities of the 1-gram, the 2-gram, … and the n-gram; see `counted`."""
        return [p[self.asked] for p in counted(self.text, self.test, len(self.letters), n, trust)]

    def after(self, context):
        """Return how often each letter followed the text `context`: (letters,)."""
        return after(self.text, encode(context, self.letters), len(self.letters))

    def follow(self, model, steps):
        """Train the model, and record its validation loss and a sample at intervals.

        Returns {"steps", "held_out" (the validation loss), "wrote", "losses" (one for each step)}.
        """
        run = {"steps": [], "held_out": [], "wrote": [], "losses": []}

        def look():
            run["steps"].append(len(run["losses"]))
            run["held_out"].append(round(nats(self.guessed(model)), 4))
            run["wrote"].append(write(model, many=self.many, temperature=0.7)[1:])

        look()
        for loss in train(model, self.text, steps, self.steps):
            run["losses"].append(loss)
            if len(run["losses"]) % self.every == 0:
                look()
        return run

    # A run that was recorded: what was seen of it, and the weights it ended with.

    def fingerprint(self):
        """Return a number that identifies the text."""
        return zlib.crc32(self.text.tobytes() + self.test.tobytes())

    def record(self, run, model):
        """Save a run and its weights, in half precision, in this folder."""
        kept = {
            **run,
            "losses": run["losses"][:20],
            "text": self.fingerprint(),
            "python": sys.version.split()[0],
        }
        (FOLDER / f"{self.what}.json").write_text(
            json.dumps(kept, indent=0) + "\n", encoding="utf-8"
        )
        np.savez_compressed(
            FOLDER / f"{self.what}.npz",
            **{k: w.data.astype(np.float16) for k, w in model.p.items()},
        )

    def recorded(self):
        """Return (recorded run, model with the weights of that run)."""
        model = self.writer()
        with np.load(FOLDER / f"{self.what}.npz") as weights:
            for name, w in model.p.items():
                w.data = weights[name].astype(np.float32)
        return json.loads((FOLDER / f"{self.what}.json").read_text(encoding="utf-8")), model


def task(what):
    """Return the Task "names" or "prose"."""
    if what == "names":
        found = names()
        return Task(
            what, found, "".join(sorted({"\n", *"".join(found)})), 400, 40, 60, width=48, context=16
        )
    return Task(what, prose(), PRINTABLE, 3000, 100, 240)
