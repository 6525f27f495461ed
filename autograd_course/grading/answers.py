"""Declare a wrong answer as an edit of the solution, and name what a stub cell must define."""

import ast
import re
from functools import cache


class edit:
    """Declare a wrong answer as a change to the text of the solution, with a hint for the learner.

        # old text, new text, hint
        edit("B[k, j]", "B[j, k]", "Are the two indices in the right order?")
        # several replacements at once, with the hint at the end
        edit("g * y", "g * x", "g * x", "g * y", "Are the two swapped?")
        # no hint: a right answer, for the list `accepted`
        edit("g @ y.mT", "np.matmul(g, y.mT)")

    Each old text must occur exactly once in the solution. Otherwise the declaration of the exercise
    raises ValueError.
    """

    def __init__(self, *texts):
        *texts, self.hint = texts if len(texts) % 2 else [*texts, ""]
        self.changes = dict(zip(texts[::2], texts[1::2]))

    def applied(self, solution):
        """Return the text of the solution with all replacements made.

        Raises
        ------
        ValueError
            If an old text does not occur exactly once, or if two old texts overlap.
        """
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
                f"edit: the texts to replace, {list(self.changes)}, overlap in the solution; "
                "combine them into one longer text"
            )
        return changed


@cache
def defined(stub):
    """Return the names that the learner's cell must define, as an expression.

    These are the functions, classes and variables whose definitions in the stub contain `...`. The
    result is a single name, such as "two_knobs", or a tuple of names, such as "(from_left,
    from_right)".
    """
    names = [
        line.name if hasattr(line, "name") else line.targets[0].id
        for line in ast.parse(stub).body
        if any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(line))
    ]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
