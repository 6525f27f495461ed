"""Define functions that inspect a syntax tree, and the error for a text that cannot be drawn."""

import ast


class CannotDraw(Exception):
    """Report that a text cannot be drawn, and what to write instead."""


def called(node):
    """Return the last name in a call, an attribute or a name, or "" for any other node.

    For example, the result is "tanh" for torch.tanh, x.tanh() and tanh(x).
    """
    node = node.func if isinstance(node, ast.Call) else node
    return getattr(node, "attr", getattr(node, "id", ""))


def walk(node, *kinds):
    """Return a list of the nodes in a tree that are instances of one of the classes `kinds`.

    `node` is the root of the tree, and the classes are classes of ast nodes, such as ast.Call.
    """
    return [found for found in ast.walk(node) if isinstance(found, kinds)]


def reads(node, bound=frozenset()):
    """Yield the ast.Name nodes of the variables that a tree reads.

    Variables that belong to a function or comprehension inside the tree are left out, and so are
    the names in the set `bound`. `node` is the root of the tree.
    """
    match node:
        case ast.FunctionDef(args=arguments, body=body):
            for default in arguments.defaults:
                yield from reads(default, bound)
            bound = bound | {one.arg for one in arguments.args} | set(stored(*body))
            parts = body
        case ast.Lambda(args=arguments):
            bound, parts = bound | {one.arg for one in arguments.args}, [node.body]
        case ast.ListComp() | ast.GeneratorExp():
            targets = {name for one in node.generators for name in stored(one.target)}
            bound, parts = bound | targets, [*node.generators, node.elt]
        case ast.AugAssign(target=ast.Name(id=name)):
            target = ast.copy_location(ast.Name(name, ast.Load()), node.target)
            parts = [target, node.value]
        case ast.Name():
            if isinstance(node.ctx, ast.Load) and node.id not in bound:
                yield node
            return
        case _:
            parts = ast.iter_child_nodes(node)
    for part in parts:
        yield from reads(part, bound)


def loaded(*nodes):
    """Return the set of the names of the variables that the trees read.

    Variables that belong to a function or comprehension inside a tree are left out.
    """
    return {name.id for node in nodes for name in reads(node)}


def stored(*nodes):
    """Return a list of the names that the trees assign, one entry for each assignment.

    Variables that belong to a function or comprehension inside a tree are left out.
    """
    names = []
    for node in nodes:
        if isinstance(node, ast.Name):
            names += [node.id] * isinstance(node.ctx, ast.Store)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)):
            names += stored(*ast.iter_child_nodes(node))
    return names


def assign(name, value, like):
    """Return the ast.Assign node of `name = value`, with the line and column of the node `like`.

    `name` is a str, and `value` is an ast.expr.
    """
    statement = ast.Assign([ast.Name(name, ast.Store())], value)
    return ast.fix_missing_locations(ast.copy_location(statement, like))
