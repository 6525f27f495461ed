"""Read a typed or pasted text as a Program, a function of named inputs in simple arithmetic.

A text is data, never code. It is parsed, and every kind of syntax, every name and every attribute
in it must be on a list. interpreter.py then computes the syntax tree; Python never compiles or
evaluates a typed text.
"""

import ast
import difflib
import re
import textwrap
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .functions import ARRAYS, CONSTANTS, CONSTRUCTORS, FUNCTIONS, MODULES, RANDOM
from .interpreter import constant_value, run
from .layers import LAYERS, written_out
from .pasted import RESULT_NAMES, forward_pass
from .posts import PROMPT, code_of, is_not_code
from .school import as_python, not_python, tree_of
from .syntax import CannotDraw, assign, called, loaded, reads, stored, walk

MOST_LETTERS = 2000
MOST_DEPTH = 50  # of brackets in brackets, and blocks in blocks
TOO_DEEP = f"The text has more than {MOST_DEPTH} levels of brackets or blocks; assign some of its parts to names first."
BUILT_IN = {"range", "len", "zip", "enumerate", "abs", "sum", "min", "max", "float"}
EXAMPLE = "for example tanh(w*x + b)"
ATTRIBUTES = {"T", "mT", "data", "shape", "ndim", "size"}

NODES = (
    *(ast.Module, ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.While),
    *(ast.FunctionDef, ast.Return, ast.Pass, ast.Break, ast.Continue),
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.Attribute),
    *(ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.GeneratorExp),
    *(ast.comprehension, ast.Lambda, ast.arguments, ast.arg, ast.keyword, ast.Name, ast.Constant),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context),
)
LIKE = {"ones_like", "zeros_like"}  # they read only a shape, so their argument can be an input
# What cannot be drawn, and what to write in its place.
INSTEAD = {
    ast.With: "the playground does not show training. Paste one forward pass, without the loop and without `with`",
    ast.ClassDef: "the playground cannot read this class. Paste the lines that compute; Value(2.0) and torch.tensor(2.0) are supported",
    ast.Try: "leave out `try` and paste the lines that compute",
    ast.DictComp: "write the dict out, for example {'w': 1.0, 'b': 0.5}",
    ast.JoinedStr: "leave out strings; the playground computes with numbers and arrays only",
    ast.Subscript: "assigning to an entry of an array is not supported. Build a new array, for example with stack([a, b])",
    ast.NamedExpr: "write the assignment on a line of its own",
    ast.Starred: "write the values one by one instead of *",
    "MLP": "write the layers out, for example tanh(W2 @ tanh(W1 @ x + b1) + b2)",
    "Neuron": "write the neuron out, for example tanh(w1*x1 + w2*x2 + b)",
    "Layer": "write the layer as tanh(W @ x + b)",
    "Dense": "write the layer as W @ x + b",
    "Linear": "write the layer as W @ x + b",
    "Conv2d": "a convolution has too many values to draw; see lesson 14",
    "Sequential": "write the layers one after the other, for example relu(W1 @ x + b1)",
    "Module": "write the layers out, for example W @ x + b",
    "Flatten": "write x.reshape(1, -1) instead of Flatten",
    "Dropout": "leave out Dropout, or multiply by a mask such as [1.0, 0.0, 1.0]",
    "MSELoss": "write the loss as mean((y - t)**2)",
    "BCELoss": "write the loss as binary_cross_entropy(p, t)",
    "CrossEntropyLoss": "write the loss as -log_softmax(z)[k], where k is the number of the class",
    "ReLU": "write relu(x)",
    "Tanh": "write tanh(x)",
    "Sigmoid": "write sigmoid(x)",
    "step": "the playground does not show training. Paste one forward pass, without the optimizer",
    "SGD": "the playground does not show training. Paste one forward pass, without the optimizer",
    "Adam": "the playground does not show training. Paste one forward pass, without the optimizer",
    "fori_loop": "write the loop out: for i in range(4): v = v*x",
    "scan": "write the loop out: for x in xs: h = tanh(w*h + x)",
    "while_loop": "write the loop out: while x < 10: x = 2*x",
    "cond": "write f(x) if x > 0 else g(x) instead of cond",
    "randn_like": "write the numbers of the noise, for example eps = [0.5, -0.2]",
    **dict.fromkeys(
        ("real", "imag", "conj", "complex", "view_as_real"),
        "the playground does not draw complex numbers. Write the real and the imaginary part as two inputs, for example L = a**2 + b**2",
    ),
    **dict.fromkeys(
        ("subs", "evalf", "lambdify", "simplify"),
        "the playground does not support symbolic formulas. Write the function and its values, for example x = 2.0, then y = x**2",
    ),
    "expression": "this looks like another language. Write the function alone, for example x**2 * exp(-x)",
    "integrate": "the playground cannot integrate. Write the function under the integral, for example x**2",
    **dict.fromkeys(
        ("DataLoader", "from_pretrained", "read_csv", "load_dataset", "load", "loadtxt", "open"),
        "the playground cannot load data. Write out a few numbers and their loss, for example x = [1.0, 2.0], then L = mean((w*x - 1)**2)",
    ),
    "input": "the playground cannot read input. Every name without a value gets a slider",
}


class Program(NamedTuple):
    """Hold the program that was read from a text.

    Attributes
    ----------
    inputs : dict
        The start value of every input, by name, as a float or an array, in the order of the text.
    statements : list of ast.stmt
        The statements that compute the output from the inputs.
    output : str
        The name of the value to draw.
    upstream : ast.expr or None
        The upstream gradient of the output, which the text passes to `backward`. None if the
        text passes none.
    left_out : list of str
        The lines and statements of the text that are left out.
    remarks : list of str
        A sentence for each input whose name may be meant as a product or a power, such as nRT.
    """

    inputs: dict
    statements: list
    output: str
    upstream: object
    left_out: list
    remarks: list


def read(text):
    """Parse a text, and return its Program.

    Parameters
    ----------
    text : str
        An expression such as `tanh(w*x + b)`, a formula in mathematical notation, or a program for
        micrograd, PyTorch, JAX or NumPy.

    Returns
    -------
    Program
        The inputs, the statements that compute the output, and the lines that are left out.

    Raises
    ------
    CannotDraw
        If the text cannot be read; the message says in one sentence what to write instead.
    """
    if len(text) > MOST_LETTERS:
        raise CannotDraw(
            f"The text has {len(text):,} characters; shorten it to at most {MOST_LETTERS:,}."
        )
    try:
        typed, left_out = _typed(text)
        text, left_out = _readable(typed, left_out)
    except RecursionError:  # school.py walks a tree before its depth is known
        raise CannotDraw(TOO_DEEP) from None
    tree = _parsed(text, typed)
    _name_modules(tree, left_out)
    _name_values(tree)
    body = _fresh_leaves(_in_order(tree.body))
    pasted = forward_pass(written_out(_inlined(body), CONSTRUCTORS))
    left_out += pasted.left_out
    own = {*_functions(pasted.statements), *stored(*pasted.statements)}
    libraries = {name: of for name, of in _libraries(left_out).items() if name not in own}
    for statement in [*pasted.statements, *([pasted.upstream] if pasted.upstream else [])]:
        _check_libraries(statement, libraries)
        _check(statement)
    if not pasted.statements:
        raise CannotDraw(f"Write an expression with names, {EXAMPLE}: each name gets a slider.")
    statements = _named_entries(pasted.statements)
    _number_draws(statements)
    inputs, free, statements = _inputs(statements, _plain_numbers(statements, pasted.upstream))
    statements, last = _named(statements)
    output = pasted.asked if pasted.asked in stored(*statements) else last
    statements, unused, read_names = _needed(statements, output, pasted.upstream)
    left_out += [ast.unparse(one) for one in unused]
    left_out += [
        f"{name} = {start}"
        for name, start in inputs.items()
        if name not in read_names and name in text
    ]
    inputs = {name: start for name, start in inputs.items() if name in read_names}
    if not inputs:
        raise CannotDraw(
            f"There is no input to differentiate with respect to: use a name, {EXAMPLE}, or start with a line such as x = 2.0."
        )
    remarks = [_remark(name, typed) for name in inputs if name in free]
    remarks = [one for one in remarks if one]
    return _begun(Program(inputs, statements, output, pasted.upstream, left_out, remarks), free)


def _begun(program, free):
    """Return the Program with start values at which its output and its gradients are finite.

    For example, log(x - 4) does not start at x = 1. Only the inputs in `free` get new values; the
    text contains no values for them. If none of the values tried works, the Program is returned
    unchanged.
    """
    free = [name for name in program.inputs if name in free]
    rising = [float(i + 1) for i in range(len(free))]
    same = ([start] * len(free) for start in (1.0, 0.5, 2.0, 5.0, 10.0, -1.0, 0.1, -5.0))
    for starts in (*same, rising, rising[::-1], [start / 10 for start in rising]) if free else ():
        begun = program._replace(inputs=program.inputs | dict(zip(free, starts)))
        if _is_finite(run(begun)):
            return begun
    return program


def _remark(name, text):
    """Return a sentence that says how to write a name as a product or a power, or "".

    In a single line of mathematics, x2, mv2 and nRT may be meant so, but x2 beside x1 is a name.
    """
    pieces = re.findall(r"[A-Za-z]\d*", name)
    if "\n" in text.strip() or "".join(pieces) != name or len(pieces) > 4:
        return ""
    vowels = re.search("[aeiou]", name) and not re.search("[A-Z]", name[1:])
    if len(pieces) == 1:
        if not re.search("[2-9]", name) or re.search(r"\b[A-Za-z][01]\b", text):
            return ""
    elif re.fullmatch("lr|d[a-z]", name) or (len(pieces) > 2 and vowels):
        return ""
    factors, powers = (
        "*".join(re.sub(r"(?<=[A-Za-z])(?=[2-9])", sign, piece) for piece in pieces)
        for sign in ("*", "**")
    )
    power = f" or {powers} for a power" if powers != factors else ""
    return f"{name} is one name, so it gets one slider. Write {factors} for a product{power}."


def _is_finite(computed):
    """Return True if the output of a Run and the gradients of its inputs are finite."""
    with np.errstate(all="ignore"):
        if not np.all(np.isfinite(computed.output.data)):
            return False
        computed.output.sum().backward()
    return all(
        one.grad is None or np.all(np.isfinite(one.grad)) for one in computed.inputs.values()
    )


# --- From a text to a tree ---------------------------------------------------------------------------------------------

OUTPUT = re.compile(r"^Out ?\[\d*\]:.*$", re.MULTILINE)
NOT_COMPUTED = re.compile(
    r"^[ \t]*(?:import|from)\b(?:[^\n(#]*\bimport[ \t]*\([^)]*\))?.*$|^[%!].*$|^```.*$|^[ \t]*print +[\w\"'].*$",
    re.MULTILINE,
)


def _typed(text):
    """Return (text, left_out): the code in a text, and a list of the lines that compute nothing.

    Lines that compute nothing are, for example, imports, sentences, outputs, and fences of code.
    """
    text, left_out = code_of(textwrap.dedent(text).rstrip())
    text = OUTPUT.sub("", PROMPT.sub("", text))
    left_out += [line.strip() for line in NOT_COMPUTED.findall(text)]
    return NOT_COMPUTED.sub(lambda found: "\n" * found[0].count("\n"), text), left_out


def _readable(text, left_out):
    """Return (text, left_out): the text converted to Python, and a list of the lines left out.

    The list starts with the given lines `left_out`. Lines that are outputs or sentences are added to
    it if the text can be read only without them.

    Raises
    ------
    CannotDraw
        If the text contains mathematical notation that cannot be converted.
    """
    refused, plain = None, text
    imported = [name for line in left_out for name in re.findall(r"\bimport\b.* as (\w+)", line)]
    try:
        plain = as_python(text, imported)
        if tree_of(plain):
            return plain, left_out
    except CannotDraw as told:
        refused = told
    lines = text.split("\n")
    said = {
        i for i, line in enumerate(lines) if not tree_of(line.strip()) and is_not_code(line, text)
    }
    code = "\n".join("" if i in said else line for i, line in enumerate(lines))
    if said and code.strip():
        with suppress(CannotDraw):
            read = as_python(code, imported)
            if tree_of(read):
                return read, left_out + [lines[i] for i in sorted(said)]
    if refused:
        raise refused
    return plain, left_out


def _parsed(text, typed):
    """Return the syntax tree of a text, or raise CannotDraw.

    `typed` is the text as the user typed it; the error message refers to it.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise CannotDraw(not_python(typed, error)) from None
    except (ValueError, MemoryError, RecursionError):
        raise CannotDraw("The text cannot be read; write an expression, " + EXAMPLE) from None
    level, depth = [tree], 0
    while level:
        level, depth = [child for node in level for child in ast.iter_child_nodes(node)], depth + 1
        if depth > MOST_DEPTH:
            raise CannotDraw(TOO_DEEP)
    return tree


def _name_modules(tree, imports):
    """Replace abbreviations of imports, such as T after `import torch as T`, by known names.

    The names in `tree` are changed in place; each keeps its old name in the attribute `imported`.
    `imports` is a list of lines, among them the imports of the text.
    """
    given = {name: "np" for line in imports for name in re.findall(r"^import .*\bas (\w+)", line)}
    for line in imports:  # from torch.autograd import Variable as V
        for name, own in re.findall(r"\b(\w+) as (\w+)", line) if line.startswith("from") else ():
            if name in {*FUNCTIONS, *ARRAYS, *CONSTRUCTORS}:
                given[own] = name
    for name in {"plt", *MODULES, *stored(tree)}:
        given.pop(name, None)
    for node in walk(tree, ast.Name):
        node.imported = node.id  # for _check_libraries
        node.id = given.get(node.id, node.id)


def _name_values(tree):
    """Rename the class in calls such as NumberWithGrad(3) or Node(3) to Value.

    This applies to every unknown class that is called with a single number. `tree` is changed in
    place.
    """
    classes = {one.name for one in walk(tree, ast.ClassDef)}
    for call in walk(tree, ast.Call):
        name = getattr(call.func, "id", "")
        number = len(call.args) == 1 and isinstance(call.args[0], (ast.Constant, ast.UnaryOp))
        if name[:1].isupper() and len(name) > 1 and number:
            if name not in {*CONSTRUCTORS, *INSTEAD, *LAYERS, *classes}:
                call.func.id = "Value"


def _in_order(body):
    """Return assignments in an order in which they can be computed: x = t**2 before z = x*y.

    In mathematics the order of equations has no meaning. The list is returned unchanged if it
    contains other statements, if a name is assigned twice, or if there is no such order.
    """
    names = [called(one.targets[0]) for one in body if isinstance(one, ast.Assign)]
    if len(names) < len(body) or len({*names} - {""}) < len(body):
        return body
    equations, ordered = dict(zip(names, body)), []

    def place(name, waiting):
        if name in waiting:
            raise ValueError
        if name in equations and equations[name] not in ordered:
            for read_name in loaded(equations[name].value) - {name}:
                place(read_name, {*waiting, name})
            ordered.append(equations[name])

    try:
        for name in names:
            place(name, set())
    except (ValueError, RecursionError):  # they depend on each other, or too many do
        return body
    return ordered


def _fresh_leaves(body):
    """Replace `b = a.detach()` by `b = …` with the array assigned to a, so that b becomes an input.

    This applies only if the text sets `b.requires_grad = True`. The statements are changed in place
    and returned.
    """
    text = [ast.unparse(one) for one in body]
    values = {called(one.targets[0]): one.value for one in body if isinstance(one, ast.Assign)}
    for one in body:
        of = one.value if isinstance(one, ast.Assign) else None
        methods = set()
        while isinstance(of, ast.Call) and called(of) in ("detach", "clone", "requires_grad_"):
            methods.add(called(of))
            of = getattr(of.func, "value", None)
        name, source = called(one.targets[0]) if methods else "", values.get(getattr(of, "id", ""))
        asks = f"{name}.requires_grad = True" in text or f"{name}.requires_grad_()" in text
        asks = asks or "requires_grad_" in methods
        if "detach" in methods and asks and source and _is_array(source):
            one.value = source
    return body


def _is_array(node):
    """Return True if an expression creates an array of numbers, as torch.tensor([1., 2.]) does."""
    known = {*CONSTRUCTORS, *ARRAYS, *MODULES}
    return called(node) in known and not loaded(*getattr(node, "args", ())) - known


def _inlined(body):
    """Return the statements, with each statement such as `main()` replaced by the body of `main`.

    This applies to every function without parameters that the text defines. A block
    `if __name__ == "__main__":` is replaced by the statements in it.
    """
    mains = {
        one.name: one
        for one in body
        if isinstance(one, ast.FunctionDef) and not ast.unparse(one.args) and not one.decorator_list
    }
    called_alone = {
        called(call)
        for call in walk(ast.Module(body, []), ast.Call)
        if not call.args and not call.keywords and called(call) in mains
    }
    inlined = []
    for one in body:
        test = getattr(one, "test", None)
        if isinstance(one, ast.If) and "__name__" in loaded(test):
            inlined += _inlined([*mains.values(), *one.body])
        elif isinstance(one, ast.Expr) and called(one.value) in called_alone:
            inlined += [_without_return(line) for line in mains[called(one.value)].body]
        elif getattr(one, "name", None) not in called_alone:
            inlined.append(one)
    return inlined


def _without_return(statement):
    if isinstance(statement, ast.Return) and statement.value:
        return ast.copy_location(ast.Expr(statement.value), statement)
    return statement


# --- The syntax that is allowed ----------------------------------------------------------------------------------------------


def _check(tree):
    """Raise CannotDraw if a tree contains anything but supported syntax and known functions.

    Arithmetic, loops, `if` and function definitions are supported.
    """
    texts = set()
    for node in walk(tree, ast.Call, ast.Dict, ast.Subscript):
        if isinstance(node, ast.Dict):
            texts |= {id(key) for key in node.keys}
        elif isinstance(node, ast.Subscript):
            texts.add(id(node.slice))
        elif called(node) == "einsum":
            texts |= {id(one) for one in node.args[:1]}
        else:
            texts |= {
                id(one.value) for one in node.keywords if one.arg in ("reduction", "approximate")
            }
    for node in ast.walk(tree):
        line = f"Line {getattr(node, 'lineno', '?')}: "
        if not isinstance(node, NODES):
            told = INSTEAD.get(
                type(node),
                f"expected arithmetic, for, while, if or def, got `{ast.unparse(node).splitlines()[0]:.40}`",
            )
            if isinstance(node, ast.With):  # with open("x.txt")
                told = INSTEAD.get(called(node.items[0].context_expr), told)
            raise CannotDraw(line + told + ".")
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in getattr(node, "targets", None) or [node.target]:
                if not isinstance(target, (ast.Name, ast.Tuple)):
                    raise CannotDraw(
                        line + INSTEAD.get(type(target), "assign to a name, such as y") + "."
                    )
        if isinstance(node, ast.Constant) and not isinstance(
            node.value, (bool, int, float, type(None))
        ):
            if isinstance(node.value, complex):
                raise CannotDraw(line + INSTEAD["complex"] + ".")
            if not (id(node) in texts and _is_key(node.value)):
                raise CannotDraw(line + INSTEAD[ast.JoinedStr] + ".")
        if isinstance(node, ast.FunctionDef) and (node.decorator_list or node.args.kwonlyargs):
            raise CannotDraw(line + "leave out decorators and keyword-only arguments.")
        if isinstance(node, ast.keyword) and node.arg is None:
            raise CannotDraw(line + "write the arguments one by one instead of **.")
        name = node.arg if isinstance(node, (ast.arg, ast.keyword)) else called(node)
        if name and name in INSTEAD and isinstance(node, (ast.Call, ast.Attribute)):
            raise CannotDraw(line + INSTEAD[name] + ".")
        if name and name.startswith("_") and name != "_":
            raise CannotDraw(f"{line}{name} begins with _; give it another name.")
        if isinstance(node, ast.Attribute) and not _known_attribute(node):
            raise CannotDraw(f"{line}{_unknown(name)}.")


def _is_key(value):
    """Return True if a constant is a string that may be the subscripts of einsum or a dict key."""
    return isinstance(value, str) and bool(
        re.fullmatch(r"[a-z, >.-]{1,40}|[A-Za-z]\w{0,30}", value)
    )


def _libraries(lines):
    """Return a dict that maps each name imported in `lines` to its library.

    After `import scipy as sp`, for example, the name is sp. Modules that the playground
    supports are left out.
    """
    found = {}
    for line in lines:
        for one in walk(tree_of(line) or ast.Module([], []), ast.Import, ast.ImportFrom):
            for alias in one.names:
                library = (getattr(one, "module", None) or alias.name).partition(".")[0]
                if library not in MODULES or alias.name not in MODULES:
                    found[alias.asname or alias.name.partition(".")[0]] = library
    return found


def _check_libraries(tree, libraries):
    """Raise CannotDraw if a call uses a function of an imported library that is not supported.

    `libraries` maps each imported name to its library.
    """
    for call in walk(tree, ast.Call):
        of = call.func
        while isinstance(of, ast.Attribute):
            of = of.value
        name, library = called(call), libraries.get(getattr(of, "imported", ""))
        if library and name not in {*FUNCTIONS, *ARRAYS, *CONSTRUCTORS, *BUILT_IN, *INSTEAD}:
            raise CannotDraw(
                f"Line {call.lineno}: the playground has no function {name} from {library}."
                " Write its result instead of the call, for example x = [1.0, 2.0]."
            )


def _known_attribute(node):
    return node.attr in {*ATTRIBUTES, *FUNCTIONS, *ARRAYS, *CONSTANTS, *CONSTRUCTORS, *MODULES}


KNOWN = sorted({*FUNCTIONS, *ARRAYS})


def _unknown(name):
    """Return the error message for the name of an unknown function, without the final period."""
    if len(name) == 1:
        return f"{name} is not defined. Add a line such as {name}(x) = x**2, or write {name}*(...) for a product"
    close = difflib.get_close_matches(name, KNOWN, n=2, cutoff=0.75)
    meant = (
        f"perhaps you mean {' or '.join(close)}"
        if close
        else "see the list of functions on the playground's page"
    )
    return f"the playground has no function {name}; {meant}"


# --- Its inputs and its output -----------------------------------------------------------------------------------------


def literal(node, known=(), own=()):
    """Return the value of a constant expression as a float or an array.

    The result is None if the expression reads a variable that is not in `known`, contains a lambda
    or a comparison, or has no numeric value.

    Parameters
    ----------
    node : ast.expr
        The expression.
    known : dict, optional
        The values of the constants of the text, by name.
    own : collection of str, optional
        The names that the text defines, which hide functions and constants of the same name.

    Returns
    -------
    float, ndarray or None
        The value. An array has the dtype float64.

    Raises
    ------
    CannotDraw
        If the expression cannot be computed.
    """
    reserved = {*FUNCTIONS, *ARRAYS, *CONSTRUCTORS, *CONSTANTS, *BUILT_IN, *MODULES} - {"t", *own}
    if loaded(node) - reserved - set(known) or walk(node, ast.Lambda, ast.Compare):
        return None
    value = constant_value(node, known)
    if value is None or value.dtype.kind not in "iuf" or not value.size:
        return None
    return value.astype(float) if value.ndim else float(value)


def _functions(statements):
    """Return the parameters of the functions that the text defines with `def` or lambda.

    The result is a dict that maps the name of each function to an ast.arguments node.
    """
    found = {}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = statement.args
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            found[called(statement.targets[0])] = statement.value.args
    return found


def _number_draws(statements):
    """Assign a number, from 0, to the attribute `draw` of each call that draws random numbers.

    The interpreter uses the number as a seed. Therefore different calls draw different numbers, and
    every run draws the same numbers again.
    """
    calls = [call for one in statements for call in walk(one, ast.Call) if called(call) in RANDOM]
    for number, call in enumerate(calls):
        call.draw = number


def _named_entries(statements):
    """Return the statements, with every value in a dict assigned to a variable first.

    `p = {'w': 2.0}` becomes `w = 2.0` and `p = {'w': w}`, so that w becomes an input. The variable is
    called p_w if the text already uses the name w.
    """
    used = {node.id for one in statements for node in walk(one, ast.Name)}
    used |= {node.arg for one in statements for node in walk(one, ast.arg)}
    written = []
    for statement in statements:
        of = called(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        for table in walk(statement, ast.Dict) if of else ():
            for i, (key, value) in enumerate(zip(table.keys, table.values)):
                if isinstance(value, (ast.Name, ast.Dict)) or not isinstance(key, ast.Constant):
                    continue
                name = f"{of}_{key.value}" if key.value in used else str(key.value)
                used.add(name)
                written.append(assign(name, value, value))
                table.values[i] = ast.copy_location(ast.Name(name, ast.Load()), value)
        written.append(statement)
    return written


def _inputs(statements, plain):
    """Separate the inputs of a text from the statements that compute with them.

    If the text only defines functions and inputs, a call to its last function is added.

    Parameters
    ----------
    statements : list of ast.stmt
    plain : set of str
        The names that stay constants.

    Returns
    -------
    inputs : dict
        The start value of each input by name, as a float or an array. An input is a name without a
        value, which starts at 1, or a name that is set only once, to a number or an array.
    free : list of str
        The inputs without a value in the text.
    rest : list of ast.stmt
        The statements, without those that only set an input.
    """
    functions = _functions(statements)
    named = {*functions, *stored(*statements)}
    constants = {}
    for statement in statements:
        name = called(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        if name in plain and (value := literal(statement.value, constants, named)) is not None:
            whole = np.ndim(value) == 0 and float(value).is_integer()
            constants[name] = int(value) if whole else value

    def start(statement):
        """Return (name, value) for a statement that assigns a constant to a name.

        For other statements, the value is None.
        """
        name = called(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        value = literal(statement.value, constants, named) if name and name not in plain else None
        return name, value

    starts = [start(one) for one in statements]
    computing = [
        one for one, (_, value) in zip(statements, starts) if value is None and not _defines(one)
    ]
    if functions and not computing:
        statements = [*statements, *_call_of(*list(functions.items())[-1], stored(*statements))]
    else:
        statements = [*statements[:-1], *_spread(statements[-1], functions, statements[:-1])]
    all_stored = stored(*statements)
    own = {*all_stored, *functions} - _read_first(statements)
    _check_calls(statements, own)
    for again in (False, True):  # if no name is set once, those that are set again are inputs too
        inputs, rest = {}, []
        for statement in statements:
            name, value = start(statement)
            once = again or all_stored.count(name) == 1
            if value is not None and once and name not in inputs:
                inputs[name] = value
            else:
                rest.append(statement)
        free = [name for name in _free(rest, own) if name not in inputs]
        inputs |= dict.fromkeys(free, 1.0)
        if inputs:
            break
    return inputs, free, rest


def _defines(statement):
    return isinstance(statement, ast.FunctionDef) or isinstance(
        getattr(statement, "value", None), ast.Lambda
    )


def _check_calls(statements, own):
    """Raise CannotDraw if a statement calls a function that is not defined.

    `own` is the set of the names that the text defines.
    """
    arguments = {one.arg for statement in statements for one in walk(statement, ast.arg)}
    local = set(stored(*(line for one in statements for line in getattr(one, "body", []))))
    known = {*own, *arguments, *local, *FUNCTIONS, *ARRAYS, *CONSTRUCTORS, *BUILT_IN}
    for statement in statements:
        for call in walk(statement, ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id not in known:
                name = call.func.id
                raise CannotDraw(f"Line {call.lineno}: {INSTEAD.get(name) or _unknown(name)}.")


def _call_of(name, arguments, given):
    """Return statements that call the function `name` with variables named like its parameters.

    Each parameter with a default, for example y = 2, becomes an assignment before the call, unless
    its name is in `given`. `arguments` is the ast.arguments node of the function.
    """
    names = [one.arg for one in arguments.args]
    lines = [f"{name}({', '.join(names)})"]
    for argument, default in zip(names[::-1], arguments.defaults[::-1]):
        if argument not in given:
            lines.insert(0, f"{argument} = {ast.unparse(default)}")
    return ast.parse("\n".join(lines)).body


def _spread(statement, functions, before):
    """Return the statements `x = 3.0` and `f(x)` for the statement `f(3.0)`.

    The statement is returned unchanged, as the only item of the list, if it is not a call with
    constant arguments only.

    Parameters
    ----------
    statement : ast.stmt
        Changed in place.
    functions : dict
        The ast.arguments of each function that the text defines, by name.
    before : list of ast.stmt
        The statements above, whose variable names are avoided.
    """
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    if not isinstance(call, ast.Call) or not (call.args or call.keywords):
        return [statement]
    if isinstance(call.func, ast.Lambda):
        names = [one.arg for one in call.func.args.args]
    elif isinstance(call.func, ast.Name) and call.func.id in functions:
        names = [one.arg for one in functions[call.func.id].args]
    elif called(call) in FUNCTIONS and called(call) not in functions and not _is_method(call):
        names = ["x", "y"]
    else:
        return [statement]
    given = [*zip(names, call.args), *((one.arg, one.value) for one in call.keywords)]
    if len(given) != len(call.args) + len(call.keywords) or any(
        literal(value, (), functions) is None for _, value in given
    ):
        return [statement]
    taken = {*stored(*before), *loaded(*before)}
    lines, arguments = [], []
    for name, value in given:
        name = f"{name}_" if name in taken else name
        lines.append(assign(name, value, value))
        arguments.append(ast.copy_location(ast.Name(name, ast.Load()), value))
    call.args = arguments[: len(call.args)]
    for one, argument in zip(call.keywords, arguments[len(call.args) :]):
        one.value = argument
    return [*lines, statement]


def _is_method(call):
    """Return True if a call is a method call on a value: x.sum(0), but not torch.sum(x)."""
    of = getattr(call.func, "value", None)
    return of is not None and called(of) not in MODULES


def _read_first(statements):
    """Return the names that are read before they are first assigned, such as x in `x = x + x`."""
    first, seen = set(), set()

    def visit(node):
        match node:
            case ast.Assign(targets=later, value=now):
                parts = [now, *later]
            case ast.AugAssign(target=ast.Name(id=name)):
                parts = [ast.Name(name, ast.Load()), node.value, node.target]
            case ast.For():
                parts = [node.iter, node.target, *node.body, *node.orelse]
            case ast.ListComp() | ast.GeneratorExp():
                parts = [*node.generators, node.elt]
            case ast.comprehension():
                parts = [node.iter, node.target, *node.ifs]
            case ast.FunctionDef() | ast.Lambda():
                return  # its variables are its own
            case ast.Name():
                if isinstance(node.ctx, ast.Load) and node.id not in seen:
                    first.add(node.id)
                seen.add(node.id)
                return
            case _:
                parts = ast.iter_child_nodes(node)
        for part in parts:
            visit(part)

    for statement in statements:
        visit(statement)
    return first & set(stored(*statements))


def _free(statements, own):
    """Return the names of the variables without a value, in the order of the text.

    The names of the playground's functions and constants are left out, and so are the names in
    `own`, the set of the names that the text defines. A name that is read twice occurs twice.
    """
    reserved = {*own, *FUNCTIONS, *ARRAYS, *CONSTANTS, *CONSTRUCTORS, *BUILT_IN, *MODULES}
    names = [name for statement in statements for name in reads(statement)]
    called_names = {
        call.func.id
        for statement in statements
        for call in walk(statement, ast.Call)
        if isinstance(call.func, ast.Name)
    }
    # A letter that is also a constant (e, pi) or a method (t, T) is an input where it is not called.
    shadowed = {"t", "e_"} | ({"e"} & own)
    free = [
        node
        for node in names
        if node.id not in own and (node.id not in reserved or node.id in shadowed - called_names)
    ]
    return [node.id for node in sorted(free, key=lambda node: (node.lineno, node.col_offset))]


def _plain_numbers(statements, upstream):
    """Return the names that stay constants and do not become inputs.

    These names are used as lengths, indices or integer exponents, or only in the upstream gradient.
    `upstream` is the expression of this gradient, or None.
    """
    whole = {
        called(statement.targets[0])
        for statement in statements
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, int)
    }
    read = {
        node.id
        for one in statements
        for node in walk(one, ast.Name)
        if isinstance(node.ctx, ast.Load)
    }
    plain = {node.id for node in walk(upstream, ast.Name)} - read if upstream else set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and called(node) in {"range", *ARRAYS} - LIKE:
                lengths = [one for one in walk(node, ast.Call) if called(one) == "len"]
                plain |= loaded(node) - loaded(*lengths)
            elif isinstance(node, ast.Call) and called(node) in ("reshape", "view", "unsqueeze"):
                plain |= {one.id for part in node.args for one in walk(part, ast.Name)} & whole
            elif isinstance(node, ast.Call) and called(node) in ("cross_entropy", "nll_loss"):
                plain |= loaded(*node.args[1:]) & set(stored(*statements))
            elif isinstance(node, (ast.keyword, ast.Slice)):
                plain |= {one.id for one in walk(node, ast.Name)} & whole
            elif isinstance(node, ast.Subscript):
                plain |= {one.id for one in walk(node.slice, ast.Name)} & whole
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                plain |= {one.id for one in walk(node.right, ast.Name)} & whole
    return plain


def _named(statements):
    """Return (statements, name), where `name` is the name of the last value that is computed.

    If the last statement is an expression, it is replaced by an assignment to an unused name.

    Raises
    ------
    CannotDraw
        If there is no such value, or if the last line computes several values.
    """
    lines = [one for one in statements if not isinstance(one, ast.FunctionDef)]
    last = lines[-1] if lines else None
    if last is None:
        raise CannotDraw(f"Add a line that computes something from these inputs, {EXAMPLE}.")
    if isinstance(last, ast.Expr):
        used = {node.id for statement in statements for node in walk(statement, ast.Name)}
        name = next(name for name in (*RESULT_NAMES, "result_") if name not in used)
        named = assign(name, last.value, last)
        statements = [named if one is last else one for one in statements]
        last = named
    if isinstance(last, (ast.Assign, ast.AugAssign)):
        target = last.targets[0] if isinstance(last, ast.Assign) else last.target
        name = getattr(target, "id", "")
    else:  # the last assignment in a loop or a condition
        name = (stored(*getattr(last, "body", []), *getattr(last, "orelse", [])) or [""])[-1]
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Tuple):
        first = called(last.targets[0].elts[0])
        raise CannotDraw(
            f"The last line computes several values. Add a line with the value to draw, for example {first}."
        )
    if not name:
        raise CannotDraw(f"The last line must compute one value, {EXAMPLE}.")
    return statements, name


def _needed(statements, output, upstream):
    """Return (needed, unused, read_names) for the value called `output`.

    `needed` is the list of the statements that the output depends on, `unused` is the list of the
    other statements except function definitions, and `read_names` is the set of all names that the
    needed statements read. `upstream` is the expression of the upstream gradient, or None; the
    values that it reads are needed too.
    """
    functions = {
        getattr(one, "name", None) or called(one.targets[0]): one
        for one in statements
        if _defines(one)
    }
    of_functions = {name for one in functions.values() for name in loaded(one)}
    needed, unused = [], []
    names, read_names = set(), {output}

    def use(more):
        for name in set(more) - names:
            names.add(name)
            use(loaded(functions[name]) if name in functions else ())

    use({output, *(loaded(upstream) if upstream else ())})
    for statement in reversed(statements):
        name = getattr(statement, "name", None)
        targets = {name} if name else set(stored(statement))
        if names & targets:
            if isinstance(statement, ast.Assign) and called(statement.targets[0]):
                names -= targets - of_functions
            use(loaded(statement))
            needed.insert(0, statement)
        elif not name:
            unused.insert(0, statement)
        read_names |= names
    return needed, unused, read_names
