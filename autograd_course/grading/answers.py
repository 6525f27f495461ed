"""Represent answers as code of a stub cell: the solution, a slip in it, or a different style."""

import ast
import re
from functools import cache


class edit:
    """Make a wrong answer: the solution with `old` replaced by `new`, and the hint for it.

        edit("B[k, j]", "B[j, k]", "Are the two indices in the right order?")
        # several places at once, the hint last
        edit("g * y", "g * x", "g * x", "g * y", "Are the two swapped?")
        edit("g @ y.mT", "np.matmul(g, y.mT)")  # no hint: for `accepted`

    Each old text must occur exactly once in the solution. Otherwise the declaration of the exercise
    raises ValueError.
    """

    def __init__(self, *texts):
        *texts, self.hint = texts if len(texts) % 2 else [*texts, ""]
        self.changes = dict(zip(texts[::2], texts[1::2]))

    def applied(self, solution):
        """Return the solution's text with the replacements made."""
        for old in self.changes:
            if solution.count(old) != 1:
                raise ValueError(
                    f"edit: expected {old!r} once in the solution, found it {solution.count(old)} times:\n"
                    f"{solution}"
                )
        changed, count = re.subn(
            "|".join(map(re.escape, self.changes)), lambda found: self.changes[found[0]], solution
        )
        if count < len(self.changes):
            raise ValueError(
                f"edit: the old texts {list(self.changes)} overlap in the solution; "
                "use one longer text."
            )
        return changed


@cache
def defined(stub):
    """Return the names that the learner's cell defines: "two_knobs", or "(from_left, from_right)".

    The stub assigns `...` to these names.
    """
    names = [
        line.name if hasattr(line, "name") else line.targets[0].id
        for line in ast.parse(stub).body
        if any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(line))
    ]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def as_cell(code, stub):
    """Return `code` as the code of a stub cell.

    If it is one expression, the result assigns it to the name that the stub defines.
    """
    body = ast.parse(code).body
    return f"{defined(stub)} = {code}" if len(body) == 1 and isinstance(body[0], ast.Expr) else code
