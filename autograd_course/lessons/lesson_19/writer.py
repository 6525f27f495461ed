"""A transformer that writes, on one page: tokens, model, loss, Adam, sampling.

A number in brackets is the lesson that derives the line. N texts of T letters are the input, as
integers. Every position holds a row of `width` numbers.
"""

import numpy as np

import autograd_lib as ag

# --- Tokens: each letter is a number -------------------------------------------------------


def encode(text, letters):
    """Return the number of each letter of `text`, its place in `letters`, as an array of ints."""
    number = {letter: i for i, letter in enumerate(letters)}
    return np.array([number[letter] for letter in text])


def decode(numbers, letters):
    """Return the text whose letters have these numbers: the inverse of `encode`."""
    return "".join(letters[i] for i in numbers)


# --- The model: all its numbers, and what they do to a text --------------------------------


class Writer:
    """Predict the next letter from the last `context` letters.

    `letters` is a str of all letters, and `p` is a dict that maps names to parameters.
    """

    def __init__(self, letters, width=64, context=32, blocks=2, heads=4, seed=0):
        rng = np.random.default_rng(seed)
        self.letters, self.context, self.blocks, self.heads = letters, context, blocks, heads

        def normal(rows, columns, size):
            return (size * rng.normal(size=(rows, columns))).astype(np.float32)

        self.p = {
            "letter": normal(len(letters), width, 0.5),
            "place": normal(context, width, 0.5),
            "scale": np.ones(width, np.float32),
            "out": normal(width, len(letters), 0.5 * width**-0.5),
        }
        for b in range(blocks):
            for name, rows, columns, size in [
                ("Q", width, width, 1),
                ("K", width, width, 1),
                ("V", width, width, 1),
                ("join", width, width, 0.5),
                ("up", width, 4 * width, 1),
                ("down", 4 * width, width, 0.5),
            ]:
                self.p[f"{name}{b}"] = normal(rows, columns, size * rows**-0.5)
            for name, many in [("scale_1", width), ("scale_2", width), ("bias", 4 * width)]:
                self.p[f"{name}{b}"] = np.full(many, name != "bias", np.float32)
        self.p = {name: ag.Tensor(w, requires_grad=True) for name, w in self.p.items()}

    def __call__(self, text):
        """Return logits, (N, T, letters), for the letter that follows each letter of `text`, ints (N, T)."""
        p = self.p
        x = p["letter"][text] + p["place"][: text.shape[1]]  # embedding [18]
        for b in range(self.blocks):
            x = x + self.attend(norm(x) * p[f"scale_1{b}"], b)  # residual path [18]
            n = norm(x) * p[f"scale_2{b}"]
            hidden = ag.relu(n @ p[f"up{b}"] + p[f"bias{b}"])  # matmul [09], relu [04]
            x = x + hidden @ p[f"down{b}"]
        return norm(x) * p["scale"] @ p["out"]

    def attend(self, x, b):
        """Return the attention [18] of all heads of block b to x, in the shape of x, (N, T, width)."""
        (N, T, width), p = x.shape, self.p
        Q, K, V = (
            ag.swapaxes(ag.reshape(x @ p[f"{name}{b}"], (N, T, self.heads, -1)), 1, 2)
            for name in "QKV"
        )
        S = Q @ ag.swapaxes(K, 2, 3) / np.float32(Q.shape[-1] ** 0.5)  # (N, heads, T, T)
        S = ag.where(np.tri(T, dtype=bool), S, np.float32(-np.inf))  # causal mask [18]
        P = ag.softmax(S)  # softmax [10]
        return ag.reshape(ag.swapaxes(P @ V, 1, 2), (N, T, width)) @ p[f"join{b}"]


def norm(x):
    """Return x with each row normalised to mean 0 and variance 1, a layer norm [18]."""
    x = x - ag.mean(x, axis=-1, keepdims=True)
    return x / ag.sqrt(ag.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-5))


# --- The loss: how surprising was each letter? ---------------------------------------------


def surprise(model, text, following):
    """Return −log p [10] of each letter in `following`, in nats. All shapes are (N, T)."""
    places = tuple(np.indices(text.shape))
    return -ag.log_softmax(model(text))[(*places, following)]


# --- Learning: Adam [11] -------------------------------------------------------------------


def train(model, text, steps, all_steps, batch=32, lr=8e-3, warm_up=50, seed=0):
    """Train on `text`, ints, for the step numbers in `steps`, and yield the loss of each step.

    Each step uses `batch` passages of the text. The learning rate rises towards `lr` for at most
    `warm_up` steps, falls to 0 at step `all_steps`, and stays there.
    """
    rng = np.random.default_rng(seed)
    m, v = ({name: np.zeros_like(w.data) for name, w in model.p.items()} for _ in range(2))
    for step in steps:
        start = rng.integers(0, len(text) - model.context, (batch, 1))
        here = start + np.arange(model.context)
        loss = ag.mean(surprise(model, text[here], text[here + 1]))
        loss.backward()  # backward [05]
        rate = lr * min((step + 1) / warm_up, max(0, 1 - step / all_steps))
        for name, w in model.p.items():
            m[name] = 0.9 * m[name] + 0.1 * w.grad
            v[name] = 0.99 * v[name] + 0.01 * w.grad**2
            m_hat = m[name] / (1 - 0.9 ** (step + 1))
            v_hat = v[name] / (1 - 0.99 ** (step + 1))
            w.data = w.data - np.float32(rate) * m_hat / (np.sqrt(v_hat) + np.float32(1e-8))
            w.grad = None
        yield float(loss.data)


# --- Writing: draw a letter, append it, ask again ------------------------------------------


def pick(logits, temperature, u):
    """Return the number of the letter that u selects, where 0 ≤ u < 1.

    Each letter has a part of this interval, whose length is the probability of the letter.
    """
    p = ag.softmax((logits - logits.max()) / temperature)
    return int(min(np.searchsorted(np.cumsum(p), u, side="right"), len(p) - 1))


def write(model, start="\n", many=200, temperature=1.0, seed=0, pick=pick):
    """Return the text `start` followed by `many` more letters that the model writes."""
    rng, text = np.random.default_rng(seed), list(encode(start, model.letters))
    with ag.no_grad():
        for _ in range(many):
            logits = model(np.array([text[-model.context :]])).data[0, -1]
            text.append(pick(logits, temperature, rng.random()))
    return decode(text, model.letters)
