"""Pack a derivation, so that derivations.js can show and check it without a kernel."""

MIME = "application/vnd.autograd-course.derivation+json"


def bundle(panel):
    """Return the notebook output of a derivation's `panel`: a dict of data by MIME type.

    The data that a page needs are added under the type MIME.
    """
    return panel._repr_mimebundle_() | {MIME: spec(panel.name, panel.derivation)}


def spec(name, derivation):
    """Return the data of a derivation as a dict that can be written as JSON.

    "letters" contains each letter with its values at all points, or with the formula that defines
    it, and "steps" contains the lines. "matrices" lists the letters that are multiplied as matrices
    if they are written side by side, and "vectors" lists the matrices that have only one index.

    Parameters
    ----------
    name : str
        The name of the derivation, such as "08.sum".
    derivation : autograd_course.derivations.judge.Derivation
        The derivation.
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
