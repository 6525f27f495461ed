"""Forward mode: every value carries its tangent along, and nothing is recorded."""

from .levels import no_grad_level
from .tape import Tensor, new_tensor, one_level_down


class Dual(Tensor):
    """A Tensor of a forward-mode level. `tangent` is None where the tangent is 0.

    Example: in `jvp(lambda x: x * x, (3.0,), (1.0,))` the input is a Dual with the value 3 and the
    tangent 1. Its product with itself has the value 9, and the tangent 3·1 + 3·1 = 6.
    """

    _requires_grad = False

    def process(self, row, args, params):
        """Compute a call of `row` on this Tensor's level, and the tangent of its result."""
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
