"""Pack a derivation, so that derivations.js can show and judge it without a kernel."""

MIME = "application/vnd.autograd-course.derivation+json"


def bundle(panel):
    """Return the output of a derivation for a notebook, and under MIME the data that a page needs."""
    return panel._repr_mimebundle_() | {MIME: spec(panel.name, panel.derivation)}


def spec(name, derivation):
    """Return the derivation as JSON: its letters with their values at each point, and its lines.

    A letter that a formula defines comes as that formula. `matrices` are the letters that are
    multiplied as matrices when they are side by side, and `vectors` those of them that have one
    index.
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
