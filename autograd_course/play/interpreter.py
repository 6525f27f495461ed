"""Compute a Program with Tensors, one node of its syntax tree after another, and count the steps.

No name in a text can reach Python's own functions, files or modules: a name is a variable of the
text, or a function or constant listed in functions.py.
"""

import ast
import math
import operator
import re
from collections import Counter
from typing import NamedTuple

import numpy as np

import autograd_lib as ag

from .functions import (
    ARRAYS,
    CONSTANTS,
    CONSTRUCTORS,
    FUNCTIONS,
    MODULES,
    MOST_ENTRIES,
    array,
    constant,
)
from .syntax import CannotDraw, called

MOST_STEPS = 20_000  # nodes of the tree that are computed, loops included
MOST_OPS = 150  # values of a graph that can be drawn
MOST_CALLS = 20  # calls in calls
MOST_WHOLE = 10**6  # a larger whole number becomes a float

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.MatMult: operator.matmul,
    ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class Run(NamedTuple):
    """Hold the result of a computed Program.

    Attributes
    ----------
    output : Tensor
        The value to draw, multiplied by the upstream gradient if the Program has one.
    variables : dict
        The values of all variables after the last statement, by name.
    inputs : dict
        The Tensors of the inputs, by name.
    """

    output: ag.Tensor
    variables: dict
    inputs: dict


class _Return(Exception):
    pass


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


def run(program, values=()):
    """Compute a Program at given values of its inputs.

    Parameters
    ----------
    program : Program
        The program to compute.
    values : dict, optional
        The values of the inputs, by name: floats, arrays or Tensors. An input that is not in
        `values` keeps its start value.

    Returns
    -------
    Run
        The output, the variables and the inputs. The attribute `name` of each Tensor among the
        variables is set to the name of the variable.

    Raises
    ------
    CannotDraw
        If the Program cannot be computed, takes more than 20,000 steps, holds an array of more than
        1,000 entries, or does not depend on an input.
    """
    inputs = {}
    for name, start in program.inputs.items():
        value = dict(values).get(name, start)
        if not isinstance(value, ag.Tensor):
            value = ag.Tensor(np.array(value, dtype=float), requires_grad=True, name=name)
        inputs[name] = value
    walk = _Interpreter(inputs)
    with np.errstate(all="ignore"):  # the picture shows nan and inf
        walk.block(program.statements)
        output = walk.variables.get(program.output)
        if isinstance(output, (list, tuple)):
            output = walk.guarded(None, array, output)
        if isinstance(output, dict) and output:
            raise CannotDraw(
                f"{program.output} is a dict. End with one of its values, for example {program.output}[{next(iter(output))!r}]."
            )
        if program.upstream is not None:
            output = walk.guarded(None, operator.mul, output, array(walk.value(program.upstream)))
    if not isinstance(output, ag.Tensor) or not output.requires_grad:
        raise CannotDraw(
            f"{program.output} has no gradient, because no differentiable function connects it with an input. Compute it from {', '.join(inputs)}."
        )
    for name, value in walk.variables.items():
        if isinstance(value, ag.Tensor) and not value.name:
            value.name = name
    return Run(output, walk.variables, inputs)


def constant_value(node, known=()):
    """Return the value of an expression as an array.

    Parameters
    ----------
    node : ast.expr
        An expression without inputs.
    known : dict, optional
        The values of the variables that the expression may read, by name.

    Returns
    -------
    ndarray
        The value. A list or a Tensor is converted to an array.

    Raises
    ------
    CannotDraw
        If the expression cannot be computed.
    """
    walk = _Interpreter(known)
    with np.errstate(all="ignore"):
        value = walk.value(node)
        value = walk.guarded(node, array, value) if isinstance(value, (list, tuple)) else value
    return np.asarray(value.data if isinstance(value, ag.Tensor) else value)


class _Function:
    """Wrap a function that the text defines, so that Python can call it.

    `node` is the `def` or lambda in the syntax tree.
    """

    def __init__(self, interpreter, node):
        self.interpreter, self.node = interpreter, node

    def __call__(self, *values, **named):
        arguments, walk = self.node.args, self.interpreter
        names = [one.arg for one in arguments.args]
        given = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults))
        given = {name: walk.value(default) for name, default in given.items()}
        given |= dict(zip(names, values)) | named
        if len(values) > len(names) or set(given) != set(names):
            name = getattr(self.node, "name", "the function")
            expected = f"the arguments {', '.join(names)}" if names else "no arguments"
            raise TypeError(f"{name}: expected {expected}, got {len(values) + len(named)} in all")
        return walk.call(self.node.body, given)


class _Interpreter:
    def __init__(self, variables):
        self.variables = dict(variables)
        self.steps = self.depth = 0
        self.draws = Counter()  # of every call that draws random numbers

    # --- Statements ---

    def block(self, statements):
        for statement in statements:
            self.statement(statement)

    def statement(self, node):
        self.count()
        match node:
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AugAssign():
                self.assign(
                    node.target,
                    self.operate(node, self.value(ast.Name(node.target.id)), node.value),
                )
            case ast.Expr():
                self.value(node.value)
            case ast.FunctionDef():
                self.variables[node.name] = _Function(self, node)
            case ast.Return():
                raise _Return(self.value(node.value) if node.value else None)
            case ast.If():
                self.block(node.body if self.truth(node.test) else node.orelse)
            case ast.For():
                self.loop(node, self.items(node.iter, node))
            case ast.While():
                self.loop(node, iter(lambda: self.truth(node.test), False))
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue

    def loop(self, node, items):
        for item in items:
            self.count()
            if isinstance(node, ast.For):
                self.assign(node.target, item)
            try:
                self.block(node.body)
            except _Continue:
                continue
            except _Break:
                return
        self.block(node.orelse)

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            if isinstance(value, ag.Tensor) and value.requires_grad and not value.name:
                value.name = target.id
            self.variables[target.id] = value
            return
        parts = list(self.listed(value, target))
        if len(parts) != len(target.elts):
            raise self.error(
                target,
                f"expected {len(target.elts)} values, one for each name on the left, got {len(parts)}",
            )
        for one, part in zip(target.elts, parts):
            self.assign(one, part)

    def call(self, body, given):
        """Compute the body of a function of the text, and return the result.

        Parameters
        ----------
        body : ast.expr or list of ast.stmt
            The expression of a lambda, or the statements of a `def`.
        given : dict
            The values of the arguments, by name.
        """
        if self.depth >= MOST_CALLS:
            raise CannotDraw(
                f"Function calls are nested more than {MOST_CALLS} levels deep; use a for loop instead of recursion."
            )
        outside, self.variables = self.variables, {**self.variables, **given}
        self.depth += 1
        try:
            if isinstance(body, list):
                self.block(body)
                return None
            return self.value(body)
        except _Return as returned:
            return returned.args[0]
        finally:
            self.variables = outside
            self.depth -= 1

    # --- Expressions ---

    def value(self, node):
        self.count()
        match node:
            case ast.Constant():
                whole = isinstance(node.value, int) and abs(node.value) > MOST_WHOLE
                return self.guarded(node, float, node.value) if whole else node.value
            case ast.Name():
                return self.named(node)
            case ast.Tuple() | ast.List():
                return [self.value(part) for part in node.elts]
            case ast.Dict():
                return {
                    self.value(key): self.value(one) for key, one in zip(node.keys, node.values)
                }
            case ast.BinOp():
                return self.operate(node, self.value(node.left), node.right)
            case ast.UnaryOp(op=ast.Not()):
                return not self.truth(node.operand)
            case ast.UnaryOp():
                return self.guarded(node, self.operator(node), self.number(node.operand))
            case ast.BoolOp():
                value = None
                for part in node.values:
                    value = self.value(part)
                    if self.truth(part, value) == isinstance(node.op, ast.Or):
                        break
                return value
            case ast.Compare():
                return self.compare(node)
            case ast.IfExp():
                return self.value(node.body if self.truth(node.test) else node.orelse)
            case ast.Lambda():
                return _Function(self, node)
            case ast.ListComp() | ast.GeneratorExp():
                return list(self.comprehend(node, node.generators))
            case ast.Subscript():
                of, index = self.value(node.value), self.index(node.slice)
                has_entries = isinstance(of, (list, tuple, dict, range)) or _ndim(of)
                if not has_entries and not isinstance(index, (tuple, type(None))):
                    name = getattr(node.value, "id", "")
                    instead = (
                        f"Add a line such as {name} = [1.0, 2.0], or write" if name else "Write"
                    )
                    told = f"{name or 'this value'} is a number and has no entries. {instead} * for a product"
                    raise self.error(node, told)
                return self.guarded(node, operator.getitem, of, index)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.called(node)
        raise self.error(node, "the playground cannot compute this expression")

    def named(self, node):
        """Return the value of a variable of the text, or of a name that the playground defines.

        Raise CannotDraw if the name is neither.
        """
        if node.id in self.variables:
            return self.variables[node.id]
        return self.known(node)

    def known(self, node):
        for table in (CONSTANTS, ARRAYS, BUILT_IN):
            if node.id in table:
                return table[node.id]
        if node.id in FUNCTIONS:
            return FUNCTIONS[node.id].call
        if node.id in CONSTRUCTORS:
            return array
        raise self.error(node, f"{node.id} has no value yet; assign a value first")

    def number(self, node):
        """Return the value of an expression, converted to an array if it is a list."""
        value = self.value(node)
        return self.guarded(node, array, value) if isinstance(value, list) else value

    def operator(self, node):
        kind = type(node.op)
        if kind not in OPERATORS:
            raise self.error(
                node, f"the playground does not support the operator in `{ast.unparse(node)}`"
            )
        return OPERATORS[kind]

    def operate(self, node, left, right):
        """Return the result of the binary operator of `node`.

        `left` is the value of the left operand, and `right` is the syntax tree of the right operand.
        """
        right, operate = self.value(right), self.operator(node)
        if isinstance(left, list) and isinstance(right, list) and operate is operator.add:
            return self.sized(node, left + right)
        left, right = (
            self.guarded(node, array, x) if isinstance(x, list) else x for x in (left, right)
        )
        if operate is operator.matmul and _ndim(left) == _ndim(right) == 0:
            raise self.error(node, "@ multiplies arrays; write * between two numbers")
        if operate is operator.pow and isinstance(left, int) and isinstance(right, int):
            left = float(left)  # a power of whole numbers may have no end
        return self.guarded(node, operate, left, right)

    def compare(self, node):
        left = self.number(node.left)
        for operate, right in zip(node.ops, node.comparators):
            right = self.number(right)
            if type(operate) not in OPERATORS:
                raise self.error(
                    node,
                    "the playground does not support `in` and `not in`; write == to compare two numbers",
                )
            left, right = constant(left), constant(right)
            left_data, right_data = (
                x.data if isinstance(x, ag.Tensor) else x for x in (left, right)
            )
            holds = self.guarded(node, OPERATORS[type(operate)], left_data, right_data)
            if len(node.ops) > 1 and not np.all(holds):
                return False
            left = right
        return holds

    def truth(self, node, *value):
        value = value[0] if value else self.value(node)
        value = value.data if isinstance(value, ag.Tensor) else value
        if np.size(value) > 1:
            raise self.error(
                node,
                "an array is neither true nor false; use where, for example where(x > 0, x, 0.1*x)",
            )
        return bool(value)

    def items(self, node, at):
        items = self.listed(self.value(node), at)
        return self.sized(at, items)

    def listed(self, value, node):
        """Return the items of a list, tuple or range, or the rows of an array as a list.

        Raise CannotDraw, with the line of `node`, if the value is a single number.
        """
        if isinstance(value, (list, tuple, range)):
            return value
        if np.ndim(value.data if isinstance(value, ag.Tensor) else value):
            return [value[i] for i in range(len(value))]
        raise self.error(
            node,
            "a single number has no items; assign a list first, for example xs = [1.0, 2.0]",
        )

    def comprehend(self, node, generators):
        outside = self.variables
        first, *rest = generators
        for item in self.items(first.iter, node):
            self.variables = dict(outside)
            self.assign(first.target, item)
            if all(self.truth(test) for test in first.ifs):
                if rest:
                    yield from self.comprehend(node, rest)
                else:
                    yield self.value(node.elt)
        self.variables = outside

    def index(self, node):
        match node:
            case ast.Slice():
                parts = (node.lower, node.upper, node.step)
                return slice(*(None if part is None else self.index(part) for part in parts))
            case ast.Tuple():
                return tuple(self.index(part) for part in node.elts)
            case ast.Constant(value=None):
                return None
        value = constant(self.value(node))
        if isinstance(value, str):
            return value
        value = value.data if isinstance(value, ag.Tensor) else value
        if (
            np.ndim(value) == 0
            and not isinstance(value, (bool, np.bool_))
            and float(value).is_integer()
        ):
            return int(value)
        return value

    def attribute(self, node):
        if isinstance(node.value, (ast.Name, ast.Attribute)) and _is_module(
            node.value, self.variables
        ):
            return self.known(ast.copy_location(ast.Name(node.attr, ast.Load()), node))
        value = self.value(node.value)
        if isinstance(value, (list, float, int)):
            value = array(value)
        match node.attr:
            case "T" | "mT":
                return self.guarded(node, ag.transpose, value)
            case "data":
                return constant(value)
            case "shape":
                return list(value.shape)
            case "ndim":
                return value.ndim
            case "size":
                return value.size
        raise self.error(node, f"{node.attr} is a function; call it: .{node.attr}()")

    def called(self, node):
        function, values = node.func, []
        if isinstance(function, ast.Attribute) and not _is_module(function.value, self.variables):
            values = [self.number(function.value)]  # x.tanh() is tanh(x)
            function = ast.copy_location(ast.Name(function.attr, ast.Load()), function)
            if function.id not in FUNCTIONS:
                raise self.error(node, f"the playground has no function {function.id}")
            function = FUNCTIONS[function.id].call
        else:
            function = self.value(function)
        if not callable(function):
            raise self.error(
                node, f"{called(node) or 'this'} is a value, not a function; write * for a product"
            )
        values += [self.value(one) for one in node.args]
        named = {_axis(one.arg): self.value(one.value) for one in node.keywords}
        named = {
            key: tuple(value) if isinstance(value, list) else value for key, value in named.items()
        }
        if hasattr(node, "draw"):
            named["seed"] = node.draw + 100 * self.draws[node.draw]
            self.draws[node.draw] += 1
        if function is FUNCTIONS["matmul"].call and not any(map(_ndim, values)):
            raise self.error(
                node,
                f"{called(node)} multiplies arrays. Add lines such as w = [1.0, 2.0], or write * between two numbers",
            )
        if (
            function in (getattr(FUNCTIONS.get(called(node)), "call", None),)
            and called(node) not in TAKES_LIST
        ):
            values = [self.guarded(node, array, x) if isinstance(x, list) else x for x in values]
        return self.guarded(node, function, *values, **named)

    # --- Limits and errors ---

    def count(self):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise CannotDraw(
                f"The program takes more than {MOST_STEPS:,} steps; shorten the loop, or paste only one iteration."
            )

    def sized(self, node, value):
        size = (
            len(value)
            if isinstance(value, (list, tuple, range))
            else np.size(getattr(value, "data", value))
        )
        if size > MOST_ENTRIES:
            raise self.error(
                node,
                f"expected at most {MOST_ENTRIES:,} entries, got {size:,}; use a smaller array or range",
            )
        return value

    def guarded(self, node, function, *values, **named):
        """Return `function(*values, **named)`, or raise CannotDraw if that fails.

        An array with too many entries also raises CannotDraw, and a large integer becomes a float.
        The error names the line of `node`.
        """
        try:
            value = function(*values, **named)
        except (CannotDraw, _Return):
            raise
        except OverflowError:
            raise self.error(node, "the number is too large; write 1e9 for 10**9") from None
        except (
            ArithmeticError,
            AttributeError,
            IndexError,
            MemoryError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            told = str(error).partition("\n")[0]
            if re.search(r"\(\) (takes|got|missing)|unexpected keyword", told):
                told = (
                    f"{called(node)}: an argument is missing"
                    if "missing" in told
                    else f"{called(node)}: the playground does not support all of these arguments; leave out all arguments after the first"
                )
            elif "inhomogeneous" in told:
                told = "expected rows of equal length"
            raise self.error(node, told) from None
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MOST_WHOLE:
            value = float(value) if abs(value) < 1e300 else math.inf
        return value if isinstance(value, (_Function, bool)) else self.sized(node, value)

    def error(self, node, words):
        line = f"Line {node.lineno}: " if hasattr(node, "lineno") else ""
        return CannotDraw(f"{line}{words.rstrip('.')}.")


def _is_module(node, variables):
    """Return True if a node names a module such as torch.nn.functional, and not a variable."""
    while isinstance(node, ast.Attribute) and node.attr in MODULES:
        node = node.value
    return isinstance(node, ast.Name) and node.id in MODULES and node.id not in variables


def _ndim(x):
    return np.ndim(x.data if isinstance(x, ag.Tensor) else x)


def _axis(name):
    return {"dim": "axis", "keepdim": "keepdims", "a_min": "min", "a_max": "max"}.get(name, name)


def _range(*values):
    values = [int(constant(x).data) if isinstance(x, ag.Tensor) else int(x) for x in values]
    return range(*values)


BUILT_IN = {
    "range": _range,
    "len": len,
    "zip": lambda *lists: [list(row) for row in zip(*lists)],
    "enumerate": lambda values, start=0: [list(row) for row in enumerate(values, start)],
}
TAKES_LIST = {"stack", "concatenate", "cat", "sum", "max", "min", "reshape", "view", "permute"}
