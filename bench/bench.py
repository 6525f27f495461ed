"""How fast the engine is, beside NumPy written by hand and whichever peers are installed: `make bench`.

Prints one table. Every figure comes from interleaved rounds in one process on one BLAS thread, as a median. All engines
compute the same number from the same seed, and nothing is printed for a row where they disagree. A peer that is not
installed is a dash (`pip install -e .[bench]` brings them). The last column repeats ours in a process where malloc is
left as it comes; elsewhere it is told to keep large blocks, because page faults would drown the rest.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
import tracemalloc

ENGINES = ("ours", "NumPy", "PyTorch", "HIPS autograd", "MyGrad", "micrograd")
MODULES = {"PyTorch": "torch", "HIPS autograd": "autograd", "MyGrad": "mygrad", "micrograd": "micrograd"}
ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")}
KEEP_BLOCKS = {"MALLOC_TRIM_THRESHOLD_": str(2**32 - 1), "MALLOC_MMAP_THRESHOLD_": str(2**32 - 1), "MALLOC_TOP_PAD_": str(2**28)}
ROWS = {}


def row(title, unit, rounds=15):
    """Registers a function that returns {engine: function to time}; each returns the number all must agree on.

    `unit` is a pair: how to name the figure, and the number of ops to divide the time by; "×" is a ratio to NumPy.
    """
    def register(build):
        ROWS[title] = build, unit, rounds
        return build
    return register


def have(engine):
    return importlib.util.find_spec(MODULES[engine]) is not None


def measure(build, unit, rounds):
    """{engine: figure} of one row: medians over interleaved rounds."""
    runs = build()
    values = {engine: [float(run()) for _ in range(3)] for engine, run in runs.items()}
    first = next(iter(values.values()))
    for engine, value in values.items():
        if any(abs(a - b) > 1e-4 * (1 + abs(b)) for a, b in zip(value, first)):
            raise SystemExit(f"{engine} computes {value}, and {next(iter(values))} {first}: nothing to compare")
    quickest = min(timed(run, 1) for run in runs.values())
    repeat = max(1, int(0.004 / quickest))
    times = {engine: [] for engine in runs}
    for _ in range(rounds):
        for engine, run in runs.items():
            times[engine].append(timed(run, repeat if timed(run, 1) < 0.01 else 1))
    if unit[0] == "×":
        return {engine: median([t / n for t, n in zip(ts, times["NumPy"])]) for engine, ts in times.items()}
    return {engine: median(ts) * 1e6 / unit[1] for engine, ts in times.items()}


def timed(run, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        run()
    return (time.perf_counter() - start) / repeat


def median(xs):
    return sorted(xs)[len(xs) // 2]


# --- A training step: forward, backward, SGD -------------------------------------------------------------


def mlp(sizes, batch, dtype):
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(batch, sizes[0])).astype(dtype)
    y = rng.integers(0, sizes[-1], batch)
    start = [(rng.normal(size=(n, m)) / n ** 0.5).astype(dtype) for n, m in zip(sizes, sizes[1:])]
    lr, runs = 0.01, {}

    import autograd_lib as ag

    ours = [(ag.Tensor(W, requires_grad=True), ag.Tensor(np.zeros(W.shape[1], dtype), requires_grad=True)) for W in start]
    sgd = ag.optim.SGD([p for layer in ours for p in layer], lr=lr)

    def our_step():
        sgd.zero_grad()
        h = X
        for k, (W, b) in enumerate(ours):
            h = h @ W + b
            if k < len(ours) - 1:
                h = ag.relu(h)
        loss = ag.nn.functional.cross_entropy(h, y)
        loss.backward()
        sgd.step()
        return loss.data
    runs["ours"] = our_step

    by_hand = [(W.copy(), np.zeros(W.shape[1], dtype)) for W in start]
    rows = np.arange(batch)

    def numpy_step():
        hs = [X]
        for k, (W, b) in enumerate(by_hand):
            z = hs[-1] @ W + b
            hs.append(np.maximum(z, 0) if k < len(by_hand) - 1 else z)
        z = hs.pop()
        e = np.exp(z - z.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        loss = -np.log(p[rows, y]).mean()
        p[rows, y] -= 1
        g = p / batch
        for (W, b), h in zip(reversed(by_hand), reversed(hs)):
            gW, gb = h.T @ g, g.sum(0)
            if h is not X:
                g = (g @ W.T) * (h > 0)
            W -= lr * gW
            b -= lr * gb
        return loss
    runs["NumPy"] = numpy_step

    if have("PyTorch"):
        import torch
        torch.set_num_threads(1)
        theirs = [(torch.tensor(W, requires_grad=True), torch.zeros(W.shape[1], dtype=torch.from_numpy(W).dtype, requires_grad=True))
                  for W in start]
        tX, ty = torch.tensor(X), torch.tensor(y)
        tsgd = torch.optim.SGD([p for layer in theirs for p in layer], lr=lr)

        def torch_step():
            tsgd.zero_grad()
            h = tX
            for k, (W, b) in enumerate(theirs):
                h = h @ W + b
                if k < len(theirs) - 1:
                    h = torch.relu(h)
            loss = torch.nn.functional.cross_entropy(h, ty)
            loss.backward()
            tsgd.step()
            return loss.item()
        runs["PyTorch"] = torch_step

    if have("HIPS autograd"):
        import autograd
        import autograd.numpy as anp

        def hips_loss(params):
            h = X
            for k, (W, b) in enumerate(params):
                h = anp.dot(h, W) + b
                if k < len(params) - 1:
                    h = anp.maximum(h, 0)
            h = h - anp.max(h, axis=1, keepdims=True)
            return anp.mean(anp.log(anp.sum(anp.exp(h), axis=1)) - h[rows, y])

        hips = [(W.copy(), np.zeros(W.shape[1], dtype)) for W in start]
        hips_grad = autograd.value_and_grad(hips_loss)

        def hips_step():
            loss, grads = hips_grad(hips)
            for (W, b), (gW, gb) in zip(hips, grads):
                W -= lr * gW
                b -= lr * gb
            return loss
        runs["HIPS autograd"] = hips_step

    if have("MyGrad"):
        import mygrad
        from mygrad.nnet import softmax_crossentropy
        from mygrad.nnet.activations import relu
        mine = [(mygrad.tensor(W), mygrad.tensor(np.zeros(W.shape[1], dtype))) for W in start]

        def mygrad_step():
            h = X
            for k, (W, b) in enumerate(mine):
                h = mygrad.matmul(h, W) + b
                if k < len(mine) - 1:
                    h = relu(h)
            loss = softmax_crossentropy(h, y)
            loss.backward()
            for layer in mine:
                for p in layer:
                    p.data -= lr * p.grad
                    p.null_grad()
            return loss.item()
        runs["MyGrad"] = mygrad_step
    return runs


@row("MLP 64-64-10, batch 32, float64", ("×",), rounds=41)
def small_mlp():
    return mlp([64, 64, 10], 32, "float64")


@row("CNN 16-32 on 8 × 8 digits, batch 32, float32", ("×",), rounds=21)
def small_cnn():
    """3 × 3 kernels with padding, relu and pooling, twice, then one linear layer; by hand with windows as rows, too."""
    import numpy as np

    import autograd_lib as ag
    from autograd_lib.nn import functional as F

    rng = np.random.default_rng(0)
    X, y, lr, n = rng.normal(size=(32, 1, 8, 8)).astype("f"), rng.integers(0, 10, 32), 0.01, 32
    start = [rng.normal(0, fan_in ** -0.5, shape).astype("f") for shape, fan_in in
             [((16, 1, 3, 3), 9), ((16,), 9), ((32, 16, 3, 3), 144), ((32,), 144), ((10, 128), 128), ((10,), 128)]]
    runs = {}

    ours = [ag.Tensor(p, requires_grad=True) for p in start]
    sgd = ag.optim.SGD(ours, lr=lr)

    def our_step():
        w1, b1, w2, b2, w3, b3 = ours
        sgd.zero_grad()
        h = F.max_pool2d(ag.relu(F.conv2d(X, w1, b1, padding=1)), 2)
        h = F.max_pool2d(ag.relu(F.conv2d(h, w2, b2, padding=1)), 2)
        loss = F.cross_entropy(h.reshape(n, 128) @ w3.T + b3, y)
        loss.backward()
        sgd.step()
        return loss.data
    runs["ours"] = our_step

    by_hand = [p.copy() for p in start]
    rows = np.arange(n)

    def convolved(x, w, b):                     # channels last
        _, size, _, c = x.shape
        padded = np.zeros((n, size + 2, size + 2, c), "f")
        padded[:, 1:-1, 1:-1] = x
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, c), axis=(1, 2, 3)).reshape(-1, 9 * c)
        return windows, (windows @ w.transpose(2, 3, 1, 0).reshape(9 * c, -1)).reshape(n, size, size, -1) + b

    def convolved_back(g, windows, w):
        _, size, _, k = g.shape
        c, flat = w.shape[1], g.reshape(-1, k)
        gw = (windows.T @ flat).reshape(3, 3, c, k).transpose(3, 2, 0, 1)
        gx = np.zeros((n, size + 2, size + 2, c), "f")
        if c > 1:
            gc = (flat @ w.transpose(2, 3, 1, 0).reshape(9 * c, k).T).reshape(n, size, size, 3, 3, c)
            for i in range(3):
                for j in range(3):
                    gx[:, i:i + size, j:j + size] += gc[:, :, :, i, j]
        return gx[:, 1:-1, 1:-1], gw, flat.sum(0)

    def pooled(x):
        return np.maximum(np.maximum(x[:, ::2, ::2], x[:, 1::2, ::2]), np.maximum(x[:, ::2, 1::2], x[:, 1::2, 1::2]))

    def pooled_back(g, x, z):
        out = np.empty_like(x)
        for i in (0, 1):
            for j in (0, 1):
                out[:, i::2, j::2] = g * (x[:, i::2, j::2] == z)
        return out

    def numpy_step():
        w1, b1, w2, b2, w3, b3 = by_hand
        windows1, a1 = convolved(X.transpose(0, 2, 3, 1), w1, b1)
        r1 = np.maximum(a1, 0)
        p1 = pooled(r1)
        windows2, a2 = convolved(p1, w2, b2)
        r2 = np.maximum(a2, 0)
        p2 = pooled(r2)
        h = p2.transpose(0, 3, 1, 2).reshape(n, 128)
        z = h @ w3.T + b3
        e = np.exp(z - z.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        loss = -np.log(p[rows, y]).mean()
        p[rows, y] -= 1
        g = p / np.float32(n)
        gw3, gb3 = g.T @ h, g.sum(0)
        g = (g @ w3).reshape(n, 32, 2, 2).transpose(0, 2, 3, 1)
        g, gw2, gb2 = convolved_back(pooled_back(g, r2, p2) * (a2 > 0), windows2, w2)
        _, gw1, gb1 = convolved_back(pooled_back(g, r1, p1) * (a1 > 0), windows1, w1)
        for p, gp in zip(by_hand, (gw1, gb1, gw2, gb2, gw3, gb3)):
            p -= lr * gp
        return loss
    runs["NumPy"] = numpy_step

    if have("PyTorch"):
        import torch
        torch.set_num_threads(1)
        theirs = [torch.tensor(p, requires_grad=True) for p in start]
        tX, ty, T = torch.tensor(X), torch.tensor(y), torch.nn.functional
        tsgd = torch.optim.SGD(theirs, lr=lr)

        def torch_step():
            w1, b1, w2, b2, w3, b3 = theirs
            tsgd.zero_grad()
            h = T.max_pool2d(torch.relu(T.conv2d(tX, w1, b1, padding=1)), 2)
            h = T.max_pool2d(torch.relu(T.conv2d(h, w2, b2, padding=1)), 2)
            loss = T.cross_entropy(h.reshape(n, 128) @ w3.T + b3, ty)
            loss.backward()
            tsgd.step()
            return loss.item()
        runs["PyTorch"] = torch_step

    if have("MyGrad"):
        import mygrad
        from mygrad.nnet import softmax_crossentropy
        from mygrad.nnet.activations import relu
        from mygrad.nnet.layers import conv_nd, max_pool
        mine = [mygrad.tensor(p) for p in start]

        def mygrad_step():
            w1, b1, w2, b2, w3, b3 = mine
            h = max_pool(relu(conv_nd(X, w1, stride=1, padding=1) + b1.reshape(1, -1, 1, 1)), (2, 2), 2)
            h = max_pool(relu(conv_nd(h, w2, stride=1, padding=1) + b2.reshape(1, -1, 1, 1)), (2, 2), 2)
            loss = softmax_crossentropy(mygrad.matmul(h.reshape(n, 128), w3.T) + b3, y)
            loss.backward()
            for p in mine:
                p.data -= lr * p.grad
                p.null_grad()
            return loss.item()
        runs["MyGrad"] = mygrad_step
    return runs


@row("where the step of MLP 64-64-10 goes", ("×",), rounds=41)
def small_mlp_in_parts():
    """The step of the first row, more of it each time; the first part is the floor: the same rows without an engine."""
    import numpy as np

    import autograd_lib as ag
    from autograd_lib import ops, tape

    rng = np.random.default_rng(0)
    X, y, rows = rng.normal(size=(32, 64)), rng.integers(0, 10, 32), np.arange(32)
    W, b, V, c = start = rng.normal(size=(64, 64)) / 8, np.zeros(64), rng.normal(size=(64, 10)) / 8, np.zeros(10)
    params = [ag.Tensor(p, requires_grad=True) for p in start]
    sgd = ag.optim.SGD(params, lr=0)       # so that every part computes the same number every time

    def by_hand():
        h = np.maximum(X @ W + b, 0)
        z = h @ V + c
        e = np.exp(z - z.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        loss = -np.log(p[rows, y]).mean()
        p[rows, y] -= 1
        g = p / 32
        gh = (g @ V.T) * (h > 0)
        for p, gp in zip(start, (X.T @ gh, gh.sum(0), h.T @ g, g.sum(0))):
            p -= 0 * gp
        return loss

    def table_alone():
        x1 = ops.ROWS["matmul"].function(X, W)
        x2 = ops.add.function(x1, b)
        x3 = ops.relu.function(x2)
        x4 = ops.ROWS["matmul"].function(x3, V)
        x5 = ops.add.function(x4, c)
        x6 = ops.log_softmax.function(x5)
        loss = ops.nll_loss.function(x6, target=y)
        g = ops.nll_loss.rules[0](1.0, loss, x6, y)
        g5 = ops.log_softmax.rules[0](g, x6, x5)
        g2 = ops.relu.rules[0](ops.ROWS["matmul"].rules[0](g5, x4, x3, V), x3, x2)
        gradients = ops.ROWS["matmul"].rules[1](g2, x1, X, W), g2.sum(0), ops.ROWS["matmul"].rules[1](g5, x4, x3, V), g5.sum(0)
        for p, gp in zip(start, gradients):
            p -= 0 * gp
        return loss

    def forward():
        W, b, V, c = params
        return ag.nn.functional.cross_entropy(ag.relu(X @ W + b) @ V + c, y)

    def recorded():
        return forward().data

    def visited():
        loss = forward()
        for _ in tape.backward_pass(loss, np.float64(1)):
            pass
        return loss.data

    def delivered():
        sgd.zero_grad()
        loss = forward()
        loss.backward()
        return loss.data

    def whole():
        loss = delivered()
        sgd.step()
        return loss
    return {"NumPy": by_hand, "functions and rules alone, without an engine": table_alone, "forward": recorded,
            "forward, visiting": visited, "forward, backward() into .grad": delivered, "the whole step": whole}


@row("MLP 784-256-10, batch 64, float32", ("×",), rounds=31)
def middle_mlp():
    return mlp([784, 256, 10], 64, "float32")


@row("MLP 784-1024-1024-10, batch 256, float32", ("×",), rounds=9)
def large_mlp():
    return mlp([784, 1024, 1024, 10], 256, "float32")


@row("tanh(x)·c, sum, 10⁶ elements", ("×",), rounds=15)
def elementwise():
    import numpy as np

    import autograd_lib as ag

    a, c = np.random.default_rng(0).normal(size=(2, 10**6))
    x = ag.Tensor(a, requires_grad=True)

    def ours():
        x.zero_grad()
        (ag.tanh(x) * c).sum().backward()
        return x.grad[0]

    def by_hand():
        z = np.tanh(a)
        (z * c).sum()
        return (c * (1 - z * z))[0]
    runs = {"ours": ours, "NumPy": by_hand}
    if have("PyTorch"):
        import torch
        torch.set_num_threads(1)
        tx, tc = torch.tensor(a, requires_grad=True), torch.tensor(c)

        def theirs():
            tx.grad = None
            (torch.tanh(tx) * tc).sum().backward()
            return tx.grad[0]
        runs["PyTorch"] = theirs
    if have("HIPS autograd"):
        import autograd
        import autograd.numpy as anp
        hips = autograd.grad(lambda x: anp.sum(anp.tanh(x) * c))
        runs["HIPS autograd"] = lambda: hips(a)[0]
    if have("MyGrad"):
        import mygrad
        mx = mygrad.tensor(a)

        def mine():
            (mygrad.tanh(mx) * c).sum().backward()
            g = mx.grad[0]
            mx.null_grad()
            return g
        runs["MyGrad"] = mine
    return runs


# --- Overhead: scalars -----------------------------------------------------------------------------------


def chain(x, w, tanh, n=800):
    s = x
    for _ in range(n // 4):
        s = tanh(s * w + x) * 0.5
    return s


def backward_of(make, function, tanh, read):
    def run():
        x, w = make(0.5), make(0.9)
        function(x, w, tanh).backward()
        return read(x)
    return run


def scalar_engines(function):
    """The same scalar function, forward and backward, on every engine that has `x.backward()`."""
    import autograd_lib as ag

    runs = {"ours": backward_of(lambda v: ag.Tensor(v, requires_grad=True), function, lambda s: s.tanh(), lambda x: x.grad)}
    if have("PyTorch"):
        import torch
        torch.set_num_threads(1)
        runs["PyTorch"] = backward_of(lambda v: torch.tensor(v, dtype=torch.float64, requires_grad=True), function, torch.tanh,
                                      lambda x: x.grad)
    if have("HIPS autograd"):
        import autograd
        import autograd.numpy as anp
        hips = autograd.grad(lambda x, w: function(x, w, anp.tanh))
        runs["HIPS autograd"] = lambda: hips(0.5, 0.9)
    if have("MyGrad"):
        import mygrad
        runs["MyGrad"] = backward_of(mygrad.tensor, function, mygrad.tanh, lambda x: x.grad)
    if have("micrograd"):
        from micrograd.engine import Value
        if hasattr(Value, "tanh") or function is doublings:
            runs["micrograd"] = backward_of(Value, function, lambda s: s.tanh(), lambda x: x.grad)
    return runs


@row("scalar op, forward and backward, chain of 800", ("µs", 800))
def scalars():
    return scalar_engines(chain)


@row("the same with multiply and add only", ("µs", 800))
def plain_scalars():
    def function(x, w, tanh):
        s = x
        for _ in range(400):
            s = s * w + x
        return s
    runs = scalar_engines(function)
    if have("micrograd"):
        from micrograd.engine import Value
        runs["micrograd"] = backward_of(Value, function, None, lambda x: x.grad)
    return runs


@row("the chain through grad(f)", ("µs", 800))
def through_grad():
    import autograd_lib as ag

    ours = ag.grad(lambda x, w: chain(x, w, ag.tanh), (0, 1))
    runs = {"ours": lambda: ours(0.5, 0.9)[0]}
    if have("HIPS autograd"):
        import autograd
        import autograd.numpy as anp
        hips = autograd.grad(lambda x, w: chain(x, w, anp.tanh), (0, 1))
        runs["HIPS autograd"] = lambda: hips(0.5, 0.9)[0]
    return runs


@row("the chain through jvp", ("µs", 800))
def through_jvp():
    import autograd_lib as ag

    runs = {"ours": lambda: ag.jvp(lambda x, w: chain(x, w, ag.tanh), (0.5, 0.9), (1.0, 0.0))[1]}
    if have("HIPS autograd"):
        import autograd
        import autograd.numpy as anp
        hips = autograd.make_jvp(lambda x: chain(x, 0.9, anp.tanh))(0.5)
        runs["HIPS autograd"] = lambda: hips(1.0)[1]
    return runs


def doublings(x, w, tanh):
    y = x
    for _ in range(60):
        y = y + y
    return y


@row("60 doublings y = y + y", ("µs", 1))
def sixty():
    return scalar_engines(doublings)


def deep(n):
    def function(x, w, tanh):
        s = x
        for _ in range(n):
            s = s * 0.999999
        return s

    def build():
        import gc
        runs = scalar_engines(function)
        if n > 900:
            runs.pop("micrograd", None)  # its recursion ends near 1,000
        if n > 10**4:
            runs.pop("MyGrad", None)  # minutes
        gc.collect()
        return runs
    return build


for exponent in (3, 4, 5, 6):
    row(f"depth 10{'⁰¹²³⁴⁵⁶'[exponent]}, per op", ("µs", 10**exponent), rounds={3: 15, 4: 7, 5: 3, 6: 1}[exponent])(deep(10**exponent))


@row("moons, 2-16-16-1 of scalars, 100 points", ("ms", 1000), rounds=3)
def moons():
    import random

    import autograd_lib as ag

    random.seed(0)
    points = [(random.uniform(-1, 2), random.uniform(-1, 1)) for _ in range(100)]
    labels = [1 if x * x + y > 0.5 else -1 for x, y in points]
    weights = [[[random.uniform(-1, 1) for _ in range(n)] for _ in range(m)] for n, m in ((2, 16), (16, 16), (16, 1))]

    def run_with(make):
        def run():
            layers = [[([make(w) for w in neuron], make(0.0)) for neuron in layer] for layer in weights]
            total = 0.0
            for point, label in zip(points, labels):
                h = point
                for k, layer in enumerate(layers):
                    h = [sum((w * x for w, x in zip(ws, h)), b) for ws, b in layer]
                    if k < 2:
                        h = [z.relu() for z in h]
                total = total + (h[0] * -label + 1).relu()
            (total * (1 / len(points))).backward()
            return layers[0][0][0][0].grad
        return run
    runs = {"ours": run_with(lambda v: ag.Tensor(v, requires_grad=True))}
    if have("micrograd"):
        from micrograd.engine import Value
        runs["micrograd"] = run_with(Value)
    return runs


# --- Arrays ----------------------------------------------------------------------------------------------


@row("gather 10⁵ rows of 64, repeated index, and back", ("×",), rounds=7)
def gather():
    import numpy as np

    import autograd_lib as ag

    rng = np.random.default_rng(0)
    table, index, c = rng.normal(size=(1000, 64)), rng.integers(0, 1000, 10**5), rng.normal(size=(10**5, 64))
    t = ag.Tensor(table, requires_grad=True)

    def ours():
        t.zero_grad()
        (t[index] * c).sum().backward()
        return t.grad[0, 0]

    def by_hand():
        (table[index] * c).sum()
        g = np.zeros_like(table)
        np.add.at(g, index, c)
        return g[0, 0]
    runs = {"ours": ours, "NumPy": by_hand}
    if have("PyTorch"):
        import torch
        torch.set_num_threads(1)
        tt, ti, tc = torch.tensor(table, requires_grad=True), torch.tensor(index), torch.tensor(c)

        def theirs():
            tt.grad = None
            (tt[ti] * tc).sum().backward()
            return tt.grad[0, 0]
        runs["PyTorch"] = theirs
    if have("HIPS autograd"):
        import autograd
        import autograd.numpy as anp
        hips = autograd.grad(lambda x: anp.sum(x[index] * c))
        runs["HIPS autograd"] = lambda: hips(table)[0, 0]
    if have("MyGrad"):
        import mygrad
        m = mygrad.tensor(table)

        def mine():
            (m[index] * c).sum().backward()
            g = m.grad[0, 0]
            m.null_grad()
            return g
        runs["MyGrad"] = mine
    return runs


def gradient_by_columns(n):
    """The whole gradient of a function of n inputs by n pushes of forward mode, relative to one backward pass."""
    import numpy as np

    import autograd_lib as ag

    x, directions = np.linspace(0, 1, n), np.eye(n)

    def f(x):
        return ag.sum(ag.sin(x) * x)

    def by_columns():
        return sum(ag.jvp(f, (x,), (v,))[1] for v in directions)
    by_rows = ag.grad(f)
    assert np.isclose(by_columns(), by_rows(x).sum())
    times = [(timed(by_columns, 20), timed(lambda: by_rows(x), 20)) for _ in range(15)]
    return {"ours": median([column / row for column, row in times])}


# --- Memory and import -----------------------------------------------------------------------------------


def peak_memory():
    """Peak of what NumPy allocates in one training step beyond the parameters, relative to NumPy by hand."""
    runs = mlp([784, 1024, 1024, 10], 256, "float32")
    peaks = {}
    for engine in runs.keys() - {"PyTorch"}:  # which does not allocate through Python
        runs[engine]()
        tracemalloc.start()
        runs[engine]()
        peaks[engine] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return {engine: peak / peaks["NumPy"] for engine, peak in peaks.items()}


def import_time():
    """Seconds that `import` takes in a fresh process, relative to NumPy's own."""
    names = {"ours": "autograd_lib", "NumPy": "numpy", **{e: m for e, m in MODULES.items() if have(e)}}
    times = {engine: [] for engine in names}
    for _ in range(5):
        for engine, name in names.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
            times[engine].append(time.perf_counter() - start)
    return {engine: median([t / n for t, n in zip(ts, times["NumPy"])]) for engine, ts in times.items()}


def child(titles):
    for title in titles:
        build, unit, rounds = ROWS[title]
        print(json.dumps([title, measure(build, unit, rounds)]), flush=True)


def run_child(titles, env):
    process = subprocess.Popen([sys.executable, __file__, "--rows", *titles], env=os.environ | ONE_THREAD | env,
                               stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        yield json.loads(line)
    if process.wait():
        raise SystemExit(process.returncode)


def line(title, figures, unit, last="–"):
    cells = [f"{figures[e]:.3g}" if e in figures else "–" for e in ENGINES]
    print(f"{title + ', ' + unit:56}" + "".join(f"{c:>15}" for c in [*cells, last]), flush=True)


def main(arguments):
    if arguments[:1] == ["--rows"]:
        return child(arguments[1:])
    parser = argparse.ArgumentParser(prog="make bench", description="Time the engine beside NumPy by hand and its peers.",
                                     epilog="The rows:\n  " + "\n  ".join(ROWS), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only the rows that have these words in their title")
    arguments = parser.parse_args(arguments).words
    chosen = [t for t in ROWS if all(a.lower() in t.lower() for a in arguments)]
    ratios = [t for t in chosen if ROWS[t][1][0] == "×"]
    print(f"{'':56}" + "".join(f"{e:>15}" for e in [*ENGINES, "ours, no malloc"]))
    loose = dict(run_child(ratios, {})) if ratios else {}
    for title, figures in run_child(chosen, KEEP_BLOCKS):
        if "ours" not in figures:
            print(f"{title}, × NumPy by hand")
            for part, figure in figures.items():
                print(f"    {part:52}{figure:>15.3g}", flush=True)
            continue
        last = f"{loose[title]['ours']:.3g}" if title in loose else "–"
        line(title, figures, "× NumPy" if ROWS[title][1][0] == "×" else ROWS[title][1][0], last)
    if not arguments:
        for n in (1, 4, 16, 64):
            line(f"gradient of {n} inputs by jvp", gradient_by_columns(n), "× grad")
        line("peak memory of a step, MLP 784-1024-1024-10", peak_memory(), "× NumPy")
        line("import", import_time(), "× NumPy")


if __name__ == "__main__":
    main(sys.argv[1:])
