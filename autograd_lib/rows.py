"""Rows: functions with one rule per argument, and the properties of the four kinds of row.

`elementwise`, `linear`, `bilinear` and `primitive` make a row. The table of all rows is in ops.py.
The last function of this file exists only for speed.
"""

from contextlib import suppress
from inspect import signature

import numpy as np
from numpy import float32, float64, ndarray

from .hints import argument_error, reworded
from .levels import no_grad_level
from .tape import Tensor, tracer
from .values import as_array, clock, copied

_new = object.__new__
_floats = frozenset({float64, float32})
_scalars = _floats | {int, float, bool}
_arrays = _scalars | {ndarray}


class Primitive:
    """A row of the table: a function on arrays, with a gradient rule for each argument.

    `elementwise`, `linear`, `bilinear` and `primitive` make the four kinds of row, and describe the
    parameters. Arguments that can have a gradient are positional. In the parameters of a rule,
    keywords come after the inputs. A call may pass a keyword by position, as in NumPy, unless it is
    keyword-only in the rule.

    Attributes
    ----------
    kind, name : str
        The kind, such as "linear", and the name in error messages and graphs.
    function : callable
        The function on arrays.
    rules, pushes : sequence of callable or None
        For each argument, the rule for the backward pass and the push for forward mode.
    rule : callable
        `rule(i)` is the rule of argument i.
    arity : int or None
        The number of arguments; None for any number.
    input_names, keywords : tuple of str
        The names of the inputs and of the keywords in the rules.
    """

    def __init__(self, kind, function, rules=(), *, each=None, pushes=None, name=None, doc=None):
        self.kind, self.function, self.rules, self.pushes = kind, function, rules, pushes
        self.name = name or function.__name__
        self.__doc__ = doc
        if function and not each:
            self._check_rules()
        self.__module__ = getattr(
            function if each else next(filter(None, rules), None), "__module__", None
        )
        # Rules of the library never write into g, and the arrays that they return are used nowhere
        # else, except for g itself. For other rules the engine copies g and what they return.
        library = __name__.partition(".")[0]
        self.user_defined = any(
            rule and str(getattr(rule, "__module__", None)).partition(".")[0] != library
            for rule in (each, *rules, *(pushes or ()))
        )
        self.arity = None if each else len(rules)
        self.rule = each or rules.__getitem__
        self.input_names, self.keywords, self.positional = self._read_names()
        self.fast_call = _fast_call(self)

    def _check_rules(self):
        for what, given in [("rules", self.rules)] + [("pushes", self.pushes)] * (
            self.kind == "primitive"
        ):
            if not isinstance(given, (list, tuple)) or not all(
                rule is None or callable(rule) for rule in given
            ):
                raise TypeError(
                    f"{self.name}: expected {what} to be functions, one for each argument, or "
                    f"None for an argument without a derivative, got {given!r}"
                )
            if len(given) != len(self.rules) or any(
                push and not rule for push, rule in zip(given, self.rules)
            ):
                raise TypeError(
                    f"{self.name}: expected a push or None for each rule, and None where the rule is "
                    f"None, got lists of length {len(self.rules)} (rules) and {len(given)} (pushes)"
                )

    def _read_names(self):
        """Return the names of the inputs and keywords, and how many keywords may be positional.

        The names are read from the signatures of the rules. Raise TypeError if a rule takes too few
        arguments.
        """
        count = 1 if self.arity is None else self.arity
        input_names, keywords, named = (), (), 0
        if self.function and not any(self.rules):  # the function may still have keywords
            with suppress(ValueError):  # a ufunc
                # Without the `out` of NumPy, because a program would not write into that array.
                keywords = tuple(
                    name
                    for name in [*signature(self.function).parameters][count:]
                    if name != "out"
                    or str(getattr(self.function, "__module__", "")).partition(".")[0] != "numpy"
                )
        for i in reversed(range(count)):
            if rule := self.rule(i):
                parameters = list(signature(rule).parameters.values())[2:]
                end = next(
                    (k + 1 for k, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL), count
                )
                if len(parameters) < end:
                    raise TypeError(
                        f"{self.name}: rule {i} takes {2 + len(parameters)} arguments, expected "
                        f"{2 + count}: g, z and {count} input{'s' * (count > 1)}"
                    )
                input_names = tuple(
                    str(p) if p.kind is p.VAR_POSITIONAL else p.name for p in parameters[:end]
                )
                keywords = tuple(p.name for p in parameters[end:])
                named = sum(p.kind is p.KEYWORD_ONLY for p in parameters[end:])
        return input_names, keywords, len(keywords) - named

    def __repr__(self):
        return f"<{self.kind} {self.name}>"

    def __reduce__(self):
        return self.name  # copied and pickled by name, as functions are

    def __call__(self, *args, **params):
        """Return the result of calling the row on arrays and Tensors.

        The result is a Tensor if an argument is a Tensor, else an array or a number.
        """
        if len(args) != self.arity or params and self.arity > 1:
            return self.record(args, params)
        return self.fast_call(*args, **params) if params else self.fast_call(*args)

    def record(self, args, params):
        """Return the result of a call with the positional arguments `args` and keywords `params`.

        If there are Tensors among the arguments, the Tensor on the highest level processes the
        call. Otherwise the function is called on the plain values. Every call of a row comes here,
        except those that `_fast_call` handles.
        """
        if len(args) != self.arity and self.arity is not None:
            args, params = self._split(args, params)
        top = self._check_keywords(params) if params else None
        for a in args:
            if isinstance(a, Tensor):
                if top is None or a.level > top.level:
                    top = a
            elif type(a) not in _arrays and not isinstance(
                a, (int, float, complex, np.number, np.bool_)
            ):
                return self.record(
                    [
                        a
                        if isinstance(a, (Tensor, int, float))
                        else as_array(a, f"{self.name}: argument {i}")
                        for i, a in enumerate(args)
                    ],
                    params,
                )
        if top is None:
            # As NumPy's numbers: for Python's, 1 / 0 is an error and True + True is 2.
            return self.compute(
                [np.asarray(a)[()] for a in args]
                if all([type(a) in (int, float, bool) for a in args])
                else args,
                params,
            )
        # While `compile` records, every call is its trace's: also those of Tensors outside of it.
        return (tracer.get() or top).process(self, args, params)

    def compute(self, values, params):
        """Return the result of the function for plain values, as an array or a NumPy scalar."""
        z = self.call_function(values, params)
        is_array = isinstance(z, (ndarray, np.generic))
        return z if is_array else as_array(z, f"{self.name}: result")[()]

    def call_function(self, values, params):
        """Return the result of the function for plain values, as the function returns it.

        An error names the row and the shapes of the values.
        """
        try:
            z = self.function(*values, **params)
        except (TypeError, ValueError, IndexError) as error:
            shapes = ", ".join(f"argument {i} of shape {np.shape(v)}" for i, v in enumerate(values))
            raise reworded(error, self.name, self.name, f" [{shapes}]") from None
        if isinstance(z, tuple):
            raise TypeError(
                f"{self.name}: expected one array from the function, got a tuple of {len(z)}; "
                "make a separate row for each array"
            )
        return z

    def _check_keywords(self, params):
        """Raise TypeError if a keyword in `params` is unknown or has a value with a gradient.

        Return the first Traced among the values, or None.
        """
        if unknown := [name for name in params if name not in self.keywords]:
            raise argument_error(
                self.name,
                f"got an unexpected keyword argument {unknown[0]!r}",
                params,
                f"({', '.join([*self.input_names, *self.keywords])})",
            )
        for name, value in params.items():
            if (
                isinstance(value, (Tensor, tuple, list, dict))
                and (traced := next(traced_in(value), None)) is not None
            ):
                return traced
            if isinstance(value, Tensor) and not is_constant(value):
                raise TypeError(
                    f"{self.name}: expected a constant as keyword {name}, got a Tensor that "
                    f"requires a gradient; only {', '.join(self.input_names)} can require one"
                    + "; to compare two arrays, use maximum or minimum"
                    * (self.name in ("max", "min"))
                )

    def _split(self, args, params):
        """Return the inputs and the keywords of a call that passes keywords by position.

        NumPy allows such calls too, as in sum(x, 0). Raise TypeError if the number of arguments is
        wrong.
        """
        if not self.arity:
            raise TypeError(f"{self.name}: expected one rule for each input, got none")
        extra = args[self.arity :]
        if len(args) < self.arity or len(extra) > self.positional:
            names = ", ".join([*self.input_names, *self.keywords[: self.positional]])
            raise TypeError(
                f"{self.name}: expected the arguments ({names}), got {len(args)} positional "
                f"argument{'s' * (len(args) != 1)}"
                + "".join(
                    f"; pass {name} by keyword" * (len(args) > self.arity)
                    for name in self.keywords[self.positional :]
                )
                + ", and several axes as one tuple" * (len(extra) > self.positional == 1)
            )
        return args[: self.arity], {**dict(zip(self.keywords, extra)), **params}

    def push_tangents(self, tangents, z, values, params):
        """Return the tangent of the result `z` of a call with these values and keywords.

        `tangents` maps positions of arguments, from 0, to tangents, whose contributions are added.
        Raise TypeError if the row has no push for one of these arguments.
        """
        if self.kind == "bilinear":
            terms = [self(*values[:i], t, *values[i + 1 :], **params) for i, t in tangents.items()]
        elif self.kind == "linear":  # in all its arguments together
            ts = [tangents[i] if i in tangents else np.zeros_like(v) for i, v in enumerate(values)]
            terms = [self(*ts, **params)]
        else:
            if missing := [i for i in tangents if not self.pushes[i]]:
                raise TypeError(
                    f"{self.name}: argument {missing[0]} has no push, so forward mode (jvp) is not "
                    "available; define a push for the argument, or use reverse mode (grad, vjp)"
                )
            own = copied if self.user_defined else lambda array: array
            terms = [own(self.pushes[i](own(t), z, *values, **params)) for i, t in tangents.items()]
        total = sum(terms[1:], start=terms[0])
        total = total if total.shape == z.shape else np.broadcast_to(total, z.shape)
        return total if total.dtype == z.dtype else total.astype(z.dtype)


def is_constant(t):
    """Return True if neither a derivative nor a program that is being recorded depends on `t`."""
    while isinstance(t, Tensor):
        if t._requires_grad or t.tangent is not None or t.opaque:
            return False
        t = t._value
    return True


def traced_in(x):
    """Yield every Traced in `x`, including those in nested tuples, lists and dicts."""
    if isinstance(x, Tensor) and x.opaque:
        yield x
    elif type(x) in (tuple, list, dict):
        for part in x.values() if type(x) is dict else x:
            yield from traced_in(part)


def elementwise(function, *rules, name=None, doc=None):
    """Return a row for a function that works entry by entry.

    The Jacobian of such a function is diagonal, so the same rules serve reverse and forward mode.

    Parameters
    ----------
    function : callable
        The function on arrays. It must not write into its arguments.
    *rules : callable or None
        A rule for each argument, or None for an argument without a derivative. The call
        `rule(g, z, x, y, …, **keywords)` returns the gradient of the argument, where `g` is the
        upstream gradient, `z` is the output, and `x, y, …` are the inputs. The engine undoes
        broadcasting.
    name, doc : str, optional
        The name in error messages, by default that of `function`, and the docstring.

    Returns
    -------
    Primitive
        The row. Call it in the same way as the function.
    """
    return Primitive("elementwise", function, rules, pushes=rules, name=name, doc=doc)


def linear(function, *rules, each=None, name=None, doc=None):
    """Return a row for a function that is linear in all its arguments together.

    Forward mode applies the function itself to the tangents. A rule applies the transpose of the
    function to the upstream gradient.

    Parameters
    ----------
    function, name, doc
        As for `elementwise`.
    *rules : callable
        As for `elementwise`. A rule returns a gradient in the shape of its argument.
    each : callable, optional
        For a function of any number of arguments, pass `each` instead of rules: `each(i)` returns
        the rule of argument i.

    Returns
    -------
    Primitive
        The row. Call it in the same way as the function.
    """
    return Primitive("linear", function, rules, each=each, name=name, doc=doc)


def bilinear(function, *rules, name=None, doc=None):
    """Return a row for a function that is linear in each argument separately, such as a product.

    Forward mode calls the function with one argument replaced by its tangent, for each argument
    that has a tangent, and adds the results.

    Parameters
    ----------
    function, *rules, name, doc
        As for `linear`.

    Returns
    -------
    Primitive
        The row. Call it in the same way as the function.
    """
    return Primitive("bilinear", function, rules, name=name, doc=doc)


def primitive(function, rules, pushes, name=None, doc=None):
    """Return a row of the general kind, with a rule and a push for each argument.

    Parameters
    ----------
    function, name, doc
        As for `elementwise`.
    rules : sequence of callable or None
        One for each argument, as for `elementwise`. None for an argument without a derivative.
    pushes : sequence of callable or None
        One for each argument: `push(t, z, x, y, …, **keywords)` returns the tangent of the output
        `z` if the tangent of the argument is `t`. None for an argument without forward mode.

    Returns
    -------
    Primitive
        The row. Call it in the same way as the function.
    """
    return Primitive("primitive", function, rules, pushes=pushes, name=name, doc=doc)


# --- The same, faster -----------------------------------------------------------------------------


def _fast_call(row):
    """Return a function that handles common calls of `row`, and passes all others to `row.record`.

    A common call has one argument, or two arguments and no keywords. All of its Tensors are on the
    same level of reverse mode, and their values are plain arrays. The function handles such a call
    in a third of the time that `record` takes.
    Because the result is a plain function, Python binds it to Tensor as a method without a further
    call.
    """
    function, record = row.function, row.record

    def unary(x, *more, **params):
        if more or type(x) is not Tensor or not x._requires_grad or x.level <= no_grad_level.get():
            return record((x, *more), params)
        a = x._value
        if (
            type(a) is not ndarray
            and type(a) not in _floats
            or params
            and row._check_keywords(params) is not None
        ):
            return record((x,), params)
        node = _new(Tensor)
        try:
            node._value = z = function(a, **params)
        except (TypeError, ValueError, IndexError):
            return record((x,), params)
        if type(z) not in _floats and not (type(z) is ndarray and z.dtype.kind in "biuf"):
            return record((x,), params)
        if params:
            node.params = params
        node.op, node.inputs, node.level = row, (x,), x.level
        node.values, node.edges, node.number = (a,), edges[1], next(clock)
        return node

    def binary(x, y):
        if type(x) is Tensor:
            level, a, required = x.level, x._value, x._requires_grad
            if type(y) is Tensor and y.level == level:
                b, required = y._value, required + 2 * y._requires_grad
            elif type(y) in _scalars or type(y) is ndarray and y.dtype.kind in "biuf":
                b = y
            else:
                return record((x, y), {})
        elif type(y) is Tensor and (
            type(x) in _scalars or type(x) is ndarray and x.dtype.kind in "biuf"
        ):
            level, a, b, required = y.level, x, y._value, 2 * y._requires_grad
        else:
            return record((x, y), {})
        if (
            not required
            or level <= no_grad_level.get()
            or type(a) not in _arrays
            or type(b) not in _arrays
        ):
            return record((x, y), {})
        node = _new(Tensor)
        try:
            node._value = z = function(a, b)
        except (TypeError, ValueError):
            return record((x, y), {})
        if type(z) not in _floats and not (type(z) is ndarray and z.dtype.kind in "biuf"):
            return record((x, y), {})
        node.op, node.inputs, node.level = row, (x, y), level
        node.values, node.edges, node.number = (a, b), edges[required], next(clock)
        return node

    rules = tuple(enumerate(row.rules))
    # The edges, by what is `required`: no gradient, the first, the second, both.
    edges = ((), rules[:1], rules[1:], rules)
    fast = {1: unary, 2: binary}.get(len(rules)) if all(row.rules) else None
    return fast or (lambda *args, **params: record(args, params))
