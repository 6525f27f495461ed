"""Write a Program as PyTorch code that prints the same gradients."""

import ast
import copy

import numpy as np

from .functions import (
    ARRAYS,
    CONSTANTS,
    CONSTRUCTORS,
    FUNCTIONS,
    MODULES,
    RANDOM,
    TORCH_NEEDS,
)
from .interpreter import constant_value
from .syntax import called, loaded, walk

ELEMENTWISE_OF_NUMBERS = {  # functions that PyTorch refuses to call with a plain number
    *("tanh", "sigmoid", "relu", "exp", "log", "ln", "sqrt", "sin", "cos", "tan", "abs"),
    *("erf", "arcsin", "asin", "arccos", "acos", "arctan", "atan"),
    *("maximum", "minimum", "softplus", "square"),
}


def torch_text(program, values=()):
    """Return PyTorch code that computes and prints the gradients of a Program.

    Parameters
    ----------
    program : Program
        The program to write in PyTorch.
    values : dict, optional
        The values of the inputs, by name: floats or arrays. An input that is not in `values` keeps
        its start value.

    Returns
    -------
    str
        The code, which can be run without any other text.
    """
    values = {**program.inputs, **dict(values)}
    stored = {
        node.id
        for statement in program.statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    lines = ["import torch", "torch.set_default_dtype(torch.float64)"]
    leaves = {}
    for name, value in values.items():
        # `.grad` belongs to the Tensor that was made here, so that one keeps a name of its own.
        leaves[name] = f"{name}_input" if name in stored else name
        said = np.asarray(value, dtype=float).tolist()
        lines.append(f"{leaves[name]} = torch.tensor({said}, requires_grad=True)")
        if name in stored:
            lines.append(f"{name} = {leaves[name]}")
    writer = _Torch(set(values) | stored, program.statements)
    for statement in program.statements:
        tree = writer.visit(copy.deepcopy(statement))
        lines += ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    backward = f"{program.output}.sum().backward()"
    if program.upstream is not None:
        upstream = writer.visit(copy.deepcopy(program.upstream))
        if isinstance(upstream, ast.Constant):
            upstream = _tensor(ast.Constant(float(upstream.value)))
        backward = f"{program.output}.backward({ast.unparse(ast.fix_missing_locations(upstream))})"
    lines.append(backward)
    lines.append(f"print({', '.join(f'{leaf}.grad' for leaf in leaves.values())})")
    return "\n".join(lines)


def _name(dotted):
    return ast.parse(dotted, mode="eval").body


def _tensor(node):
    return ast.Call(_name("torch.tensor"), [node], [])


def _is_plain(node):
    """Return True if an expression consists of numbers and PyTorch's constants only.

    Calls and variables are not allowed. Constants are names such as `torch.pi`.
    """
    return not any(
        isinstance(part, ast.Call) or isinstance(part, ast.Name) and part.id != "torch"
        for part in ast.walk(node)
    )


def _is_list(node):
    return isinstance(node, (ast.List, ast.ListComp, ast.GeneratorExp))


def _is_length(node):
    """Return True if an expression is a length or a shape: x.size(0), x.shape[0] or len(x)."""
    node = node.value if isinstance(node, ast.Subscript) else node
    return called(node) in ("size", "shape", "len", "ndim")


class _Torch(ast.NodeTransformer):
    def __init__(self, variables, statements):
        self.variables = variables
        assigned = [one for line in statements for one in walk(line, ast.Assign)]
        self.constants = {
            called(one.targets[0]): one.value.value
            for one in assigned
            if isinstance(one.value, ast.Constant)
        }
        # Variables that are lists, and lengths of axes, also in PyTorch.
        self.lists, self.lengths = (
            {called(one.targets[0]) for one in assigned if test(one.value)}
            for test in (_is_list, _is_length)
        )

    def visit_Name(self, node):
        if node.id in CONSTANTS and node.id not in self.variables and node.id[0].islower():
            return _name(f"torch.{node.id}")
        return node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        for side in ("left", "right"):
            if isinstance(getattr(node, side), ast.List):
                setattr(node, side, _tensor(getattr(node, side)))
        return node

    def visit_Attribute(self, node):
        if self.is_module(node.value):
            return self.visit_Name(ast.Name(node.attr, node.ctx))
        self.generic_visit(node)
        if node.attr == "size":
            return ast.Call(ast.Attribute(node.value, "numel", ast.Load()), [], [])
        if node.attr == "data":
            return ast.Call(ast.Attribute(node.value, "detach", ast.Load()), [], [])
        return node

    def is_module(self, node):
        while isinstance(node, ast.Attribute) and node.attr in MODULES:
            node = node.value
        return isinstance(node, ast.Name) and node.id in MODULES and node.id not in self.variables

    def visit_Call(self, node):
        name = called(node)
        if isinstance(node.func, ast.Attribute):
            if not self.is_module(node.func.value):
                node.args = [node.func.value, *node.args]
        elif not isinstance(node.func, ast.Name) or name in self.variables:
            self.generic_visit(node)
            return node
        if name in RANDOM and not loaded(node) - {*MODULES, *RANDOM, *self.constants}:
            # PyTorch would draw other random numbers, so write the values.
            return _tensor(_name(str(constant_value(node, self.constants).tolist())))
        node.args = [self.visit(one) for one in node.args]
        node.keywords = [
            self.keyword(one) for one in node.keywords if one.arg not in ("dtype", "label")
        ]
        if name in CONSTRUCTORS:
            given = node.args[0]
            if _is_plain(given):
                return _tensor(given)
            return (
                ast.Call(_name("torch.stack"), [given], [])
                if isinstance(given, ast.List)
                else given
            )
        if name in ARRAYS:
            node.func = _name(f"torch.{name}")
            return node
        if name not in FUNCTIONS:
            return node
        return self.function(node, name)

    def keyword(self, node):
        name = {
            "axis": "dim",
            "keepdims": "keepdim",
            "ddof": "correction",
            "a_min": "min",
            "a_max": "max",
            "p": "ord",
        }.get(node.arg, node.arg)
        return ast.keyword(name, self.visit(node.value))

    def function(self, node, name):
        """Return the PyTorch expression for a call to the playground function `name`.

        The arguments of the call are already written for PyTorch.
        """
        known = FUNCTIONS[name].torch
        if known == "detach":
            return ast.Call(ast.Attribute(node.args[0], "detach", ast.Load()), [], [])
        if known == "cbrt":  # PyTorch has no cube root, and its power of a negative number is nan
            root = ast.parse("torch.sign(x) * torch.abs(x) ** (1 / 3)", mode="eval").body
            for one in walk(root, ast.Call):
                one.args = node.args
            return root
        if known.startswith("1/"):
            node.func = _name(known[2:])
            return ast.BinOp(ast.Constant(1), ast.Div(), node)
        if known == "size":
            return ast.Call(ast.Attribute(node.args[0], "size", ast.Load()), node.args[1:], [])
        if name in ("sum", "max", "min") and (
            _is_list(node.args[0]) or called(node.args[0]) in self.lists
        ):
            if name == "sum":
                return ast.Call(ast.Name("sum", ast.Load()), node.args, [])
            node.args = node.args[0].elts if isinstance(node.args[0], ast.List) else node.args
        if name in ("max", "min") and len(node.args) > 1:
            known = {"max": "torch.maximum", "min": "torch.minimum"}[name]
            first, *others = [_tensor(one) if _is_plain(one) else one for one in node.args]
            for other in others:
                first = ast.Call(_name(known), [first, other], [])
            return first
        if known == "torch.transpose" and len(node.args) == 1:
            return ast.Attribute(node.args[0], "T", ast.Load())
        if name in ELEMENTWISE_OF_NUMBERS:
            node.args = [
                _tensor(one)
                if _is_plain(one) or _is_length(one) or called(one) in self.lengths
                else one
                for one in node.args
            ]
        if known in ("torch.reshape", "torch.permute"):
            first, *shape = node.args
            node.args = [first, shape[0] if len(shape) == 1 else ast.Tuple(shape, ast.Load())]
            if _is_plain(node.args[1]) and not isinstance(node.args[1], ast.Tuple):
                node.args[1] = ast.Tuple([node.args[1]], ast.Load())
        given = {one.arg for one in node.keywords}
        for key, value in TORCH_NEEDS.get(name, {}).items():
            unsaid = key not in given and not (key == "correction" and "unbiased" in given)
            if unsaid and not (key == "dim" and len(node.args) > 1):
                node.keywords.append(ast.keyword(key, ast.Constant(value)))
        node.func = _name(known)
        return node
