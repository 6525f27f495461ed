"""Benchmarks of overhead: chains and networks of scalars."""

from measure import have, row

import autograd_lib as ag


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
    """Return a scalar function, forward and backward, for every engine that has `x.backward()`."""
    runs = {
        "ours": backward_of(
            lambda v: ag.Tensor(v, requires_grad=True),
            function,
            lambda s: s.tanh(),
            lambda x: x.grad,
        )
    }
    gradient = ag.compile(ag.grad(lambda x, w: function(x, w, ag.tanh)))
    runs["compiled"] = lambda: gradient(0.5, 0.9)
    if have("PyTorch"):
        import torch

        torch.set_num_threads(1)
        runs["PyTorch"] = backward_of(
            lambda v: torch.tensor(v, dtype=torch.float64, requires_grad=True),
            function,
            torch.tanh,
            lambda x: x.grad,
        )
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
        del runs["compiled"]  # it is one product: its gradient does not depend on x
        if n > 900:
            runs.pop("micrograd", None)  # its recursion ends near 1,000
        if n > 10**4:
            runs.pop("MyGrad", None)  # minutes
        gc.collect()
        return runs

    return build


for exponent in (3, 4, 5, 6):
    row(
        f"depth 10{'⁰¹²³⁴⁵⁶'[exponent]}, per op",
        ("µs", 10**exponent),
        rounds={3: 15, 4: 7, 5: 3, 6: 1}[exponent],
    )(deep(10**exponent))


@row("moons, 2-16-16-1 of scalars, 100 points", ("ms", 1000), rounds=3)
def moons():
    import random

    random.seed(0)
    points = [(random.uniform(-1, 2), random.uniform(-1, 1)) for _ in range(100)]
    labels = [1 if x * x + y > 0.5 else -1 for x, y in points]
    weights = [
        [[random.uniform(-1, 1) for _ in range(n)] for _ in range(m)]
        for n, m in ((2, 16), (16, 16), (16, 1))
    ]

    def run_with(make):
        def run():
            layers = [
                [([make(w) for w in neuron], make(0.0)) for neuron in layer] for layer in weights
            ]
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
