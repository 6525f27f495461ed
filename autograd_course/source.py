"""Read the source code of a function, and find out whether the function is still a stub."""

import ast
import dis
import linecache
import textwrap
from functools import lru_cache


def source(function):
    """Return the source code of a lambda or a def, or "" if the code is not available.

    Only the text of the lambda or def itself is returned, not the whole line or cell.
    """
    found = find(function)
    return cut(*found) if found else ""


def find(function):
    """Return the lines and the syntax tree of a function's source code.

    Parameters
    ----------
    function : object
        A lambda, or a function defined with def.

    Returns
    -------
    tuple or None
        A list of all lines of the file or cell in which the function is defined, and the
        ast.Lambda or ast.FunctionDef of the function alone. The result is None if the code is not
        available.
    """
    code = getattr(function, "__code__", None)
    lines = linecache.getlines(code.co_filename) if code else []
    kind = ast.Lambda if code and code.co_name == "<lambda>" else ast.FunctionDef
    candidates = [
        node
        for node in _functions("".join(lines))
        if isinstance(node, kind)
        and code.co_firstlineno
        == min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
    ]
    if not candidates:
        return None
    # A line may hold several lambdas: it is the one around its own instructions, and the innermost of those.
    places = [(line, start) for line, _, start, end in code.co_positions() if line and end]
    return lines, max(
        candidates,
        key=lambda node: (
            sum(
                (node.lineno, node.col_offset) <= place < (node.end_lineno, node.end_col_offset)
                for place in places
            ),
            node.lineno,
            node.col_offset,
        ),
    )


@lru_cache(maxsize=64)
def _functions(text):
    try:
        return [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.Lambda, ast.FunctionDef))
        ]
    except SyntaxError:  # a file that has changed since
        return []


def cut(lines, node):
    """Return the source code of the syntax tree `node`, without its indentation.

    `lines` are all lines of the file or cell; see `find`.
    """
    return textwrap.dedent(ast.get_source_segment("".join(lines), node, padded=True)).strip()


def underneath(function):
    """Return the Python function inside a wrapper, or `function` itself if there is no wrapper.

    A wrapper is a partial, a cache, np.vectorize or a callable object.
    """
    for inside in ("pyfunc", "func", "__wrapped__"):
        function = getattr(function, inside, function)
    return next(
        (one for one in (function, type(function).__call__) if hasattr(one, "__code__")), function
    )


def names_in(function):
    """Return the set of global names and attributes that a function and its inner functions use.

    Attributes begin with a dot. Examples are "g", "np" and ".empty".
    """
    found = set()
    for step in _instructions(function):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            found.add(f".{step.argval}")
    return found


def methods_in(function):
    """Return the set of attributes that a function and its inner functions call.

    For example, the result contains "size" if the function contains `x.size(0)`, but not if it
    contains only `x.size`.
    """
    return {
        step.argval
        for step in _instructions(function)
        if step.opname == "LOAD_METHOD" or (step.opname == "LOAD_ATTR" and "NULL" in step.argrepr)
    }


def _instructions(function):
    """Yield the bytecode instructions of a function and of its inner functions."""
    codes = [getattr(function, "__code__", None)]
    for code in filter(None, codes):
        yield from dis.get_instructions(code)
        codes += [one for one in code.co_consts if hasattr(one, "co_names")]


def is_stub(function):
    """Return True if the body of a function is only `...` or `pass`, apart from a docstring."""
    return _does_nothing(getattr(function, "__code__", None))


@lru_cache(maxsize=1024)
def _does_nothing(code):
    steps = (
        [
            (step.opname, step.argval)
            for step in dis.get_instructions(code)
            if step.opname not in ("RESUME", "NOP")
        ]
        if code
        else []
    )
    return any(
        steps in ([("LOAD_CONST", body), ("RETURN_VALUE", None)], [("RETURN_CONST", body)])
        for body in (None, ...)
    )


def has_blank(function, indices=False):
    """Return True if the code of a function contains a `...` in place of a value.

    This finds stubs that are only partly filled in. A `...` that is part of a longer index, as in
    `x[..., 0]`, does not count. A `...` that is the whole index, as in `x[...]`, counts only if
    `indices` is True (see `blank_indices`).
    """
    code = getattr(function, "__code__", function)
    return hasattr(code, "co_consts") and _contains_blank(code, indices)


@lru_cache(maxsize=1024)
def _contains_blank(code, indices):
    steps = list(dis.get_instructions(code))
    return (
        _does_nothing(code)
        or any(has_blank(inner, indices) for inner in code.co_consts)
        or any(
            _is_blank(steps, at, indices and step.argval is ...)
            for at, step in enumerate(steps)
            if step.opcode in dis.hasconst
            and (step.argval is ... or isinstance(step.argval, tuple) and ... in step.argval)
        )
    )


def _is_blank(steps, at, indices):
    """Return True if the `...` that an instruction pushes on the stack is used as a value.

    `steps` are the instructions of a function, and `at` is the position of this instruction. A
    `...` that is used as an index is not a value, but if `indices` is True, a `...` that is the
    whole index counts as one.
    """
    above = 0
    for step in steps[at + 1 :]:
        if step.opname in ("BUILD_TUPLE", "BUILD_SLICE") and step.arg > above:
            above, indices = 0, False
            continue
        change = dis.stack_effect(step.opcode, step.arg, jump=False)
        if above + change < 0:
            subscript = (
                step.opname in ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR")
                or step.argrepr == "[]"
            )
            return (
                indices or not subscript or step.opname == "STORE_SUBSCR" and above == 2
            )  # x[i] = …: it lies below x and i
        above += change
    return True


@lru_cache(maxsize=512)
def blank_indices(stub):
    """Return True if the code `stub` contains an index that the learner must fill in.

    `stub` is a string, for example "grad_x[...] += ...".
    """
    return any(
        isinstance(part, ast.Subscript) and getattr(part.slice, "value", None) is ...
        for part in ast.walk(ast.parse(stub))
    )
