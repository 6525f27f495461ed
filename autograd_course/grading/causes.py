"""Causes: why an answer is wrong, as data. The sentence that a learner reads is written last, by `sentence`.

Nothing in the grader decides by a sentence, so every sentence may be reworded: those of SENTENCES here, and those that
an exercise gives as its own hints. Tests assert on the kind.
"""

from dataclasses import dataclass, replace

SENTENCES = {
    # what kind of thing came back
    "iterator": "This is of type {0}, which can be read once and is empty then. Make a list of it: list(…).",
    "a set": "{0} values were expected, and this is a set, which has no order.",
    "one value": "{0} values were expected, and this is one.",
    "number of values": "{0} values were expected, and you gave {1}.",
    "number of parts": "{0} values were expected, and you gave {1}: give them in this order, in brackets.",
    "one part": "{0} values were expected, and this is one: give them in this order, in brackets.",
    "not a text": "The answer is a text, in quotes.",
    "not a truth value": "The answer is True or False.",
    "a comparison times g": "That is True and False: a comparison, which comes last unless it stands in brackets. "
    "Multiply g by it: g * (…).",
    "truth values": "That is True and False, one for each entry, where numbers are expected.",
    "several numbers": "A single number was expected, and this holds {0}: give the number itself, without brackets or a comma.",
    "not an array": "An array was expected, and this is of type {0}.",
    "not a number": "A number was expected, and this is of type {0}.",
    "complex": "A complex number came back, where a real one is expected: x.real and x.imag are its parts.",
    # the shape
    "shape": "Shape {0}, where {1} was expected.",
    "shape: not summed": "Shape {0}, where {1} was expected: sum over the axis that was broadcast.",
    "shape: axis of 1 lost": "Shape {0}, where {1} was expected: an axis of length 1 is lost. A sum or a mean keeps it "
    "with keepdims=True; squeeze, ravel and a single index take it away.",
    "shape: transposed": "Shape {0}, where {1} was expected: transposed?",
    "shape: axis lost": "Shape {0}, where {1} was expected: axis {2} is gone.",
    "shape: other layout": "Shape {0}, where {1} was expected: the right number of entries in another shape.",
    # the numbers
    "nan": "nan came back, as from 0/0, inf/inf, 0 · inf, inf − inf, or the root or log of a negative number.",
    "swapped": "The right values in the wrong order: are the two swapped?",
    "order": "The right values in the wrong order: are two of them swapped?",
    "few digits": "Right to the {0} digits that a {1} holds. NumPy computes in float64, with 15, unless it is told "
    "another dtype.",
    "no g": "Off by the factor g: the upstream gradient is missing. Multiply by it.",
    "not linear in g": "What goes back follows g: for −g the opposite, for 2g twice as much. Yours does otherwise here.",
    "double": "Exactly double.",
    "half": "Exactly half.",
    "sign": "The right size with the wrong sign.",
    "degrees": "Off by the factor {0}: degrees, where radians are meant?",
    "base of the logarithm": "Off by the factor {0}: which base has your logarithm?",
    "nearly": "Nearly right, less than 0.005 % off: a difference quotient, a rounded number or a small number added "
    "can do that.",
    "factor": "Every entry is {0:.4g} times what was expected.",
    "too large": "Every entry is {0:.4g} too large.",
    "too small": "Every entry is {0:.4g} too small.",
    "transposed": "The right numbers, but transposed.",
    "layout": "The right numbers in other places: reshape keeps the order in which they are read, and a transpose "
    "changes it.",
    "reversed": "The right numbers, last to first along axis {0}.",
    "other places": "The right numbers in other places.",
    "cut off": "Whole numbers came back, the rest is cut off: is there a //, an int( ), or an array of integers?",
    "rounded": "Right, but rounded to {0} decimals: keep all of them.",
    "rounded to 1": "Right, but rounded to 1 decimal: keep all of them.",
    "first entry": "The first entry that differs is {0}.",
    "right elsewhere": "Right for {0}, and not here: what is different?",
    # what the function does
    "not a function": "The check calls your answer: give it the function, not a result.",
    "function in a tuple": "The function stands in a list or a tuple: is a comma, or a bracket, in the wrong place?",
    "endless": "It does not come to an end: what is to become smaller, or False, each time round the loop?",
    "waits": "It waits, for a sleep or for an input. The check gives all that is needed, and nobody is there to answer.",
    "printed": "It prints the result and gives None back: write return, and no print.",
    "nothing": "Nothing came back: is there a return, on every way through it? (list.sort and list.append return None.)",
    "array overwritten": "It writes into the caller's array. -= and *= do that too: make a new one, x - … in place of "
    "x -= ….",
    "list overwritten": "It writes into the caller's list. Make a new one, and leave theirs as it was.",
    "result overwritten": "It keeps what it gives back, and writes into it at the next call: whoever holds the first "
    "result sees it change. Make a new one each time, inside the function.",
    "state: second call": "Right at the first call, and another result at the second, with the same arguments: something "
    "is kept in between.",
    "state: other arguments": "Right if asked once more: something is kept from an earlier call, with other arguments.",
    "state: other g": "Right where the arrays are new: something is kept from an earlier call, with another g.",
    "not a class": "The check makes its own numbers: give it the class itself.",
}

ERRORS = {  # kind -> (what Python or NumPy says, the sentence; {0} is the name in it)
    "error: name": (
        r"^name '(\w+)' is not defined",
        "Nothing is called {0} here. A slip in the name? Or a cell above that has not been run?",
    ),
    "error: unset variable": (
        r"local variable '(\w+)'",
        "{0} is used before it has a value: give it its first one before the loop.",
    ),
    "error: arguments": (
        r"takes (?:from )?\d.* positional arguments? but \d+ (?:was|were) given|missing \d+ required positional",
        "Which arguments it takes, and in which order, is in the question.",
    ),
    "error: number called": (
        r"'(?:int|float|numpy\.\w+|Tensor)' object is not callable",
        "A number stands where a function is wanted: give the function itself, or make one with "
        "lambda.",
    ),
    "error: float as whole number": (
        r"'float' object cannot be interpreted as an integer",
        "A whole number is wanted, and / gives a float: // drops the rest.",
    ),
    "error: truth of an array": (
        r"truth value of an array",
        "x may be an array here. What wants a single truth cannot take it: if, and, or, a < b < "
        "c, and Python's own in, max, sorted and count. Use np.where, & and |, with each "
        "comparison in brackets.",
    ),
    "error: item of many": (
        r"can only convert an array of size 1",
        "item() takes a single number out of an array, and this one has more.",
    ),
    "error: view": (
        r"sub-type of ndarray type",
        "NumPy's view reads the same bytes as another dtype. The shape changes with x.reshape(…).",
    ),
    "error: length as dtype": (
        r"Cannot interpret '-?\d+' as a data type",
        "A length was taken for a dtype: np.zeros takes the shape as one tuple, np.zeros((2, 3)),"
        " and what changes the shape is x.reshape(…), not x.view(…).",
    ),
    "error: transpose": (
        r"axes don't match array",
        "NumPy's transpose takes every axis in its new order. Two of them change places with "
        "np.swapaxes(x, i, j), the last two with x.mT.",
    ),
    "error: NumPy name": (
        r"module 'numpy' has no attribute '(\w+)'",
        "NumPy has no np.{0}: PyTorch's cat is np.concatenate there, its clamp np.clip; ln is "
        "np.log.",
    ),
    "error: array as number": (
        r"arrays can be converted to Python scalars",
        "float( ), int( ) and the functions of math take single numbers: np.exp, np.tanh and so "
        "on take arrays.",
    ),
    "error: negative whole power": (
        r"Integers to negative integer powers",
        "NumPy raises whole numbers to no negative whole power: divide, or write it as y ** -1.0.",
    ),
    "error: function as value": (
        r"unsupported operand .*'(?:function|Primitive|ufunc|builtin_function_or_method)'",
        "A function stands where its value belongs: call it, f(x). Or are the parameters in "
        "another order?",
    ),
    "error: caret": (
        r"for \^|bitwise_xor",
        "A power is ** in Python: ^ is something else.",
    ),
    "error: dim": (
        r"argument '(?:dim|keepdim)'|Cannot interpret 'True' as a data type",
        "NumPy writes axis=… and keepdims=True, by name, where PyTorch has dim and keepdim.",
    ),
    "error: create_graph": (
        r"argument '(?:create_graph|retain_graph)'",
        "There is no such switch here: a graph may be walked again, and what ag.grad gives can be"
        " differentiated.",
    ),
    "error: gradient": (
        r"argument 'gradient'",
        "What arrives is called grad here, and may stand without its name: z.backward(g).",
    ),
    "error: number attribute": (
        r"'(?:int|float)' object has no attribute '(\w+)'",
        "That is a plain number of Python, and has no .{0}.",
    ),
    "error: Tensor attribute": (
        r"'numpy\.\w+' object has no attribute '(backward|detach|requires_grad_?)'",
        "That is a plain array, and .{0} belongs to a Tensor. (What .data and .grad hold are "
        "arrays.)",
    ),
    "error: NumPy already": (
        r"'numpy\.\w+' object has no attribute '(?:numpy|cpu|clone)'",
        "It is NumPy's already. A copy is x.copy().",
    ),
    "error: in place name": (
        r"'numpy\.\w+' object has no attribute '([a-z]\w*)_'",
        "An array has no .{0}_, PyTorch's change in place: make a new array, by arithmetic or a "
        "function of np.",
    ),
    "error: number method": (
        r"'numpy\.(?:float|int)\w+' object has no attribute '(\w+)'",
        "That is a single number, and has no .{0}: a function of np takes numbers too.",
    ),
    "error: array attribute": (
        r"'numpy\.\w+' object has no attribute '(\w+)'",
        "An array has no .{0}: most of NumPy's functions are written np.name(x), a transpose x.T "
        "or x.mT.",
    ),
    "error: None as whole number": (
        r"'NoneType' object cannot be interpreted as an integer",
        "A None stands where a whole number is wanted: is an axis None, or has something that it "
        "calls no return?",
    ),
    "error: None among numbers": (
        r"'NoneType'|from dtype\('O'\)",
        "A None is among the numbers: something that it calls has no return.",
    ),
    "error: recursion": (
        r"maximum recursion depth",
        "It calls itself, and never comes to an end.",
    ),
    "error: exit": ("", "exit ends the whole program. To end a function, write return."),
}
SENTENCES |= {kind: said for kind, (_, said) in ERRORS.items()}

# Causes that are certain from one call, so that no other draws need to be tried.
SEEN_AT_ONCE = {kind for kind in SENTENCES if kind.startswith("shape")} | {
    "nan",
    "first entry",
    "several numbers",
    "not an array",
    "not a number",
    "complex",
    "iterator",
}


@dataclass(frozen=True)
class Part:
    """Say which part of an answer in several parts differs.

    It is number `number` of `count`, from 1; `alone` is True if the others are right.
    """

    number: int
    count: int
    alone: bool
    inner: "Part | None" = None  # of a part that is itself in several parts
    name: str = ""  # what the learner calls it


@dataclass(frozen=True)
class Cause:
    """Hold the cause of a wrong answer.

    Parameters
    ----------
    kind : str
        A key of SENTENCES; of ERRORS among them; "own", a hint of the exercise; "", not known.
    facts : tuple
        What the sentence of this kind mentions: shapes, a factor.
    text : str
        The hint of the exercise, for the kind "own".
    own : bool
        True if the exercise named the cause, and not the grader.
    by : callable, optional
        The exercise's function that recognised it: its text may hold the numbers of this call.
    part : Part, optional
        Which part of the answer it is about.
    """

    kind: str = ""
    facts: tuple = ()
    text: str = ""
    own: bool = False
    by: object = None
    part: Part | None = None

    def same_as(self, other):
        """Return True if both name the same cause, regardless of numbers and part."""
        mine, theirs = ((one.kind, one.by or one.text) for one in (self, other))
        return mine == theirs


def own(hint, by=None):
    """Return the cause that a hint of the exercise names: `hint` is its text, a Cause, or ""."""
    if isinstance(hint, Cause):
        return replace(hint, own=True, by=by)
    return Cause("own", text=hint, own=True, by=by) if hint else Cause()


def needs_facts(hint):
    """Return True if `hint` is a Cause of a kind that needs facts and has none yet."""
    return isinstance(hint, Cause) and "{0" in SENTENCES.get(hint.kind, "") and not hint.facts


def sentence(cause):
    """Return the sentence for a Cause; a hint that is a text already is returned as it is."""
    if isinstance(cause, str):
        return cause
    said = cause.text if cause.kind == "own" else SENTENCES.get(cause.kind, "")
    said = said if cause.kind == "own" else said.format(*cause.facts)
    return _of_part(cause.part, said)


def _of_part(part, said):
    """Return a sentence about one part of an answer.

    It says before which part that is, and after it what the other parts are.
    """
    if not part:
        return said
    others = f"The other{'s are' if part.count > 2 else ' is'} right." if part.alone else ""
    return " ".join(
        filter(
            None,
            [
                f"Number {part.number} of {part.count}{f', {part.name}.' if part.name else ' differs.'}",
                _of_part(part.inner, said),
                others,
            ],
        )
    )
