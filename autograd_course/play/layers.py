"""Replace layers, models and objects of small classes by assignments and functions.

`fc = nn.Linear(2, 3)` becomes an input fc_weight, an input fc_bias and a function fc(x). An object
of a class that the text defines is replaced by its attributes and methods: after `net = Net()`,
self.w becomes the variable w, or net_w if the text already uses w, and net(x) becomes a call to the
method `forward`.
"""

import ast
import copy

from .functions import ARRAYS, FUNCTIONS
from .syntax import CannotDraw, assign, called, walk

# Layers and losses without parameters, by the function that each is.
LAYERS = {
    "ReLU": "relu",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "GELU": "gelu",
    "SiLU": "silu",
    "ELU": "elu",
    "LeakyReLU": "leaky_relu",
    "LogSoftmax": "log_softmax",
    "Softmax": "softmax",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
}
PASSES_ON = {"Dropout", "Identity"}  # layers that a model leaves out when it is evaluated
CALLED = ("forward", "__call__")
KEPT = {"train", "eval", "parameters", "zero_grad", "grad", "to", "cuda", "state_dict"}
MOST_NODES = 5000  # of the trees that objects are written out as
MOST_LAYERS = 20  # that a comprehension may make


def written_out(body, known):
    """Return the statements with layers, models and objects replaced by assignments and functions.

    Parameters
    ----------
    body : list of ast.stmt
        The statements of a text. Some are changed in place.
    known : set of str
        The names of classes that the playground supports. Their calls are left unchanged.

    Returns
    -------
    list of ast.stmt
        The new statements, or `body` itself if there is nothing to replace.

    Raises
    ------
    CannotDraw
        If a class or a layer cannot be read, if a class is never used, or if the classes create
        too many values.
    """
    writer = _Writer(body, known)
    if not writer.classes and not writer.makes_layers(body):
        return body
    try:
        return writer.statements(body)
    except (KeyError, ValueError, RecursionError):
        raise CannotDraw(
            "The playground cannot read one of the classes or layers in this text. Write them as in PyTorch, or paste only the lines that compute."
        ) from None


class _Writer:
    def __init__(self, body, known):
        tree = ast.Module(body, [])
        self.classes = {one.name: one for one in body if isinstance(one, ast.ClassDef)}
        self.classes = {
            name: one
            for name, one in self.classes.items()
            if name not in known and "Function" not in map(called, one.bases)
        }
        self.used = {node.id for node in walk(tree, ast.Name)} | {*FUNCTIONS, *ARRAYS}
        self.used |= {node.arg for node in walk(tree, ast.arg)}
        self.left = MOST_NODES
        self.unset = set()  # attributes that begin as None
        self.attributes = {}  # for each object, a dict from attribute to variable

    def makes_layers(self, body):
        return any(self.is_made(bare(one.value)) for one in body if isinstance(one, ast.Assign))

    def is_made(self, value):
        """Return True if an expression creates a Linear layer, a Sequential model or an object.

        An object is an instance of a class that the text defines.
        """
        if not isinstance(value, ast.Call):
            return False
        return called(value) in {"Linear", "Sequential", *self.classes} and (
            called(value) != "Linear" or len(value.args) > 1 or bool(value.keywords)
        )

    def statements(self, body):
        """Return the statements rewritten without classes, layers and objects.

        Class definitions are left out. A statement that creates a layer or an object is replaced by
        statements that assign its attributes and define its functions.
        """
        self.instances = set()
        for one in body:
            if isinstance(one, ast.Assign) and self.is_made(bare(one.value)):
                one.value = bare(one.value)
                self.instances.add(called(one.value))
        written = []
        for statement in body:
            if isinstance(statement, ast.ClassDef) and statement.name in self.classes:
                continue
            self.hoist(statement, written)
            written += self.one(statement)
        unused = [name for name in self.classes if name not in self.instances]
        if unused and all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in written):
            name = unused[-1]
            raise CannotDraw(
                f"The class {name} is not used yet. Add lines that use it, for example model = {name}(), then y = model(x)."
            )
        return written

    def hoist(self, statement, written):
        """Assign each model that is called where it is created, as in `Net()(x)`, to a name.

        Replace the model in `statement` by this name, and append the statements that create the
        model to `written`.
        """
        for call in walk(statement, ast.Call):
            if isinstance(call.func, ast.Call) and called(call.func) in {
                *self.classes,
                "Sequential",
            }:
                name = self.free("model", "model_")
                self.instances.add(called(call.func))
                written += self.make(name, call.func)
                call.func = ast.copy_location(ast.Name(name, ast.Load()), call)

    def one(self, statement):
        if isinstance(statement, ast.Assign) and self.is_made(statement.value):
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                return self.make(target.id, statement.value)
        return [_Attributes(self.attributes).visit(statement)]

    # --- What an object consists of ---

    def make(self, name, call):
        """Return the statements that replace `name = call`.

        `call` creates a layer, a model or an object.
        """
        self.spend(50)
        kind = called(call)
        if kind in self.classes:
            return self.instance(name, call)
        return self.linear(name, call) if kind == "Linear" else self.sequential(name, call)

    def linear(self, name, call):
        given = dict(zip(("in_features", "out_features", "bias"), call.args))
        given |= {one.arg: one.value for one in call.keywords}
        n, m = (ast.unparse(given[one]) for one in ("in_features", "out_features"))
        has_bias = ast.unparse(given.get("bias", ast.Constant(True))) != "False"
        weight = self.attribute(name, "weight", f"{name}_weight")
        lines = [f"{weight} = uniform(-1/sqrt({n}), 1/sqrt({n}), ({m}, {n}))"]
        bias = ""
        if has_bias:
            bias = self.attribute(name, "bias", f"{name}_bias")
            lines.append(f"{bias} = uniform(-1/sqrt({n}), 1/sqrt({n}), ({m},))")
        lines.append(f"{name} = lambda x: linear({', '.join(filter(None, ('x', weight, bias)))})")
        return self.parsed(lines, call)

    def sequential(self, name, call):
        statements, steps = [], []
        for i, layer in enumerate(_unrolled(call.args)):
            part = f"{name}_{i}"
            if called(layer) in PASSES_ON:
                continue
            if called(layer) in LAYERS:
                steps.append(LAYERS[called(layer)])
            elif self.is_made(layer):
                statements += self.make(part, layer)
                steps.append(part)
            elif isinstance(layer, ast.Name):
                steps.append(layer.id)
            else:
                return [assign(name, call, call)]  # the reader says what to write instead
        value = "x"
        for step in steps:
            value = f"{step}({value})"
        return [*statements, *self.parsed([f"{name} = lambda x: {value}"], call)]

    def instance(self, name, call):
        """Return the statements that replace `name = call`, where `call` creates an object.

        They assign the attributes of the object to variables, and define its methods as functions.
        """
        methods = {
            one.name: copy.deepcopy(one)
            for one in self.classes[called(call)].body
            if isinstance(one, ast.FunctionDef)
        }
        self.attributes[name] = mine = {}
        begins = methods.pop("__init__", None)
        statements = self.beginning(name, begins, call) if begins else []
        for method in methods:
            if method in CALLED:
                mine[method] = name
            elif method not in KEPT and not method.startswith("_"):
                mine[method] = self.free(method, f"{name}_{method}")
        for method, function in methods.items():
            if method not in mine:
                continue
            first, *function.args.args = function.args.args or [ast.arg("self")]
            function.name = mine[method]
            kept_by = self.state(function, first.arg, mine)
            for node in walk(function, ast.Attribute):  # what a method sets is its own variable
                if isinstance(node.ctx, ast.Store) and getattr(node.value, "id", "") == first.arg:
                    if node.attr not in mine:
                        self.attribute(name, node.attr, f"{name}_{node.attr}")
            function = _Attributes({**self.attributes, first.arg: mine}).visit(function)
            for one in kept_by:  # what the method reads before it sets it
                function.args.args.append(ast.arg(one))
                function.args.defaults.append(ast.Name(one, ast.Load()))
            ast.fix_missing_locations(function)
            statements.append(function)
        return statements

    def state(self, function, object_name, mine):
        """Return the names of the variables for the attributes that a method both reads and sets.

        `function` is the method, and `object_name` is the name of its first argument, usually self.
        `mine` maps each attribute of the object to the name of its variable. An attribute that starts
        as None is left out.
        """
        uses = [one for one in walk(function, ast.Attribute) if called(one.value) == object_name]
        reads, sets = (
            {one.attr for one in uses if isinstance(one.ctx, kind)}
            for kind in (ast.Load, ast.Store)
        )
        return [mine[one] for one in sorted(reads & sets) if one in mine and one not in self.unset]

    def beginning(self, name, begins, call):
        """Return the statements of an `__init__` method, with attributes replaced by variables.

        Parameters
        ----------
        name : str
            The name of the object.
        begins : ast.FunctionDef
            The `__init__` method. Its parameters are replaced by the values in `call`.
        call : ast.Call
            The call that creates the object.
        """
        first, *arguments = begins.args.args
        defaults = begins.args.defaults
        given = dict(
            zip([one.arg for one in arguments[len(arguments) - len(defaults) :]], defaults)
        )
        given |= dict(zip([one.arg for one in arguments], call.args))
        given |= {one.arg: one.value for one in call.keywords}
        statements = []
        attributes = {**self.attributes, first.arg: self.attributes[name]}
        for statement in _Given(given, self.spend).visit(begins).body:
            calls = {called(one) for one in walk(statement, ast.Call)}
            if "super" in calls or _is_text(statement):
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == first.arg:
                value = _Attributes(attributes).visit(statement.value)
                part = self.attribute(name, target.attr, f"{name}_{target.attr}")
                if isinstance(value, ast.Constant) and value.value is None:
                    self.unset.add(target.attr)
                    continue
                if self.is_made(value):
                    statements += self.make(part, value)
                elif getattr(value, "id", "") != part:
                    statements.append(assign(part, value, statement))
            else:
                statements.append(_Attributes(attributes).visit(statement))
        return statements

    def spend(self, nodes):
        """Count `nodes` more nodes as written, and raise CannotDraw if there are too many.

        Without this limit, expanding a class that creates an object of itself would never end.
        """
        self.left -= nodes
        if self.left < 0:
            raise CannotDraw("The classes create too many values to draw; paste fewer layers.")

    # --- Names ---

    def attribute(self, name, attribute, otherwise):
        """Choose the variable for an attribute of the object `name`, record it, and return it.

        The variable has the name of the attribute, or the name `otherwise` if the text already uses
        that name or if the attribute is the weight or bias of a layer.
        """
        of_layer = attribute in ("weight", "bias")
        found = otherwise if of_layer else self.free(attribute, otherwise)
        self.attributes.setdefault(name, {})[attribute] = found
        return found

    def free(self, name, otherwise):
        found = name if name not in self.used else otherwise
        self.used.add(found)
        return found

    def parsed(self, lines, at):
        statements = ast.parse("\n".join(lines)).body
        for node in ast.walk(ast.Module(statements, [])):
            if hasattr(node, "lineno"):
                ast.copy_location(node, at)
        return statements


class _Attributes(ast.NodeTransformer):
    """Replace each attribute by its variable, for example self.w by w.

    `attributes` maps the name of each object to a dict, which maps its attributes to variables.
    """

    def __init__(self, attributes):
        self.attributes = attributes

    def visit_Attribute(self, node):
        self.generic_visit(node)
        name = getattr(node.value, "id", "")
        found = self.attributes.get(name, {}).get(node.attr)
        return ast.copy_location(ast.Name(found, node.ctx), node) if found else node


class _Given(ast.NodeTransformer):
    """Replace the parameters of a function by the expressions that a call passes for them.

    `values` maps each parameter to its expression. `spend(n)` is called with the number of nodes of
    every expression that is copied.
    """

    def __init__(self, values, spend):
        self.values, self.spend = values, spend

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id not in self.values:
            return node
        value = self.values[node.id]
        self.spend(sum(1 for _ in ast.walk(value)))
        return copy.deepcopy(value)


def _unrolled(layers):
    """Yield the layers one by one, including the layers of a starred list or comprehension.

    For example, `*[nn.Linear(2, 2) for _ in range(3)]` yields three layers.
    """
    for layer in layers:
        listed = layer.value if isinstance(layer, ast.Starred) else layer
        times = _times(listed)
        if isinstance(listed, ast.List):
            yield from listed.elts
        elif times is not None:
            yield from (copy.deepcopy(listed.elt) for _ in range(min(times, MOST_LAYERS)))
        else:
            yield layer


def _times(comprehension):
    """Return n for a list comprehension over `range(n)`, or None for any other expression."""
    match comprehension:
        case ast.ListComp(
            generators=[ast.comprehension(iter=ast.Call(args=[ast.Constant(value=int(n))]))]
        ):
            return n
    return None


def bare(value):
    """Return an expression without trailing method calls such as `.to(device)` or `.train()`.

    For example, the result is `Net()` for `Net().to(device)`. `value` and the result are nodes of a
    syntax tree.
    """
    while isinstance(value, ast.Call) and called(value) in KEPT:
        value = getattr(value.func, "value", None)
    return value


def _is_text(statement):
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant)
