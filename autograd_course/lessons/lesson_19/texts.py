"""Collect the texts of lesson 19 from Python itself, count their n-grams, and record a training run."""

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
    """Return a list of the paragraphs of prose in the texts behind Python's `help()`, without duplicates.

    The paragraphs have about 0.2 million letters, and differ between versions of Python.
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
    """Split a list of texts into a training set and a validation set, and return both as lists.

    A checksum of each text decides its set, so a text is in the same set in every version of
    Python.
    """
    held_out = [zlib.crc32(text.encode()) % 10 == 0 for text in texts]
    return tuple(
        [text for text, out in zip(texts, held_out) if out == side] for side in (False, True)
    )


def joined(texts, letters):
    """Return all texts, one per line, as one array of ints.

    Each int is the position of a letter in the str `letters`, from 0.
    """
    return encode("\n" + "\n".join(texts) + "\n", letters)


# --- Counting -------------------------------------------------------------------------------------------------------


def counted(text, held_out, many, n=5, trust=4.0):
    """Return the probabilities that the 1-gram to the n-gram give to each held-out letter, as a list of n arrays.

    Parameters
    ----------
    text, held_out : array of int
        The training text and the held-out text.
    many : int
        The number of different letters.
    n : int
        The length of the longest n-gram.
    trust : float
        The weight of the shorter n-gram, as a number of letters.

    Notes
    -----
    The k-gram counts which letters followed the same k − 1 letters in `text`. To these counts it adds
    `trust` letters, distributed as the (k−1)-gram predicts. The 1-gram adds `trust` letters distributed
    evenly over all letters.
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
    """Return how often each entry of `asked` occurs in `found`.

    `asked` and `found` are arrays of small ints, at least 0.
    """
    return np.bincount(found, minlength=asked.max() + 1)[asked]


def after(text, context, many):
    """Return how often each letter follows `context` in `text`, as an array of shape (many,).

    `text` and `context` are arrays of ints, and `many` is the number of different letters.
    """
    k = len(context)
    here = np.all(
        [text[i : len(text) - k + i] == context[i] for i in range(k)] or [text == text], axis=0
    )
    return np.bincount(text[k:][here], minlength=many)


def opened(text):
    """Return an array with the distance from each ")" of a text back to its "(", and 0 for every other letter.

    A ")" without a "(" in its line also gets 0.
    """
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
    """Return the mean of −log p, in nats, over letters to which a model gave the probabilities `p`."""
    return float(-np.log(p).mean())


# --- A writer and its rival, on one text ----------------------------------------------------------------------------


class Task:
    """Hold a training text and a held-out text as integers, and the settings of a model and of its training.

    All models are compared on the same held-out letters, at the positions `asked`. The network
    predicts each of them from the `seen` letters before it, which are at least half of its context.

    Parameters
    ----------
    what : str
        The name of the task, "names" or "prose".
    texts : list of str
        The texts, which are split into a training set and a validation set.
    letters : str
        All letters that occur in the texts.
    steps, every, many : int
        The number of training steps, the number of steps between two measurements, and the number of
        letters in a sample.
    **model
        Keyword arguments of Writer.
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
        """Return a new Writer with the task's settings, untrained."""
        return Writer(self.letters, **self.model)

    def guessed(self, model):
        """Return an array of the probability that `model` gives to each held-out letter in `asked`."""
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
        """Return a list of the probabilities that the 1-gram to the n-gram give to each held-out letter in `asked`.

        The function `counted` explains `n` and `trust`.
        """
        return [p[self.asked] for p in counted(self.text, self.test, len(self.letters), n, trust)]

    def after(self, context):
        """Return how often each letter follows the text `context` in the training text.

        The result is an array with one entry for each letter in `letters`.
        """
        return after(self.text, encode(context, self.letters), len(self.letters))

    def follow(self, model, steps):
        """Train `model`, and record its validation loss and a sample of its text at intervals.

        `steps` holds the numbers of the training steps, from 0. Return a dict of lists: "steps",
        "held_out" (the validation loss) and "wrote" (the sample) for each measurement, and "losses"
        for each step.
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
        """Return a checksum that identifies the training text and the held-out text."""
        return zlib.crc32(self.text.tobytes() + self.test.tobytes())

    def record(self, run, model):
        """Save a result of `follow`, and the model's weights in half precision, in the folder of this lesson."""
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
        """Return the recorded run, a dict as `follow` returns it, and a model with the weights of that run."""
        model = self.writer()
        with np.load(FOLDER / f"{self.what}.npz") as weights:
            for name, w in model.p.items():
                w.data = weights[name].astype(np.float32)
        return json.loads((FOLDER / f"{self.what}.json").read_text(encoding="utf-8")), model


def task(what):
    """Return the Task called `what`, which is "names" or "prose"."""
    if what == "names":
        found = names()
        return Task(
            what, found, "".join(sorted({"\n", *"".join(found)})), 400, 40, 60, width=48, context=16
        )
    return Task(what, prose(), PRINTABLE, 3000, 100, 240)
