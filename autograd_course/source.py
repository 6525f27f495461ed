"""What can be read off a function: its text, and whether it is still a stub."""
import ast
import dis
import linecache
import textwrap
from functools import lru_cache


def source(function):
    """The text of a lambda or a def, cut out of its file or cell; "" where that is not at hand."""
    found = find(function)
    return cut(*found) if found else ""


def find(function):
    """(the lines it stands in, its syntax tree) or None."""
    code = getattr(function, "__code__", None)
    lines = linecache.getlines(code.co_filename) if code else []
    kind = ast.Lambda if code and code.co_name == "<lambda>" else ast.FunctionDef
    candidates = [node for node in _functions("".join(lines)) if isinstance(node, kind)
                  and code.co_firstlineno == min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])]
    if not candidates:
        return None
    # A line may hold several lambdas: it is the one around its own instructions, and the innermost of those.
    places = [(line, start) for line, _, start, end in code.co_positions() if line and end]
    return lines, max(candidates, key=lambda node: (
        sum((node.lineno, node.col_offset) <= place < (node.end_lineno, node.end_col_offset) for place in places),
        node.lineno, node.col_offset))


@lru_cache(maxsize=64)
def _functions(text):
    try:
        return [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Lambda, ast.FunctionDef))]
    except SyntaxError:         # a file that has changed since
        return []


def cut(lines, node):
    return textwrap.dedent(ast.get_source_segment("".join(lines), node, padded=True)).strip()


def is_stub(function):
    """Whether the function's body is nothing but `...` or `pass`, apart from a docstring."""
    code = getattr(function, "__code__", None)
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code) if step.opname not in ("RESUME", "NOP")] if code else []
    return any(steps in ([("LOAD_CONST", body), ("RETURN_VALUE", None)], [("RETURN_CONST", body)]) for body in (None, ...))


def has_blank(function):
    """Whether a `...` is left anywhere in the function: for stubs of which a part is given. (An index x[..., 0] counts too.)"""
    consts = getattr(getattr(function, "__code__", function), "co_consts", ())
    return is_stub(function) or ... in consts or any(has_blank(inner) for inner in consts if hasattr(inner, "co_consts"))
