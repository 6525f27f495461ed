"""A Tensor of the level on which `compile` writes a function down."""

import numpy as np

from ..operators import _constant, _reflected, _zero_gradient
from ..tape import Tensor, is_constant, new_tensor, to_array
from ..values import as_array


class Traced(Tensor):
    """A Tensor of the level on which `compile` writes a function down: every call is noted in its `trace`, whether a gradient
    is wanted or not, and its value, a number or an array, must not be looked at."""

    opaque = True
    shape = property(
        lambda self: np.shape(self._value)
    )  # a number may be Python's, which promotes nothing
    ndim = property(lambda self: np.ndim(self._value))
    size = property(lambda self: np.size(self._value))
    dtype = property(lambda self: np.result_type(np.asarray(self._value)))

    def process(self, row, args, params):
        """The call as a line of a program: what `compile` opens a level for."""
        if lower := [
            a for a in args if isinstance(a, Tensor) and a.level < self.level and not is_constant(a)
        ]:
            raise TypeError(
                f"{row.name}: {lower[0]!r} is reached in a way that compile does not see: pass it as an argument"
            )
        if (z := self.trace.expand(row, args, params)) is not None:
            return z
        args = [to_array(a) if isinstance(a, Tensor) else a for a in args]
        z = row._call(list(map(value_of, args)), mapped(value_of, params))
        as_array(z, f"{row.name}: its result")  # raises if it is not made of numbers
        node = new_tensor(Traced, z, self.level)
        node.op, node.inputs, node.params, node.trace = row, tuple(args), params, self.trace
        return self.trace.note(node)


def mapped(f, x):
    """`x` with f(part) in place of every part of its tuples, lists and dicts that is none of these."""
    if type(x) in (tuple, list):
        return type(x)([mapped(f, part) for part in x])
    return {name: mapped(f, part) for name, part in x.items()} if type(x) is dict else f(x)


def value_of(x):
    """The value of a Traced; another thing is its own."""
    return x._value if type(x) is Traced else x


for name, ufunc in {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "mod": np.remainder,
}.items():  # operators that arrays have and Tensors do not
    setattr(Traced, f"__{name}__", _zero_gradient(ufunc))
    setattr(Traced, f"__r{name}__", _reflected(_zero_gradient(ufunc)))
Traced.__invert__ = _zero_gradient(np.invert)
for name in ("any", "all"):
    setattr(Traced, name, _constant[getattr(np, name)])
