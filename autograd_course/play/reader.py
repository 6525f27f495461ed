"""Read a text as a function of named inputs: from what people type or paste to a small program of arithmetic.

A text is data, never code: it is parsed, and every kind of syntax, every name and every attribute in it must be on a list.
interpreter.py then walks the tree; nothing typed is compiled or evaluated by Python.
"""

import ast
import difflib
import re
from typing import NamedTuple

import numpy as np

from .functions import ARRAYS, CONSTANTS, CONSTRUCTORS, FUNCTIONS, MODULES

MOST_LETTERS = 2000
MOST_DEPTH = 50  # of brackets in brackets, and blocks in blocks
MOST_ENTRIES = 1000  # of an array
RESULT_NAMES = ("L", "z", "out", "result")  # the first that is free names an unnamed result
BUILT_IN = {"range", "len", "zip", "enumerate", "abs", "sum", "min", "max", "float"}
EXAMPLE = "for example tanh(w*x + b)"

# What shows, trains or asks for gradients; the playground does that itself, so such statements are left out.
LEFT_OUT = {
    *("print", "draw_dot", "render", "show", "plot", "display", "draw_graph", "backward"),
    *(
        "zero_grad",
        "zero_",
        "retain_grad",
        "requires_grad_",
        "manual_seed",
        "seed",
        "grad",
        "label",
    ),
    *(
        "set_default_dtype",
        "title",
        "figure",
        "assert_allclose",
        "allclose",
        "isclose",
        "live_graph",
    ),
}
# What says nothing about the numbers that are computed.
IGNORED_KEYWORDS = {"requires_grad", "dtype", "label", "name", "device", "_children", "_op"}
GRADIENT_OF = {"grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "hessian"}
ATTRIBUTES = {"T", "mT", "data", "shape", "ndim"}

NODES = (
    *(ast.Module, ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.While),
    *(ast.FunctionDef, ast.Return, ast.Pass, ast.Break, ast.Continue),
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.Attribute),
    *(ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.ListComp, ast.GeneratorExp),
    *(ast.comprehension, ast.Lambda, ast.arguments, ast.arg, ast.keyword, ast.Name, ast.Constant),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context),
)
# What cannot be drawn, and what to write in its place.
INSTEAD = {
    ast.With: "training is not shown here. Paste one forward pass, without the loop and without `with`",
    ast.ClassDef: "a class cannot be read here. Paste the lines that compute; Value(2.0) and torch.tensor(2.0) are known",
    ast.Try: "leave `try` out and paste the lines that compute",
    ast.Dict: "a dict cannot be read here. Give each of its values a name of its own",
    ast.JoinedStr: "leave texts out; only numbers and arrays are computed here",
    ast.Subscript: "an entry cannot be assigned. Build a new array, for example with stack([a, b])",
    ast.NamedExpr: "write the assignment on a line of its own",
    ast.Starred: "write the values one by one in place of the *",
    "Linear": "write the layer as W @ x + b",
    "Conv2d": "a convolution has too many values to be drawn; see lesson 14",
    "Sequential": "write the layers one after the other, for example relu(W1 @ x + b1)",
    "Module": "write the layers out, for example W @ x + b",
    "MSELoss": "write the loss as mean((y - t)**2)",
    "BCELoss": "write the loss as binary_cross_entropy(p, t)",
    "CrossEntropyLoss": "write the loss as -log_softmax(z)[k], with the number of the class for k",
    "cross_entropy": "write the loss as -log_softmax(z)[k], with the number of the class for k",
    "ReLU": "write relu(x)",
    "Tanh": "write tanh(x)",
    "Sigmoid": "write sigmoid(x)",
    "step": "training is not shown here. Paste one forward pass, without the optimizer",
    "SGD": "training is not shown here. Paste one forward pass, without the optimizer",
    "Adam": "training is not shown here. Paste one forward pass, without the optimizer",
    "erf": "erf is not known here; gelu is",
    "integrate": "integrals are not known here",
    "input": "nothing can be asked here. Every name without a value gets a slider",
}


class CannotDraw(Exception):
    """Say that a text cannot be drawn, and what to write instead."""


class Program(NamedTuple):
    """Hold a text that was read.

    inputs : {name: float or array} with the values that they start at, in their order in the text.
    statements : list of ast statements that compute `output` from the inputs.
    output : str, the name of the value to draw.
    upstream : ast expression or None, the argument of `backward`: the upstream gradient of the output.
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
        If it is something else; the message says in one sentence what to write instead.
    """
    if len(text) > MOST_LETTERS:
        raise CannotDraw(
            f"The text has {len(text):,} letters; at most {MOST_LETTERS:,} can be drawn."
        )
    text, left_out = _plain(text)
    tree = _parsed(text)
    upstream, asked = None, None
    statements = []
    for statement in _single(tree.body):
        if drawn := _backward_of(statement):
            asked, upstream = drawn
        if call := _gradient_call(statement):
            statement = ast.copy_location(ast.Expr(call), statement)
        elif _is_left_out(statement):
            left_out.append(ast.unparse(statement))
            continue
        statements.append(statement)
    for statement in statements:
        for call in _walk(statement, ast.Call):
            call.keywords = [one for one in call.keywords if one.arg not in IGNORED_KEYWORDS]
        _check(statement)
    if not statements:
        raise CannotDraw(f"Write an expression of names, {EXAMPLE}: each name gets a slider.")
    inputs, statements = _inputs(statements, _plain_numbers(statements, upstream))
    statements, last = _named(statements)
    output = asked if asked in _stored(statements) else last
    if not inputs:
        raise CannotDraw(
            f"There is nothing to differentiate with respect to: use a name, {EXAMPLE}, or begin with a line such as x = 2.0."
        )
    return Program(inputs, statements, output, upstream, left_out)


# --- From a text to a tree ---------------------------------------------------------------------------------------------

SIGNS = str.maketrans(
    {"−": "-", "–": "-", "·": "*", "×": "*", "∗": "*", "÷": "/", "π": "pi", "²": "**2", "³": "**3"}
    | {"’": "'", "“": '"', "”": '"', "\xa0": " ", "\r": "", "^": "**"}
)
PROMPT = re.compile(r"^(>>> ?|\.\.\. ?|In \[\d*\]: ?)", re.MULTILINE)
NOT_COMPUTED = re.compile(r"^[ \t]*(?:import|from)\b.*$|^[%!].*$", re.MULTILINE)
DEFINITION = re.compile(r"^(\w+)\(([\w, ]+)\)\s*=(?!=)", re.MULTILINE)  # f(x) = …
PRODUCT = re.compile(r"(?<![\w.])(\d+\.?\d*)(?![eE][-+]?\d)(?=[A-Za-z_(])")  # 2x, 3(x + 1)


def _plain(text):
    """Return the text as Python would be written, and the lines of it that compute nothing."""
    if found := re.search(r"\\[a-zA-Z]+|\$", text):
        raise CannotDraw(
            f"{found[0]} looks like LaTeX. Write it as in Python: a/b, sqrt(x), x**2, exp(-x)."
        )
    text = PROMPT.sub("", text).translate(SIGNS)
    left_out = [line.strip() for line in NOT_COMPUTED.findall(text)]
    text = NOT_COMPUTED.sub("", text)
    text = DEFINITION.sub(r"\1 = lambda \2:", text)
    return PRODUCT.sub(r"\1*", text).strip(), left_out


def _parsed(text):
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise CannotDraw(
            f"Line {error.lineno}: {error.msg}. Write it as in Python: 2*x, x**2, exp(-x)."
        ) from None
    except (ValueError, MemoryError, RecursionError):
        raise CannotDraw("The text cannot be read; write an expression, " + EXAMPLE) from None
    level, depth = [tree], 0
    while level:
        level, depth = [child for node in level for child in ast.iter_child_nodes(node)], depth + 1
        if depth > MOST_DEPTH:
            raise CannotDraw(
                f"The text has more than {MOST_DEPTH} levels of brackets or blocks; give parts of it names of their own."
            )
    return tree


def _single(statements):
    """Yield the statements with `a, b = 1, 2` as two assignments, and `x: float = 2` as one."""
    for statement in statements:
        if isinstance(statement, ast.AnnAssign) and statement.value:
            statement = ast.copy_location(
                ast.Assign([statement.target], statement.value), statement
            )
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Lambda):
            name = ast.copy_location(ast.Name("f", ast.Store()), statement)
            statement = ast.copy_location(ast.Assign([name], statement.value), statement)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if (
            isinstance(target, ast.Tuple)
            and isinstance(statement.value, ast.Tuple)
            and len(target.elts) == len(statement.value.elts)
        ):
            for name, value in zip(target.elts, statement.value.elts):
                yield ast.copy_location(ast.Assign([name], value), statement)
        else:
            yield statement


def called(node):
    """Return the last name of a call or attribute: tanh of torch.tanh, of x.tanh() and of tanh(x)."""
    node = node.func if isinstance(node, ast.Call) else node
    return getattr(node, "attr", getattr(node, "id", ""))


def _walk(node, kind):
    return [found for found in ast.walk(node) if isinstance(found, kind)]


def _backward_of(statement):
    """Return (the name, the argument) of `name.backward(argument)`, or None."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not (isinstance(call, ast.Call) and called(call) == "backward"):
        return None
    given = [*call.args, *(one.value for one in call.keywords if one.arg in ("gradient", "grad"))]
    name = getattr(getattr(call.func, "value", None), "id", None)
    return name, given[0] if given else None


def _gradient_call(statement):
    """Return the call f(3.0) of a statement that asks for `grad(f)(3.0)`, or None."""
    value = getattr(statement, "value", None)
    value = (
        value.args[0]
        if isinstance(value, ast.Call) and called(value) == "print" and value.args
        else value
    )
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Call)
        and called(value.func) in GRADIENT_OF
        and value.func.args
        and isinstance(value.func.args[0], (ast.Name, ast.Lambda))
    ):
        return ast.copy_location(ast.Call(value.func.args[0], value.args, []), value)
    return None


def _is_left_out(statement):
    """Return whether a statement only shows something, trains, or asks for gradients."""
    if isinstance(statement, (ast.Assert, ast.Delete, ast.Import, ast.ImportFrom)):
        return True
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    if any(called(target) in LEFT_OUT for target in targets if target):
        return True
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Expr) and isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    if not isinstance(statement, (ast.Expr, ast.Assign)) or value is None:
        return False
    names = {called(node) for node in _walk(value, (ast.Name, ast.Attribute))}
    roots = {node.id for node in _walk(value, ast.Name)}
    return bool(names & LEFT_OUT) or "plt" in roots


# --- The syntax that is allowed ----------------------------------------------------------------------------------------------


def _check(tree):
    """Raise CannotDraw if there is more in the tree than arithmetic, loops, conditions and known functions."""
    texts = {
        id(call.args[0])
        for call in _walk(tree, ast.Call)
        if called(call) == "einsum" and call.args and isinstance(call.args[0], ast.Constant)
    }
    for node in ast.walk(tree):
        line = f"Line {getattr(node, 'lineno', '?')}: "
        if not isinstance(node, NODES):
            told = INSTEAD.get(
                type(node), f"{type(node).__name__} is more than arithmetic, for, if and def"
            )
            raise CannotDraw(line + told + ".")
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in getattr(node, "targets", None) or [node.target]:
                if not isinstance(target, (ast.Name, ast.Tuple)):
                    raise CannotDraw(line + INSTEAD.get(type(target), "assign to a name") + ".")
        if isinstance(node, ast.Constant) and not isinstance(node.value, (bool, int, float)):
            if not (id(node) in texts and re.fullmatch(r"[a-z, >.-]{1,40}", node.value)):
                raise CannotDraw(line + INSTEAD[ast.JoinedStr] + ".")
        if isinstance(node, ast.FunctionDef) and (node.decorator_list or node.args.kwonlyargs):
            raise CannotDraw(line + "leave decorators and keyword-only arguments out.")
        name = node.arg if isinstance(node, (ast.arg, ast.keyword)) else called(node)
        if name and name in INSTEAD and isinstance(node, (ast.Call, ast.Attribute)):
            raise CannotDraw(line + INSTEAD[name] + ".")
        if name and name.startswith("_") and name != "_":
            raise CannotDraw(f"{line}{name} begins with _; give it another name.")
        if isinstance(node, ast.Attribute) and not _known_attribute(node):
            raise CannotDraw(f"{line}{_unknown(name)}.")


def _known_attribute(node):
    return node.attr in {*ATTRIBUTES, *FUNCTIONS, *ARRAYS, *CONSTANTS, *CONSTRUCTORS, *MODULES}


KNOWN = sorted({*FUNCTIONS, *ARRAYS})


def _unknown(name):
    """Return what to say of a function that is not known."""
    close = difflib.get_close_matches(name, KNOWN, n=2, cutoff=0.75)
    meant = (
        f"did you mean {' or '.join(close)}"
        if close
        else "the playground's page lists the functions"
    )
    return f"the function {name} is not known here; {meant}"


# --- Its inputs and its output -----------------------------------------------------------------------------------------


def literal(node):
    """Return the number or array that a right-hand side states, or None."""
    name = called(node) if isinstance(node, ast.Call) else ""
    if name in CONSTRUCTORS and node.args:
        return literal(node.args[0])
    made = name in ARRAYS and not name.endswith("_like")
    size = [one.value for one in node.keywords if one.arg == "size"] if made else []
    try:
        values = [ast.literal_eval(one) for one in ([*node.args, *size] if made else [node])]
        value = None if made else np.array(values[0])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if made:
        try:
            value = ARRAYS[name](*values)
        except (ValueError, TypeError, OverflowError) as error:
            raise CannotDraw(f"Line {node.lineno}: {error}.") from None
    if value.dtype.kind not in "iuf" or value.size > MOST_ENTRIES or not value.size:
        return None
    value = value.astype(float)
    return value if value.ndim else float(value)


def _stored(statements):
    """Return the names that the statements assign, with repetitions."""
    return [
        node.id
        for statement in statements
        for node in _walk(statement, ast.Name)
        if isinstance(node.ctx, ast.Store)
    ]


def _functions(statements):
    """Return {name: its arguments} of the functions that the text defines."""
    found = {}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = statement.args
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            found[called(statement.targets[0])] = statement.value.args
    return found


def _inputs(statements, plain):
    """Return ({name: start}, the statements without those that only give an input its value).

    Inputs are the names without a value, which start at 1, and the names that are set once, to a number or an array. If only
    functions are defined, the arguments of the last one are the inputs.
    """
    functions = _functions(statements)
    if len(functions) == len(statements):
        name, arguments = list(functions.items())[-1]
        names = [one.arg for one in arguments.args]
        starts = [literal(default) for default in arguments.defaults]
        inputs = dict.fromkeys(names, 1.0)
        inputs |= {one: start for one, start in zip(names[::-1], starts[::-1]) if start is not None}
        call = ast.parse(f"{name}({', '.join(names)})").body[0]
        return inputs, [*statements, call]
    if spread := _spread_call(statements[-1], functions):
        inputs, call = spread
        return inputs, [*statements[:-1], call]
    stored = _stored(statements)
    arguments = [one.arg for statement in statements for one in _walk(statement, ast.arg)]
    own = {*stored, *functions, *arguments} - _read_first(statements)
    for statement in statements:
        for call in _walk(statement, ast.Call):
            if isinstance(call.func, ast.Name) and not _known_call(call.func.id, own):
                raise CannotDraw(
                    f"Line {call.lineno}: {INSTEAD.get(call.func.id) or _unknown(call.func.id)}."
                )
    inputs, rest = {}, []
    for again in (False, True):  # if no name is set once, those that are set again are inputs too
        inputs, rest = {}, []
        for statement in statements:
            name = called(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
            start = literal(statement.value) if name and name not in {*plain, *inputs} else None
            if start is not None and (again or stored.count(name) == 1):
                inputs[name] = start
            else:
                rest.append(statement)
        for name in _free(rest, own):
            inputs.setdefault(name, 1.0)
        if inputs:
            break
    return inputs, rest


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
    return first & set(_stored(statements))


def _known_call(name, own):
    return name in {*own, *FUNCTIONS, *ARRAYS, *CONSTRUCTORS, *BUILT_IN}


def _free(statements, own):
    """Return the names that are read and never set, in the order of the text."""
    reserved = {*own, *FUNCTIONS, *ARRAYS, *CONSTANTS, *CONSTRUCTORS, *BUILT_IN, *MODULES}
    names = [node for statement in statements for node in _walk(statement, ast.Name)]
    called_names = {
        call.func.id
        for statement in statements
        for call in _walk(statement, ast.Call)
        if isinstance(call.func, ast.Name)
    }
    roots = {
        node.value.id
        for statement in statements
        for node in _walk(statement, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id in MODULES
    }
    # A letter that is also a constant (e, pi) or a method (t, T) is an input where it is not called.
    shadowed = {"t", "e_"} | ({"e"} & own)
    free = [
        node
        for node in names
        if node.id not in own
        and node.id not in roots
        and (node.id not in reserved or node.id in shadowed - called_names)
    ]
    return [node.id for node in sorted(free, key=lambda node: (node.lineno, node.col_offset))]


def _spread_call(statement, functions):
    """Return ({argument: start}, f(arguments)) where a text ends in f(3.0) for its own f, or None."""
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    if not isinstance(call, ast.Call) or call.keywords or not call.args:
        return None
    if isinstance(call.func, ast.Lambda):
        arguments = call.func.args
    elif isinstance(call.func, ast.Name) and call.func.id in functions:
        arguments = functions[call.func.id]
    else:
        return None
    names, starts = [one.arg for one in arguments.args], [literal(one) for one in call.args]
    if len(names) != len(starts) or None in [start if start is None else 0 for start in starts]:
        return None
    spread = ast.Call(call.func, [ast.Name(name, ast.Load()) for name in names], [])
    replaced = (
        ast.Assign(statement.targets, spread)
        if isinstance(statement, ast.Assign)
        else ast.Expr(spread)
    )
    ast.fix_missing_locations(ast.copy_location(replaced, statement))
    return dict(zip(names, starts)), replaced


def _plain_numbers(statements, upstream):
    """Return the names that stay constants: they count, index, are whole exponents, or only the upstream gradient."""
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
        for node in _walk(one, ast.Name)
        if isinstance(node.ctx, ast.Load)
    }
    plain = {node.id for node in _walk(upstream, ast.Name)} - read if upstream else set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and called(node) in ("range", *ARRAYS):
                plain |= {one.id for one in _walk(node, ast.Name)}
            elif isinstance(node, ast.Call) and called(node) in ("reshape", "view", "unsqueeze"):
                plain |= {one.id for part in node.args for one in _walk(part, ast.Name)} & whole
            elif isinstance(node, (ast.keyword, ast.Slice)):
                plain |= {one.id for one in _walk(node, ast.Name)} & whole
            elif isinstance(node, ast.Subscript):
                plain |= {one.id for one in _walk(node.slice, ast.Name)} & whole
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                plain |= {one.id for one in _walk(node.right, ast.Name)} & whole
    return plain


def _named(statements):
    """Return the statements with a name for an expression at their end, and the name of the result."""
    last = statements[-1] if statements else None
    if last is None:
        raise CannotDraw(f"Add a line that computes something from these inputs, {EXAMPLE}.")
    if isinstance(last, ast.Expr):
        used = {node.id for statement in statements for node in _walk(statement, ast.Name)}
        name = next(name for name in (*RESULT_NAMES, "result_") if name not in used)
        target = ast.Name(name, ast.Store())
        last = ast.fix_missing_locations(ast.copy_location(ast.Assign([target], last.value), last))
        statements = [*statements[:-1], last]
    if isinstance(last, (ast.Assign, ast.AugAssign)):
        target = last.targets[0] if isinstance(last, ast.Assign) else last.target
    else:  # the last assignment in a loop or a condition
        targets = [
            node.targets[0] if isinstance(node, ast.Assign) else node.target
            for node in _walk(last, (ast.Assign, ast.AugAssign))
        ]
        target = targets[-1] if targets else None
    if not isinstance(target, ast.Name):
        raise CannotDraw(f"The last line must compute one value, {EXAMPLE}.")
    return statements, target.id
