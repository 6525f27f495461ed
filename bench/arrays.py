"""Benchmarks of large arrays, and of the gradient of many inputs in forward mode."""

import numpy as np
from measure import have, median, row, timed

import autograd_lib as ag


@row("tanh(x)·c, sum, 10⁶ elements", ("×",), rounds=15)
def elementwise():
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

    gradient = ag.compile(ag.value_and_grad(lambda x, c: (ag.tanh(x) * c).sum()))
    runs = {"ours": ours, "compiled": lambda: gradient(a, c)[1][0], "NumPy": by_hand}
    if have("JAX jit"):
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        jitted = jax.jit(jax.value_and_grad(lambda x, c: (jnp.tanh(x) * c).sum()))
        ja, jc = jnp.asarray(a), jnp.asarray(c)
        runs["JAX jit"] = lambda: jitted(ja, jc)[1][0].item()
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


@row("gather 10⁵ rows of 64, repeated index, and back", ("×",), rounds=7)
def gather():
    rng = np.random.default_rng(0)
    table, index, c = (
        rng.normal(size=(1000, 64)),
        rng.integers(0, 1000, 10**5),
        rng.normal(size=(10**5, 64)),
    )
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
    """Time the gradient of n inputs by n forward passes, relative to one backward pass."""
    x, directions = np.linspace(0, 1, n), np.eye(n)

    def f(x):
        return ag.sum(ag.sin(x) * x)

    def by_columns():
        return sum(ag.jvp(f, (x,), (v,))[1] for v in directions)

    by_rows = ag.grad(f)
    assert np.isclose(by_columns(), by_rows(x).sum())
    times = [(timed(by_columns, 20), timed(lambda: by_rows(x), 20)) for _ in range(15)]
    return {"ours": median([column / row for column, row in times])}
