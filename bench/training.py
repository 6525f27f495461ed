"""Benchmarks of a training step: forward, backward and update; on every engine and in NumPy."""

import numpy as np
from measure import have, row

import autograd_lib as ag


def softmax_loss(z, y):
    """Return the cross-entropy of scores (N, C) and classes (N,), and its gradient, by hand."""
    rows = np.arange(len(y))
    e = np.exp(z - z.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    loss = -np.log(p[rows, y]).mean()
    p[rows, y] -= 1
    return loss, p / p.dtype.type(len(y))


def compiled_step(loss, start, X, y, lr):
    """Compile one step of gradient descent of `loss(X, y, *parameters)` on copies of `start`."""
    gradient = ag.value_and_grad(loss, tuple(range(2, 2 + len(start))))

    @ag.compile
    def step(parameters, X, y):
        value, grads = gradient(X, y, *parameters)
        return value, [p - lr * g for p, g in zip(parameters, grads)]

    parameters = [p.copy() for p in start]

    def run():
        value, parameters[:] = step(parameters, X, y)
        return value

    run.step = step
    return run


def torch_compiled(step):
    """Return `step`, or None if torch.compile, which needs a C++ compiler, cannot run here."""
    try:
        step()
        return step
    except Exception:
        return None


def mlp(sizes, batch, dtype, lr=0.01):
    """Map each engine to a function that runs a step of gradient descent.

    All engines start from the same weights and use the same batch.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(batch, sizes[0])).astype(dtype)
    y = rng.integers(0, sizes[-1], batch)
    start = [(rng.normal(size=(n, m)) / n**0.5).astype(dtype) for n, m in zip(sizes, sizes[1:])]
    runs = {}

    ours = [
        (
            ag.Tensor(W, requires_grad=True),
            ag.Tensor(np.zeros(W.shape[1], dtype), requires_grad=True),
        )
        for W in start
    ]
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

    def loss_of(X, y, *layers):
        h = X
        for k in range(0, len(layers), 2):
            h = h @ layers[k] + layers[k + 1]
            h = ag.relu(h) if k < len(layers) - 2 else h
        return ag.nn.functional.cross_entropy(h, y)

    flat = [p for W in start for p in (W, np.zeros(W.shape[1], dtype))]
    runs["compiled"] = compiled_step(loss_of, flat, X, y, lr)

    by_hand = [(W.copy(), np.zeros(W.shape[1], dtype)) for W in start]
    rows = np.arange(batch)

    def numpy_step():
        hs = [X]
        for k, (W, b) in enumerate(by_hand):
            z = hs[-1] @ W + b
            hs.append(np.maximum(z, 0) if k < len(by_hand) - 1 else z)
        loss, g = softmax_loss(hs.pop(), y)
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
        theirs = [
            (
                torch.tensor(W, requires_grad=True),
                torch.zeros(W.shape[1], dtype=torch.from_numpy(W).dtype, requires_grad=True),
            )
            for W in start
        ]
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

        quick = [torch.tensor(p, requires_grad=True) for p in flat]
        qsgd = torch.optim.SGD(quick, lr=lr)

        @torch.compile
        def quick_loss(h):
            for k in range(0, len(quick), 2):
                h = h @ quick[k] + quick[k + 1]
                h = torch.relu(h) if k < len(quick) - 2 else h
            return torch.nn.functional.cross_entropy(h, ty)

        def quick_step():
            qsgd.zero_grad()
            loss = quick_loss(tX)
            loss.backward()
            qsgd.step()
            return loss.item()

        if torch_compiled(lambda: quick_loss(tX)):
            runs["torch.compile"] = quick_step

    if have("JAX jit"):
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)

        def jax_loss(parameters):
            h = X
            for k in range(0, len(parameters), 2):
                h = h @ parameters[k] + parameters[k + 1]
                h = jax.nn.relu(h) if k < len(parameters) - 2 else h
            return -jnp.mean(jax.nn.log_softmax(h)[jnp.arange(batch), y])

        @jax.jit
        def jax_update(parameters):
            loss, grads = jax.value_and_grad(jax_loss)(parameters)
            return loss, [p - lr * g for p, g in zip(parameters, grads)]

        jitted = [jnp.asarray(p) for p in flat]

        def jax_step():
            loss, jitted[:] = jax_update(jitted)
            return loss.block_until_ready().item()

        runs["JAX jit"] = jax_step

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


def small_network():
    """Return a batch, its classes and the start of the parameters of MLP 64-64-10."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(32, 64)), rng.integers(0, 10, 32)
    W, V = (rng.normal(size=shape) / 8 for shape in ((64, 64), (64, 10)))
    return X, y, (W, np.zeros(64), V, np.zeros(10))


@row("the same without the optimizer's step", ("×",), rounds=41)
def small_gradient():
    """Time the loss of the first row and its gradients, on the engines with `backward()`."""
    X, y, start = small_network()
    W, b, V, c = start
    ours = [ag.Tensor(p, requires_grad=True) for p in start]

    def our_gradient():
        W, b, V, c = ours
        for p in ours:
            p.zero_grad()
        ag.nn.functional.cross_entropy(ag.relu(X @ W + b) @ V + c, y).backward()
        return c.grad[0]

    def numpy_gradient():
        h = X @ W + b
        r = np.maximum(h, 0)
        loss, g = softmax_loss(r @ V + c, y)
        gh = (g @ V.T) * (h > 0)
        return (X.T @ gh, gh.sum(0), r.T @ g, g.sum(0))[3][0]

    runs = {"ours": our_gradient, "NumPy": numpy_gradient}
    if have("PyTorch"):
        import torch

        torch.set_num_threads(1)
        theirs = [torch.tensor(p, requires_grad=True) for p in start]
        tX, ty = torch.tensor(X), torch.tensor(y)

        def torch_gradient():
            W, b, V, c = theirs
            for p in theirs:
                p.grad = None
            h = torch.relu(tX @ W + b) @ V + c
            torch.nn.functional.cross_entropy(h, ty).backward()
            return c.grad[0].item()

        runs["PyTorch"] = torch_gradient
    return runs


@row("CNN 16-32 on 8 × 8 digits, batch 32, float32", ("×",), rounds=21)
def small_cnn():
    """Time two convolutions with relu and pooling, then a linear layer; every window is a row."""
    from autograd_lib.nn import functional as F

    rng = np.random.default_rng(0)
    X, y, lr, n = rng.normal(size=(32, 1, 8, 8)).astype("f"), rng.integers(0, 10, 32), 0.01, 32
    start = [
        rng.normal(0, fan_in**-0.5, shape).astype("f")
        for shape, fan_in in [
            ((16, 1, 3, 3), 9),
            ((16,), 9),
            ((32, 16, 3, 3), 144),
            ((32,), 144),
            ((10, 128), 128),
            ((10,), 128),
        ]
    ]
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

    def loss_of(X, y, w1, b1, w2, b2, w3, b3):
        h = F.max_pool2d(ag.relu(F.conv2d(X, w1, b1, padding=1)), 2)
        h = F.max_pool2d(ag.relu(F.conv2d(h, w2, b2, padding=1)), 2)
        return F.cross_entropy(ag.reshape(h, (n, 128)) @ w3.T + b3, y)

    runs["compiled"] = compiled_step(loss_of, start, X, y, lr)

    by_hand = [p.copy() for p in start]

    def convolved(x, w, b):  # channels last
        _, size, _, c = x.shape
        padded = np.zeros((n, size + 2, size + 2, c), "f")
        padded[:, 1:-1, 1:-1] = x
        windows = np.lib.stride_tricks.sliding_window_view(
            padded, (3, 3, c), axis=(1, 2, 3)
        ).reshape(-1, 9 * c)
        return windows, (windows @ w.transpose(2, 3, 1, 0).reshape(9 * c, -1)).reshape(
            n, size, size, -1
        ) + b

    def convolved_back(g, windows, w):
        _, size, _, k = g.shape
        c, flat = w.shape[1], g.reshape(-1, k)
        gw = (windows.T @ flat).reshape(3, 3, c, k).transpose(3, 2, 0, 1)
        gx = np.zeros((n, size + 2, size + 2, c), "f")
        if c > 1:
            gc = (flat @ w.transpose(2, 3, 1, 0).reshape(9 * c, k).T).reshape(
                n, size, size, 3, 3, c
            )
            for i in range(3):
                for j in range(3):
                    gx[:, i : i + size, j : j + size] += gc[:, :, :, i, j]
        return gx[:, 1:-1, 1:-1], gw, flat.sum(0)

    def pooled(x):
        return np.maximum(
            np.maximum(x[:, ::2, ::2], x[:, 1::2, ::2]),
            np.maximum(x[:, ::2, 1::2], x[:, 1::2, 1::2]),
        )

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
        loss, g = softmax_loss(h @ w3.T + b3, y)
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
            h = max_pool(
                relu(conv_nd(X, w1, stride=1, padding=1) + b1.reshape(1, -1, 1, 1)), (2, 2), 2
            )
            h = max_pool(
                relu(conv_nd(h, w2, stride=1, padding=1) + b2.reshape(1, -1, 1, 1)), (2, 2), 2
            )
            loss = softmax_crossentropy(mygrad.matmul(h.reshape(n, 128), w3.T) + b3, y)
            loss.backward()
            for p in mine:
                p.data -= lr * p.grad
                p.null_grad()
            return loss.item()

        runs["MyGrad"] = mygrad_step
    return runs


@row("transformer block, 16 × 64 × 64, 4 heads, float32", ("ms", 1000), rounds=9)
def transformer():
    """Time a step of causal attention and an MLP, with layer norm, residuals and 64 classes."""
    from autograd_lib import nn

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 64, 64)).astype("f"), rng.integers(0, 64, (16, 64))

    class Block(nn.Module):
        def __init__(self):
            self.norms = [nn.LayerNorm((64,), dtype="f") for _ in range(2)]
            self.attention = nn.MultiheadAttention(64, 4, rng=0, dtype="f")
            self.up, self.down, self.out = [
                nn.Linear(n, m, rng=0, dtype="f") for n, m in ((64, 256), (256, 64), (64, 64))
            ]

        def forward(self, x):
            h = self.norms[0](x)
            x = x + self.attention(h, h, h, need_weights=False, is_causal=True)[0]
            return self.out(x + self.down(ag.relu(self.up(self.norms[1](x)))))

    runs = {}
    for name, wrap in (("ours", lambda f: f), ("compiled", ag.compile)):
        model = Block()

        def loss_of(X, y, model=model):
            return nn.functional.cross_entropy(ag.transpose(model(X), (0, 2, 1)), y)

        runs[name] = backward_step(wrap(loss_of), ag.optim.SGD(model.parameters(), lr=0.01), X, y)

    if have("PyTorch"):
        import torch

        torch.set_num_threads(1)
        T, tX, ty = torch.nn, torch.tensor(X), torch.tensor(y)
        theirs = T.ModuleDict(
            {
                "norm0": T.LayerNorm(64),
                "norm1": T.LayerNorm(64),
                "up": T.Linear(64, 256),
                "attention": T.MultiheadAttention(64, 4, batch_first=True),
                "down": T.Linear(256, 64),
                "out": T.Linear(64, 64),
            }
        )
        state = dict(model.named_parameters())
        with torch.no_grad():
            for theirs_name, p in theirs.named_parameters():
                p.copy_(
                    torch.tensor(
                        state[
                            theirs_name.replace("norm0", "norms.0").replace("norm1", "norms.1")
                        ].data
                    )
                )
        tsgd, hidden = (
            torch.optim.SGD(theirs.parameters(), lr=0.01),
            torch.triu(torch.ones(64, 64, dtype=torch.bool), 1),
        )

        def torch_step():
            tsgd.zero_grad()
            h = theirs["norm0"](tX)
            x = (
                tX
                + theirs["attention"](
                    h, h, h, need_weights=False, attn_mask=hidden, is_causal=True
                )[0]
            )
            z = theirs["out"](x + theirs["down"](torch.relu(theirs["up"](theirs["norm1"](x)))))
            loss = T.functional.cross_entropy(z.transpose(1, 2), ty)
            loss.backward()
            tsgd.step()
            return loss.item()

        runs["PyTorch"] = torch_step
    return runs


def backward_step(loss, optimizer, X, y):
    def run():
        optimizer.zero_grad()
        value = loss(X, y)
        value.backward()
        optimizer.step()
        return value.data

    return run


@row("Breakdown of the time of a step of MLP 64-64-10", ("×",), rounds=41)
def small_mlp_in_parts():
    """Time larger and larger parts of the training step, starting with the bare functions."""
    from autograd_lib import ops, tape

    X, y, start = small_network()
    W, b, V, c = start
    params = [ag.Tensor(p, requires_grad=True) for p in start]
    sgd = ag.optim.SGD(params, lr=0)  # so that every part computes the same number every time
    runs = mlp([64, 64, 10], 32, "float64", lr=0)
    pasted = {}
    runs["compiled"]()
    exec(runs["compiled"].step.source, pasted)

    def program_alone():
        return pasted["step"](*start, X, y)[0]

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
        gradients = (
            ops.ROWS["matmul"].rules[1](g2, x1, X, W),
            g2.sum(0),
            ops.ROWS["matmul"].rules[1](g5, x4, x3, V),
            g5.sum(0),
        )
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

    return {
        "NumPy": runs["NumPy"],
        "compiled: its source alone, pasted": program_alone,
        "compiled: run after the check that it still applies": runs["compiled"],
        "functions and rules alone, without an engine": table_alone,
        "forward": recorded,
        "forward, visiting": visited,
        "forward, backward() into .grad": delivered,
        "the whole step": whole,
    }


@row("MLP 784-256-10, batch 64, float32", ("×",), rounds=31)
def middle_mlp():
    return mlp([784, 256, 10], 64, "float32")


@row("MLP 784-1024-1024-10, batch 256, float32", ("×",), rounds=9)
def large_mlp():
    return mlp([784, 1024, 1024, 10], 256, "float32")
