"""Texts that people type or paste, for the playground: those that are drawn, and those that get a sentence instead.

The drawn ones are from micrograd's README and lecture, PyTorch's tutorials and notes, d2l's chapter on autograd, JAX's documentation
and the manners of Desmos; names and numbers are as they stand there.
"""

DRAWN = {
    "an expression": "tanh(w*x + b)",
    "a named expression": "L = tanh(w*x + b)",
    "powers as in mathematics": "x^2 + 3x",
    "a function as in mathematics": "f(x, y) = x^2*y + sin(y)",
    "superscripts and signs": "y = x² − 2·x",
    "pi and e": "exp(-x^2/2)/sqrt(2π) + e^(-x)",
    "x to the x": "x^x",
    "a whole exponent stays plain": "n = 2\nx**n",
    "a product of brackets": "2(x + 1)*(x - 1)",
    "a condition": "a = 2\na*a if a > b else b",
    "where": "where(x > 0, log(x), 0)",
    "two inputs in one line": "x, y = 2, 3\nmax(x, 0) * y",
    "a semicolon": "x = 2; y = x*x",
    "a loop": "for i in range(60):\n    x = x + x",
    "a loop without a start": "while x < 1000:\n    x = x*2\nx",
    "a lambda": "lambda x: x*x",
    "a lambda called": "(lambda x: x*x)(3.0)",
    "a sum of products": "sum(w*x for w, x in zip([a, b], [c, d]))",
    "nested functions": "def g(t):\n    return t*t\ndef f(x, y=2):\n    return g(x) + y*x",
    "micrograd's README": (
        "from micrograd.engine import Value\na = Value(-4.0)\nb = Value(2.0)\nc = a + b\nd = a * b + b**3\nc += c + 1\n"
        "c += 1 + c + (-a)\nd += d * 2 + (b + a).relu()\nd += 3 * d + (b - a).relu()\ne = c - d\nf = e**2\ng = f / 2.0\n"
        "g += 10.0 / f\nprint(f'{g.data:.4f}')\ng.backward()\nprint(f'{a.grad:.4f}')"
    ),
    "Karpathy's neuron": (
        "x1 = Value(2.0, label='x1')\nx2 = Value(0.0, label='x2')\nw1 = Value(-3.0, label='w1')\nw2 = Value(1.0, label='w2')\n"
        "b = Value(6.8813735870195432, label='b')\nx1w1 = x1*w1; x1w1.label = 'x1*w1'\nx2w2 = x2*w2; x2w2.label = 'x2*w2'\n"
        "x1w1x2w2 = x1w1 + x2w2; x1w1x2w2.label = 'x1*w1 + x2*w2'\nn = x1w1x2w2 + b; n.label = 'n'\no = n.tanh(); o.label = 'o'\n"
        "o.backward()\ndraw_dot(o)"
    ),
    "PyTorch's ones": (
        "import torch\nx = torch.ones(2, 2, requires_grad=True)\nprint(x)\ny = x + 2\nprint(y.grad_fn)\nz = y * y * 3\nout = z.mean()\n"
        "print(z, out)\nout.backward()\nprint(x.grad)"
    ),
    "PyTorch's Q": (
        "import torch\na = torch.tensor([2., 3.], requires_grad=True)\nb = torch.tensor([6., 4.], requires_grad=True)\n"
        "Q = 3*a**3 - b**2\nexternal_grad = torch.tensor([1., 1.])\nQ.backward(gradient=external_grad)\nprint(9*a**2 == a.grad)"
    ),
    "another upstream gradient": "x = torch.tensor([1., 2.])\nv = torch.tensor([3., -1.])\ny = x**3\ny.backward(v)",
    "PyTorch's quickstart": (
        "import torch\nx = torch.ones(5)\ny = torch.zeros(3)\nw = torch.randn(5, 3, requires_grad=True)\n"
        "b = torch.randn(3, requires_grad=True)\nz = torch.matmul(x, w)+b\n"
        "loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)\nloss.backward()\nprint(w.grad)"
    ),
    "PyTorch's README": (
        "W_h = torch.randn(2, 2, requires_grad=True)\nW_x = torch.randn(2, 3, requires_grad=True)\nx = torch.randn(1, 3)\n"
        "prev_h = torch.randn(1, 2)\ni2h = torch.mm(W_x, x.t())\nh2h = torch.mm(W_h, prev_h.t())\nnext_h = i2h + h2h\n"
        "next_h = next_h.tanh()\nloss = next_h.sum()\nloss.backward()"
    ),
    "d2l's dot": "x = torch.arange(4.0)\nx.requires_grad_(True)\nx.grad\ny = 2 * torch.dot(x, x)\ny.backward()\nx.grad == 4 * x",
    "d2l's detach": "x = torch.arange(4.0)\nx.grad.zero_()\ny = x * x\nu = y.detach()\nz = u * x\nz.sum().backward()",
    "d2l's control flow": (
        "def f(a):\n    b = a * 2\n    while b.norm() < 1000:\n        b = b * 2\n    if b.sum() > 0:\n        c = b\n    else:\n"
        "        c = 100 * b\n    return c\na = torch.randn(size=(), requires_grad=True)\nd = f(a)\nd.backward()\na.grad == d / a"
    ),
    "linear regression": (
        "X = np.array([[1., 2.], [3., 4.]])\ny = np.array([1., 0.])\nw = np.zeros(2)\nb = 0.0\n"
        "loss = np.mean((X @ w + b - y)**2)"
    ),
    "JAX's grad": "import jax.numpy as jnp\nfrom jax import grad\ndef f(x):\n    return jnp.sin(x) * x\nprint(grad(f)(3.0))",
    "JAX's tanh": (
        "def tanh2(x):\n    y = jnp.exp(-2.0 * x)\n    return (1.0 - y) / (1.0 + y)\ngrad_tanh = jax.grad(tanh2)(1.0)"
    ),
    "JAX's logistic": (
        "def predict(W, b, inputs):\n    return 0.5 * (jnp.tanh((inputs @ W + b) / 2) + 1)\n"
        "W = jnp.array([1., -1.])\nb = 0.5\ninputs = jnp.array([0.5, 1.1])\nL = -jnp.log(predict(W, b, inputs))"
    ),
    "the Rosenbrock function": "(1 - x)**2 + 100*(y - x**2)**2",
    "softmax": "z = [1., 2., 3.]\nsoftmax(z)[1]",
    "cross-entropy": "z = [2, 1, -1]\np = softmax(z)\nL = -log(p[0])",
    "log-sum-exp": "z = [1, 2, 3]\nlogsumexp(z)",
    "attention": "Q = [[1, 0], [0, 1]]\nK = [[1, 2], [0, 1]]\nV = [[1, 2], [3, 4]]\nsoftmax(Q @ K.T / sqrt(2)) @ V",
    "an LSTM's gate": "f = sigmoid(w*x + b)\nc_new = f*c + (1 - f)*tanh(x)",
    "a dead ReLU": "x = 1\nw = 0.5\nb = -2\nF.relu(w*x + b)",
    "leaky and others": "F.leaky_relu(-x) + F.silu(x) + F.gelu(x) + F.softplus(x)",
    "broadcasting": "x = [[1, 2, 3], [4, 5, 6]]\nb = [1, -1, 0]\nsum((x + b)**2)",
    "an axis": "x = torch.randn(3, 2)\nx.mean(dim=0, keepdim=True).max()",
    "a deviation": "x = [1, 2, 4]\nstd(x) + var(x)",
    "a norm": "x = [3, 4]\nnp.linalg.norm(x)",
    "a transpose and a matmul": "A = [[1, 2], [3, 4]]\nx = [1, -1]\nx @ A @ x + np.sum(A.T)",
    "an outer product by einsum": "a = [1, 2]\nb = [3, 4]\ntorch.einsum('i,j->', a, b)",
    "stack and cat": "torch.stack([a, b]).max() + torch.cat([torch.tensor([a]), torch.tensor([b])]).sum()",
    "slices": "x = [1, 2, 3, 4]\ny = x[1:] - x[:-1]\nsum(y**2)",
    "reshape": "x = [1, 2, 3, 4]\nx.reshape(2, 2) @ np.array([1., 2.])",
    "clip": "x = 0.5\nclip(x, -1, 1) + np.maximum(0, x) + min(x, 3)",
    "logarithms": "log2(x) + log10(x) + log1p(x) + ln(x)",
    "trigonometry": "tan(x) + sinh(x) + math.cosh(x) + math.cos(x)",
    "a recurrence": "h = 0.0\nfor t in range(5):\n    h = tanh(w*h + x)",
    "Newton's method": "y = x\nfor i in range(4):\n    y = y - (y*y - 2)/(2*y)",
    "Horner's rule": "y = 0\nfor a in [1, -3, 2]:\n    y = y*x + a",
    "a mean squared error": "t = [1., 0.]\ny = [0.8, 0.3]\nF.mse_loss(y, t)",
    "a break": "x = 1.5\ny = x\nfor i in range(100):\n    y = y*y\n    if y > 10:\n        break\ny",
    "a prompt": ">>> x = 2.0\n>>> y = x * x\n>>> y\n",
}
# A text that is not drawn -> a word of the sentence that says what to do.
ANSWERED = {
    "": "Write an expression",
    "3 + 4": "differentiate with respect to",
    "# only a comment": "Write an expression",
    "y = 2*": "Python",
    "x**": "Python",
    "x^2 y": "Python",
    r"\frac{1}{x}": "LaTeX",
    "$x^2$": "LaTeX",
    "model = nn.Linear(2, 3)\ny = model(x)": "W @ x + b",
    "model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())": "one after the other",
    "loss_fn = nn.MSELoss()\nloss = loss_fn(y, t)": "mean((y - t)**2)",
    "loss = nn.CrossEntropyLoss()(z, t)": "log_softmax",
    "with torch.no_grad():\n    w -= 0.1*w.grad": "one forward pass",
    "opt = torch.optim.SGD([w], lr=0.1)\nopt.step()": "one forward pass",
    "class Value:\n    def __init__(self, data):\n        self.data = data": "Paste the lines that compute",
    "h[0] = x": "stack",
    "if x > 0:\n    pass": "compute one value",
    "y = {'a': x}": "name of its own",
    "y = x if x > 0": "Python",
    "try:\n    y = x\nexcept ValueError:\n    pass": "try",
    "y = tanhh(x)": "tanh",
    "y = foo(x)": "not known",
    "y = np.linalg.inv(A)": "not known",
    "x @ y": "write *",
    "1/0*x": "division by zero",
    "10**10**10*x": "too large",
    "x = Value(1.0)\nwhile True:\n    x = x*1.0": "shorten the loop",
    "for i in range(300):\n    x = x*1.01": "too many to be drawn",
    "def f(x):\n    return f(x)\nf(2.0)": "calls itself",
    "x = np.eye(900000)": "1,000 entries",
    "x = [1, 2]\nif x > 0:\n    y = x\nelse:\n    y = -x": "where",
    "y = np.sign(x)": "does not depend",
    "y = detach(x)*2": "does not depend",
    "A = [[1, 2], [3, 4]]\nx = [1, 2, 3]\nA @ x": "(2, 2)",
    "x = [1, 2, 3]\nx[5]": "5",
    "y = x.backwards()": "not known",
    "y = x.numpy()": "not known",
    "print(x)": "Write an expression",
    "x" * 2001: "2,000",
    "(" * 60 + "x" + ")" * 60 + "+": "Python",
    "x" + "**1" * 60: "levels of brackets",
}
# What would reach beyond arithmetic, if a text were run. None of it is drawn.
HOSTILE = [
    *(
        "__import__('os').system('true')",
        "x.__class__",
        "().__class__.__bases__[0].__subclasses__()",
        "x.__init__.__globals__",
    ),
    *(
        "eval('1')",
        "exec('x = 1')",
        "compile('1', '', 'eval')",
        "open('/etc/passwd')",
        "globals()",
        "locals()",
        "vars()",
    ),
    *(
        "getattr(x, 'data')",
        "setattr(x, 'data', 1)",
        "delattr(x, 'a')",
        "type(x)",
        "dir(x)",
        "object()",
        "super()",
    ),
    *(
        "import os",
        "from os import system",
        "import js\njs.eval('1')",
        "js.eval('1')",
        "os.system('true')",
        "sys.exit()",
    ),
    *(
        "np.load('x.npy')",
        "np.save('x', x)",
        "x.tofile('f')",
        "x.dump('f')",
        "np.memmap('f')",
        "np.fromfile('f')",
    ),
    *(
        "np.lib.format.open_memmap('f')",
        "torch.load('f')",
        "torch.save(x, 'f')",
        "torch.hub.load('a', 'b')",
        "jax.debug.callback(f)",
    ),
    *(
        "'{0.__class__}'.format(x)",
        "f'{x.__class__}'",
        "'%s' % x",
        "b'abc'",
        "'a'.join([x])",
        "x.name",
        "x.op",
        "x.inputs",
    ),
    *("lambda: __builtins__", "__builtins__", "__name__", "__file__", "__loader__", "_", "__"),
    *(
        "(y := x)",
        "[y := 1, y**2]",
        "global x\nx = 1",
        "nonlocal x",
        "del x",
        "assert x",
        "raise x",
        "yield x",
        "await x",
    ),
    *(
        "async def f(): pass",
        "@eval\ndef f(x): return x",
        "class A: pass",
        "with x: pass",
        "try: x\nexcept: x",
        "match x:\n    case 1: x",
    ),
    *(
        "def f(x=__import__('os')): return x",
        "def f(*args): return args",
        "def f(**kw): return kw",
        "print(*x)",
        "{**x}",
        "{x: 1}",
        "{x}",
    ),
    *(
        "{i for i in x}",
        "{i: i for i in x}",
        "x.f_globals",
        "x.gi_frame",
        "x.cr_frame",
        "x.__dict__",
        "x.data.base",
        "x.data.ctypes",
    ),
    *(
        "x.data.tobytes()",
        "x.setflags(write=True)",
        "x.register_hook(f)",
        "x.backward(f)",
        "ag.Tensor.process",
        "ag.tape",
        "ag.ops",
    ),
    *(
        "ag.save('f', x)",
        "ag.load('f')",
        "F.__globals__",
        "np.core",
        "np.random.bit_generator",
        "math.__loader__",
        "input()",
    ),
    *(
        "breakpoint()",
        "help()",
        "exit()",
        "quit()",
        "copyright()",
        "license()",
        "memoryview(x)",
        "bytes(x)",
        "bytearray(10**9)",
    ),
    *(
        "'x'*10**9",
        "[0]*10**9*x",
        "[x]*999999*999999",
        "range(10**12)",
        "sum(range(10**12))*x",
        "list(range(10**9))*x",
        "x**10**10**10",
    ),
    *(
        "9**9**9**9*x",
        "np.ones((10**6, 10**6))*x",
        "np.zeros(10**12)*x",
        "np.arange(10**12)*x",
        "np.linspace(0, 1, 10**12)*x",
        "x << 10**10",
    ),
    *(
        "while True: pass",
        "while 1:\n    x = [x]",
        "for i in range(10**9): x = x + 1",
        "[[x for i in range(1000)] for j in range(1000)]",
    ),
    *(
        "def f(x): return f(x) + f(x)\nf(1.0)",
        "f = lambda x: f(f(x))\nf(1.0)",
        "(lambda f: f(f))(lambda f: f(f))",
        "x\0y",
        "x = '\\ud800'",
    ),
    *(
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "javascript:alert(1)",
        "${alert(1)}",
        '"""); import os; ("""',
    ),
]
