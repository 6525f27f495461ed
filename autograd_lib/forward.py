"""Forward mode: every value carries its tangent along, and nothing is recorded."""

from .tape import Tensor, _no_grad_level, new_tensor, one_level_down, to_array
from .values import copied


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
        tangents = {}
        if level > _no_grad_level.get():
            for i, a in enumerate(args):
                if isinstance(a, Tensor) and a.level == level and a.tangent is not None:
                    if row.rule(i):
                        tangents[i] = a.tangent
        return dual(z, row._push(tangents, z, values, params) if tangents else None, level)

    def detach(self):
        """Return a copy without a tangent: a constant to every derivative."""
        return dual(copied(to_array(self)), None, self.level)


def dual(value, tangent, level):
    """Return a new Tensor of a forward-mode level."""
    t = new_tensor(Dual, value, level)
    t.tangent = tangent
    return t
