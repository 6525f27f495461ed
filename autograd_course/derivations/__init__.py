r"""Let the learner type the lines of a derivation, and judge each line.

`expressions` reads and writes formulas, `judge` compares a typed line with the right one and names
the mistake, and `panel` shows the derivation in a lesson. A lesson declares its derivations in
lessons/lesson_NN/exercises.py:

    derivation(
        "03.divide",
        given="$z = x / y$ means $x = z \cdot y$.",
        letters={"x": (), "y": (), "g": (), "z": "x/y", …},
        steps=(
            Step(r"dx \approx", "y*dz + z*dy", "product rule", worked=True),
            Step(r"dz \approx", "(dx - z*dy)/y", "solved for dz", letters="x y z dx dy"),
        ),
        code="divide_y = lambda g, z, x, y: g * ({})",
    )
"""

from ..quiz.texts import BROUGHT_BACK
from .judge import Derivation, Step

__all__ = ["DERIVATIONS", "Derivation", "Step", "derivation"]

DERIVATIONS = {}  # "03.divide" -> Derivation


def derivation(name, **described):
    """Declare the derivation `name`, such as "03.divide", which `derive(name)` shows in a lesson.

    The keyword arguments are the fields of Derivation.
    """
    DERIVATIONS[name] = Derivation(**described)


def _from_memory(lesson):
    from .panel import from_memory

    return from_memory(lesson)


BROUGHT_BACK.append(_from_memory)
