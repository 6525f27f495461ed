"""Extract the forward pass from a program that also prints, trains, or computes gradients.

People paste whole examples. The playground computes the gradients itself, so from a statement such
as `loss.backward()`, `jax.grad(f)(3.0)` or `tape.gradient(y, x)` it takes only the value that is
differentiated. Of a training loop it draws only the first iteration.
"""

import ast
import re
from typing import NamedTuple

from .by_hand import computes, gradients_by_hand
from .functions import CONSTRUCTORS, FUNCTIONS, MODULES, RANDOM
from .layers import LAYERS, bare
from .spellings import (
    AROUND,
    GRADIENT_OF,
    IGNORED_KEYWORDS,
    LEFT_OUT,
    NOT_RECORDING,
    OF_GRADIENTS,
    RECORDING,
    SAME,
    SHOWN_BY,
    TRAINS,
)
from .syntax import CannotDraw, assign, called, loaded, stored, walk

RESULT_NAMES = ("L", "z", "out", "result")  # the first that is free names an unnamed result


class Pasted(NamedTuple):
    """Hold the forward pass of a program.

    Attributes
    ----------
    statements : list of ast.stmt
        The statements of the forward pass.
    asked : str or None
        The name of the value that the program differentiates. None if the program differentiates no
        value.
    upstream : ast.expr or None
        The upstream gradient that the program passes to `backward`. None if the program passes
        none.
    left_out : list of str
        The text of each statement that does not belong to the forward pass.
    """

    statements: list
    asked: str
    upstream: object
    left_out: list


def forward_pass(body):
    """Return the forward pass of a program as a Pasted.

    Parameters
    ----------
    body : list of ast.stmt
        The statements of the program. Some are changed in place.

    Returns
    -------
    Pasted
        The forward pass, and the statements that are left out.

    Raises
    ------
    CannotDraw
        If no forward pass remains, for example because the program only trains, only computes
        second derivatives, or only defines a class that the playground already has.
    """
    reading = _Reading(body)
    statements = reading.kept(body)
    if reading.gradient_call:  # what comes after it only uses the gradient
        holds = [reading.gradient_call in ast.walk(one) for one in statements]
        end = holds.index(True) + 1
        reading.left_out += [ast.unparse(one) for one in statements[end:]]
        statements = statements[:end]
    if not any(map(computes, statements)) and reading.printed:
        shown = ast.unparse(reading.printed)
        reading.left_out = [one for one in reading.left_out if f"{shown})" not in one]
        statements.append(reading.result(reading.printed))
    if not statements and reading.second:
        raise CannotDraw(
            "The playground does not draw second derivatives. Write the function itself, for example tanh(x)."
        )
    only_numbers = not any(
        computes(one) or walk(one, ast.Call, ast.FunctionDef) for one in statements
    )
    if reading.trains and only_numbers:
        raise CannotDraw(
            "Every line here trains or computes gradients, and the playground computes them itself."
            " Paste one forward pass, for example L = tanh(w*x + b)."
        )
    if not statements and reading.known_class:
        raise CannotDraw(
            f"The playground already has a class {reading.known_class}. Paste the lines that use it,"
            f" for example a = {reading.known_class}(2.0), then y = a*a."
        )
    asked = reading.asked
    if body and not asked and _shown(body[-1]) in reading.held:
        asked = _shown(body[-1])
    return Pasted(statements, asked, reading.upstream, reading.left_out)


def _single(statements):
    """Yield the statements, with several notations replaced by simple assignments.

    `a, b = 1, 2` becomes two assignments. `x: float = 2` becomes `x = 2`, `x.append(a)` becomes
    `x += [a]`, and a lambda alone on its line is assigned to f.
    """
    for statement in statements:
        if isinstance(statement, ast.AnnAssign) and statement.value:
            statement = ast.copy_location(
                ast.Assign([statement.target], statement.value), statement
            )
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Lambda):
            statement = assign("f", statement.value, statement)
        if call := _append(statement):
            target = ast.Name(call.func.value.id, ast.Store())
            added = ast.AugAssign(target, ast.Add(), ast.List(call.args, ast.Load()))
            statement = ast.fix_missing_locations(ast.copy_location(added, statement))
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


def _append(statement):
    """Return the call in a statement such as `values.append(x)`, or None for other statements."""
    call = getattr(statement, "value", None)
    if not isinstance(statement, ast.Expr) or not isinstance(call, ast.Call):
        return None
    return call if called(call) == "append" and isinstance(call.func.value, ast.Name) else None


def _shown(statement):
    """Return the name of the variable that a line only displays, or "" for other lines.

    For example, the result is "loss" for the lines `loss`, `loss.item()` and `loss.data`.
    """
    value = statement.value if isinstance(statement, ast.Expr) else None
    while isinstance(value, ast.Attribute) or isinstance(value, ast.Call) and not value.args:
        if called(value) not in SHOWN_BY:
            return ""
        value = value.func.value if isinstance(value, ast.Call) else value.value
    return getattr(value, "id", "")


class _Reading:
    """Select the statements of a program's forward pass, one statement after another.

    Its attributes record which value the program differentiates and which statements are left out.
    """

    def __init__(self, body):
        tree = ast.Module(body, [])
        self.names = {node.id for node in walk(tree, ast.Name)}
        keywords = {node.arg for node in walk(tree, ast.keyword)}
        methods = {node.attr for node in walk(tree, ast.Attribute)}
        self.torch = "torch" in self.names or "requires_grad" in keywords | methods
        self.by_hand = gradients_by_hand(tree)
        self.left_out, self.asked, self.upstream, self.gradient_call = [], None, None, None
        self.printed = self.known_class = None
        self.added = None  # the value whose gradients those of the next `backward` are added to
        self.trains = self.second = False
        self.gone = set()  # names that only statements assign which are left out
        self.held = {}  # names that kept statements assign, in the order in which they are assigned last
        self.own = set()  # functions of the program
        self.gradients = {}  # df of `df = grad(f)`, with the function f
        self.mapped = {}  # batched of `batched = vmap(f)`, with the call to vmap
        self.layers = {}  # loss_fn of `loss_fn = nn.MSELoss()`, with mse_loss

    def kept(self, statements):
        return [one for statement in _single(statements) for one in self.parts(statement)]

    def parts(self, statement):
        """Return the statements that replace `statement`; an empty list leaves it out."""
        match statement:
            case ast.With():
                names = {called(item.context_expr) for item in statement.items}
                if names <= RECORDING:
                    return self.kept(statement.body)
                if names <= NOT_RECORDING:
                    return self.constants(statement)
            case ast.ClassDef(name=name) if name in CONSTRUCTORS:
                self.known_class = name
                return self.leave(statement)
            case ast.FunctionDef():
                return self.definition(statement)
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                return self.kept(statement.body)
            case ast.For() | ast.While() | ast.If():
                return self.block(statement)
            case ast.Assign() | ast.AugAssign() | ast.Expr():
                return self.line(statement)
            case ast.Assert() | ast.Delete() | ast.Import() | ast.ImportFrom():
                return self.leave(statement)
        return [_Plain(self).visit(statement)]

    def constants(self, statement):
        """Return the kept statements of a block such as `with torch.no_grad():`.

        An assignment to a new name is kept, and its value becomes a constant. An assignment to an
        existing name is an update of a parameter, and is left out.
        """
        kept = []
        for one in _single(statement.body):
            new = isinstance(one, ast.Assign) and not {*stored(one)} & self.held.keys()
            if not new or self.asked or isinstance(one.value, ast.Constant):
                self.trains = True
                kept += self.parts(one) if new and not self.asked else self.leave(one)
                continue
            for part in self.parts(one):
                if isinstance(part, ast.Assign) and not isinstance(part.value, ast.List):
                    call = ast.Call(ast.Name("detach", ast.Load()), [part.value], [])
                    part.value = ast.fix_missing_locations(ast.copy_location(call, part.value))
                kept.append(part)
        return kept

    def definition(self, statement):
        """Return a list with the given function definition, without statements that print output.

        If the function trains or computes gradients, return an empty list, and add the function to
        `left_out`.
        """
        if statement.name in self.by_hand:
            self.trains = True
            return self.leave_definition(statement)
        before = self.asked, self.upstream, self.gradient_call, self.held, self.added
        shown, trains, self.trains, self.held = len(self.left_out), self.trains, False, {}
        statement.body = self.kept(statement.body)
        self.asked, self.upstream, self.gradient_call, self.held, self.added = before
        trained, self.trains = self.trains, trains or self.trains
        if trained or not statement.body:
            del self.left_out[shown:]
            return self.leave_definition(statement)
        statement.decorator_list = [
            one for one in statement.decorator_list if called(one) not in AROUND
        ]
        self.own.add(statement.name)
        return [statement]

    def leave_definition(self, statement):
        self.gone.add(statement.name)
        self.left_out.append(f"def {statement.name}({ast.unparse(statement.args)}): …")
        return []

    def block(self, statement):
        """Return a list with a loop or an `if`, without its statements that train or print output.

        A training loop ends with a `break`, so that it runs only once. The list is empty if no
        statement remains.
        """
        before, self.trains = self.trains, False
        statement.body, statement.orelse = self.kept(statement.body), self.kept(statement.orelse)
        trained, self.trains = self.trains, before or self.trains
        if not statement.body and not statement.orelse:
            return []
        statement.body = statement.body or [ast.Pass()]
        if trained and not isinstance(statement, ast.If):
            statement.body.append(ast.Break())
            self.left_out.append(f"# every iteration after the first of `{_head(statement)}`")
        plain = _Plain(self)
        for part in ("iter", "test"):
            if hasattr(statement, part):
                setattr(statement, part, plain.visit(getattr(statement, part)))
        return [ast.fix_missing_locations(statement)]

    def line(self, statement):
        """Return a list with the statement that replaces an assignment or an expression statement.

        The list is empty if the statement is left out.
        """
        name = called(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        value, text = statement.value, ast.unparse(statement)
        if _clears(statement):
            self.added = None
        if call := self.call_of_gradient(statement):
            self.trains = True
            self.gone |= set(stored(statement)) - self.held.keys()
            self.gradient_call = self.result(call)
            return [self.gradient_call]
        if self.asks(statement):
            return self.leave(statement)
        if isinstance(value, ast.Call) and called(value) == "backward":
            return self.backward(statement, value)
        if name and (function := self.differentiated(value)):
            self.gradients[name] = function
            return self.leave(statement)
        if isinstance(value, ast.Call) and called(value) in ("symbols", "Symbol"):
            self.left_out.append(text)  # a name without a value is an input
            return []
        if name and called(of := _without_jit(value)) == "vmap" and isinstance(of, ast.Call):
            self.mapped[name] = of
            self.left_out.append(text)
            return []
        if called(bare(value)) in LAYERS and not bare(value).args:
            value = bare(value)
            self.layers[name] = LAYERS[called(value)]
            self.left_out.append(text)
            return []
        statement = _Plain(self).visit(statement)
        if self.only_shows(statement):
            return self.leave(statement, text)
        targets = set(stored(statement))
        if targets & self.by_hand:
            return self.leave(statement, text)
        for target in stored(statement):
            self.held.pop(target, None)
            self.held[target] = True
        self.gone -= targets
        if isinstance(value, ast.Lambda):
            self.own |= targets
        return [statement]

    def leave(self, statement, text=""):
        """Record that a statement is left out, and return an empty list.

        Later statements are left out too if they read a name that only this statement assigns.
        `text` is the code to record; by default, it is the code of the statement.
        """
        if not isinstance(statement, (ast.Import, ast.ImportFrom, ast.ClassDef)):
            targets = set(stored(statement))
            self.gone |= targets - self.held.keys()
            # An update, or a gradient that the program computes itself.
            self.trains = self.trains or bool(targets & {*self.held, *self.by_hand})
        first, *more = (text or ast.unparse(statement)).splitlines()
        self.left_out.append(first + (" …" if more else ""))
        return []

    def result(self, expression):
        """Return a statement that assigns an expression to a new name.

        Record this name as the value to draw.
        """
        self.asked = next(one for one in (*RESULT_NAMES, "result_") if one not in self.names)
        return _Plain(self).visit(assign(self.asked, expression, expression))

    # --- Statements that compute gradients ---

    def backward(self, statement, call):
        """Choose the value on which a statement calls `backward` as the value to draw.

        Return the list of statements that replace the statement: for `name.backward()` an empty list,
        and for `expression.backward()` a list with a statement that assigns the expression to a name.
        """
        self.trains = True
        given = [
            *call.args,
            *(one.value for one in call.keywords if one.arg in ("gradient", "grad")),
        ]
        value = getattr(call.func, "value", None)
        if value is None or loaded(value) & self.gone:
            return self.leave(statement)
        if self.added:
            self.left_out.append(
                f"# the gradients of {self.added}, to which the next backward call adds its gradients"
            )
        self.added = ast.unparse(value)
        self.upstream, self.gradient_call = (given[0] if given else None), None
        if isinstance(value, ast.Name):
            self.asked = value.id
            return self.leave(statement)
        return [self.result(value)]

    def asks(self, statement):
        """Return True if a statement computes the gradient of a variable, and record the variable.

        An example is `tape.gradient(y, x)`, which computes the gradient of y.
        """
        for call in walk(statement, ast.Call):
            if called(call) not in ("grad", "gradient", "diff") or self.differentiated(call):
                continue
            by_name = [one.value for one in call.keywords if one.arg in ("outputs", "target")]
            for one in [*call.args[:1], *by_name]:
                one = one.elts[0] if isinstance(one, (ast.Tuple, ast.List)) and one.elts else one
                if getattr(one, "id", "") in self.held:
                    order = [*self.held]  # of several values, draw the one that was computed last
                    if self.asked not in order or order.index(one.id) > order.index(self.asked):
                        self.asked = one.id
                    self.trains = True
                    return True
        return False

    def differentiated(self, node):
        """Return the ast node of the function that an expression differentiates, or None.

        For example, the result is f for `grad(f)`, and for the name df after `df = grad(f)`. For a
        second derivative, the result is the constant SECOND.
        """
        if isinstance(node, ast.Name):
            return self.gradients.get(node.id)
        if not isinstance(node, ast.Call) or not node.args:
            return None
        inner = node.args[0]
        if called(node) in {*AROUND, "vmap"}:
            return self.differentiated(inner)
        if called(node) not in GRADIENT_OF:
            return None
        if self.differentiated(inner):
            self.second = True
            return SECOND
        inner = _without_jit(inner)
        known = isinstance(inner, ast.Lambda) or called(inner) in {*self.own, *FUNCTIONS}
        return inner if known and not isinstance(inner, ast.Call) else None

    def call_of_gradient(self, statement):
        """Return the call f(3.0) for a statement that computes `grad(f)(3.0)`, or None."""
        for call in walk(statement, ast.Call):
            function = self.differentiated(call.func)
            if function and function is not SECOND:
                return ast.copy_location(ast.Call(function, call.args, call.keywords), call)
        return None

    # --- Statements that print or train ---

    def only_shows(self, statement):
        """Return True if a statement only prints output, trains, or sets an attribute like `grad`.

        Also record an expression that the statement prints, and whether the statement trains.
        """
        value, targets = statement.value, getattr(statement, "targets", None)
        for one in targets or [getattr(statement, "target", None)]:
            if isinstance(one, ast.Attribute) and one.attr in OF_GRADIENTS:
                return True
        if isinstance(statement, ast.Expr):
            if _shown(statement) in self.held:
                return True
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return True
        if isinstance(statement, ast.Expr) and not loaded(value) and self.own | self.held.keys():
            return True  # a number or an array that the program printed
        names = {called(call) for call in walk(value, ast.Call)}
        if "print" in names and isinstance(value, ast.Call):
            for one in value.args:
                if isinstance(one, (ast.Call, ast.BinOp)) and not self.of_gradients(one):
                    self.printed = one
        self.trains = self.trains or bool((names - self.own) & TRAINS)
        return bool((names - self.own) & {*LEFT_OUT, *TRAINS}) or self.of_gradients(value)

    def of_gradients(self, value):
        attributes = {one.attr for one in walk(value, ast.Attribute)}
        if attributes & OF_GRADIENTS or loaded(value) & {"plt", *self.gone}:
            return True
        return any(self.differentiated(call) for call in walk(value, ast.Call))


def _clears(statement):
    """Return True if a statement resets gradients.

    Examples are `w.grad.zero_()`, `opt.zero_grad()` and `w.grad = None`.
    """
    if any(called(call) in ("zero_", "zero_grad") for call in walk(statement, ast.Call)):
        return True
    return any(called(one) == "grad" for one in getattr(statement, "targets", ()))


def _without_jit(value):
    """Return the function f for `jit(f)`, and any other expression unchanged."""
    while isinstance(value, ast.Call) and called(value) in AROUND and value.args:
        value = value.args[0]
    return value


SECOND = ast.Constant("the gradient of a gradient")


class _Plain(ast.NodeTransformer):
    """Rewrite calls to PyTorch, JAX and other libraries as simple calls for the playground.

    For example, `x.double()` becomes x, and `loss_fn(y, t)` becomes mse_loss(y, t). The key or
    generator is removed from calls that draw random numbers.
    """

    def __init__(self, reading):
        self.gone, self.layers, self.mapped = reading.gone, reading.layers, reading.mapped
        self.torch = reading.torch

    def visit_Call(self, node):
        self.generic_visit(node)
        function = self.mapped.get(getattr(node.func, "id", ""), node.func)
        if isinstance(function, ast.Call) and called(function) == "vmap" and function.args:
            return _for_each_row(function, node)
        if called(node) == "jit" and len(node.args) == 1:
            return node.args[0]
        if isinstance(function, ast.Call) and called(function) in LAYERS and not function.args:
            node.func = ast.copy_location(ast.Name(LAYERS[called(function)], ast.Load()), node)
        elif isinstance(function, ast.Name) and function.id in self.layers:
            node.func = ast.copy_location(ast.Name(self.layers[function.id], ast.Load()), node)
        elif isinstance(function, ast.Attribute):
            of = getattr(function.value, "id", "")
            if function.attr in SAME and of not in MODULES:
                return function.value
            if function.attr in RANDOM and of in self.gone:
                node.func = ast.copy_location(ast.Name(function.attr, ast.Load()), node)
        if called(node) in RANDOM:
            node.args = [one for one in node.args if not self.is_key(getattr(one, "id", ""))]
        node.keywords = [one for one in node.keywords if one.arg not in IGNORED_KEYWORDS]
        if called(node) in ("max", "min", "amax", "amin") and isinstance(node.func, ast.Attribute):
            of_module = called(node.func.value) in MODULES
            axis = node.args[of_module] if len(node.args) == of_module + 1 else None
            if isinstance(getattr(axis, "operand", axis), ast.Constant):  # x.max(1), np.max(x, -1)
                node.args = node.args[:-1]
                node.keywords.append(ast.keyword("axis", axis))
        given = {one.arg for one in node.keywords}
        if self.torch and not given & {"unbiased", "correction", "ddof", "approximate"}:
            # PyTorch's defaults differ from those of NumPy and JAX.
            for names, key, value in (
                (("std", "var"), "correction", 1),
                (("gelu",), "approximate", "none"),
            ):
                if called(node) in names:
                    node.keywords.append(
                        ast.keyword(key, ast.copy_location(ast.Constant(value), node))
                    )
        return node

    def visit_Assign(self, node):
        """Replace `v, i = x.max(dim=1)` by `v = x.max(dim=1)`, without the indices i."""
        self.generic_visit(node)
        first = node.targets[0]
        if isinstance(first, ast.Tuple) and len(first.elts) == 2 and self.gives_places(node.value):
            node.targets = [first.elts[0]]
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        index = getattr(node.slice, "value", None)
        return node.value if index == 0 and self.gives_places(node.value) else node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        return node.value if node.attr == "values" and self.gives_places(node.value) else node

    def gives_places(self, node):
        """Return True if a node is a call to `max` or `min` that returns values and their indices.

        PyTorch returns both if an axis is passed.
        """
        if not isinstance(node, ast.Call) or called(node) not in ("max", "min"):
            return False
        given = {one.arg for one in node.keywords}
        return "dim" in given or self.torch and "axis" in given

    def is_key(self, name):
        """Return True if a variable of this name is a key or a generator for random numbers."""
        return name in self.gone or bool(re.fullmatch(r"(\w*_)?(sub)?(key|rng)\d*|k\d", name))


def _for_each_row(vmap, call):
    """Return a list-comprehension expression that replaces a call to a function made by `vmap`.

    For example, `vmap(f, in_axes=(None, 0))(w, xs)` becomes `stack([f(w, row) for row in xs])`.

    Parameters
    ----------
    vmap : ast.Call
        The call to `vmap` itself, `vmap(f, in_axes=(None, 0))`.
    call : ast.Call
        The call to the resulting function, with the arguments `(w, xs)`.

    Raises
    ------
    CannotDraw
        If `in_axes` maps over an axis other than 0.
    """
    given = [*vmap.args[1:2], *(one.value for one in vmap.keywords if one.arg == "in_axes")]
    axes = ast.unparse(given[0]) if given else "0"
    axes = [one.strip() for one in axes.strip("()").split(",") if one.strip()]
    axes = [0 if one == "0" else None if one == "None" else one for one in axes]
    axes = axes * len(call.args) if len(axes) == 1 else axes
    if set(axes) - {0, None} or 0 not in axes or len(axes) != len(call.args):
        raise CannotDraw("vmap is supported along axis 0 only; write x.T to map over axis 1.")
    rows = [f"row{i}" for i, axis in enumerate(axes) if axis == 0]
    arrays = [ast.unparse(one) for one, axis in zip(call.args, axes) if axis == 0]
    arguments = [
        f"row{i}" if axis == 0 else ast.unparse(one)
        for i, (one, axis) in enumerate(zip(call.args, axes))
    ]
    items = f"zip({', '.join(arrays)})" if len(rows) > 1 else arrays[0]
    text = f"stack([({ast.unparse(vmap.args[0])})({', '.join(arguments)}) for {', '.join(rows)} in {items}])"
    tree = ast.parse(text, mode="eval").body
    for part in walk(tree, ast.expr, ast.comprehension):
        ast.copy_location(part, call)
    return tree


def _head(loop):
    """Return the first line of a loop as code, without the colon."""
    if isinstance(loop, ast.While):
        return f"while {ast.unparse(loop.test)}"
    return f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}"
