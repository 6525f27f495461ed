"""Forward mode: every value carries its tangent, and nothing is recorded."""

from .levels import no_grad_level
from .tape import Tensor, new_tensor, one_level_down


class Dual(Tensor):
    """A Tensor in forward mode. Its attribute `tangent` is an array, or None if the tangent is 0.

    Example: in `jvp(lambda x: x * x, (3.0,), (1.0,))` the input is a Dual with the value 3 and the
    tangent 1. Its product with itself has the value 9, and the tangent 3·1 + 3·1 = 6.
    """

    _requires_grad = False

    def process(self, row, args, params):
        """Return the result of calling `row` on this Tensor's level, as a Dual with its tangent."""
        level = self.level
        values, z = one_level_down(row, args, params, level)
        node, tangents = new_tensor(Dual, z, level), {}
        if level > no_grad_level.get():
            for i, a in enumerate(args):
                if isinstance(a, Dual) and a.level == level and a.tangent is not None:
                    if row.rule(i):
                        tangents[i] = a.tangent
        if tangents:
            node.tangent = row.push_tangents(tangents, z, values, params)
        return node
