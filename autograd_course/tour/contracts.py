"""Define the contracts of the engine: short programs, each with its expected result.

A contract is run on the whole engine, and on copies of the engine without one of its statements.
"""

import ast
import sys
import warnings
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from .mutations import HOME, StepLimitExceeded, engine_without


@dataclass(frozen=True)
class Contract:
    """Hold a short program and the expected result of its last line.

    Attributes
    ----------
    group : str
        The heading under which the contract is listed.
    program : str
        The program as Python code.
    right : str
        The value of the last line as text. If the program must raise an error, the type of the
        error and a part of its message, such as "RuntimeError: changed".
    """

    group: str
    program: str
    right: str

    @cached_property
    def code(self):
        *first, last = ast.parse(self.program).body
        if not isinstance(last, ast.Expr):
            first, last = [*first, last], ast.parse("None").body[0]
        return (
            compile(ast.Module(first, []), "a contract", "exec"),
            compile(ast.Expression(last.value), "its last line", "eval"),
        )


# `ag` is the engine, leaf(x) is ag.Tensor(x, requires_grad=True), slopes(f, …) are f's slopes at these points,
# raised(f, …) the kinds of error that functions raise. What is right is worked out by hand or by differences.
TABLE = r"""
# The backward pass

a, b = leaf(5.0), leaf(10.0)
c = a * b
(c * c).backward()
a.grad, b.grad
→ (1000.0, 500.0)

x = leaf(3.0)
(x * x).backward()
x.grad
→ 6.0

a = leaf(3.0)
b = 2.0 * a
L = b * (b + 1.0)
L.backward()
a.grad
→ 26.0

y = x = leaf(1.0)
for _ in range(60): y = y + y
sum(1 for _ in ag.backward_pass(y, 1.0))
→ 61

y = x = leaf(1.0)
for _ in range(3500): y = y * 1.0
y.backward()
x.grad
→ 1.0

x = leaf(3.0)
y = x * x
y.backward()
y.backward()
x.grad
→ 12.0

x = leaf(3.0)
(x * x).backward()
x.zero_grad()
(x * 2.0).backward()
x.grad
→ 2.0

x = leaf(1.0)
z = x * 2.0
z.retain_grad()
(z * z).backward()
z.grad, x.grad
→ (4.0, 8.0)

x = leaf([1.0, 2.0])
(x * x).backward(grad=np.array([1.0, 10.0]))
x.grad
→ [2.0, 40.0]

bad = ag.elementwise(np.sin, lambda g, z, x: 1 / 0)
x = leaf(1.0)
L = x + bad(x)
raised(L.backward), x.grad
→ (['ZeroDivisionError'], None)

x, y = leaf(1.0), ag.Tensor(2.0)
bad = ag.elementwise(np.add, lambda g, z, x, y: g, lambda g, z, x, y: 1 / 0)
bad(x, y).backward()
x.grad
→ 1.0

import weakref
x = leaf(1.0)
y = np.sin(x)
z, alive = y * y, weakref.ref(y)
del y, z
alive() is None
→ True

x = leaf(np.ones(3))
z = x.sum() + (x * 1.0).sum()
z.backward()
x.grad[0] = 9.0
x.grad, x.data
→ ([9.0, 2.0, 2.0], [1.0, 1.0, 1.0])

x, y = leaf([1.0]), leaf([1.0])
(x + y).backward([1.0])
x.grad[0] = 9.0
y.grad
→ [1.0]

x = leaf([1.0, 2.0])
x.sum().backward()
x.grad[0] = 9.0
x.grad
→ [9.0, 1.0]

# Rules

x, y = leaf(2.0), leaf(-3.0)
((x + y) * 5.0 - y).backward()
x.grad, y.grad
→ (5.0, 4.0)

x, y = leaf(6.0), leaf(-2.0)
(x / y).backward()
x.grad, y.grad
→ (-0.5, -1.5)

x, y = leaf(3.0), leaf(2.0)
(x ** y).backward()
x.grad, y.grad
→ (6.0, 9.887510598)

slopes(lambda x: x ** 0 + x ** 1 + x ** 2, 0.0, 2.0)
→ [1.0, 5.0]

slopes(np.exp, 0.0, 1.0) + slopes(np.log, 4.0) + slopes(np.sqrt, 4.0)
→ [1.0, 2.718281828, 0.25, 0.25]

slopes(np.sin, 0.5) + slopes(np.cos, 0.5) + slopes(np.tanh, 0.5)
→ [0.877582562, -0.479425539, 0.786447733]

slopes(ag.sigmoid, -800.0, 0.0, 2.0) + slopes(ag.softplus, -800.0, 0.0, 800.0)
→ [0.0, 0.25, 0.104993585, 0.0, 0.5, 1.0]

slopes(ag.gelu, -1e200, 0.5, 1e200)
→ [0.0, 0.867369904, 1.0]

slopes(ag.relu, -2.0, 0.0, 3.0) + slopes(np.abs, -2.0, 0.0, 3.0) + slopes(lambda x: -x, 2.0)
→ [0.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0]

x, y = leaf([1.0, 2.0, 3.0]), leaf([2.0, 2.0, 2.0])
(np.maximum(x, y) + 10.0 * np.minimum(x, y)).sum().backward()
x.grad, y.grad
→ ([10.0, 5.5, 1.0], [1.0, 5.5, 10.0])

slopes(lambda x: ag.clip(x, -1.0, 1.0), -2.0, -1.0, 1.0, 2.0) + slopes(lambda x: x.clip(min=0.0), -1.0, 1.0)
→ [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]

x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
np.where(np.array([True, False]), x, y * y).sum().backward()
x.grad, y.grad
→ ([1.0, 0.0], [0.0, 8.0])

# Share and sum

x, b = leaf(np.ones((2, 3))), leaf(np.zeros(3))
(x * 2.0 + b).sum().backward()
b.grad
→ [2.0, 2.0, 2.0]

x = leaf(np.ones((2, 1)))
(x * np.arange(6.0).reshape(1, 2, 3)).sum().backward()
x.grad
→ [[3.0], [12.0]]

x = leaf(np.ones((2, 3)))
(x.mean(axis=1) * np.array([1.0, 2.0])).sum().backward()
x.grad
→ [[0.333333333, 0.333333333, 0.333333333], [0.666666667, 0.666666667, 0.666666667]]

x = leaf(np.arange(3.0))
(x[[0, 2, 0]] * np.array([1.0, 10.0, 100.0])).sum().backward()
x.grad
→ [101.0, 0.0, 10.0]

x = leaf(np.arange(6.0).reshape(2, 3))
(x[1:, 0] + x[0, -1]).sum().backward()
x.grad
→ [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]

x = leaf(np.arange(6.0).reshape(2, 3))
(np.transpose(x, (1, 0)) * np.arange(6.0).reshape(3, 2)).sum().backward()
x.grad
→ [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]

x = leaf(np.arange(4.0))
(x.reshape(2, 2).swapaxes(0, 1) @ np.array([1.0, 10.0])).sum().backward()
x.grad
→ [1.0, 1.0, 10.0, 10.0]

x, y = leaf(np.ones(2)), leaf(np.ones(3))
(np.concatenate([x, y]) * np.arange(5.0)).sum().backward()
x.grad, y.grad
→ ([0.0, 1.0], [2.0, 3.0, 4.0])

x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
(np.stack([x, y]) * np.array([[1.0], [5.0]])).sum().backward()
x.grad, y.grad
→ ([1.0, 1.0], [5.0, 5.0])

x = leaf(np.arange(4.0))
a, b = np.split(x, 2)
(a * b + ag.pad(np.flip(a), 1)[1:3]).sum().backward()
x.grad
→ [3.0, 4.0, 0.0, 1.0]

x = leaf([1.0, 2.0, 6.0])
x.var(ddof=1).backward()
x.grad, float(x.std())
→ ([-2.0, -1.0, 3.0], 2.160246899)

x = leaf(np.ones(3, np.float32))
y = (x * 2.0).sum()
y.backward()
str(y.dtype), str(x.grad.dtype)
→ ('float32', 'float32')

x = leaf(np.zeros(3))
x[[0, 0]].sum().backward()
x.grad
→ [2.0, 0.0, 0.0]

x = leaf([[1.0, 2.0], [3.0, 4.0]])
np.concatenate([x, x * x], axis=None).sum().backward()
x.grad
→ [[3.0, 5.0], [7.0, 9.0]]

x = leaf([[1.0, -2.0]])
(abs(x).T + (+x).transpose(1, 0)).sum().backward()
x.grad
→ [[2.0, 0.0]]

x = leaf([1.0, 2.0])
(np.sum(x, axis=0) + np.clip(x, 0.0, 1.5).sum() + x.astype(np.float32).sum()).backward()
x.grad, str(x.grad.dtype)
→ ([3.0, 2.0], 'float64')

x, y = leaf([1.0]), leaf([1.0])
(x + y).sum().backward()
x.grad[0] = 9.0
y.grad
→ [1.0]

# Matrices

A = leaf([[1.0, 2.0], [3.0, 4.0]])
(A @ A).sum().backward()
A.grad
→ [[7.0, 11.0], [9.0, 13.0]]

A, v = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([5.0, 6.0])
(A @ v + v @ A).sum().backward()
A.grad, v.grad
→ ([[10.0, 11.0], [11.0, 12.0]], [7.0, 13.0])

S, A = leaf(np.ones((2, 1, 2))), leaf([[1.0, 2.0], [3.0, 4.0]])
((S @ A).sum() + (A @ S.mT).sum()).backward()
S.grad, A.grad
→ ([[[7.0, 13.0]], [[7.0, 13.0]]], [[4.0, 4.0], [4.0, 4.0]])

x, y = leaf([[1.0, 2.0]]), leaf([[3.0], [4.0]])
ag.einsum('ij,jk->', x, y).backward()
x.grad, y.grad
→ ([[3.0, 4.0]], [[1.0], [2.0]])

x, k = leaf(np.arange(9.0).reshape(1, 1, 3, 3)), leaf(np.ones((1, 1, 2, 2)))
ag.conv2d(x, k).sum().backward()
x.grad[0, 0], k.grad[0, 0]
→ ([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]], [[8.0, 12.0], [20.0, 24.0]])

x = leaf(np.ones((1, 1, 2, 2)))
ag.unfold(x, 2, padding=1).sum().backward()
x.grad[0, 0]
→ [[4.0, 4.0], [4.0, 4.0]]

x = leaf([1.0, 2.0])
(x + [1.0, 10.0] + ag.matmul([[1.0, 0.0], [0.0, 2.0]], x)).sum().backward()
x.grad
→ [2.0, 3.0]

v = leaf([1.0, 2.0])
(v @ np.arange(8.0).reshape(2, 2, 2)).sum().backward()
v.grad
→ [10.0, 18.0]

v = leaf([1.0, 1.0])
(np.dot(v, np.arange(12.0).reshape(2, 2, 3)).sum() + np.dot(v, v) + np.dot(2.0, v).sum()).backward()
v.grad
→ [28.0, 46.0]

x, y = leaf(np.ones((1, 2))), leaf(np.ones((2, 3)))
ag.einsum('ij,jk', x, y).sum().backward()
x.grad, y.grad
→ ([[3.0, 3.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])

x, y = leaf(np.ones((2, 1, 2))), leaf(np.ones((2, 2, 1)))
(x @ y).sum().backward()
x.grad
→ [[[1.0, 1.0]], [[1.0, 1.0]]]

# Choose

x = leaf([1.0, 3.0, 3.0])
(ag.max(x) + 10.0 * ag.min(x)).backward()
x.grad
→ [10.0, 0.5, 0.5]

x = leaf([[1.0, 5.0], [7.0, 2.0]])
(x.max(axis=0) * np.array([1.0, 10.0])).sum().backward()
x.grad
→ [[0.0, 10.0], [1.0, 0.0]]

x = leaf([1000.0, -1000.0, 1000.0])
z = ag.logsumexp(x)
z.backward()
z.data, x.grad
→ (1000.693147181, [0.5, 0.0, 0.5])

x = leaf([1.0, 2.0])
ag.softmax(x)[0].backward()
x.grad
→ [0.196611933, -0.196611933]

x = leaf([[1000.0, 0.0], [0.0, 0.0]])
z = ag.nll_loss(ag.log_softmax(x), np.array([1, 0]))
z.backward()
z.data, x.grad
→ (500.34657359, [[0.5, -0.5], [-0.25, 0.25]])

x = leaf(np.arange(4096.0).reshape(2, 2048))
z = x.max(axis=0)
z.sum().backward()
z.size, float(z.sum()), x.grad.sum(axis=1)
→ (2048, 6290432.0, [0.0, 2048.0])

float(ag.logsumexp(ag.Tensor([-np.inf, -np.inf]))), float(ag.logsumexp(ag.Tensor([0, 0])))
→ (-inf, 0.693147181)

# What is refused

x = leaf(2.0)
y = x * x
x.data = 5.0
y.backward()
→ RuntimeError: was changed

leaf(np.ones(3)).backward()
→ RuntimeError: scalar

ag.Tensor(2.0).backward()
→ RuntimeError: does not require

ag.Tensor(np.arange(3), requires_grad=True)
→ TypeError: floating

x = leaf(np.ones(3))
x[0] = 5.0
→ TypeError: items

x = leaf(1.0)
x -= 0.1
→ TypeError: in-place

np.asarray(leaf(1.0))
→ TypeError: its gradient would be lost

np.cumprod(leaf([1.0, 2.0]))
→ TypeError: no derivative rule

leaf([1.0, 2.0]).sum(dim=0)
→ TypeError: axis here

leaf(1.0).unsqueeze(0)
→ AttributeError: expand_dims

ag.grad(lambda x: 2.0 * float(x))(1.0)
→ TypeError: Python number

ag.Tensor([1 + 2j])
→ TypeError: real numbers

leaf([1.0, 2.0]) + leaf([1.0, 2.0, 3.0])
→ ValueError: add

z = leaf(1.0) * 2.0
z.requires_grad = False
→ RuntimeError: call .detach()

x = leaf([1.0, 2.0])
x.data = np.ones(3)
→ ValueError: shape

(leaf([1.0, 2.0]) * 2.0).backward(grad=np.ones(3))
→ ValueError: shape

ag.grad(lambda x: x * x)(np.ones(2))
→ ValueError: grad: expected a function that returns a scalar

bad = ag.elementwise(np.add, lambda g, z, x, y: np.ones(5), lambda g, z, x, y: g)
bad(leaf([1.0, 2.0]), 1.0).sum().backward()
→ ValueError: returned shape

x, A = leaf([1.0, 2.0, 3.0]), leaf(np.ones((2, 2)))
raised(lambda: ag.concatenate([]), lambda: ag.concatenate([A, np.ones((3, 3))]), lambda: ag.concatenate(x, x))
→ ['ValueError', 'ValueError', 'TypeError']

x = leaf([1.0, 2.0, 3.0])
raised(lambda: ag.stack([x, x[:2]]), lambda: ag.split(x, 2), lambda: ag.pad(x, -1), lambda: ag.swapaxes(x, 0, 5))
→ ['ValueError', 'ValueError', 'ValueError', 'AxisError']

x, A = leaf([1.0, 2.0, 3.0]), leaf(np.ones((2, 2)))
raised(lambda: x.var(ddof=3), lambda: A @ x, lambda: ag.einsum('ii,ij->j', A, A), lambda: ag.einsum('ij->ji', A))
→ ['ValueError', 'ValueError', 'ValueError', 'TypeError']

x = leaf(np.ones((1, 2, 3, 3)))
raised(lambda: ag.conv2d(x, np.ones((1, 1, 2, 2))), lambda: ag.unfold(x, 5), lambda: ag.unfold(x, (1, 2, 3)))
→ ['ValueError', 'ValueError', 'TypeError']

x = leaf(np.ones((2, 3)))
raised(lambda: ag.unfold(x, 1), lambda: ag.fold(x, (2, 2), 1), lambda: x.astype(int))
→ ['ValueError', 'ValueError', 'TypeError']

x = leaf(np.ones((2, 3)))
raised(lambda: ag.nll_loss(x, np.array([0, -1])), lambda: ag.nll_loss(x, np.array([0.0, 1.0])))
→ ['IndexError', 'ValueError']

rule = lambda g, z, x: g
short = lambda g: g
sine = lambda *rules: ag.elementwise(np.sin, *rules)
raised(lambda: sine(3), lambda: sine(short), lambda: ag.primitive(np.sin, [rule], []))
→ ['TypeError', 'TypeError', 'TypeError']

twice = ag.elementwise(lambda x: (x, x), lambda g, z, x: g)
raised(lambda: twice(leaf(1.0)), lambda: ag.elementwise(np.sin)(leaf(1.0)), lambda: ag.exp(leaf(1.0), 2.0))
→ ['TypeError', 'TypeError', 'TypeError']

value, pull = ag.vjp(lambda x: x * x, np.ones(2))
raised(lambda: pull(np.ones(3)), lambda: ag.grad(np.sin)(3), lambda: ag.grad(lambda x: None)(1.0))
→ ['ValueError', 'TypeError', 'TypeError']

f = lambda x, y: x * y
raised(*[lambda i=i: ag.grad(f, argnums=i)(1.0, 2.0) for i in (5, (0, 0), (), 'x')])
→ ['TypeError', 'ValueError', 'ValueError', 'TypeError']

v = np.ones(2)
raised(lambda: ag.jvp(np.sin, 1.0, 1.0), lambda: ag.jvp(np.sin, (1.0,), (v,)), lambda: ag.jacobian(np.sin, mode='x'))
→ ['TypeError', 'ValueError', 'ValueError']

def inside(x): x.data = 5.0
raised(lambda: ag.grad(lambda x: (x * x).backward())(1.0), lambda: ag.grad(inside)(1.0))
→ ['RuntimeError', 'RuntimeError']

x, a = leaf([1.0, 2.0]), np.ones(2)
def items(): a[:] = leaf(1.0)
raised(items, lambda: np.add.reduce(x), lambda: np.add(x, x, out=a), lambda: len(leaf(1.0)), x.item)
→ ['TypeError', 'TypeError', 'TypeError', 'TypeError', 'ValueError']

x = leaf([1.0, 2.0])
raised(lambda: ag.Tensor(x), lambda: ag.Tensor(np.matrix(1.0)), lambda: ag.Tensor([[1.0], [1.0, 2.0]]), lambda: x * 1j)
→ ['TypeError', 'TypeError', 'ValueError', 'TypeError']

import copy
x = leaf([1.0, 2.0])
raised(lambda: copy.copy(x * x), lambda: x.sum(axis=x), lambda: x.sum(0, False, 1, 2, 3))
→ ['TypeError', 'TypeError', 'TypeError']

x = leaf([1.0, 2.0])
x.grad = np.ones(3)
raised((x * x).sum().backward, lambda: ag.no_grad()(lambda: (yield)))
→ ['ValueError', 'TypeError']

x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
z, w = (x * x).sum(), (y[:1] * y[:1]).sum()
x.data -= 0.5
y.data -= 0.5
raised(z.backward, w.backward)
→ ['RuntimeError', 'RuntimeError']

x = leaf(2.0)
f = ag.grad(lambda y: y * x)
def change(y):
    z = y * x * x
    x.data = 5.0
    return z
raised(lambda: ag.grad(change)(1.0), lambda: ag.grad(lambda x: x.data.fill(0.0))(1.0))
→ ['RuntimeError', 'ValueError']

np.sum(leaf([[1.0, 2.0]]), 0, float)
→ TypeError: got 3 positional

ag.grad(lambda x: ((y := x * x).retain_grad(), y)[1])(3.0)
→ RuntimeError: use backward()

x = leaf([1.0, 2.0])
z, v = (x * x).sum(), x[:1]
v.data -= 1.0
z.backward()
→ RuntimeError: was changed

x, w = leaf([1.0, 2.0]), leaf([1.0, 2.0])
z = (x * x).sum()
w.data -= 1.0
z.backward()
x.grad
→ [2.0, 4.0]

# Constants

x = leaf(2.0)
with ag.no_grad(): y = x * x
z = x * x
y.requires_grad, z.requires_grad
→ (False, True)

float(ag.grad(ag.grad(lambda x: x.detach() * x * x))(2.0))
→ 4.0

with ag.no_grad(): g = ag.grad(lambda x: x * x)(3.0)
float(g)
→ 6.0

x = leaf(2.0)
(x > 1.0) + 0, np.sign(x) + 0.0, np.argmax(leaf([1.0, 5.0])) + 0
→ (1, 1.0, 1)

x = leaf(2.0)
x.data -= 0.5
(x * x).backward()
x.grad
→ 3.0

a = np.ones(2)
x = leaf(a)
a[0] = 9.0
x.data
→ [1.0, 1.0]

x = leaf(2.0, name='x')
repr(x), repr(x * 3.0), len(leaf([1.0, 2.0])), [float(v) for v in ag.Tensor([1.0, 2.0])]
→ ("Tensor(2.0, name='x', requires_grad=True)", 'Tensor(6.0, op=multiply)', 2, [1.0, 2.0])

[10, 20][ag.Tensor(1)], bool(ag.Tensor(0.0)), f'{leaf(2.0):.2f}', len({leaf(1.0), leaf(1.0)}), 'relu' in dir(leaf(1.0))
→ (20, False, '2.00', 2, True)

x = leaf([1.0, 5.0])
int(x.argmax()), int(x.argmin()), float(x[ag.Tensor(1)]), np.asarray(ag.Tensor([1.0, 2.0]))
→ (1, 0, 5.0, [1.0, 2.0])

x = leaf(2.0)
x.data[...] = 5.0
(x * x).backward(grad=ag.Tensor(2.0))
x.grad
→ 20.0

x = leaf([1.0])
(x * x).sum().backward()
x.data = np.array([1.0], np.float32)
str(x.grad.dtype)
→ 'float32'

import copy
x = copy.copy(leaf(2.0, name='x'))
x.name, x.requires_grad, repr(ag.add), copy.copy(ag.add) is ag.add
→ ('x', True, '<elementwise add>', True)

ag.no_grad()(lambda x: x * x)(leaf(2.0)).requires_grad
→ False

x = leaf([1.0, 2.0])
a = x.data
x.data += 1.0
x.data is a
→ True

# Transforms

float(ag.grad(ag.grad(ag.grad(lambda x: x ** 5)))(2.0))
→ 240.0

float(ag.grad(lambda x: ag.jvp(lambda y: y * y * y, (x,), (1.0,))[1])(2.0))
→ 12.0

float(ag.jvp(ag.grad(lambda x: np.sin(x) * x), (0.5,), (1.0,))[1])
→ 1.515452354

float(ag.grad(lambda x: x * ag.grad(lambda y: x + y)(1.0))(1.0))
→ 1.0

value, pull = ag.vjp(lambda x: np.array([[1.0, 2.0], [3.0, 4.0]]) @ x, np.array([1.0, 1.0]))
value, pull(np.array([1.0, 10.0]))[0]
→ ([3.0, 7.0], [31.0, 42.0])

ag.value_and_grad(lambda x, y: x * x * y, argnums=(0, 1))(3.0, 5.0)
→ (45.0, (30.0, 9.0))

ag.jvp(lambda x, A: ag.logsumexp(A @ x), (np.ones(2), np.eye(2)), (np.array([1.0, 0.0]), np.ones((2, 2))))
→ (1.693147181, 2.5)

J = lambda mode: ag.jacobian(lambda x: np.stack([x[0] * x[1], x[1], x.sum()]), mode=mode)(np.array([2.0, 3.0]))
J('rev'), J('fwd')
→ ([[3.0, 2.0], [0.0, 1.0], [1.0, 1.0]], [[3.0, 2.0], [0.0, 1.0], [1.0, 1.0]])

ag.hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]))
→ [[10.0, 6.0], [6.0, 0.0]]

ag.hvp(lambda x: (x ** 3).sum(), np.array([1.0, 2.0]), np.array([1.0, 10.0]))
→ [6.0, 120.0]

x, w = leaf(0.5), leaf(2.0)
ag.checkpoint(lambda x: np.tanh(x * w) * x)(x).backward()
x.grad, w.grad
→ (1.181568498, 0.104993585)

x = leaf(0.5)
f = ag.checkpoint(lambda x: (np.sin(x), x * x))
a, b = ag.checkpoint(f)(x)
(a * b).backward()
x.grad
→ 0.698821179

ag.grad(lambda x: 3.0)(2.0), ag.jvp(lambda x: 3.0, (2.0,), (1.0,))
→ (0.0, (3.0, 0.0))

ag.hessian(lambda x, y: x * y * y, argnums=(0, 1))(2.0, 3.0)
→ ((0.0, 6.0), (6.0, 4.0))

ag.jvp(lambda x: x + np.zeros(3), (1.0,), (2.0,))
→ ([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])

value, pull = ag.vjp(lambda x: x * 2.0, np.array([1.0, 1.0]))
pull([1.0, 10.0])[0]
→ [2.0, 20.0]

x = leaf(0.5)
y = ag.checkpoint(lambda x: np.sin(np.sin(x)))(x)
with ag.no_grad(): y.backward()
repr(y)[-14:], x.grad
→ ('op=checkpoint)', 0.778643948)

x = leaf([1.0, 2.0])
ag.grad(lambda x: (x.data, (x * x).sum())[1])(x)
x.data += 1.0
x.data
→ [2.0, 3.0]

asked = []
ag.jvp(lambda x: asked.append(x.requires_grad) or x * x, (3.0,), (1.0,))
asked
→ [False]

# Programs

f = ag.compile(lambda x: (np.tanh(x) * x).sum())
float(f(np.array([0.5, 1.0]))), float(f(np.array([1.0, 1.0]))), float(f(np.ones(3)))
→ (0.992652735, 1.523188312, 2.284782468)

ag.compile(ag.grad(lambda x: (np.tanh(x) * x).sum()))(np.array([0.5, 1.0]))
→ [0.855341024, 1.181568498]

w = leaf(3.0)
f = ag.compile(lambda x: x * w * w)
f(2.0).backward()
w.data = 5.0
w.grad, float(f(2.0))
→ (12.0, 50.0)

ag.compile(lambda x: x if x > 0 else -x)(1.0)
→ TypeError: depends on a value

f = ag.compile(ag.value_and_grad(lambda x, y: ag.nll_loss(ag.log_softmax(x), y)))
f(np.zeros((2, 2)), np.array([1, 0]))
→ (0.693147181, [[0.25, -0.25], [-0.25, 0.25]])

f = ag.compile(lambda x: np.tanh(x) * 2.0 + x)
a, b = f(np.zeros(5000)), f(np.ones(5000))
float(a.sum()), float(b[0])
→ (0.0, 2.523188312)

k = 2.0
f = ag.compile(lambda x: x * k)
before = float(f(3.0))
k = 5.0
before, float(f(3.0))
→ (6.0, 6.0)

f = ag.compile(lambda p, q: {'a': p['x'] * 2.0, 'b': (q[0] @ q[1], p['x'])})
z = f({'x': 1.5}, [np.ones((1, 2)), np.ones((2, 1))])
float(z['a']), z['b']
→ (3.0, ([[2.0]], 1.5))

ag.compile(ag.hessian(lambda x: x[0] ** 2 * x[1]))(np.array([3.0, 5.0]))
→ [[10.0, 6.0], [6.0, 0.0]]

f = ag.compile(lambda x: (np.where(x > 0, x, 0.0).sum() + np.argmax(x), x.shape, x[:, 0] + x.max(axis=1)))
f(np.array([[1.0, -2.0], [3.0, 4.0]]))
→ (11.0, (2, 2), [2.0, 7.0])

f = ag.compile(ag.grad(lambda x, k: (ag.conv2d(x, k) ** 2).sum(), argnums=1))
f(np.arange(9.0).reshape(1, 1, 3, 3), np.ones((1, 1, 2, 2)))[0, 0]
→ [[336.0, 464.0], [720.0, 848.0]]

x = leaf([1.0, 2.0])
f = ag.compile(lambda x, y: (x * y).sum())
f(x, np.array([3.0, 4.0])).backward()
x.grad, f.source.count('def ') > 0
→ ([3.0, 4.0], True)

raised(lambda: ag.compile(lambda d: d)(object()), lambda: ag.compile(lambda x: object())(1.0))
→ ['TypeError', 'TypeError']

f = ag.compile(lambda x: x * ~(x > 1.0) * (True ^ (x < 0.0)) * (x > 1.0).any() + (x > 9.0).all())
f(np.array([0.5, 2.0]))
→ [0.5, 0.0]

ag.compile(lambda x: x * (x.ndim + x.size))(2.0), ag.compile(ag.grad(lambda x: 1 / x))(0.0)
→ (2.0, -inf)

f = ag.compile(ag.grad(lambda w, x: ((x @ w) ** 2).mean() + (w * w * 0.5).sum()))
f(np.ones((2, 1)), np.ones((3, 2)))
[(line.split(' = ')[0].strip(), line.split('# ')[1]) for line in f.source.split('\n') if '# ' in line]
→ [('g_w', 'multiply: ∂z/∂x = y'), ('g_w_2', 'the gradients of two paths are added'), ('g_t1', 'power: ∂z/∂x = y·xʸ⁻¹'), ('g_w_3', 'matmul: ∂L/∂Y = Xᵀ·g'), ('g_w_4', 'the gradients of two paths are added')]

f = ag.compile(lambda x: (x * weights * rate).sum())
weights, rate = np.array([1.0, 2.0]), 0.5
f(np.ones(2)), [line for line in f.source.split('\n') if ' = ' in line]
→ (1.5, ['weights = np.array([1.0, 2.0], np.float64)', 'rate = 0.5', '    t1 = x * weights', '    t2 = t1 * rate', '    t3 = t2.sum()'])

f, kept = ag.compile(lambda x: kept.append(x)), []
f(1.0)
raised(lambda: kept[0] * 2.0, lambda: ag.compile(lambda x: x * np.random.random())(1.0), lambda: ag.compile(lambda xs: xs.append(1.0))([1.0]), lambda: ag.compile(lambda x: x.grad)(leaf(1.0)), lambda: ag.compile(lambda x, n: ag.sum(x, n))(np.ones(2), np.array(0)), lambda: ag.compile(lambda x: x)(np.array([1j])))
→ ['TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError', 'TypeError']

f = ag.compile(lambda x: x.detach() * x + (x * x).sum() + ag.softmax(x))
f(np.zeros(2))
f(np.ones(2)), f.source.count('exp')
→ ([3.5, 3.5], 1)

w = leaf(2.0)
f = ag.compile(lambda a, x: x * ag.multiply(a, 2.0))
f(0.5, np.ones(1, np.float32)).dtype, ag.compile(lambda x: w)(1.0), ag.grad(lambda w: ag.compile(lambda x: w * x)(3.0))(1.0), ag.grad(ag.compile(lambda x: x * x))(3.0)
→ (dtype('float64'), Tensor(2.0, op=program), 3.0, 6.0)
"""
CONTRACTS = [
    Contract(group, *contract.strip().split("\n→ "))
    for group, contracts in (
        part.split("\n\n", 1) for part in TABLE.strip().removeprefix("# ").split("\n# ")
    )
    for contract in contracts.strip().split("\n\n")
]


def outcomes(statement=None, contracts=CONTRACTS, folder=HOME):
    """Run the contracts on the engine with a Statement deleted, and return their results.

    Parameters
    ----------
    statement : Statement, optional
        The statement to delete. By default, the whole engine is used.
    contracts : iterable of Contract
        The contracts to run. By default, all contracts.
    folder : Path
        The folder of the engine's source.

    Returns
    -------
    list of str
        For each contract, the value of its last line as text, or the error that it raised, such as
        "RuntimeError: …", or "does not end" if the contract takes too many steps. If the engine
        cannot be loaded, every result is the error of loading.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with engine_without(statement, folder) as ag:
                return [_outcome(one, ag) for one in contracts]
        except (Exception, StepLimitExceeded) as error:
            return [_failed(error)] * len(contracts)


def reached(statement):
    """Return a list of the contracts that run a Statement.

    The list contains all contracts if the statement runs while the engine is loaded, or if it is a
    `global` statement, which Python never executes.
    """
    loading, *each = _lines()
    own = {
        (f"{HOME / statement.file}.py", statement.line + i)
        for i in range(statement.text.count("\n") + 1)
    }
    every = own & loading or statement.text.strip().startswith("global ")
    return [one for one, lines in zip(CONTRACTS, each) if every or own & lines]


@cache
def _lines():
    """Return the lines of the engine that run, as a list of sets {(path, line number), …}.

    The first set contains the lines that run while the engine is loaded. Each further set contains
    the lines that one contract runs, in the order of CONTRACTS.
    """
    runs = [set()]

    def trace(frame, *_):
        if frame.f_code.co_filename.startswith(str(HOME)):
            runs[-1].add((frame.f_code.co_filename, frame.f_lineno))
            return trace

    def followed():
        for one in CONTRACTS:
            runs.append(set())
            yield one

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        outcomes(None, followed())
    finally:
        sys.settrace(before)
    return runs


def _outcome(contract, ag):
    def leaf(x, **keywords):
        return ag.Tensor(
            x if isinstance(x, np.ndarray) else np.array(x, float), requires_grad=True, **keywords
        )

    def slopes(f, *points):
        return [float(ag.grad(f)(x)) for x in points]

    def raised(*functions):
        return [_raised(f) for f in functions]

    ag.finder.steps = ag.finder.most
    scope = {"ag": ag, "np": np, "leaf": leaf, "slopes": slopes, "raised": raised}
    first, last = contract.code
    try:
        exec(first, scope)
        return said(eval(last, scope))
    except (Exception, StepLimitExceeded) as error:
        return _failed(error)


def _raised(f):
    try:
        f()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def _failed(error):
    return (
        "does not end"
        if isinstance(error, StepLimitExceeded | RecursionError)
        else f"{type(error).__name__}: {error}"
    )


def said(value):
    """Return a value as text, with numbers rounded to nine decimals and arrays as lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(said, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return repr(round(value, 9) + 0.0) if isinstance(value, float) else repr(value)


def kept(contract, outcome):
    """Return True if `outcome`, the result of a contract as text, is the expected result.

    If the expected result is an error, `outcome` must have the same type of error, and a message
    that contains the expected part.
    """
    kind, _, words = contract.right.partition("Error: ")
    return (
        outcome.startswith(f"{kind}Error: ") and words in outcome
        if words
        else outcome == contract.right
    )
