"""Pack a derivation, so that derivations.js can show and check it without a kernel."""

MIME = "application/vnd.autograd-course.derivation+json"


def bundle(panel):
    """Return the notebook output of a derivation, with the data that a page needs under MIME."""
    return panel._repr_mimebundle_() | {MIME: spec(panel.name, panel.derivation)}


def spec(name, derivation):
    """Return the derivation as JSON: its letters with their values at each point, and its lines.

    A letter that is defined by a formula is given as that formula. `matrices` lists the letters
    that are multiplied as matrices when written side by side; `vectors` lists the letters in
    `matrices` that have one index.
    """
    from autograd_course.derivations.judge import POINTS
    from autograd_course.derivations.panel import keys, named, spoken

    points = derivation.points()
    return {
        "name": name,
        "count": POINTS,
        # Pairs, in their order: a letter is defined from those before it, and JSON may be sorted.
        "letters": [
            (
                letter,
                value
                if isinstance(value, str)
                else points[letter]
                .reshape(-1, *(value if isinstance(value, tuple) else ()))
                .tolist(),
            )
            for letter, value in derivation.letters.items()
        ],
        "matrices": derivation.matrices,
        "vectors": derivation.vectors,
        "sizes": derivation.sizes,
        "keys": [(key, spoken(key)) for key in keys(derivation)],
        "code": derivation.code,
        "renamed": derivation.renamed,
        "steps": [
            {
                "named": named(derivation, number),
                "left": step.left,
                "right": step.right,
                "reason": step.reason,
                "letters": step.letters,
                "indices": step.indices,
                "mistakes": step.mistakes,
                "rivals": step.rivals,
                "worked": step.worked,
            }
            for number, step in enumerate(derivation.steps)
        ],
    }
