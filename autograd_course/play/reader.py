"""Read a text as a function of named inputs: convert typed or pasted text to simple arithmetic.

A text is data, never code: it is parsed, and every kind of syntax, every name and every attribute
in it must be on a list. interpreter.py then walks the tree; Python never compiles or evaluates a
typed text.
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
from .posts import PROMPT, code_of, is_said
from .school import as_python, not_python, tree_of
from .syntax import CannotDraw, assign, called, loaded, reads, stored, walk

MOST_LETTERS = 2000
MOST_DEPTH = 50  # of brackets in brackets, and blocks in blocks
TOO_DEEP = f"The text has more than {MOST_DEPTH} levels of brackets or blocks; give parts of it names of their own."
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
    ast.With: "training is not shown here. Paste one forward pass, without the loop and without `with`",
    ast.ClassDef: "a class cannot be read here. Paste the lines that compute; Value(2.0) and torch.tensor(2.0) are supported",
    ast.Try: "leave out `try` and paste the lines that compute",
    ast.DictComp: "write the dict out, for example {'w': 1.0, 'b': 0.5}",
    ast.JoinedStr: "leave out strings; the playground computes with numbers and arrays only",
    ast.Subscript: "an entry cannot be assigned. Build a new array, for example with stack([a, b])",
    ast.NamedExpr: "write the assignment on a line of its own",
    ast.Starred: "write the values one by one in place of the *",
    "MLP": "write the layers out, for example tanh(W2 @ tanh(W1 @ x + b1) + b2)",
    "Neuron": "write the neuron out, for example tanh(w1*x1 + w2*x2 + b)",
    "Layer": "write the layer as tanh(W @ x + b)",
    "Dense": "write the layer as W @ x + b",
    "Linear": "write the layer as W @ x + b",
    "Conv2d": "a convolution has too many values to be drawn; see lesson 14",
    "Sequential": "write the layers one after the other, for example relu(W1 @ x + b1)",
    "Module": "write the layers out, for example W @ x + b",
    "Flatten": "write x.reshape(1, -1) in place of Flatten",
    "Dropout": "leave out Dropout, or multiply by a mask such as [1.0, 0.0, 1.0]",
    "MSELoss": "write the loss as mean((y - t)**2)",
    "BCELoss": "write the loss as binary_cross_entropy(p, t)",
    "CrossEntropyLoss": "write the loss as -log_softmax(z)[k], with the number of the class for k",
    "ReLU": "write relu(x)",
    "Tanh": "write tanh(x)",
    "Sigmoid": "write sigmoid(x)",
    "step": "training is not shown here. Paste one forward pass, without the optimizer",
    "SGD": "training is not shown here. Paste one forward pass, without the optimizer",
    "Adam": "training is not shown here. Paste one forward pass, without the optimizer",
    "fori_loop": "write the loop out: for i in range(4): v = v*x",
    "scan": "write the loop out: for x in xs: h = tanh(w*h + x)",
    "while_loop": "write the loop out: while x < 10: x = 2*x",
    "cond": "write f(x) if x > 0 else g(x) in place of cond",
    "randn_like": "write the numbers of the noise, for example eps = [0.5, -0.2]",
    **dict.fromkeys(
        ("real", "imag", "conj", "complex", "view_as_real"),
        "complex numbers are not drawn. Write the real and the imaginary part as two inputs, for example L = a**2 + b**2",
    ),
    **dict.fromkeys(
        ("subs", "evalf", "lambdify", "simplify"),
        "formulas are not transformed here. Write the function and its values, for example x = 2.0, then y = x**2",
    ),
    "expression": "this looks like another language. Write the function alone, for example x**2 * exp(-x)",
    "integrate": "the playground cannot integrate",
    **dict.fromkeys(
        ("DataLoader", "from_pretrained", "read_csv", "load_dataset", "load", "loadtxt", "open"),
        "the playground cannot load data. Write out a few numbers and their loss, for example x = [1.0, 2.0], then L = mean((w*x - 1)**2)",
    ),
    "input": "the playground cannot ask for input. Every name without a value gets a slider",
}


class Program(NamedTuple):
    """Hold the program that was read from a text.

    inputs : {name: float or array} with their start values, in the order of the text.
    statements : list of ast statements that compute `output` from the inputs.
    output : str, the name of the value to draw.
    upstream : ast expression or None, the argument of `backward`: the output's upstream gradient.
    left_out : list of str, the statements that were left out.
    """

    inputs: dict
    statements: list
    output: str
    upstream: object
    left_out: list


def read(text):
    """Return the Program of a text.

    Parameters
    ----------
    text : str
        An expression such as `tanh(w*x + b)`, or lines as for micrograd, PyTorch, JAX or NumPy.

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
        raise CannotDraw(f"Write an expression of names, {EXAMPLE}: each name gets a slider.")
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
            f"There is nothing to differentiate with respect to: use a name, {EXAMPLE}, or begin with a line such as x = 2.0."
        )
    return _begun(Program(inputs, statements, output, pasted.upstream, left_out), free)


def _begun(program, free):
    """Return the Program with start values for its free inputs.

    At these values its value and gradients are finite. For example, log(x - 4) does not start at x
    = 1.
    """
    free = [name for name in program.inputs if name in free]
    rising = [float(i + 1) for i in range(len(free))]
    same = ([start] * len(free) for start in (1.0, 0.5, 2.0, 5.0, 10.0, -1.0, 0.1, -5.0))
    for starts in (*same, rising, rising[::-1], [start / 10 for start in rising]) if free else ():
        begun = program._replace(inputs=program.inputs | dict(zip(free, starts)))
        if _is_finite(run(begun)):
            return begun
    return program


def _is_finite(computed):
    """Return whether the value and every gradient of a Run are finite."""
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
    """Return the lines of a text that may compute something, and those that compute nothing."""
    text, left_out = code_of(textwrap.dedent(text).rstrip())
    text = OUTPUT.sub("", PROMPT.sub("", text))
    left_out += [line.strip() for line in NOT_COMPUTED.findall(text)]
    return NOT_COMPUTED.sub(lambda found: "\n" * found[0].count("\n"), text), left_out


def _readable(text, left_out):
    """Return the text as Python, and the parts that are left out.

    Outputs and sentences are left out if the text cannot be read with them.
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
    said = {i for i, line in enumerate(lines) if not tree_of(line.strip()) and is_said(line, text)}
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
    """Return the tree of a text; an error message refers to the text as it was typed."""
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
    """Replace names of imports, such as T of `import torch as T`, by the known names."""
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
    """Write Value(3) for NumberWithGrad(3), Node(3) and any other class of values in a text."""
    classes = {one.name for one in walk(tree, ast.ClassDef)}
    for call in walk(tree, ast.Call):
        name = getattr(call.func, "id", "")
        number = len(call.args) == 1 and isinstance(call.args[0], (ast.Constant, ast.UnaryOp))
        if name[:1].isupper() and len(name) > 1 and number:
            if name not in {*CONSTRUCTORS, *INSTEAD, *LAYERS, *classes}:
                call.func.id = "Value"


def _in_order(body):
    """Return equations in an order in which they can be computed: x = t**2 before z = x*y.

    In mathematics the order of equations has no meaning.
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
    """Return the statements with `b = <the value of a>` in place of `b = a.detach()`.

    This applies only if `b.requires_grad = True` follows.
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
    """Return whether a node makes an array of numbers, as torch.tensor([1., 2.]) does."""
    known = {*CONSTRUCTORS, *ARRAYS, *MODULES}
    return called(node) in known and not loaded(*getattr(node, "args", ())) - known


def _inlined(body):
    """Return the statements with a call `main()` replaced by the body of `main`.

    This applies to functions without arguments.
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
    """Raise CannotDraw if a tree has more than arithmetic, loops, if and known functions."""
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
                type(node), f"expected arithmetic, for, if and def, got {type(node).__name__}"
            )
            if isinstance(node, ast.With):  # with open("x.txt")
                told = INSTEAD.get(called(node.items[0].context_expr), told)
            raise CannotDraw(line + told + ".")
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in getattr(node, "targets", None) or [node.target]:
                if not isinstance(target, (ast.Name, ast.Tuple)):
                    raise CannotDraw(line + INSTEAD.get(type(target), "assign to a name") + ".")
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
            raise CannotDraw(line + "write the arguments one by one in place of the **.")
        name = node.arg if isinstance(node, (ast.arg, ast.keyword)) else called(node)
        if name and name in INSTEAD and isinstance(node, (ast.Call, ast.Attribute)):
            raise CannotDraw(line + INSTEAD[name] + ".")
        if name and name.startswith("_") and name != "_":
            raise CannotDraw(f"{line}{name} begins with _; give it another name.")
        if isinstance(node, ast.Attribute) and not _known_attribute(node):
            raise CannotDraw(f"{line}{_unknown(name)}.")


def _is_key(value):
    """Return whether a constant is the index of an einsum or a key of a dict."""
    return isinstance(value, str) and bool(
        re.fullmatch(r"[a-z, >.-]{1,40}|[A-Za-z]\w{0,30}", value)
    )


def _libraries(lines):
    """Return {name: library} for the imports in some lines.

    Modules that are not known are included, and functions of every library.
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
    """Raise CannotDraw if a call uses an unknown function of another library."""
    for call in walk(tree, ast.Call):
        of = call.func
        while isinstance(of, ast.Attribute):
            of = of.value
        name, library = called(call), libraries.get(getattr(of, "imported", ""))
        if library and name not in {*FUNCTIONS, *ARRAYS, *CONSTRUCTORS, *BUILT_IN, *INSTEAD}:
            raise CannotDraw(
                f"Line {call.lineno}: the playground has no function {name} from {library}."
                " Write its result in its place, for example x = [1.0, 2.0]."
            )


def _known_attribute(node):
    return node.attr in {*ATTRIBUTES, *FUNCTIONS, *ARRAYS, *CONSTANTS, *CONSTRUCTORS, *MODULES}


KNOWN = sorted({*FUNCTIONS, *ARRAYS})


def _unknown(name):
    """Return the message for an unknown function."""
    if len(name) == 1:
        return f"{name} is not defined. Add a line such as {name}(x) = x**2, or write {name}*(...) for a product"
    close = difflib.get_close_matches(name, KNOWN, n=2, cutoff=0.75)
    meant = (
        f"did you mean {' or '.join(close)}"
        if close
        else "the playground's page lists the functions"
    )
    return f"the playground has no function {name}; {meant}"


# --- Its inputs and its output -----------------------------------------------------------------------------------------


def literal(node, known=(), own=()):
    """Return the number or array that a constant expression evaluates to, or None.

    Parameters
    ----------
    node : ast expression
    known : {name: number}, the constants of the text.
    own : names that the text defines.
    """
    reserved = {*FUNCTIONS, *ARRAYS, *CONSTRUCTORS, *CONSTANTS, *BUILT_IN, *MODULES} - {"t", *own}
    if loaded(node) - reserved - set(known) or walk(node, ast.Lambda, ast.Compare):
        return None
    value = constant_value(node, known)
    if value is None or value.dtype.kind not in "iuf" or not value.size:
        return None
    return value.astype(float) if value.ndim else float(value)


def _functions(statements):
    """Return {name: its arguments} of the functions that the text defines."""
    found = {}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = statement.args
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            found[called(statement.targets[0])] = statement.value.args
    return found


def _number_draws(statements):
    """Set the attribute `draw` of each call that draws random numbers to its number.

    It seeds the call, so that different calls draw different numbers, the same in every run.
    """
    calls = [call for one in statements for call in walk(one, ast.Call) if called(call) in RANDOM]
    for number, call in enumerate(calls):
        call.draw = number


def _named_entries(statements):
    """Return the statements with a name for each number in a dict.

    `p = {'w': 2.0}` becomes `w = 2.0` and `p = {'w': w}`.
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
    """Return {name: start}, the names without a value, and the remaining statements.

    Inputs are the names without a value, which start at 1, and the names that are set once, to a
    number or an array. The statements that only give an input its value are left out. If the text
    has only functions and inputs, its last function is called.
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
        """Return (name, start) of a statement that only gives a name its value."""
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
    """Raise CannotDraw if a function is called that neither the text nor the playground has."""
    arguments = {one.arg for statement in statements for one in walk(statement, ast.arg)}
    local = set(stored(*(line for one in statements for line in getattr(one, "body", []))))
    known = {*own, *arguments, *local, *FUNCTIONS, *ARRAYS, *CONSTRUCTORS, *BUILT_IN}
    for statement in statements:
        for call in walk(statement, ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id not in known:
                name = call.func.id
                raise CannotDraw(f"Line {call.lineno}: {INSTEAD.get(name) or _unknown(name)}.")


def _call_of(name, arguments, given):
    """Return the statements that call a function with its own arguments, or with their defaults."""
    names = [one.arg for one in arguments.args]
    lines = [f"{name}({', '.join(names)})"]
    for argument, default in zip(names[::-1], arguments.defaults[::-1]):
        if argument not in given:
            lines.insert(0, f"{argument} = {ast.unparse(default)}")
    return ast.parse("\n".join(lines)).body


def _spread(statement, functions, before):
    """Return `x = 3.0` and f(x) in place of f(3.0), where all arguments are constants."""
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
    """Return whether a call is a method of a value, x.sum(0), not of a module, torch.sum(x)."""
    of = getattr(call.func, "value", None)
    return of is not None and called(of) not in MODULES


def _read_first(statements):
    """Return the names that are set, but read before: x of `x = x + x`."""
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
    """Return the names that are read and never set, in the order of the text."""
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
    """Return the names that stay constants.

    They are counters, indices, whole exponents, or used only in the upstream gradient.
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
    """Return the statements, with a name for an expression at their end, and the result's name."""
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
            f"The last line computes several values. Add a line with the one to draw, for example {first}."
        )
    if not name:
        raise CannotDraw(f"The last line must compute one value, {EXAMPLE}.")
    return statements, name


def _needed(statements, output, upstream):
    """Return the statements that the output needs, the others, and the names that are read."""
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
