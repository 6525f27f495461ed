"""Find the gradients that a program computes by hand, such as dx, dL_dw and grad_w.

The playground leaves them out, because it computes the gradients itself.
"""

import ast
import re

from .functions import CONSTRUCTORS, FUNCTIONS, MODULES
from .syntax import called, loaded, stored, walk


def computes(statement):
    """Return True unless a statement is a function definition or only sets a start value.

    A statement only sets a start value if it is an assignment whose right-hand side reads no
    variable, such as `x = torch.tensor(2.0)`. `statement` is an ast.stmt.
    """
    if not isinstance(statement, ast.Assign):
        return not isinstance(statement, ast.FunctionDef)
    return bool(loaded(statement.value) - {*MODULES, *CONSTRUCTORS, *FUNCTIONS})


def gradients_by_hand(tree):
    """Return the set of names of gradients that a program computes by hand, such as dx and grad_w.

    A variable counts as a gradient only if every statement that reads it computes another gradient,
    prints, or is an update such as `w -= lr*dw`. The set includes the names of functions that
    compute gradients. The set is empty if nothing else in the program computes a value. `tree` is
    the syntax tree of the program.
    """
    lines = walk(tree, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
    functions = {node.name for node in walk(tree, ast.FunctionDef)}
    names = {node.id for node in walk(tree, ast.Name)} | functions
    targets = {id(one): set(stored(one)) for one in lines}
    found = {
        name
        for one in lines
        for name in targets[id(one)]
        if _is_gradient(name, names) and loaded(one.value) - set(MODULES)
    }
    found |= {name for name in functions if _is_gradient(name, names)}
    for one in lines:  # delta = dE_dy * dy_dz
        if isinstance(one, ast.Assign) and _is_chain(one.value, found):
            found |= targets[id(one)]
    copies = {
        (called(one.targets[0]), called(one.value)) for one in lines if isinstance(one, ast.Assign)
    }
    rest = [one for one in lines if isinstance(one, ast.Assign) and not _is_update(one, copies)]
    while True:
        used = set()
        for one in lines:
            if not (targets[id(one)] & found or _is_update(one, copies) or _prints(one)):
                used |= loaded(one) & found
        if not used:
            break
        found -= used
    computing = any(computes(one) and not targets[id(one)] & found for one in rest)
    return found if computing or functions - found else set()


def _is_gradient(name, names):
    """Return True if a name denotes a derivative, such as dx, df_dx, grad_x, x_grad or gradient.

    `names` is the set of all names in the program: dx is a derivative only if x is among them.
    """
    if name in ("gradient", "derivative", "deriv", "slope", "backward"):
        return True
    words = re.fullmatch(
        r"(?:grad|gradient)_(\w+)|(\w+)_(?:grad|gradient|prime|deriv|derivative)", name
    )
    if words:
        return (words[1] or words[2]) in names
    if not name.startswith("d"):
        return False
    rest = name[1:].lstrip("_")
    splits = [
        (rest[:i].rstrip("_"), rest[i + 1 :].lstrip("_")) for i, c in enumerate(rest) if c == "d"
    ]
    explicit = re.fullmatch(r"(\w+)_d_?(\w+)", rest)  # dloss_dypred
    if explicit and names & {*explicit.groups()}:
        return True
    return rest in names or any(
        of in {*names, "L", "E", "J", "C"} and by in names for of, by in splits
    )


def _is_chain(value, found):
    """Return True if an expression is a product of gradients only, as in the chain rule.

    `found` is the set of the names of the known gradients.
    """
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return all(
            getattr(one, "id", "") in found or _is_chain(one, found)
            for one in (value.left, value.right)
        )
    return False


def _is_update(statement, copies):
    """Return True if a statement subtracts from a variable, as a gradient step does.

    Examples are `w -= lr*dw`, `w = w - lr*dw` and `w_new = w - lr*dw`. `v = w - lr*dw` counts too if
    another statement is `w = v`. `copies` is the set of the pairs (target, value) of all assignments;
    for `w = v`, it contains ("w", "v").
    """
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.op, ast.Sub)
    value = statement.value
    if not isinstance(statement, ast.Assign) or not isinstance(value, ast.BinOp):
        return False
    old, new = called(value.left), called(statement.targets[0])
    renamed = re.fullmatch(rf"(?:new|next|updated)_?{old}|{old}_?(?:new|next|updated)", new)
    same = old == new or renamed or (old, new) in copies
    return isinstance(value.op, ast.Sub) and old != "" and bool(same)


def _prints(statement):
    return isinstance(statement.value, ast.Call) and called(statement.value) == "print"
