"""Define and train the small models of lesson 18 that predict the next letter, one of which cheats."""

import numpy as np

import autograd_lib as ag
from autograd_lib import nn, optim
from autograd_lib.nn.functional import cross_entropy

LETTERS, POSITIONS = "abcdefgh", 12


class Reader(nn.Module):
    """Map letters to logits for the letter that follows each of them.

    The letters are ints of shape (N, T), and the logits have shape (N, T, 8). `block` is a
    module that maps an array of shape (…, T, width) to an array of the same shape, `width` is the
    number of entries of an embedding, and `seed` determines the initial parameters.
    """

    def __init__(self, block, width=32, seed=0):
        rng = np.random.default_rng(seed)
        self.letters = nn.Embedding(len(LETTERS), width, rng=rng)
        self.positions = nn.Embedding(POSITIONS, width, rng=rng)
        self.block, self.norm = block, nn.LayerNorm(width)
        self.out = nn.Linear(width, len(LETTERS), rng=rng)

    def embed(self, letters):
        return self.letters(letters) + self.positions(np.arange(letters.shape[-1]))

    def read(self, x):
        """Return the logits for embedded letters `x` of shape (…, T, width)."""
        return self.out(self.norm(self.block(x)))

    def forward(self, letters):
        return self.read(self.embed(letters))


class Suspect(nn.Module):
    """Apply an attention block in which every position can also attend to the next position."""

    def __init__(self, width=32, seed=0):
        self.attention = nn.MultiheadAttention(width, 2, rng=seed)
        self.mlp = nn.MLP([width, 4 * width, width], rng=seed)

    def forward(self, x):
        future = ~np.tri(x.shape[-2], k=1, dtype=bool)
        x = x + self.attention(x, x, x, attn_mask=future, need_weights=False)[0]
        return x + self.mlp(x)


def random_letters(rng, n):
    """Return n random texts of 13 letters, as an int array of shape (n, 13), drawn with the generator `rng`."""
    return rng.integers(0, len(LETTERS), (n, POSITIONS + 1))


def twice(rng, n):
    """Return n random texts in which six random letters are followed by the same six letters.

    The first letter is appended once more, so the result has shape (n, 13). `rng` is the random
    generator.
    """
    half = random_letters(rng, n)[:, :6]
    return np.concatenate([half, half, half[:, :1]], axis=1)


def train(model, draw, steps=100):
    """Train `model` in place to predict the next letter at each of 12 positions, and return it.

    Each of the `steps` steps uses 32 new texts from `draw`, a function of a random generator and a
    number of texts.
    """
    rng, optimizer = np.random.default_rng(0), optim.Adam(model.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.lr = 0.01 * (1 - step / steps)
        texts = draw(rng, 32)
        optimizer.zero_grad()
        cross_entropy(
            model(texts[:, :-1]).reshape(-1, len(LETTERS)), texts[:, 1:].ravel()
        ).backward()
        optimizer.step()
    return model


def loss_by_position(model, draw):
    """Return the mean loss of `model` at each of the 12 positions, an array of shape (12,).

    The mean is over 500 new texts from `draw`, a function of a random generator and a number of
    texts.
    """
    texts = draw(np.random.default_rng(1), 500)
    with ag.no_grad():
        log_p = ag.log_softmax(model(texts[:, :-1])).data
    return -np.take_along_axis(log_p, texts[:, 1:, None], axis=-1)[..., 0].mean(axis=0)
