"""Texts that people type or paste into the playground, which draws or explains each of them.

The texts that it draws come from micrograd's README and lecture, PyTorch's tutorials and notes,
d2l's chapter on autograd and JAX's documentation, or use the notation of Desmos; names and numbers
are unchanged.
"""

import re

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
    "trigonometry": "tan(x) + sinh(x) + math.cosh(x) + math.cos(x) + arctan(2*x)",
    "a recurrence": "h = 0.0\nfor t in range(5):\n    h = tanh(w*h + x)",
    "Newton's method": "y = x\nfor i in range(4):\n    y = y - (y*y - 2)/(2*y)",
    "Horner's rule": "y = 0\nfor a in [1, -3, 2]:\n    y = y*x + a",
    "a mean squared error": "t = [1., 0.]\ny = [0.8, 0.3]\nF.mse_loss(y, t)",
    "a break": "x = 1.5\ny = x\nfor i in range(100):\n    y = y*y\n    if y > 10:\n        break\ny",
    "normalize": "x = torch.tensor([3., 4., 0.5], requires_grad=True)\ny = F.normalize(x, dim=0)\n(y * torch.tensor([1., 2., 3.])).sum()",
    "a prompt": ">>> x = 2.0\n>>> y = x * x\n>>> y\n",
}
# A text that is not drawn -> a word of the message that says what to do.
ANSWERED = {
    "": "Write an expression",
    "3 + 4": "differentiate with respect to",
    "# only a comment": "Write an expression",
    "y = 2*": "Python",
    "x**": "Python",
    r"\sum_i x_i^2": "term by term",
    r"\int_0^1 x^2 \, dx": "only the function under the integral",
    "model = nn.Linear(2, 3)\ny = model(x)": "x = torch.ones(2)",
    "model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())": "x = torch.ones(2)",
    "loss = nn.CrossEntropyLoss()(z, t)": "expected scores in an array",
    "with torch.no_grad():\n    w -= 0.1*w.grad": "one forward pass",
    "opt = torch.optim.SGD([w], lr=0.1)\nopt.step()": "one forward pass",
    "class Value:\n    def __init__(self, data):\n        self.data = data": "Paste the lines that use it",
    "h[0] = x": "stack",
    "if x > 0:\n    pass": "compute one value",
    "y = {'a': x}": "one of its values",
    "y = x if x > 0": "Python",
    "try:\n    y = x\nexcept ValueError:\n    pass": "try",
    "y = tanhh(x)": "tanh",
    "y = foo(x)": "has no function",
    "y = np.linalg.inv(A)": "has no function",
    "x @ y": "write *",
    "1/0*x": "division by zero",
    "10**10**10*x": "too large",
    "x = Value(1.0)\nwhile True:\n    x = x*1.0": "shorten the loop",
    "for i in range(300):\n    x = x*1.01": "too many to draw",
    "def f(x):\n    return f(x)\nf(2.0)": "for loop instead of recursion",
    "x = np.eye(900000)": "1,000 entries",
    "x * np.zeros(-2)": "zeros: expected a shape of sizes >= 0, got (-2,)",
    "x * np.random.randn(-2)": "randn:",
    "x * np.random.randint(5, 0, 2)": "randint:",
    "z = [2.0, 1.0]\nF.cross_entropy(z, 5)": "cross_entropy: expected target classes from 0 to 1, got 5",
    "z = [2.0, 1.0]\nF.mse_loss(z, 1.0, reduction='avg')": "got 'avg'",
    "A = [[1.0, 2.0], [3.0]]\nA * x": "equal length",
    "x = [1, 2]\nif x > 0:\n    y = x\nelse:\n    y = -x": "where",
    "y = np.sign(x)": "has no gradient",
    "y = detach(x)*2": "has no gradient",
    "A = [[1, 2], [3, 4]]\nx = [1, 2, 3]\nA @ x": "(2, 2)",
    "x = [1, 2, 3]\nx[5]": "5",
    "y = x.backwards()": "has no function",
    "y = x.numpy()": "has no function",
    "print(x)": "Write an expression",
    "x" * 2001: "2,000",
    "(" * 60 + "x" + ")" * 60 + "+": "Python",
    "x" + "**1" * 60: "levels of brackets",
    "import jax.numpy as jnp\nfrom jax import grad, jit, vmap\n\ndef predict(params, inputs):\n  for W, b in params:\n    outputs = jnp.dot(inputs, W) + b\n    inputs = jnp.tanh(outputs)  # inputs to the next layer\n  return outputs                # no activation on last layer\n\ndef loss(params, inputs, targets):\n  preds = predict(params, inputs)\n  return jnp.sum((preds - targets)**2)\n\ngrad_loss = jit(grad(loss))": "a list first",
    "def f(x):\n    return jax.lax.fori_loop(0, 4, lambda i, v: v * x, 1.0)\njax.grad(f)(2.0)": "write the loop out",
    "f(x) = { x^2 if x<1; 2x-1 otherwise }": "where(x < 1",
    "const f = (x) => Math.tanh(3 * x) + Math.pow(x, 2);": "another language",
    "double f(double x) { return x * x + 3 * x; }": "another language",
    "what is the gradient of softmax?": "a sentence, not a formula",
    "train_loader = torch.utils.data.DataLoader(data)\nfor x, y in train_loader:\n    loss = model(x)": "Write out a few numbers",
    "y = AutoModel.from_pretrained(w)": "Write out a few numbers",
    "\\documentclass{article}\n\\begin{document}\n$x^2$": "the formula alone",
    "x^2 + y^2 = 1": "equations",
    "∫ x dx": "only the function under the integral",
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n    def forward(self, x):\n        return torch.sigmoid(self.fc(x))": "is not used yet",
    "model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))\nx = torch.randn(1, 784)\nloss = model(x).sum()": "1,000 entries",
    'import numpy as np\ndef gradient_descent(x, y, learning_rate=0.0001, iterations=10000):\n    """Simple gradient descent for univariate linear regression."""\n    x = np.array(x, dtype=float)\n    y = np.array(y, dtype=float)\n    m_curr = 0.0\n    b_curr = 0.0\n    n = len(x)\n    cost_history = []\n    for _ in range(iterations):\n        y_pred = m_curr * x + b_curr\n        cost = (1 / n) * np.sum((y - y_pred) ** 2)\n        cost_history.append(cost)\n        md = -(2 / n) * np.sum(x * (y - y_pred))\n        bd = -(2 / n) * np.sum(y - y_pred)\n        m_curr -= learning_rate * md\n        b_curr -= learning_rate * bd\n    return m_curr, b_curr, cost_history\n\nnp.random.seed(42)\nX = np.linspace(0, 100, 50)\ntrue_m, true_b = 1.5, 5.0\nnoise = np.random.randn(len(X)) * 5.0\nY = true_m * X + true_b + noise\nm_hat, b_hat, cost_history = gradient_descent(X, Y)\nprint(f"Learned parameters: m={m_hat:.3f}, b={b_hat:.3f}")': "several values",
    'class NeuralNetwork(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.flatten = nn.Flatten()\n        self.linear_relu_stack = nn.Sequential(\n            nn.Linear(4, 3),\n            nn.ReLU(),\n            nn.Linear(3, 2),\n        )\n    def forward(self, x):\n        x = self.flatten(x)\n        logits = self.linear_relu_stack(x)\n        return logits\nmodel = NeuralNetwork().to(device)\nX = torch.rand(1, 2, 2, device=device)\nlogits = model(X)\npred_probab = nn.Softmax(dim=1)(logits)\ny_pred = pred_probab.argmax(1)\nprint(f"Predicted class: {y_pred}")': "reshape(1, -1)",
    'f5 <- expression((x**2*y) - x + 2*y + 3)\nx <- 1\ny <- 2\nfx5 <- D(f5, "x")': "another language",
}

# The model and the loss of two of the texts below.
LOGISTIC_LOSS = """\
def sigmoid(x):
    return 0.5 * (jnp.tanh(x / 2) + 1)

# Outputs probability of a label being true.
def predict(W, b, inputs):
    return sigmoid(jnp.dot(inputs, W) + b)

# Build a toy dataset.
inputs = jnp.array([[0.52, 1.12,  0.77],
                    [0.88, -1.08, 0.15],
                    [0.52, 0.06, -1.30],
                    [0.74, -2.49, 1.39]])
targets = jnp.array([True, True, False, True])

# Training loss is the negative log-likelihood of the training examples.
def loss(W, b):
    preds = predict(W, b, inputs)
    label_probs = preds * targets + (1 - preds) * (1 - targets)
    return -jnp.sum(jnp.log(label_probs))

"""

# --- Collected after the playground was built -----------------------------------------------------------------------------
# A hundred programs from repositories, forums, documentation and course notes, written down before any was tried: 60, then 20,
# then 20. At first 37, 16 and 14 of them were drawn right or answered usefully; each class of failure was fixed.
COLLECTED = {
    "micrograd: a, b, c, d (obsidian notes)": """\
a = Value(2.0)
b = Value(-3.0)
c = Value(10.0)

d = a*b+c
print(d)
""",
    "learntinker: the diamond": """\
x = Value(3.0)
y = x * x # same Value used twice
y.backward()
print('x.grad', x.grad)
""",
    "Karpathy's L = d*f with labels": """\
a = Value(2.0, label='a')
b = Value(-3.0, label='b')
c = Value(10.0, label='c')
e = a*b; e.label = 'e'
d = e + c; d.label = 'd'
f = Value(-2.0, label='f')
L = d * f; L.label = 'L'
L
""",
    "micrograd's bug: b = a + a": """\
a = Value(3.0, label='a')
b = a + a   ; b.label = 'b'
b.backward()
draw_dot(b)
""",
    "micrograd: tanh spelled out with exp": """\
x1 = Value(2.0, label='x1')
x2 = Value(0.0, label='x2')
w1 = Value(-3.0, label='w1')
w2 = Value(1.0, label='w2')
b = Value(6.8813735870195432, label='b')
n = x1*w1 + x2*w2 + b
# ----
e = (2*n).exp()
o = (e - 1) / (e + 1)
# ----
o.label = 'o'
o.backward()
""",
    "Karpathy's neuron in PyTorch": """\
import torch
x1 = torch.Tensor([2.0]).double()                ; x1.requires_grad = True
x2 = torch.Tensor([0.0]).double()                ; x2.requires_grad = True
w1 = torch.Tensor([-3.0]).double()               ; w1.requires_grad = True
w2 = torch.Tensor([1.0]).double()                ; w2.requires_grad = True
b = torch.Tensor([6.8813735870195432]).double()  ; b.requires_grad = True
n = x1*w1 + x2*w2 + b
o = torch.tanh(n)

print(o.data.item())
o.backward()

print('---')
print('x2', x2.grad.item())
print('w2', w2.grad.item())
print('x1', x1.grad.item())
print('w1', w1.grad.item())
""",
    "micrograd: the class Value": """\
class Value:
    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self._prev = set(_children)
        self._op = _op

    def __repr__(self):
        return f"Value(data={self.data})"

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other), '+')
        return out

a = Value(2.0)
b = Value(-3.0)
a + b
""",
    "micrograd: a neuron by hand": """\
import random
w = [Value(random.uniform(-1,1)) for _ in range(2)]
b = Value(random.uniform(-1,1))
x = [2.0, 3.0]
act = sum((wi*xi for wi, xi in zip(w, x)), b)
out = act.tanh()
""",
    "micrograd's numeric derivative": """\
h = 0.0001
a = 2.0
b = -3.0
c = 10.0
d1 = a*b + c
c += h
d2 = a*b + c
print('slope', (d2 - d1)/h)
""",
    "two losses (w1, w2) of a course": """\
loss = ((w1 - 1)**2 + (w2 - 5)**2) * 0.5
""",
    "PyTorch's x**3 twice backward": """\
x = torch.tensor(5.0, requires_grad=True)
y = x ** 3
y.backward(retain_graph=True)
y.backward()
x.grad
""",
    "a polynomial at 2": """\
import torch
# requires_grad: require a gradient to find the derivative of the function.
x = torch.tensor(2.0, requires_grad=True)
print(x) # tensor(2., requires_grad=True)
y = 8*x**4+3*x**3+7*x**2+6*x+3 # define function
# compute the derivative of the function
y.backward()
print(x.grad) # tensor(326.)
""",
    "x**2 + z**3": """\
x = torch.tensor(2.0, requires_grad=True)
z = torch.tensor(4.0, requires_grad=True)
y = x**2+z**3
y.backward() # get Derivatives
print(x.grad) # tensor(4.)
print(z.grad) # tensor(48.)
""",
    "equation of a line": """\
x = torch.tensor(5.)  # some data
w = torch.tensor(4., requires_grad=True)  # weight (slope)
b = torch.tensor(2., requires_grad=True)  # bias (intercept)
y = x * w + b  # equation of a line
y.backward()  # let PyTorch know that Y needs to be differentiated
print(w.grad, b.grad)  # prints the derivative of Y with respect to w and b
""",
    "torch.autograd.grad of y**3": """\
import torch
x = torch.tensor([2.0], requires_grad=True)
y = x ** 3

grad = torch.autograd.grad(y, x)  # Returns (3x²,) → (12.0,)
print("dy/dx =", grad[0])         # tensor([12.])
""",
    "second derivative with create_graph": """\
x = torch.tensor([2.0], requires_grad=True)
y = x**3       # dy/dx = 3x² = 12

# First derivative
dy_dx = torch.autograd.grad(y, x, create_graph=True)[0]

# Second derivative (d²y/dx² = 6x = 12)
d2y_dx2 = torch.autograd.grad(dy_dx, x)[0]

print("Second derivative:", d2y_dx2)  # tensor([12.])
""",
    "a hook": """\
x = torch.tensor([2.0], requires_grad=True)

def print_grad(grad):
    print("Gradient flowing through:", grad)

x.register_hook(print_grad)

y = x**2 + 3*x
y.backward()
""",
    "where with sqrt, PyTorch issue 187297": """\
import torch

xt = torch.tensor([-1.0, -4.0], dtype=torch.float32, requires_grad=True)

y = torch.where(xt > 0, torch.sqrt(xt), xt).sum()
y.backward()

actual = xt.grad
expected = torch.tensor([1.0, 1.0], dtype=torch.float32)

print("actual:")
print(actual)
print("expected:")
print(expected)
""",
    "where with exp, PyTorch issue 68425": """\
a = torch.tensor(100., requires_grad=True)
b = torch.where(a <= 0, torch.exp(a), 1 + a)
b.backward()

print(b)
print(a.grad)
""",
    "norm at zero, PyTorch issue 2421": """\
x = Variable(torch.zeros(1), requires_grad=True)
x.norm().backward()
print x.grad
""",
    "norm plus epsilon": """\
x = Variable(torch.zeros(1), requires_grad=True)
x = x + 1e-16
x.norm().backward()
print(x.grad)
""",
    "the training loop of Sung Kim's course": """\
x_data = [1.0, 2.0, 3.0]
y_data = [2.0, 4.0, 6.0]
w = torch.Tensor([1.0])
w.requires_grad = True

def forward(x):
    return x * w

def loss(x, y):
    y_pred = forward(x)
    return (y_pred - y) ** 2

for epoch in range(100):
    for x, y in zip(x_data, y_data):
        l = loss(x, y)
        l.backward()
        print('\\tgrad:', x, y, w.grad.item())
        w.data = w.data - 0.01 * w.grad.data
        w.grad.data.zero_()
    print('progress:', epoch, l.item())
""",
    "linear regression with sizes": """\
N = 10
D_in = 1
D_out = 1
X = torch.randn(N, D_in)
true_W = torch.tensor([[2.0]])
true_b = torch.tensor(1.0)
y_true = X @ true_W + true_b + torch.randn(N, D_out) * 0.1
W = torch.randn(D_in, D_out, requires_grad=True)
b = torch.randn(1, requires_grad=True)
y_hat = X @ W + b
print(f"Shape of our prediction y_hat: {y_hat.shape}\\n")
error = y_hat - y_true
loss = (error ** 2).mean()
loss.backward()
""",
    "Q = 2a^3 - b^2 with e_grad": """\
a = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor([3., 4.], requires_grad=True)
Q = 2*a**3 - b**2
e_grad = torch.tensor([1., 1.])
Q.backward(gradient=e_grad)
print(a.grad, b.grad)
""",
    "a matrix, x*x, sum": """\
x = torch.tensor([[1., 1.], [2., 2.]], requires_grad=True)
print(x)
y = x*x
print(y)
z = y.sum()
print(z)
z.backward()
print(x.grad)
""",
    "doubling until the norm is 1000": """\
x = torch.randn(3, requires_grad=True)
y = x * 2
while y.data.norm() < 1000:
    y = y*2
print(y)
gradients = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float)
y.backward(gradients)
print(x.grad)
""",
    "a.requires_grad_ of (a*3)/(a-1)": """\
a = torch.randn(2, 2)
a = ((a*3)/(a-1))
print(a.requires_grad)
a.requires_grad_(True)
print(a.requires_grad)
b = (a*a).sum()
print(b.grad_fn)
""",
    "two layers with nn.functional": """\
import torch
import torch.nn.functional as F
x = torch.tensor([[0.5, -1.0]])
W1 = torch.tensor([[0.1, 0.4], [-0.3, 0.2]], requires_grad=True)
b1 = torch.zeros(2, requires_grad=True)
W2 = torch.tensor([[0.7], [-0.6]], requires_grad=True)
b2 = torch.zeros(1, requires_grad=True)
h = F.relu(x @ W1 + b1)
y_hat = h @ W2 + b2
loss = F.mse_loss(y_hat, torch.tensor([[1.0]]))
loss.backward()
print(W1.grad)
""",
    "cross entropy with a target index": """\
logits = torch.tensor([[2.0, 1.0, 0.1]], requires_grad=True)
target = torch.tensor([0])
loss = torch.nn.functional.cross_entropy(logits, target)
loss.backward()
print(logits.grad)
""",
    "BatchNorm by hand": """\
x = torch.tensor([1., 2., 4., 7.], requires_grad=True)
gamma = torch.tensor(1.5, requires_grad=True)
beta = torch.tensor(0.5, requires_grad=True)
eps = 1e-5
mu = x.mean()
var = ((x - mu)**2).mean()
xhat = (x - mu) / torch.sqrt(var + eps)
out = gamma * xhat + beta
out.sum().backward()
""",
    "attention in PyTorch": """\
import torch, math
q = torch.randn(2, 3, requires_grad=True)
k = torch.randn(2, 3, requires_grad=True)
v = torch.randn(2, 3, requires_grad=True)
d_k = q.size(-1)
scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
attn = torch.softmax(scores, dim=-1)
out = torch.matmul(attn, v)
out.sum().backward()
""",
    "no_grad update": """\
w = torch.tensor(1.0, requires_grad=True)
loss = (w*2 - 4)**2
loss.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
    w.grad = None
""",
    "JAX: grad of x**2 at x": """\
import jax
import jax.numpy as jnp
from jax import grad, value_and_grad

def f(x):
    return x**2

# Get the gradient function
df_dx = grad(f)

# Evaluate at x = 3.0
x = 3.0
gradient_value = df_dx(x)
print(f"f({x}) = {f(x)}")
print(f"f'({x}) = {gradient_value}")
""",
    "JAX: argnums": """\
def h(x, y):
    return x**2 + 3*x*y + y**2

dh_dx = grad(h, argnums=0)  # ∂h/∂x
dh_dy = grad(h, argnums=1)  # ∂h/∂y

x, y = 2.0, 1.0
print(f"∂h/∂x = 2x + 3y = {dh_dx(x, y)}")
print(f"∂h/∂y = 3x + 2y = {dh_dy(x, y)}")
""",
    "JAX: value_and_grad of (w*x)**2": """\
import jax, jax.numpy as jnp

def f(w, x):
    return jnp.sum((w * x) ** 2)

val, grad = jax.value_and_grad(f)(2.0, jnp.array([1.0, 3.0]))
# val   = 2^2*1^2 + 2^2*3^2 = 4 + 36 = 40.0
""",
    "JAX: loss_fn with params": """\
import jax
import jax.numpy as jnp
def loss_fn(params, x, y):
    predictions = jnp.dot(params, x)
    squared_error = (predictions - y) ** 2
    return jnp.mean(squared_error)
params = jnp.array([1.0, 2.0, 3.0])
x = jnp.array([0.5, 1.5, 2.5])
y = jnp.array(5.0)
print("Loss:", loss_fn(params, x, y))
grad_fn = jax.grad(loss_fn)
grads = grad_fn(params, x, y)
print("Gradients:", grads)
print("Shape of gradients:", grads.shape)
""",
    "JAX: grad of jnp.tanh": """\
grad_tanh = grad(jnp.tanh)
print(grad_tanh(2.0))
""",
    "JAX: logistic regression of the quickstart": """\
key = jax.random.key(0)

"""
    + LOGISTIC_LOSS
    + """\
# Initialize random model coefficients
key, W_key, b_key = jax.random.split(key, 3)
W = jax.random.normal(W_key, (3,))
b = jax.random.normal(b_key, ())

W_grad = grad(loss, argnums=0)(W, b)
""",
    "JAX issue 5798: where below 1": """\
f = lambda x: np.where(x<1., x, np.sqrt(x))
df = grad(f)
df(1e-9)  # evaluates to 1, as expected
df(0.0)   # evaluates to nan
""",
    "JAX: the double where": """\
import jax.numpy as jnp
from jax import grad

def f(x):
  condition = x < 1
  x_valid = jnp.where(condition, 1, x)
  return jnp.where(condition, x, jnp.sqrt(x_valid))

df = grad(f)
print(df(1e-9))
# 1.0
print(df(0.0))
# 1.0
""",
    "autograd's README with prompts": """\
>>> import autograd.numpy as np  # Thinly-wrapped numpy
>>> from autograd import grad    # The only autograd function you may ever need
>>>
>>> def tanh(x):                 # Define a function
...     return (1.0 - np.exp((-2 * x))) / (1.0 + np.exp(-(2 * x)))
...
>>> grad_tanh = grad(tanh)       # Obtain its gradient function
>>> grad_tanh(1.0)               # Evaluate the gradient at x = 1.0
0.419974341614026
>>> (tanh(1.0001) - tanh(0.9999)) / 0.0002  # Compare to finite differences
0.41997434264973155
""",
    "TensorFlow: GradientTape": """\
import tensorflow as tf

x = tf.Variable(3.0)

with tf.GradientTape() as tape:
    y = x ** 2  # Function to differentiate

dy_dx = tape.gradient(y, x)  # Compute gradient
print(dy_dx)  # Output: tf.Tensor(6.0, shape=(), dtype=float32)
""",
    "TensorFlow: reduce_mean of a layer": """\
w = tf.Variable(tf.random.normal((3, 2)), name='w')
b = tf.Variable(tf.zeros(2, dtype=tf.float32), name='b')
x = [[1., 2., 3.]]

with tf.GradientTape(persistent=True) as tape:
  y = x @ w + b
  loss = tf.reduce_mean(y**2)

[dl_dw, dl_db] = tape.gradient(loss, [w, b])
""",
    "MXNet: attach_grad and record": """\
from mxnet import nd
from mxnet import autograd
x = nd.array([[1, 2], [3, 4]])
x.attach_grad()
with autograd.record():
    y = 2 * x * x
y.backward()
x.grad
""",
    "CS231n: f = q*z with the backward pass": """\
# set some inputs
x = -2; y = 5; z = -4

# perform the forward pass
q = x + y # q becomes 3
f = q * z # f becomes -12

# perform the backward pass (backpropagation) in reverse order:
# first backprop through f = q * z
dfdz = q # df/dz = q, so gradient on z becomes 3
dfdq = z # df/dq = z, so gradient on q becomes -4
# now backprop through q = x + y
dfdx = 1.0 * dfdq # dq/dx = 1. And the multiplication here is the chain rule!
dfdy = 1.0 * dfdq # dq/dy = 1
""",
    "CS231n: a 2D neuron": """\
import math
w = [2,-3,-3] # assume some random weights and data
x = [-1, -2]

# forward pass
dot = w[0]*x[0] + w[1]*x[1] + w[2]
f = 1.0 / (1 + math.exp(-dot)) # sigmoid function
""",
    "CS231n: staged computation": """\
x = 3 # example values
y = -4

# forward pass
sigy = 1.0 / (1 + math.exp(-y)) # sigmoid in numerator   #(1)
num = x + sigy # numerator                               #(2)
sigx = 1.0 / (1 + math.exp(-x)) # sigmoid in denominator #(3)
xpy = x + y                                              #(4)
xpysqr = xpy**2                                          #(5)
den = sigx + xpysqr # denominator                        #(6)
invden = 1.0 / den                                       #(7)
f = num * invden # done!                                 #(8)
""",
    "Mazur's example": """\
i1, i2 = 0.05, 0.10
w1, w2, w3, w4 = 0.15, 0.20, 0.25, 0.30
w5, w6, w7, w8 = 0.40, 0.45, 0.50, 0.55
b1, b2 = 0.35, 0.60
def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))
h1 = sigmoid(w1*i1 + w2*i2 + b1)
h2 = sigmoid(w3*i1 + w4*i2 + b1)
o1 = sigmoid(w5*h1 + w6*h2 + b2)
o2 = sigmoid(w7*h1 + w8*h2 + b2)
E = 0.5*(0.01 - o1)**2 + 0.5*(0.99 - o2)**2
""",
    "XOR in NumPy, training loop": """\
import numpy as np
X = np.array([[0,0],[0,1],[1,0],[1,1]])
y = np.array([[0],[1],[1],[0]])
np.random.seed(1)
W1 = np.random.randn(2, 4)
b1 = np.zeros((1, 4))
W2 = np.random.randn(4, 1)
b2 = np.zeros((1, 1))
def sigmoid(z): return 1 / (1 + np.exp(-z))
def sigmoid_deriv(a): return a * (1 - a)
learning_rate = 0.1
for epoch in range(1000):
    A1 = sigmoid(X @ W1 + b1)
    A2 = sigmoid(A1 @ W2 + b2)
    dA2 = (A2 - y) * sigmoid_deriv(A2)
    dA1 = dA2 @ W2.T * sigmoid_deriv(A1)
    W2 -= learning_rate * A1.T @ dA2
    b2 -= learning_rate * np.sum(dA2, axis=0, keepdims=True)
""",
    "the stable softmax everybody writes": """\
def softmax(x):
    e_x = np.exp(x - np.max(x))
    return e_x / e_x.sum(axis=0)
scores = [3.0, 1.0, 0.2]
print(softmax(scores))
""",
    "the sigmoid with a real minus and implied products": """\
σ(x) = 1 / (1 + e^(−x))
""",
    "reverse_ad: Python 2": """\
x1 = Variable(1.0)
x2 = Variable(2.0)

a1 = x1*x2
a2 = x1/x2

b1 = a1/a2
b2 = a1*a2

y = b1-b2

y.backward()

# -2.0 4.0
print x1.grad, x2.grad
""",
    "MLX: grad of sin": """\
>>> dfdx = mx.grad(mx.sin)
>>> dfdx(mx.array(mx.pi))
array(-1, dtype=float32)
>>> mx.cos(mx.array(mx.pi))
array(-1, dtype=float32)
""",
    "clamp makes grad None": """\
# snippet1
a = torch.rand(1, requires_grad=True)
a = torch.clamp(a, 0, 1)
z = 2 * a
z.backward()
print(a.requires_grad) # True
print(a.grad) # None
""",
    "min and max against clamp": """\
import torch

torch.manual_seed(0)
a = torch.tensor([-2.,-1.,0.,1.,2.], requires_grad=True)
b = torch.full((5,), -1.)
b.requires_grad = True
c = torch.full((5,), 1.)
c.requires_grad = True
torch.min(torch.max(a, b), c).sum().backward()
x2=a.grad
y2=b.grad
z2=c.grad
""",
    "the challenge: sin((wx+b)^2)": """\
import torch

x = 3

# w & b, below, are defined as scalars (w = 4, b = 5)
w = torch.tensor([4.0], requires_grad=True)
b = torch.tensor([5.0], requires_grad=True)

y = torch.sin((w*x + b)**2)

y.backward() # computes the gradients of y

print('Expected:', 2*x*(w*x + b)*torch.cos((w*x + b)**2))
print('PyTorch: ', w.grad)

print()
print('Expected:', 2*(w*x + b)*torch.cos((w*x + b)**2))
print('PyTorch: ', b.grad)
""",
    "a function with a flag": """\
def dynamic_example(x, use_square=True):
    if use_square:  # Native Python control flow!
        return x ** 2
    else:
        return x ** 3

x = torch.tensor([2.0], requires_grad=True)

# Different graphs created each call
y1 = dynamic_example(x, use_square=True)
y1.backward()
print(f"d(x^2)/dx at x=2: {x.grad.item()}")  # 2*x = 4
""",
    "d2l exercise 5: sin plotted": """\
import torch
import matplotlib.pyplot as plt
x = torch.linspace(0, 2 * torch.pi, 100,  requires_grad = True)
y = torch.sin(x)
y.sum().backward()
plt.figure(figsize=(8, 8))
plt.plot(x.detach().numpy(), y.detach().numpy(), "-", label="sin(x)")
plt.legend(loc='upper left')
plt.show()
""",
    "sum of squares with v_i": """\
def sum_of_squares(v):
    \"\"\"computes the sum of squared elements in v\"\"\"
    return sum(v_i ** 2 for v_i in v)

v = [3, 4]
sum_of_squares(v)
""",
    "minimize by hand": """\
def f(x):
    return (x - 3) ** 2

def df(x):
    return 2 * (x - 3)

x = 0.0
lr = 0.1
for i in range(50):
    x = x - lr * df(x)
print(x, f(x))
""",
    "JAX gradient descent loop": """\
import jax
import jax.numpy as jnp

def loss(params, x, y):
    w, b = params
    return jnp.mean((w * x + b - y) ** 2)

x = jnp.array([0., 1., 2., 3.])
y = jnp.array([1., 3., 5., 7.])
params = jnp.array([0.0, 0.0])
grad_fn = jax.jit(jax.grad(loss))
for step in range(100):
    g = grad_fn(params, x, y)
    params = params - 0.1 * g
print(params)
""",
    "tinygrad's README": """\
from tinygrad import Tensor

x = Tensor.eye(3, requires_grad=True)
y = Tensor([[2.0,0,-2.0]], requires_grad=True)
z = y.matmul(x).sum()
z.backward()

print(x.grad.tolist())  # dz/dx
print(y.grad.tolist())  # dz/dy
""",
    "TensorFlow with watch and constant": """\
x = tf.constant(4.0)
with tf.GradientTape() as gfg:
  gfg.watch(x)
  y = x * x * x
res  = gfg.gradient(y, x)
print("res: ",res)
""",
    "TensorFlow second order": """\
x = tf.Variable(1.0)
with tf.GradientTape() as t2:
  with tf.GradientTape() as t1:
    y = x * x * x
  dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
""",
    "a hinge loss with max": """\
y = torch.tensor([1., -1., 1.])
scores = torch.tensor([0.3, 0.4, -2.0], requires_grad=True)
loss = torch.mean(torch.clamp(1 - y * scores, min=0))
loss.backward()
print(scores.grad)
""",
    "a full optimizer loop on one weight": """\
import torch
from torch import nn, optim
w = nn.Parameter(torch.tensor([2.0]))
opt = optim.SGD([w], lr=0.1)
criterion = nn.MSELoss()
x = torch.tensor([1.0, 2.0, 3.0])
t = torch.tensor([2.0, 4.0, 6.0])
for epoch in range(10):
    opt.zero_grad()
    loss = criterion(w * x, t)
    loss.backward()
    opt.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
""",
    "an expression with typographic signs": """\
L = ½·(w·x − y)²
""",
    "a list that is appended to": """\
xs = [1.0, 2.0, 3.0]
w = torch.tensor(0.5, requires_grad=True)
losses = []
for x in xs:
    losses.append((w * x - 1.0) ** 2)
loss = sum(losses) / len(losses)
loss.backward()
print(w.grad)
""",
    "an RNN step by step": """\
Wxh, Whh, Why = 0.5, -0.3, 1.2
bh, by = 0.1, 0.0
h = 0.0
for x in [1.0, 0.5, -1.0]:
    h = np.tanh(Wxh*x + Whh*h + bh)
y = Why*h + by
loss = (y - 0.2)**2
""",
    "Euler steps of a falling ball": """\
g = 9.81
v = 10.0
x = 0.0
dt = 0.1
for step in range(5):
    v = v - g*dt
    x = x + v*dt
loss = (x - 3.0)**2
""",
    "sympy": """\
from sympy import *
x = symbols('x')
f = sin(x)**2
diff(f, x)
""",
    "f prime of 3": """\
f(x) = x^3 - 2x
f'(3)
""",
    "Gaussian log likelihood": """\
x = torch.tensor([0.3, -1.2, 0.7])
mu = torch.tensor(0.0, requires_grad=True)
log_sigma = torch.tensor(0.0, requires_grad=True)
nll = 0.5 * torch.log(2 * torch.tensor(math.pi)) + log_sigma + 0.5 * ((x - mu) / torch.exp(log_sigma)) ** 2
nll.mean().backward()
""",
    "layer norm along the last axis": """\
x = torch.randn(2, 4, requires_grad=True)
mean = x.mean(dim=-1, keepdim=True)
var = x.var(dim=-1, unbiased=False, keepdim=True)
y = (x - mean) / torch.sqrt(var + 1e-5)
y[0, 0].backward()
""",
    "permute and reshape": """\
x = torch.arange(6.).reshape(2, 3).requires_grad_()
y = x.permute(1, 0)
z = (y.reshape(-1) * torch.arange(6.)).sum()
z.backward()
x.grad
""",
    "a Hessian": """\
def f(x):
    return x[0]**2 * x[1] + x[1]**3
H = jax.hessian(f)(jnp.array([1.0, 2.0]))
""",
    "a Jacobian": """\
def f(x):
    return jnp.array([x[0]*x[1], jnp.sin(x[0])])
J = jax.jacrev(f)(jnp.array([1.0, 2.0]))
""",
    "grad_outputs on a vector": """\
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x ** 2
g = torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y))
""",
    "dropout with a fixed mask": """\
x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
mask = torch.tensor([1.0, 0.0, 1.0])
y = x * mask / 0.5
y.sum().backward()
print(x.grad)
""",
    "gradient accumulation over two losses": """\
w = torch.tensor(1.0, requires_grad=True)
l1 = (w * 2 - 1) ** 2
l2 = (w * 3 - 2) ** 2
(l1 + l2).backward()
print(w.grad)
""",
    "a convolution with loops": """\
x = [1.0, 2.0, 3.0, 4.0]
k = [0.5, -1.0]
out = []
for i in range(len(x) - len(k) + 1):
    s = 0.0
    for j in range(len(k)):
        s += x[i + j] * k[j]
    out.append(s)
L = sum(o**2 for o in out)
""",
    "softplus and an unstable log": """\
x = 100.0
y = math.log(1 + math.exp(x))
""",
    "a linear layer of one value": """\
import torch
from torch import nn
model = nn.Linear(1, 1)
x = torch.randn(1, 1)
print(x.is_leaf) # True
print(x.grad) # None
out = model(x)
loss = out**2
loss.backward()
""",
    "a module of two layers": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 3)
        self.fc2 = nn.Linear(3, 1)
    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return self.fc2(x)

net = Net()
y = net(torch.randn(1, 2))
y.backward()
""",
    "a module called, and its mean": """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(2, 3)
        self.fc2 = nn.Linear(3, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return x

net = Net()
x = torch.randn(1, 2)
out = net(x)
loss = out.mean()
loss.backward()
""",
    "a linear layer, squared": """\
import torch.nn as nn
layer = nn.Linear(3, 2)
x = torch.rand(3)
y = layer(x)
loss = y.pow(2).sum()
loss.backward()
print(layer.weight.grad)
""",
    "a Sequential and MSELoss": """\
model = nn.Sequential(
    nn.Linear(2, 4),
    nn.ReLU(),
    nn.Linear(4, 1)
)
x = torch.tensor([[0.5, -1.0]])
target = torch.tensor([[1.0]])
loss = nn.MSELoss()(model(x), target)
loss.backward()
""",
    "nll_loss of log_softmax": """\
x = torch.randn(2, 3, requires_grad=True)
t = torch.tensor([1, 0])
loss = F.nll_loss(F.log_softmax(x, dim=1), t)
loss.backward()
""",
    "attention of random q, k, v": """\
q = torch.randn(2, 3)
k = torch.randn(2, 3)
v = torch.randn(2, 3)
scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
attn = F.softmax(scores, dim=-1)
out = attn @ v
""",
    "a module with two Parameters": """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(0.5))
        self.b = nn.Parameter(torch.tensor(-0.2))
    def forward(self, x):
        return torch.sigmoid(self.w * x + self.b)

model = Model()
out = model(torch.tensor(2.0))
loss = (out - 1.0) ** 2
loss.backward()
print(model.w.grad)
""",
    "micrograd's Neuron as a class": """\
class Neuron:
  def __init__(self, nin):
    self.w = [Value(random.uniform(-1,1)) for _ in range(nin)]
    self.b = Value(random.uniform(-1,1))
  def __call__(self, x):
    act = sum((wi*xi for wi, xi in zip(self.w, x)), self.b)
    out = act.tanh()
    return out
x = [2.0, 3.0]
n = Neuron(2)
n(x)
""",
    "logistic regression with random keys": LOGISTIC_LOSS
    + """\
W = jax.random.normal(W_key, (3,))
b = jax.random.normal(b_key, ())
W_grad = grad(loss, argnums=0)(W, b)
""",
    "vmap over one argument": """\
def f(w, x):
    return jnp.tanh(jnp.dot(w, x))
w = jnp.array([0.1, -0.4])
xs = jnp.array([[1.0, 2.0], [3.0, -1.0]])
out = jax.vmap(f, in_axes=(None, 0))(w, xs)
loss = out.sum()
""",
    "lax.select": """\
from jax import lax
def leaky(x):
    return lax.select(x > 0, x, 0.01 * x)
leaky(-3.0)
""",
    "activations that are printed": """\
import numpy as np
z = np.array([-2., -0.5, 0.3, 0.5, 2.])
print("relu   :", np.maximum(0, z))
print("sigmoid:", 1/(1+np.exp(-z)))
print("leaky  :", np.where(z>0, z, 0.01*z))
""",
    "a Linear of one's own": """\
class Linear:
    def __init__(self, n_in, n_out, bias=True):
        self.weight = torch.randn(n_in, n_out) / n_in**0.5
        self.bias = torch.zeros(n_out) if bias else None
    def __call__(self, x):
        self.out = x @ self.weight
        if self.bias is not None:
            self.out += self.bias
        return self.out
    def parameters(self):
        return [self.weight] + ([] if self.bias is None else [self.bias])
layer = Linear(2, 3)
y = layer(torch.tensor([1.0, 2.0]))
""",
    "a model that a loop trains": """\
model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.tensor([[1.0], [2.0], [3.0]])
y = torch.tensor([[2.0], [4.0], [6.0]])
for epoch in range(100):
    pred = model(x)
    loss = criterion(pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(epoch, loss.item())
w = model.weight
print(model.weight.item(), model.bias.item())
""",
    "vmap of grad": """\
f = lambda x: jnp.sin(x)*x
jax.vmap(jax.grad(f))(jnp.array([0.1, 0.5, 1.0]))
""",
    "a network class of NumPy": """\
class MLP:
    def __init__(self, n, h):
        self.W1 = np.random.randn(h, n)
        self.b1 = np.zeros(h)
        self.W2 = np.random.randn(1, h)
    def forward(self, x):
        self.h = np.tanh(self.W1 @ x + self.b1)
        return self.W2 @ self.h
    def loss(self, x, y):
        return np.sum((self.forward(x) - y)**2)
net = MLP(2, 3)
L = net.loss(np.array([1.0, -1.0]), 0.5)
""",
    "two Sequentials from comprehensions": """\
import torch
import torch.nn as nn

x = torch.randn(2, 2, requires_grad=True).cuda(0)
t = torch.randn(2, 2).cuda(0)
loss_func = nn.MSELoss().cuda(0)
l1 = nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)]).cuda(0)
l2 = nn.Sequential(*[nn.Linear(2, 2) for _ in range(3)]).cuda(0)
h1 = l1(x)
h2 = h1.detach().requires_grad_()
h3 = l2(h2)
l = loss_func(h3, t)
l.backward()
""",
    "a perceptron of one's own layers": """\
import torch as t
from torch import nn

class Linear(nn.Module):
    def __init__(self, in_features, out_features):
        super(Linear, self).__init__()
        self.w = nn.Parameter(t.randn(in_features, out_features))
        self.b = nn.Parameter(t.randn(out_features))

    def forward(self, x):
        x = x.mm(self.w)
        return x + self.b.expand_as(x)

class Perceptron(nn.Module):
    def __init__(self, in_features, hidden_features, out_features):
        super(Perceptron, self).__init__()
        self.layer1 = Linear(in_features, hidden_features)
        self.layer2 = Linear(hidden_features, out_features)

    def forward(self, x):
        x = self.layer1(x)
        x = t.sigmoid(x)
        return self.layer2(x)

perceptron = Perceptron(3, 4, 1)
for name, param in perceptron.named_parameters():
    print(name, param.size())
out = perceptron(t.randn(2, 3))
""",
    "a small network in mathematics": """\
z_1 = w_1 x + b_1
a_1 = σ(z_1)
z_2 = w_2 a_1 + b_2
a_2 = σ(z_2)
L = 1/2 (a_2 - y_true)^2
""",
    "in mathematics: y = x^2 sin x": "y = x^2 sin x",
    "in mathematics: Find the derivative of y = 3x^2 + 2x + 1 at x = 2": "Find the derivative of y = 3x^2 + 2x + 1 at x = 2",
    "in mathematics: $$ y = \\frac{1}{1 + e^{-x}} $$": "$$ y = \\frac{1}{1 + e^{-x}} $$",
    "in mathematics: f(x) = |x - 2| + √(x² + 1)": "f(x) = |x - 2| + √(x² + 1)",
    "in mathematics: d/dx x^2sin(x)": "d/dx x^2sin(x)",
    "in mathematics: y = ln(x)/x, x = e": "y = ln(x)/x, x = e",
    "in mathematics: f(x, y) = x e^(−y²) + 3xy": "f(x, y) = x e^(−y²) + 3xy",
    "in mathematics: y = sin^2(3x) + cos²(x)": "y = sin^2(3x) + cos²(x)",
    "in mathematics: ŷ = σ(w·x + b)": "ŷ = σ(w·x + b)\nL = −(y·log ŷ + (1−y)·log(1−ŷ))",
    "in mathematics: 36. f(x) = tan(√(x + 4))": "36. f(x) = tan(√(x + 4))",
    "in mathematics: $\\displaystyle{f(x) = \\ln \\left[ \\frac{e^x (x^2-1/4)}{\\sqrt{x}}\\right]}$": "$\\displaystyle{f(x) = \\ln \\left[ \\frac{e^x (x^2-1/4)}{\\sqrt{x}}\\right]}$",
    "in mathematics: x(x+1)^2": "x(x+1)^2",
    "in mathematics: 1/2 (x-3)^2": "1/2 (x-3)^2",
    "in mathematics: (x+1)(x-1)^2": "(x+1)(x-1)^2",
    "in mathematics: f: x → x²": "f: x → x²",
    "in mathematics: θ₀ + θ₁x": "θ₀ + θ₁x",
    "in mathematics: cos 2πx": "cos 2πx",
    "in mathematics: y = xe^x": "y = xe^x",
    "in mathematics: 2|x| - 1, x = -3": "2|x| - 1, x = -3",
    "in mathematics: \\tanh(wx + b)": "\\tanh(wx + b)",
    "in mathematics: \\sqrt[3]{x}": "\\sqrt[3]{x}",
    "in mathematics: \\max(0, x)": "\\max(0, x)",
    "in mathematics: log_2 x + sin x cos x": "log_2 x + sin x cos x",
    "a recurrent cell with a dict of weights": """\
params = {
    "Wf": 0.5, "Wnf": 0.1, "bf": 0,
}
X = [1, 2, 3]
h = 0
for x_t in X:
    f_t = 1 / (1 + np.exp(-(params["Wf"] * x_t + params["Wnf"] * h + params["bf"])))
    h = f_t * np.tanh(h + x_t)
""",
    "a sigmoid in LaTeX": """\
f(w, x) = \\frac{1}{1 + e^{-(w_0x_0 + w_1x_1 + w_2)}}
""",
    "layers as classes": """\
class MulLayer:
    def __init__(self):
        self.x = None
        self.y = None

    def forward(self, x, y):
        self.x = x
        self.y = y
        out = x*y

        return out

apple = 100
apple_num = 2
tax = 1.1

mul_apple_layer = MulLayer()
mul_tax_layer = MulLayer()

apple_price = mul_apple_layer.forward(apple, apple_num)
price = mul_tax_layer.forward(apple_price, tax)
""",
    "binary cross-entropy in LaTeX": """\
$L = -y \\log(\\hat{y}) - (1-y) \\log(1-\\hat{y})$
""",
    "JAX with a dict of parameters": """\
params = {'w': jnp.array([1.0, 2.0]), 'b': 0.5}
def predict(params, x):
    return jnp.dot(params['w'], x) + params['b']
jax.grad(predict)(params, jnp.array([1.0, -1.0]))
""",
    "a Sequential of three layers": """\
model = nn.Sequential(
    nn.Linear(1, 8),
    nn.Tanh(),
    nn.Linear(8, 1),
)
x = torch.linspace(-1, 1, 10).unsqueeze(1)
loss = ((model(x) - x**2)**2).mean()
loss.backward()
""",
    "a question": """\
what is the derivative of x^2 sin(x)?
""",
    "values of another name": """\
a = NumberWithGrad(3)
b = a * 4
c = b + 3
d = b + 2
e = c + d * 5
e.backward(1)
a.grad
""",
    "a LogisticRegression module that a loop trains": """\
import torch
import torch.nn as nn
import torch.optim as optim
class LogisticRegression(nn.Module):
    def __init__(self, input_dim):
        super(LogisticRegression, self).__init__()
        self.linear = nn.Linear(input_dim, 1)

    def forward(self, x):
        outputs = torch.sigmoid(self.linear(x))
        return outputs
model = LogisticRegression(2)
inputs = torch.tensor([[1.0, 2.0], [-1.0, 0.5]])
labels = torch.tensor([[1.0], [0.0]])
criterion = nn.BCELoss()
optimizer = optim.SGD(model.parameters(), lr=0.01)
num_epochs = 100
for epoch in range(num_epochs):
    outputs = model(inputs)
    loss = criterion(outputs, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "random labels": """\
import torch
torch.manual_seed(42)
n_samples = 16
n_features = 5
x = torch.randn(n_samples, n_features)  # input
y = torch.randint(2, size=(n_samples, 1)).float()
w = torch.randn(
    n_features, 1, requires_grad=True
)
b = torch.randn(1, requires_grad=True)
z = torch.matmul(x, w) + b
y_hat = torch.sigmoid(z)
loss = (-y * y_hat.log() - (1 - y) * (1 - y_hat).log()).mean()
loss
""",
    "one step of an LSTM": """\
input = [1.0, 0.5]
prev_hidden = [0.0, 0.0]
prev_cell = [0.0, 0.0]
W_f = [[0.5, 0.3, 0.1, 0.2], [0.1, 0.4, 0.2, 0.3]]
W_i = [[0.2, 0.1, 0.3, 0.4], [0.3, 0.2, 0.1, 0.5]]
W_g = [[0.4, 0.2, 0.1, 0.3], [0.2, 0.5, 0.3, 0.1]]
W_o = [[0.1, 0.3, 0.2, 0.4], [0.4, 0.1, 0.3, 0.2]]
combined = np.concatenate([input, prev_hidden])
f_t = sigmoid(W_f @ combined)
i_t = sigmoid(W_i @ combined)
g_t = tanh(W_g @ combined)
o_t = sigmoid(W_o @ combined)
c_t = f_t * prev_cell + i_t * g_t
h_t = o_t * tanh(c_t)
""",
    "an LSTM cell as a class": """\
import numpy as np
class LSTMCell:
    def __init__(self, input_size, hidden_size):
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.W_f = np.random.randn(hidden_size + input_size, hidden_size)
        self.b_f = np.zeros((1, hidden_size))
        self.W_C = np.random.randn(hidden_size + input_size, hidden_size)
        self.b_C = np.zeros((1, hidden_size))
        self.C = np.zeros((1, hidden_size))
    def sigmoid(self, x):
        return 1 / (1 + np.exp(-x))
    def tanh(self, x):
        return np.tanh(x)
    def forward(self, x, h_prev):
        concat_input = np.concatenate((h_prev, x), axis=1)
        f_t = self.sigmoid(np.dot(concat_input, self.W_f) + self.b_f)  #forget gate
        tilde_C_t = self.tanh(np.dot(concat_input, self.W_C) + self.b_C)
        self.C = f_t * self.C + tilde_C_t
        self.h = self.tanh(self.C)
        return self.h
cell = LSTMCell(1, 2)
h = cell.forward(np.array([[0.5]]), np.zeros((1, 2)))
""",
    "an LSTM with a dict of weights": """\
import numpy as np
def sigmoid(x):
    return 1 / (1 + np.exp(-x))
def tanh(x):
    return np.tanh(x)
def lstm_forward(X, params):
    h_prev, c_prev = 0, 0  # Initialize hidden and cell states
    for t, x_t in enumerate(X, start=1):
        f_t = sigmoid(params["Wf"] * x_t + params["Wnf"] * h_prev + params["bf"])
        i_t = sigmoid(params["Wi"] * x_t + params["Wni"] * h_prev + params["bi"])
        c_tilde = tanh(params["Wc"] * x_t + params["Wnc"] * h_prev + params["bc"])
        c_t = f_t * c_prev + i_t * c_tilde
        h_t = i_t * tanh(c_t)
        h_prev, c_prev = h_t, c_t
    return h_prev
params = {
    "Wf": 0.5, "Wnf": 0.1, "bf": 0,
    "Wi": 0.6, "Wni": 0.2, "bi": 0,
    "Wc": 0.7, "Wnc": 0.3, "bc": 0
}
X = [1, 2, 3]
h_final = lstm_forward(X, params)
Wy, by = 4, 0
y_pred = Wy * h_final + by
print(f"Predicted X4: {y_pred:.3f}")
""",
    "a straight-through step": """\
def binary_with_ste(x):
    # Forward: binary step function
    # Backward: identity gradient
    return (x > 0).float().detach() + x - x.detach()

x = torch.tensor([0.6, -0.2, 1.5, -1.0], requires_grad=True)
y = binary_with_ste(x)

print("Forward values:", y)  # Will be [1, 0, 1, 0]
y.sum().backward()
print("Gradients:", x.grad)
""",
    "a straight-through round": """\
def ste_round(x):
    return torch.round(x) - x.detach() + x
x = torch.tensor([0.4, 1.7], requires_grad=True)
ste_round(x).sum().backward()
""",
    "in mathematics: Original Function: f(x,y) = x + y – xy²": "Original Function: f(x,y) = x + y – xy²",
    "in mathematics: \\[f(x,y)=x^2y-x+2y+3\\] at (1,2)": "\\[f(x,y)=x^2y-x+2y+3\\] at (1,2)",
    "in mathematics: f(x,y) = ln(xy) at (-2, -3)": "f(x,y) = ln(xy) at (-2, -3)",
    "in mathematics: Compute the gradient of the function f(x, y) = x^3 + 2xy - log(y) at the point (x, y) = (2,1)": "Compute the gradient of the function f(x, y) = x^3 + 2xy - log(y) at the point (x, y) = (2,1)",
    "in mathematics: f(x,y) = x*e^xy": "f(x,y) = x*e^xy",
}
COLLECTED_ANSWERED = {
    """\
n = MLP(3, [4, 4, 1])
xs = [
  [2.0, 3.0, -1.0],
  [3.0, -1.0, 0.5],
  [0.5, 1.0, 1.0],
  [1.0, 1.0, -1.0],
]
ys = [1.0, -1.0, -1.0, 1.0] # desired targets
ypred = [n(x) for x in xs]
loss = sum((yout - ygt)**2 for ygt, yout in zip(ys, ypred))
loss
""": "write the layers out",
    """\
from torch.autograd import Function

class Square(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input ** 2

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        return grad_output * 2 * input

x = torch.tensor([3.0], requires_grad=True)
y = Square.apply(x)
y.backward()
""": "Paste the lines that compute",
    """\
a = torch.tensor([1., 2., 3.], requires_grad=True)
b = a * 2
b[0] = 5.0
c = (b ** 2).sum()
c.backward()
""": "stack",
    """\
print(grad(grad(jnp.tanh))(2.0))
print(grad(grad(grad(jnp.tanh)))(2.0))
""": "Write the function itself",
    """\
@jax.custom_jvp
def log1pexp(x):
  return jnp.log(1. + jnp.exp(x))

jax.grad(log1pexp)(3.)
""": "leave out decorators",
    """\
import numpy as np
import math

# Create random input and output data
x = np.linspace(-math.pi, math.pi, 2000)
y = np.sin(x)

# Randomly initialize weights
a = np.random.randn()
b = np.random.randn()
c = np.random.randn()
d = np.random.randn()

learning_rate = 1e-6
for t in range(2000):
    # Forward pass: compute predicted y
    y_pred = a + b * x + c * x ** 2 + d * x ** 3

    # Compute and print loss
    loss = np.square(y_pred - y).sum()
    if t % 100 == 99:
        print(t, loss)

    # Backprop to compute gradients of a, b, c, d with respect to loss
    grad_y_pred = 2.0 * (y_pred - y)
    grad_a = grad_y_pred.sum()
    grad_b = (grad_y_pred * x).sum()
    grad_c = (grad_y_pred * x ** 2).sum()
    grad_d = (grad_y_pred * x ** 3).sum()

    # Update weights
    a -= learning_rate * grad_a
    b -= learning_rate * grad_b
    c -= learning_rate * grad_c
    d -= learning_rate * grad_d

print(f'Result: y = {a} + {b} x + {c} x^2 + {d} x^3')
""": "1,000 entries",
    """\
mu = torch.tensor([0.5, -0.3], requires_grad=True)
logvar = torch.tensor([0.1, -0.2], requires_grad=True)
std = torch.exp(0.5 * logvar)
eps = torch.randn_like(std)
z = mu + eps * std
KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
KLD.backward()
""": "write the numbers of the noise",
    """\
const x = tf.scalar(2);
const f = x => x.square();
tf.grad(f)(x).print();
""": "as in Python",
}
DRAWN |= COLLECTED
ANSWERED |= COLLECTED_ANSWERED
# Texts as they stand in posts, with fences, prompts and outputs. With the value (of an array, the sum)
# and the gradients that SymPy or PyTorch gives for what the text means.
POSTS = {
    "h(θ) = ln(sec θ + tan θ)": (1.226191171, {"θ": 1.850815718}),
    "y = \\log_{2}\\left(x^{2}+1\\right)\\cdot\\arctan x": (0.785398163, {"x": 1.633090035}),
    "d/dx [ 2^(sin(x)) + sin^2(3x) ]": (1.811791081, {"x": -0.167172686}),
    "y = ∛(1 + tan x) − 5/x³": (-3.632481141, {"x": 15.610574208}),
    "f(x) = ln(x − 4) + √(9 − x)": (2.0, {"x": 0.75}),
    """\
# %matplotlib inline

import torch

import matplotlib.pyplot as plt
import matplotlib.ticker as ticker
import math

a = torch.linspace(0., 2. * math.pi, steps=25, requires_grad=True)
print(a)

b = torch.sin(a)
plt.plot(a.detach(), b.detach())
print(b)

c = 2 * b
print(c)

d = c + 1
print(d)

out = d.sum()
print(out)

out.backward()
print(a.grad)
plt.plot(a.detach(), a.grad.detach())
""": (
        25.0,
        {
            "a": [
                2.0,
                1.931851653,
                1.732050808,
                1.414213562,
                1.0,
                0.51763809,
                0.0,
                -0.51763809,
                -1.0,
                -1.414213562,
                -1.732050808,
                -1.931851653,
                -2.0,
                -1.931851653,
                -1.732050808,
                -1.414213562,
                -1.0,
                -0.51763809,
                -0.0,
                0.51763809,
                1.0,
                1.414213562,
                1.732050808,
                1.931851653,
                2.0,
            ]
        },
    ),
    """\
### 🐛 Describe the bug

```python
import torch
a = torch.tensor(5.0, requires_grad=True) * 0.1
b = torch.tensor(2.0, requires_grad=True)
c = a + b
c.backward()

print(a.grad, b.grad)
```
**output: None, tensor(1.)**
""": (2.5, {"b": 1.0}),
    """\
x = torch.tensor(3., requires_grad=True)
with torch.no_grad():
    y = x * 2
z = x ** 2 + y
z.backward()
print(x.grad)   # why is this 6 and not 8???
""": (15.0, {"x": 6.0}),
    """\
inp = torch.eye(4, 5, requires_grad=True)
out = (inp+1).pow(2).t()
out.backward(torch.ones_like(out), retain_graph=True)
print(f"First call\\n{inp.grad}")
out.backward(torch.ones_like(out), retain_graph=True)
print(f"\\nSecond call\\n{inp.grad}")
inp.grad.zero_()
out.backward(torch.ones_like(out), retain_graph=True)
print(f"\\nCall after zeroing gradients\\n{inp.grad}")
""": (
        32.0,
        {
            "inp": [
                [4.0, 2.0, 2.0, 2.0, 2.0],
                [2.0, 4.0, 2.0, 2.0, 2.0],
                [2.0, 2.0, 4.0, 2.0, 2.0],
                [2.0, 2.0, 2.0, 4.0, 2.0],
            ]
        },
    ),
    """\
x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
y = torch.clamp(x, min=0, max=1)
w = torch.where(x > 0, torch.log(x), torch.zeros_like(x))
loss = y.sum() + 2 * torch.nn.functional.leaky_relu(x, negative_slope=0.1).sum()
loss.backward()
print(x.grad)
""": (6.3, {"x": [0.2, 3.0, 2.0]}),
    """\
x = torch.tensor([1., 2., 3.]).requires_grad_()
f = x[0] * x[1] + x[-1]**2 + torch.norm(x)
f.backward()
x.grad
Out[14]: tensor([2.2673, 1.5345, 6.8018])
""": (14.741657387, {"x": [2.267261242, 1.534522484, 6.801783726]}),
    """\
import torch, torch.nn.functional as F
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(42)

X = torch.tensor([[1., 2.], [3., 4.], [5., 6.]], dtype=torch.float64, device=device)
y = torch.tensor([[1.], [2.], [3.]], dtype=torch.float64).to(device)
w = torch.zeros(2, 1, dtype=torch.float64, device=device, requires_grad=True)
b = torch.zeros(1, requires_grad=True, device=device, dtype=torch.float64)

y_hat = X @ w + b                 # forward
loss = F.mse_loss(y_hat, y, reduction='mean') + 0.01 * (w**2).sum()
loss.backward()

with torch.no_grad():
    w -= 0.01 * w.grad
    b -= 0.01 * b.grad
    w.grad.zero_(); b.grad.zero_()
print(f'w = {w}')
""": (4.666666667, {"w": [[-14.666666667], [-18.666666667]], "b": [-4.0]}),
    """\
def sum_logistic(x):
  return jnp.sum(1.0 / (1.0 + jnp.exp(-x)))

x_small = jnp.arange(3.)
derivative_fn = grad(sum_logistic)
print(derivative_fn(x_small))
[0.25       0.19661194 0.10499357]
""": (2.111855657, {"x_small": [0.25, 0.196611933, 0.104993585]}),
    """\
#Function with multiple inputs - partial derivatives
def h(x, y):
    return x**2 + 3*x*y + y**2

# grad() by default takes derivative w.r.t. first argument
dh_dx = grad(h, argnums=0)  # ∂h/∂x
dh_dy = grad(h, argnums=1)  # ∂h/∂y

x, y = 2.0, 1.0
print(f"h(x,y) = x² + 3xy + y²")
print(f"∂h/∂x = 2x + 3y = {dh_dx(x, y)}")
print(f"∂h/∂y = 3x + 2y = {dh_dy(x, y)}")

h(x,y) = x² + 3xy + y²
∂h/∂x = 2x + 3y = 7.0
∂h/∂y = 3x + 2y = 8.0
""": (11.0, {"x": 7.0, "y": 8.0}),
    """\
>>> import autograd.numpy as np  # Thinly-wrapped numpy
>>> from autograd import grad    # The only autograd function you may ever need
>>>
>>> def tanh(x):                 # Define a function
...     return (1.0 - np.exp((-2 * x))) / (1.0 + np.exp(-(2 * x)))
...
>>> grad_tanh = grad(tanh)       # Obtain its gradient function
>>> grad_tanh(1.0)               # Evaluate the gradient at x = 1.0
np.float64(0.419974341614026)
>>> (tanh(1.0001) - tanh(0.9999)) / 0.0002  # Compare to finite differences
np.float64(0.41997434264973155)
""": (0.761594156, {"x": 0.419974342}),
    """\
x = tf.constant(3.0)
with tf.GradientTape(persistent=True) as g:
  g.watch(x)
  y = x * x
  z = y * y
dz_dx = g.gradient(z, x)  # (4*x^3 at x = 3)
print(dz_dx)
tf.Tensor(108.0, shape=(), dtype=float32)
dy_dx = g.gradient(y, x)
print(dy_dx)
tf.Tensor(6.0, shape=(), dtype=float32)
""": (81.0, {"x": 108.0}),
    """\
import numpy as np

def sigmoid(z):
    return 1 / (1 + np.exp(-z))

x = np.array([0.5, -1.2, 3.0])
w = np.array([0.1, 0.4, -0.2])
b = 0.3
y = 1

# forward
z = np.dot(w, x) + b
a = sigmoid(z)
loss = -(y * np.log(a) + (1 - y) * np.log(1 - a))

# backward
dz = a - y
dw = x * dz
db = dz
print("loss:", loss)
print("dw:", dw, "db:", db)
""": (1.123331115, {"w": [-0.337402636, 0.809766327, -2.024415818], "b": -0.674805273}),
    """\
f = lambda x: x**3 + 2*x**2 - 3*x + 1

dfdx = jax.grad(f)
d2fdx = jax.grad(dfdx)
d3fdx = jax.grad(d2fdx)
d4fdx = jax.grad(d3fdx)
print(dfdx(1.))
print(d2fdx(1.))
4.0
10.0
""": (1.0, {"x": 4.0}),
    """\
# inputs x1,x2
x1 = Value(2.0, label='x1')
x2 = Value(0.0, label='x2')
# weights w1,w2
w1 = Value(-3.0, label='w1')
w2 = Value(1.0, label='w2')
# bias of the neuron
b = Value(6.8813735870195432, label='b')
# x1*w1 + x2*w2 + b
x1w1 = x1*w1; x1w1.label = 'x1*w1'
x2w2 = x2*w2; x2w2.label = 'x2*w2'
x1w1x2w2 = x1w1 + x2w2; x1w1x2w2.label = 'x1*w1 + x2*w2'
n = x1w1x2w2 + b; n.label = 'n'
o = n.tanh(); o.label = 'o'
o.grad = 1.0
o._backward()
n._backward()
draw_dot(o)
""": (0.707106781, {"x1": -1.5, "x2": 0.5, "w1": 1.0, "w2": 0.0, "b": 0.5}),
    """\
w = [2,-3,-3] # assume some random weights and data
x = [-1, -2]

# forward pass
dot = w[0]*x[0] + w[1]*x[1] + w[2]
f = 1.0 / (1 + math.exp(-dot)) # sigmoid function

# backward pass through the neuron (backpropagation)
ddot = (1 - f) * f # gradient on dot variable, using the sigmoid gradient derivation
dx = [w[0] * ddot, w[1] * ddot] # backprop into x
dw = [x[0] * ddot, x[1] * ddot, 1.0 * ddot] # backprop into w
# we're done! we have the gradients on the inputs to the circuit
""": (
        0.731058579,
        {"w": [-0.196611933, -0.393223866, 0.196611933], "x": [0.393223866, -0.5898358]},
    ),
    """\
class Value:
    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0.0
        self._backward = lambda: None
        self._prev = set(_children)
        self._op = _op

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other), '+')
        def _backward():
            self.grad += 1.0 * out.grad
            other.grad += 1.0 * out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other), '*')
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def backward(self):
        topo = []
        visited = set()
        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)
        build_topo(self)
        self.grad = 1.0
        for node in reversed(topo):
            node._backward()

a = Value(3.0)
b = a * a + a
b.backward()
print(a.grad)  # I get 7, correct!
""": (12.0, {"a": 7.0}),
    """\
from tinygrad import Tensor

x = Tensor.eye(3, requires_grad=True)
y = Tensor([[2.0,0,-2.0]], requires_grad=True)
z = y.matmul(x).sum()
z.backward()

print(x.grad.tolist())  # dz/dx
print(y.grad.tolist())  # dz/dy
""": (0.0, {"x": [[2.0, 2.0, 2.0], [0.0, 0.0, 0.0], [-2.0, -2.0, -2.0]], "y": [[1.0, 1.0, 1.0]]}),
    """\
xs = [1.0, 2.0, -3.0]
ws = [0.5, -1.0, 0.25]
s = 0
for x, w in zip(xs, ws):
    s += x * w
out = max(0, s + 5)   # ReLU
loss = (out - 1) ** 2
""": (3.0625, {"xs": [1.75, -3.5, 0.875], "ws": [3.5, 7.0, -10.5]}),
    """\
x = [Value(2.0), Value(3.0)]
w = [Value(0.5), Value(-1.0)]
b = Value(1.5)
act = sum((wi*xi for wi,xi in zip(w, x)), b)
out = act.tanh()
loss = (out - 1.0)**2
loss.backward()
>>> w[0].grad
""": (
        2.137786582,
        {"x": [-1.149878724, 2.299757447], "w": [-4.599514895, -6.899272342], "b": -2.299757447},
    ),
}
POSTS |= {
    "Evaluate the gradient of $g(x, y) = x e^{y} + \\cos(xy)$ at $(2, 0)$.": (
        3.0,
        {"x": 1.0, "y": 2.0},
    ),
    "$$\\sigma(z) = \\frac{1}{1 + e^{-z}}$$": (0.731058579, {"z": 0.196611933}),
    "MSE for one sample: L(w,b) = (wx + b − y)²,  with w = 2, b = 1, x = 3, y = 10": (
        9.0,
        {"b": -6.0, "w": -18.0, "x": -12.0, "y": 6.0},
    ),
    """\
I have the following code:

import torch
x = torch.tensor([1., 2., 3.], requires_grad=True)
w = torch.tensor([0.1, 0.2, 0.3])
y = (x * w).sum()
loss = torch.exp(-y) + torch.relu(y - 1)
loss.backward()
print(x.grad)

and it prints tensor([0.0753, 0.1507, 0.2260]). Can someone explain this result?
""": (0.646596964, {"x": [0.075340304, 0.150680607, 0.226020911]}),
    """\
import torch
from torch import nn
torch.manual_seed(0)
m = nn.Softmax(dim=1)
input = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
output = m(input)
output[0, 2].backward()
input.grad
# tensor([[-0.0599, -0.1628,  0.2227]])
""": (0.665240956, {"input": [[-0.059892025, -0.162803402, 0.222695427]]}),
    """\
x = torch.randn(3, requires_grad=True)

y = x * 2
i = 0
while y.data.norm() < 1000:
    y = y * 2
    i += 1
print(y)

v = torch.tensor([0.1, 1.0, 0.0001], dtype=torch.float)
y.backward(v)

print(i)
print(x.grad)
""": (-239.484928, {"x": [204.8, 2048.0, 0.2048]}),
    """\
@jax.jit
def f(x):
  return jnp.sin(x) * jnp.exp(-x**2)

x = 0.5
print("f(x) =", f(x))
print("f'(x) =", jax.grad(f)(x))
""": (0.373376985, {"x": 0.310085002}),
    """\
x0 = tf.Variable(3.0, name='x0')
x1 = tf.Variable(3.0, name='x1', trainable=False)
x2 = tf.Variable(2.0, name='x2') + 1.0
x3 = tf.constant(3.0, name='x3')

with tf.GradientTape() as tape:
  y = (x0**2) + (x1**2) + (x2**2)

grad = tape.gradient(y, [x0, x1, x2, x3])

for g in grad:
  print(g)
""": (27.0, {"x0": 6.0}),
    """\
from autograd import grad
import autograd.numpy as np
def rosen(x):
    return sum(100.0*(x[1:]-x[:-1]**2.0)**2.0 + (1-x[:-1])**2.0)
x0 = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
g = grad(rosen)
g(x0)
array([  515.4,  -285.4,  -341.6,  2085.4,  -482. ])
""": (848.22, {"x0": [515.4, -285.4, -341.6, 2085.4, -482.0]}),
    """\
inputs = [1.0, 2.0, 3.0, 2.5]
weights = [0.2, 0.8, -0.5, 1.0]
bias = 2.0

output = (inputs[0]*weights[0] +
          inputs[1]*weights[1] +
          inputs[2]*weights[2] +
          inputs[3]*weights[3] + bias)
print(output)   # >>> 4.8
""": (4.8, {"inputs": [0.2, 0.8, -0.5, 1.0], "weights": [1.0, 2.0, 3.0, 2.5], "bias": 1.0}),
    """\
a = Value(0.5, label="a")
b = Value(-0.3)
c = a.exp() * b.tanh()
d = c / (1 + a**2)
d.backward()
print(f"{a.grad = }")
""": (-0.38423464, {"a": -0.076846928, "b": 1.20704462}),
    """\
import math
def neuron(x1, x2, w1=0.5, w2=-0.25, b=0.1):
    z = w1*x1 + w2*x2 + b
    return 1/(1+math.exp(-z))

print(neuron(1.0, 2.0))
0.52497918747894
""": (0.524979187, {"x1": 0.12468802, "x2": -0.06234401}),
    """\
from math import log, sqrt, exp, erf
def N(x):
    return 0.5*(1 + erf(x/sqrt(2)))
S, K, T, r, sigma = 100.0, 105.0, 1.0, 0.05, 0.2
d1 = (log(S/K) + (r + sigma**2/2)*T)/(sigma*sqrt(T))
d2 = d1 - sigma*sqrt(T)
C = S*N(d1) - K*exp(-r*T)*N(d2)
""": (8.021352235, {"S": 0.542228328, "K": -0.440014106}),
    # PyTorch's defaults and results that differ from those of NumPy.
    """\
x = torch.tensor([[1., 5.], [3., 4.]], requires_grad=True)
v, i = x.max(dim=1)
y = v.sum() * 2
y.backward()
""": (18.0, {"x": [[0.0, 2.0], [0.0, 2.0]]}),
    """\
x = torch.tensor([1., 2., 4.], requires_grad=True)
y = x.std() + x.var()
y.backward()
""": (3.860858565, {"x": [-1.769769114, -0.442442278, 2.212211392]}),
    """\
x = torch.tensor([1., -2.], requires_grad=True)
y = torch.nn.functional.gelu(x).sum()
y.backward()
""": (0.795844482, {"x": [1.083315471, -0.085231801]}),
    """\
x = torch.tensor([[1., 5.], [3., 4.]], requires_grad=True)
y = (x.max(1)[0] * torch.tensor([1., 2.])).sum() + torch.min(x, dim=0).values.sum() + torch.max(x, 1, keepdim=True)[0].sum()
y.backward()
""": (27.0, {"x": [[1.0, 2.0], [0.0, 4.0]]}),
    """\
x = torch.tensor([[1., -2.], [3., 4.]], requires_grad=True)
y = x.norm(dim=1).sum() + x.norm(p=2) + torch.norm(x, p=1, dim=0).sum() + torch.linalg.norm(x)
y.backward()
""": (28.190519128, {"x": [[1.812361967, -2.624723934], [2.695445115, 3.260593487]]}),
    """\
x = torch.tensor([1., -2., 3.], requires_grad=True)
y = torch.nn.functional.smooth_l1_loss(x, torch.zeros(3))
y.backward()
""": (1.5, {"x": [0.333333333, -0.333333333, 0.333333333]}),
    """\
x = torch.tensor([1., 2., 4.], requires_grad=True)
with torch.no_grad():
    m = x.mean()
    s = x.max()
y = ((x - m) / s).pow(2).sum()
y.backward()
""": (0.291666667, {"x": [-0.166666667, -0.041666667, 0.208333333]}),
    """\
x = torch.tensor([1., -0.3], requires_grad=True)
y = torch.erf(x).sum()
y.backward()
""": (0.514074033, {"x": [0.415107497, 1.03126091]}),
    """\
x = torch.tensor([[1., 5.], [3., 4.]], requires_grad=True)
y = torch.amax(x, 1).sum() + torch.amin(x, -1).sum()
y.backward()
""": (13.0, {"x": [[1.0, 1.0], [1.0, 1.0]]}),
    """\
x = torch.tensor(3., requires_grad=True)
y = x.detach() * x + x.data
y.backward()
""": (12.0, {"x": 3.0}),
    """\
Thus, if we feed in the value `x = 0.5`, we should get the same result as when we compute `S(0.5) * (1 - S(0.5))`. Let's verify this with PyTorch:

In [None]:
x = torch.tensor(0.5, requires_grad=True)

# Sigmoid only
a = torch.sigmoid(x)
output = a.detach().clone()

# Print the PyTorch computed gradient
a.backward()
print("Automatic gradient:", x.grad)

# Compare to manually computed gradient
manual_grad = output * (1 - output)
equals = torch.isclose(x.grad, manual_grad).item() # type: ignore
print("Do they equal?:", equals)

Automatic gradient: tensor(0.2350)
Do they equal?: True
""": (0.622459331, {"x": 0.235003712}),
    """\
ex)
a = torch.tensor([2,3], requires_grad=True)
b = torch.tensor([6,4], requires_grad=True)
Q = 3*a**3-b**2
external_grad = torch.tensor([1,1]) # 미분하는 값이 2개가 나와야 하기 때문에
Q.backward(gradient=external_grad)
a.grad=tensror([36, 81])
b.grad=tensor([-12, -8])
""": (53.0, {"a": [36.0, 81.0], "b": [-12.0, -8.0]}),
    """\
from micrograd.cleanroom_engine import Value


def t1():
    a = Value(-4.0)
    b = Value(2.0)
    c = a + b
    print(f"-2 ?= {c=}")
    d = a * b + b**3
    print(f"-4*2 + 2**3 = 0 ?= {d=}")
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    print(f'{g.data:.4f}') # prints 24.7041, the outcome of this forward pass

t1()
""": (24.704081633, {"a": 138.833819242, "b": 645.577259475}),
    "y = sin⁻¹(x) at x = 0.5": (0.523598776, {"x": 1.154700538}),
    "cos^{-1} x at x = 0.5": (1.047197551, {"x": -1.154700538}),
    "f(x) = tan^-1(x)": (0.785398163, {"x": 0.5}),
    # A word that is a product of letters, or a function with its argument, is not a name of its own.
    "f(x) = 2sinx at x = 2": (1.818594854, {"x": -0.832293673}),
    "y = xlnx at x = 2": (1.386294361, {"x": 1.693147181}),
    "z = 3xy + x at (2, 3)": (20.0, {"x": 10.0, "y": 6.0}),
    "b^2-4ac": (-3.0, {"b": 2.0, "a": -4.0, "c": -4.0}),
    "E = mc², m = 2, c = 3": (18.0, {"m": 9.0, "c": 12.0}),
    "s = ut + ½at², u = 1, a = 2, t = 3": (12.0, {"u": 3.0, "t": 7.0, "a": 4.5}),
    "z = x_1x_2, x_1 = 2, x_2 = 3": (6.0, {"x_1": 3.0, "x_2": 2.0}),
    "√x + 1 at x = 4": (3.0, {"x": 0.25}),
    "x, y = 1,2\nx*y": (2.0, {"x": 2.0, "y": 1.0}),
    "cost = (y - 1)**2\nlogp = cost*3": (0.0, {"y": 0.0}),
}
# Written down before they were tried: formulas of science and of papers, other languages, whole posts. At first 15 of 30 were
# drawn right or answered usefully.
POSTS |= {
    r"$$\Large V_{LJ}(r) = 4\epsilon \displaystyle \left[\left(\frac{\sigma}{r}\right)^{12} - \left(\frac{\sigma}{r}\right)^{6}\right] \tag{1}$$": (
        0.0,
        {"epsilon_": 0.0, "sigma_": 24.0, "r": -24.0},
    ),
    "V(r) = 4ε [(σ/r)^12 - (σ/r)^6]": (0.0, {"ε": 0.0, "σ": 24.0, "r": -24.0}),
    r"$$\mathcal{L} = K^{0.4}L^{0.5} + \lambda(120 - 3K - 4L)$$": (
        114.0,
        {"K": -2.6, "L": -3.5, "lambda_": 113.0},
    ),
    "FL(p_t) = −α_t (1 − p_t)^γ log(p_t) at p_t = 0.5, α_t = 2, γ = 2": (
        0.346573590,
        {"p_t": -2.386294361, "α_t": 0.173286795, "γ": -0.240226507},
    ),
    "L = −[y log(p) + (1 − y) log(1 − p)] at y = 1, p = 0.2": (
        1.609437912,
        {"y": 1.386294361, "p": -5.0},
    ),
    "f(x) = 1/(σ√(2π)) e^(-(x-μ)²/(2σ²)) at x = 1, σ = 1, μ = 0": (
        0.241970725,
        {"x": -0.241970725, "σ": 0.0, "μ": 0.241970725},
    ),
    "v = Vmax [S] / (KM + [S])": (0.5, {"Vmax": 0.5, "S": 0.25, "KM": -0.25}),
    "a = [1.0, 2.0]\na [1] * x": (2.0, {"a": [0.0, 1.0], "x": 2.0}),
    "from micrograd.engine import Value as V\na = V(2.0)\nb = a*a": (4.0, {"a": 4.0}),
    # The order of equations means nothing in mathematics.
    "z=x^2y+xy^2\nx=5+t^5\ny=-2+t^2": (-30.0, {"t": -7.0}),
    r"$\displaystyle z = x^{2} + xy + 2y^{2}, x = \cos{t}, y = \sin{t} $": (
        2.162722132,
        {"t": 0.493150590},
    ),
    "g(x) = (x − 2)/(x + 3), g′(1)": (-0.25, {"x": 0.3125}),
    # A detached copy that asks for a gradient is an input of its own.
    "x = torch.tensor(-1.0)\na = torch.tensor([1., 2.], requires_grad=True)\nb = a.clone().detach()\nb.requires_grad = True\nloss = (b*x).pow(2).sum()\nloss.backward()": (
        5.0,
        {"b": [2.0, 4.0], "x": -10.0},
    ),
    "z=xsin(xy)": (0.841470985, {"x": 1.381773291, "y": 0.540302306}),
    """\
In [None]:
x = torch.tensor([[1., 1.], [2., 2.]], requires_grad=True)

In [None]:
y = x*x
print(y)
z = y.sum()
print(z)

tensor([[1., 1.],
        [4., 4.]], grad_fn=<MulBackward0>)
tensor(10., grad_fn=<SumBackward0>)

In [None]:
z.backward()
""": (10.0, {"x": [[2.0, 2.0], [4.0, 4.0]]}),
    # Gradients by hand: products of gradients, and a weight with a new name.
    "x = 2.0\nw = 0.5\ny = 1.0\nz = x*w\na = 1 / (1 + np.exp(-z))\nE = 0.5 * (y - a)**2\ndE_da = -(y - a)\nda_dnet = a * (1 - a)\ndelta = dE_da * da_dnet": (
        0.036164744,
        {"w": -0.105754175, "x": -0.026438544, "y": 0.268941421},
    ),
    "x = 2.0\nw = 0.3\ny_true = 1.0\ny_pred = x*w\nloss = (y_true - y_pred) ** 2\ndloss_dypred = 2 * (y_pred - y_true)\ndloss_dw = dloss_dypred * x\nlr = 0.1\nw_new = w - lr * dloss_dw\nprint(w_new)": (
        0.16,
        {"w": -1.6, "x": -0.24, "y_true": 0.8},
    ),
    # A function called slope is a gradient by hand beside another function.
    "def f(x):\n    return x ** 2\ndef slope(x):\n    return 2 * x\nfor x in [0, 3, -2]:\n    print(f'At x={x}: slope = {slope(x)}')": (
        1.0,
        {"x": 2.0},
    ),
    "λ‖w‖² + |x|": (2.0, {"λ": 1.0, "w": 2.0, "x": 1.0}),
    "x_1(x_1 + 1)": (2.0, {"x_1": 3.0}),
    "=A1^2+3*A1": (4.0, {"A1": 5.0}),
    """\
I found after concatenated the gradient of the input is different. Could you help me find why?

```
import torch
a = torch.tensor([1.,2.], requires_grad=True)
b = torch.tensor([2.,3.], requires_grad=True)
ab = torch.cat((a,b), dim=0) # ab  = tensor([1., 2., 2., 3.], grad_fn=<CatBackward>)
z = ab**2 # z = tensor([1., 4., 4., 9.], grad_fn=<PowBackward0>)
out = z.mean() # out = tensor(4.5000, grad_fn=<MeanBackward0>)
out.backward()
a.grad # tensor([1.5000, 2.5000])
```

But when I compute the gradients by hand, the results are as follows:
```
a = [x1, x2]
b = [x3, x4]
out = 1/4(x1^2 + x2^2 + x3^2 + x4^2)
So, use out to compute the gradient for a should be: [1/2(x1), 1/2(x2)] = [0.5, 1.0]
```
""": (4.5, {"a": [0.5, 1.0], "b": [1.0, 1.5]}),
    """\
def norm_vec(v):
    return torch.sqrt(torch.pow(v, 2).sum())

coo = Variable(torch.from_numpy(np.array([[3, 4, 2],])).float(), requires_grad=True)
axes1 = torch.stack([coo[0] / norm_vec(coo[0]), Variable(torch.zeros(3), requires_grad=True), Variable(torch.zeros(3), requires_grad=True)], dim=1)
new1 = torch.matmul(coo, axes1)
print(autograd.grad(new1[0, 0], coo, create_graph=True))
""": (5.385164807, {"coo": [[0.557086015, 0.742781353, 0.371390676]]}),
    # An import in brackets over several lines computes nothing.
    "from torch import (\n    tensor,\n    exp,\n)\nx = tensor(2.0)\ny = exp(x)": (
        7.389056099,
        {"x": 7.389056099},
    ),
}
DRAWN |= {text: text for text in POSTS}
# If a part of a sentence belongs to the formula, the formula without it must not be drawn.
ANSWERED |= {
    "Let y = x to the power of 3. Find dy/dx": "the formula alone",
    "Find dy/dx for y = x squared plus 3": "the formula alone",
    "Find the slope of y = x! at x = 3": "the formula alone",
    "Find the derivative of y = x + 2,5x at x = 1": "without a comma",
    "Find the derivative of y = x² +\n3x": "the formula alone",
    "If f(x) = x² for x < 1 and f(x) = 2x − 1 when x ≥ 1, find f'(1).": "the formula alone",
    "f(x) = x² if x < 1, and 2x − 1 otherwise. Find f'(2)": "where(",
    "Find dy/dx by implicit differentiation: x² + y² = 25": "equations",
    "Why is my gradient None after calling loss.backward()? I've tried retain_grad": "like a sentence, not a formula",
    'Traceback (most recent call last):\n  File "a.py", line 4, in <module>\n    loss.backward()\nRuntimeError: Trying to backward through the graph a second time.': "error message",
    "z = torch.tensor(1 + 2j, requires_grad=True)\nL = (z*z.conj()).real": "complex",
    "y = log⁻¹(x)": "the inverse or the reciprocal",
    "How do I compute the gradient of f(x) = x^T A x in pytorch, where A is symmetric?": "x @ A @ x",
    "f(x)=\\begin{cases} x^2 & x<1 \\\\ 2x-1 & x\\ge 1\\end{cases}": "where(",
    'value a = new value(1.5,"a");\nvalue d = a+b*c;\nConsole.WriteLine(a.grad);': "another language",
    "let x: Value = Value::new(-4.0);\ny.backward();": "another language",
    "y = log_3 x": "log(x)/log(3)",
    "lim_{h \\to 0} \\frac{f(x+h)-f(x)}{h}": "cannot read lim",
    "y = 0,5x^2": "without a comma",
    "1,000x": "without a comma",
    "y' = 3x": "the function itself",
    "y = a + b at (2, 3)": "Name the coordinates",
    "np.dot(w, x) + b": "w = [1.0, 2.0]",
    # Exponents that were lost when the text was copied.
    "f(x,y,z)=x2yz−xyz3": "Write x**2*y*z,",
    "f(x) = 2x2 + 1": "Write x**2,",
    "v = Vmax[S]/(KM+[S])": "Vmax is a number and has no entries",
    "L(A, P, N) = max(‖f(A) − f(P)‖² − ‖f(A) − f(N)‖² + α, 0)": "f is not defined",
    r"$\mathscr{L} = x^2$": "cannot read \\mathscr",
    "pH = pKa + log10([A-]/[HA])": "]/[HA])",
    "D[x^2 Sin[x], x]": "another language",
    'D(expression(x^2 * exp(-x)), "x")': "another language",
    "julia> f(x) = 5x + 3\njulia> f'(10)": "another language",
    "from sympy import symbols, diff\nx, y = symbols('x y')\nf_x = x**2\nf_y = f_x.subs(x, y)\nprint(diff(f_y, y))": "x = 2.0, then",
    "def gradient_descent(x):\n    for i in range(1000):\n        derivative = 4 * (x - 5)\n        x -= 0.1 * derivative\n    return x\ngradient_descent(0)": "one forward pass",
    "def derivative(x):\n    return 2*x - 6\nold = 8\nlr = 0.01\nfor step in range(10):\n    gradient = derivative(old)\n    new = old - lr * gradient\n    print(new)\n    old = new": "one forward pass",
    "y = x 3 - 3x 2 at x = 1": "Write x**3 for a power",
    "model = torch.hub.load('pytorch/vision', 'resnet18')\nout = model(torch.rand(1, 3))": "cannot load data",
    "import json\nwith open('weights.json') as f:\n    w = json.load(f)\ny = w['a'] * x": "cannot load data",
    # Functions of libraries that are not known.
    "from scipy.optimize import minimize\ndef f(x):\n    return sum(x**2)\nx0 = np.array([1.3, 0.7])\nres = minimize(f, x0, method='nelder-mead')": "minimize from scipy",
    "from torchvision import (\n    datasets,\n    transforms,\n)\ntransform = transforms.Compose([transforms.ToTensor()])": (
        "Line 5: the playground has no function Compose from torchvision"
    ),
    "from sklearn.datasets import make_moons\nX, y = make_moons(n_samples=100)\nL = mean((X @ w - y)**2)": "make_moons from sklearn",
    "import pandas as pd\ndf = pd.DataFrame({'x': [1.0, 2.0]})\nL = (df['x'] * w).sum()": "DataFrame from pandas",
}
# Texts whose gradient differs from the measured slope, marked ≠ in the table: a constant, a kink,
# or the pitfall of where.
DIFFERENT = {
    *("d2l's detach", "where with sqrt, PyTorch issue 187297", "norm plus epsilon"),
    *("two layers with nn.functional", "JAX issue 5798: where below 1"),
    "two Sequentials from comprehensions",
    *(
        text
        for text in POSTS
        if re.search(r"no_grad\(\):\n    (y = x|m =)|x\.detach\(\) \* x", text)
    ),
    *("a straight-through step", "a straight-through round"),
}
# Exercises in sentences. Which of their words are letters would be a guess, so the formula has to be pasted alone.
EXERCISES = [
    """\
Hi all, stuck on this one 😅

Find f'(x) if f(x) = (6x² + 7x)⁴.

I know it's chain rule but how do I start?
""",
    "Differentiate y = x^2 e^{-3x} with respect to x.",
    "Find ∂f/∂x and ∂f/∂y at the point (2, −1) for f(x,y) = x³y − e^{xy}",
    """\
**Question 4.** Use the quotient rule:

g(t) = (2t − 5)³ / (t² + 1)

Answer: g'(t) = ...
""",
    "The volume of a cone is V = (1/3)πr²h. Find the rate of change of V with respect to r when r = 3 cm and h = 5 cm.",
    "Let z = √(x² + y²), where x = 3 and y = 4. Find dz/dx, dz/dy",
    "f(x) = x·|x − 2| + 1, find f'(3)",
    "If w = xy + yz + zx, and x = cos t, y = sin t, z = t, find dw/dt at t = π/4.",
    "Given s = 5t² + 2t where t is in seconds, find ds/dt at t = 3",
    "Let y = u³ where u = x² + 1. Find dy/dx at x = 2.",
    "The energy is E = ½mv², with m = 2 kg and v = 3 m/s. What is dE/dv?",
    "Compute the derivative of sin(x)/x at x = 2 please!",
    "Find the gradient of f(x, y, z) = x² + yz at P(1, 2, 3)",
    """\
Hey guys, need some help with my calc homework.

The question: Find the derivative of h(x) = (2x+1)^5 (x^3 - x + 1)^4

I got 10(2x+1)^4 but it's wrong??
""",
    "Find $\\frac{dy}{dx}$ if $y = \\ln(\\sin(x^2))$.",
    "A particle moves so that s(t) = t³ − 6t² + 9t. What is its velocity at t = 2?",
    "Solution. Using the product rule with u = x² and v = sin x, y = uv",
    """\
7. Differentiate.
   f(x) = \\sqrt{x^2 + 4x}
""",
    "The cost function is C(q) = 0.01q^2 + 5q + 1000. Find the marginal cost when q = 100.",
    """\
6. \\(f(x,y) = x^3 - 3x + y^2 -6y ~at ~(-1,3)\\)

a. Partial derivative with respect to x \\(f_x(x,y)\\)
""",
    "Let $f(x,y) = -\\frac{x}{x+y}$. Find the tangent plane at $(x,y) = \\left[ 1 , 2 \\right] $.",
    "4. Let $z = y\\,\\cos \\left(x\\,y\\right)$. Find the total differential $dz$.",
    "1. Let $f(x,y) = x^{y}$. Find the first partial derivative $f_{ x}(x,y)$ .",
    """\
Thomas Calculus
Exercise 1
Answer
$$
f(x,y)=xe^y
$$
To evaluate $f_x$, differentiate $f$ with respect to $x$ and treat $y$ like a constant.
""",
    "For example, the first partial derivative Fx of the function f(x,y) = 3x^2*y - 2xy is 6xy - 2y.",
    "Let y = log(1 + sin x) for 0 ≤ x ≤ π/2, find dy/dx.",
    "Find the slope of the tangent line to f(x)=x^3-2x at x=2",
    "Let f(x) = x² and g(x) = 3x+1. Find the derivative of f(g(x))",
    "a) y = x² b) y = x³. Find the derivatives",
]
ANSWERED |= dict.fromkeys(EXERCISES, "words and formulas")
# Texts that would do more than arithmetic if they were run. None of them is drawn.
HOSTILE = [
    "".join(
        f"class A{i}:\n def __init__(s, x):\n  s.a = A{i + 1}(x + x)\n  s.b = A{i + 1}(x + x)\n"
        for i in range(20)
    )
    + "class A20:\n def __init__(s, x):\n  s.a = x\nm = A0(x)\ny = x",
    "class A:\n    def __init__(self):\n        self.a = A()\nm = A()\ny = m.a*x",
    "class A:\n    def __init__(self):\n        __import__('os').system('true')\nm = A()\ny = m.a*x",
    "p = {'__class__': x}\ny = p['__class__'].__bases__",
    "y = x['__class__']",
    "\\frac{" * 300,
    "f(x)=" * 400,
    "find f(x,y) = (" * 130,
    "```\n" * 500,
    "Traceback (most recent call last)\n" * 55,
    "[[1. " * 400,
    "Let y = <img src=x onerror=alert(1)> where x = 2. Find dy/dx",
    "```\n__import__('os').system('true')\n```\nFind the derivative of y = x**2",
    "def main():\n    __import__('os').system('true')\nmain()",
    "|" * 1999,
    "loss = tanh(**x)",
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
