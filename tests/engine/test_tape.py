"""The guarantees of the engine, with one or a few tests for each."""

import contextvars
import copy
import functools
import gc
import math
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import autograd_lib as ag
from autograd_lib import Tensor, levels, ops, tape


def leaf(data, **kwargs):
    return Tensor(np.array(data, float), requires_grad=True, **kwargs)


# --- Depth and cost --------------------------------------------------------------------------------------


def test_a_million_ops_deep():
    """Catch a recursive traversal in place of the heap, which ends in a RecursionError."""
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = y + 1e-6
    y.backward()
    assert x.grad == 1
    assert abs(y.item() - 2) < 1e-6
    del y  # deallocating the chain must not recurse either


def test_a_wide_graph_is_visited_once_per_node():
    """Visits are counted, not timed. Catches a node that each of its users adds to the queue
    again.
    """
    for n in (10, 1000):
        xs = [leaf(1.0) for _ in range(n)]
        y = ag.stack([x * xs[0] for x in xs]).sum()
        visited = [id(node) for node, _, _ in tape.backward_pass(y, np.ones(()))]
        assert (
            len(visited) == len(set(visited)) == 2 + 3 * n
        )  # sum, concatenate; expand_dims, multiply and leaf of each


def test_derivatives_of_a_deep_chain_by_every_transform():
    def chain(x):
        for _ in range(20_000):
            x = x * 1.0
        return x * x

    assert ag.grad(chain)(3.0) == 6
    assert ag.jvp(chain, (3.0,), (1.0,))[1] == 6
    assert ag.hvp(chain, 3.0, 1.0) == 2


def test_sixty_doublings_visit_61_nodes():
    """Catch a node that is queued again for every gradient it receives, which never ends."""
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    assert len(list(tape.backward_pass(y, np.float64(1)))) == 61
    y.backward()
    assert x.grad == 2.0**60
    x.grad, y = None, x
    for _ in range(60):
        y = y * 0.75 + y * 0.25  # two paths of different length
    y.backward()
    assert x.grad == 1
    assert ag.grad(ag.grad(lambda x: doubled(x, 60)))(1.0) == 2 * 4.0**60


def doubled(x, times):
    y = x
    for _ in range(times):
        y = y + y
    return y * y


# --- Accumulation ----------------------------------------------------------------------------------------


def test_backward_twice_gives_twice_the_gradient():
    """The gradients are 12, then 24. Engines that keep gradients on inner nodes give 32. Catches
    a ledger that is kept between passes.
    """
    x = leaf(2.0)
    y = x * x
    z = y * x
    z.backward()
    assert x.grad == 12
    z.backward()
    assert x.grad == 24
    z.backward()
    assert x.grad == 36  # the third pass, not the second
    assert y.grad is None and z.grad is None


def test_gradients_add_up_over_losses_until_zero_grad():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    (3 * x).sum().backward()
    np.testing.assert_array_equal(x.grad, [5, 7])
    x.zero_grad()
    assert x.grad is None
    (3 * x).sum().backward()
    np.testing.assert_array_equal(x.grad, [3, 3])


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_grad_is_an_array_of_the_values_shape_and_dtype(shape, dtype):
    """The type is right after one pass and after two. Catches t.grad + g, which is a NumPy
    scalar where t is 0-d.
    """
    x = Tensor(np.full(shape, 0.5, dtype), requires_grad=True)
    for _ in range(2):
        ag.sum(x * x + x).backward()
        assert type(x.grad) is np.ndarray
        assert x.grad.shape == shape and x.grad.dtype == dtype


def test_gradients_of_all_inputs_and_paths_are_added():
    x = leaf(3.0)
    (x * x * x + x / x - x).backward()
    assert x.grad == 26
    b = leaf(3.0) * 2
    b.retain_grad()
    (b * (b + 1)).backward()
    assert b.grad == 13  # 7 by one path, 6 by the other


def test_order_is_newest_first_whatever_the_order_of_inputs():
    a = leaf(3.0)
    b = a * 2
    c = b + 1
    for d in (b * c, c * b):
        a.grad = None
        d.backward()
        assert a.grad == 26
        assert [node for node, _, _ in tape.backward_pass(d, np.float64(1))] == [
            d,
            c,
            b,
            a,
        ]  # each is visited once, with its whole gradient


# --- Only what is needed ---------------------------------------------------------------------------------


def test_nothing_is_computed_for_data_and_constants():
    """Catch an engine that runs the rule of every Tensor argument."""
    called = []

    def spy(i):
        return lambda g, z, x, y: (called.append(i), g)[1]

    pair = ag.elementwise(lambda x, y: x + y, spy(0), spy(1), name="pair")
    w, data = leaf([1.0, 2.0]), Tensor([1.0, 2.0])
    for x, y, expected in [
        (w, data, [0]),
        (data, w, [1]),
        (w, 3.0, [0]),
        (np.ones(2), w, [1]),
        (w, w, [0, 1]),
        (w.detach(), w, [1]),
    ]:
        called.clear()
        pair(x, y).sum().backward()
        assert called == expected
    assert data.grad is None
    assert not pair(data, 2.0).requires_grad and pair(data, 2.0).op is None


def test_a_branch_without_parameters_is_not_recorded():
    data = Tensor(np.ones(3))
    hidden = (data * 2).tanh()
    assert hidden.op is None and hidden.inputs == ()
    w = leaf([1.0, 1, 1])
    (w * hidden).sum().backward()
    np.testing.assert_array_equal(w.grad, np.tanh(2 * np.ones(3)))


# --- dtypes ----------------------------------------------------------------------------------------------


def test_float32_stays_float32_through_a_model():
    x = Tensor(np.ones((2, 3), np.float32))
    w = Tensor(np.full((3, 3), 0.1, np.float32), requires_grad=True)
    h = ag.gelu(2 * x @ w / 3 - 1) ** 2 + 0.5
    loss = ag.log_softmax(h).mean() + ag.logsumexp(h) * 1e-3 + ag.sigmoid(h).max()
    assert h.dtype == loss.dtype == np.float32
    loss.backward()
    assert w.grad.dtype == np.float32


def test_mixed_dtypes_give_each_its_own():
    a, b = Tensor(np.ones(3, np.float32), requires_grad=True), leaf(np.ones(3))
    (a * b + a @ b + ag.where([True, False, True], a, b)).sum().backward()
    assert a.grad.dtype == np.float32 and b.grad.dtype == np.float64
    np.testing.assert_array_equal(a.grad, [5, 4, 5])
    np.testing.assert_array_equal(b.grad, [4, 5, 4])


@pytest.mark.parametrize("data", [1, True, [1, 2], np.arange(3), np.array([True])], ids=repr)
def test_numbers_without_a_slope_cannot_require_a_gradient(data):
    """Catch a requires_grad setter without a check."""
    with pytest.raises(TypeError, match="requires_grad.*floating.*3.0 instead of 3"):
        Tensor(data, requires_grad=True)
    t = Tensor(data)
    with pytest.raises(TypeError, match="no gradient"):
        t.requires_grad = True
    with pytest.raises(TypeError, match="no gradient"):
        ag.grad(lambda x: ag.sum(x * x))(data)


def test_rounding_to_integers_is_not_differentiable():
    """Regression: astype(int) passed gradients through as if nothing were rounded."""
    for dtype in (int, bool, np.uint8):
        x = leaf([1.5, 2.5])
        try:
            z = (x.astype(dtype).astype(float) * x).sum()
        except TypeError as error:
            assert "astype" in str(error)
            continue
        z.backward()
        np.testing.assert_array_equal(x.grad, x.data.astype(dtype))


def test_complex_numbers_cannot_enter_a_gradient():
    """Regression: |(3 + 4j)·x| gave −1.4 in place of 5, with only NumPy's warning that imaginary
    parts are discarded.
    """
    x = leaf([1.0, 2.0])
    for call in (
        lambda: ag.abs(x * (3 + 4j)),
        lambda: ag.abs(np.full(2, 3 + 4j) * x),
        lambda: x.astype(complex),
        lambda: x + Tensor([1j, 2j]),
        lambda: ag.elementwise(lambda x: 1j * x, lambda g, z, x: g, name="turn")(x),
    ):
        with pytest.raises(TypeError, match="complex"):
            call()
    with pytest.raises(TypeError, match="complex"):
        x.data = np.array([1j, 2j])
    np.testing.assert_array_equal(x.data, [1, 2])


@pytest.mark.parametrize(
    "data",
    [
        "abc",
        None,
        object(),
        [None, 1],
        np.array(["a"]),
        np.array([1, 2], object),
        {"a": 1},
        np.datetime64("2020-01-01"),
        np.zeros(2, "i4,i4"),
    ],
)
def test_non_numeric_data_is_refused(data):
    with pytest.raises(TypeError, match="Tensor: expected real numbers"):
        Tensor(data)
    with pytest.raises(TypeError, match="multiply: .*argument 1"):
        leaf([1.0, 2.0]) * data


def test_a_matrix_is_refused_or_an_array():
    """Regression: * multiplied np.matrix operands as matrices, but the gradients were those of
    the elementwise product.
    """
    x = leaf([[1.0, 2], [3, 4]])
    with pytest.warns(PendingDeprecationWarning):
        m = np.matrix([[1.0, 2], [3, 4]])
    try:
        z = x * m
    except TypeError as error:
        assert "matrix" in str(error)
        return
    z.backward(np.ones((2, 2)))
    np.testing.assert_array_equal(z.data, [[1, 4], [9, 16]])
    np.testing.assert_array_equal(x.grad, [[1, 2], [3, 4]])


def test_a_masked_array_is_refused():
    """Regression: sum skipped the masked entries, but its gradient did not."""
    m = np.ma.array([10.0, 20, 30], mask=[False, True, False])
    for use in (
        lambda: leaf([1.0, 2, 3]) * m,
        lambda: ag.grad(lambda x: ag.sum(x * m))(np.ones(3)),
        lambda: Tensor(m),
    ):
        with pytest.raises(TypeError, match="[Mm]asked"):
            use()


# --- Changes after the fact ------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["replace", "in place"])
@pytest.mark.parametrize(
    "use, name, shape",
    [
        (lambda x: x * x, "multiply", (2,)),
        (lambda x: x.sum(), "sum", (2,)),
        (lambda x: ag.exp(x) + 1, "exp", (2,)),
        (lambda x: x @ np.ones((2, 2)), "matmul", (2, 2)),
        (lambda x: x[0] * 2, "getitem", (2,)),
        (lambda x: x + 1, "add", (2,)),
        (lambda x: ag.concatenate([x, x]), "concatenate", (2,)),
        (lambda x: x * 2.0, "multiply", ()),
        (lambda x: x**2, "power", ()),
        (lambda x: x.tanh(), "tanh", ()),
    ],
)
def test_an_input_changed_before_backward_is_an_error_that_names_the_op(use, name, shape, change):
    """Catch a data setter that does not update the version."""
    x = Tensor(np.full(shape, 2.0), requires_grad=True, name="weights")
    y = use(x)
    if change == "replace":
        x.data = np.full(shape, 3.0)
    else:
        x.data -= 0.5
    with pytest.raises(
        RuntimeError, match=rf"{name}: the .data of argument 0 \(weights\) was changed"
    ):
        y.backward(np.ones(y.shape))
    assert x.grad is None
    use(x).backward(np.ones(y.shape))  # computing it again works
    assert x.grad is not None


@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_result_changed_before_backward_is_an_error(shape):
    """Results are checked as well as inputs, because the rule of exp reads its result."""
    x = Tensor(np.full(shape, 2.0), requires_grad=True)
    for change in ("replace", "in place"):
        z = ag.exp(x)
        y = z.sum()
        if change == "replace":
            z.data = np.zeros(shape)
        else:
            z.data *= 2
        with pytest.raises(RuntimeError, match="was changed"):
            y.backward()
        with pytest.raises(RuntimeError, match="exp: the .data of its result was changed"):
            z.backward(np.ones(shape))
    assert x.grad is None


def test_a_constant_changed_before_backward_is_an_error():
    w, c = leaf([1.0, 2.0]), Tensor([3.0, 4.0], name="scale")
    y = (w * c).sum()
    c.data = [5.0, 6.0]
    with pytest.raises(RuntimeError, match=r"multiply: the .data of argument 1 \(scale\)"):
        y.backward()


def test_a_change_is_noticed_at_every_level():
    w = leaf([1.0, 2.0])
    value, pull = ag.vjp(lambda x: (x * w).sum(), np.ones(2))
    w.data -= 1
    with pytest.raises(RuntimeError, match="multiply: the .data of argument 1"):
        pull(1.0)

    def changes_its_weight(x):
        y = (x * w).sum()
        w.data = w.data * 2
        return y

    with pytest.raises(RuntimeError, match="multiply"):
        ag.grad(changes_its_weight)(np.ones(2))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.reshape(2),
        lambda x: x.T,
        lambda x: x[:],
        lambda x: x.squeeze(),
        lambda x: x.broadcast_to((2, 2))[0],
        lambda x: x.expand_dims(0)[0],
        lambda x: x[::-1],
    ],
)
def test_a_change_in_place_is_noticed_through_a_view(view):
    """Either an error or the gradient at the old value is right.

    Regression: reshape and similar ops share memory, so `x.data -= 1` changed their results, which
    had no version of their own.
    """

    def outcome(build, change):
        w = leaf([1.0, 1.0])
        finish = build(w)
        change()
        try:
            return finish()
        except RuntimeError as error:
            assert "was changed" in str(error)
            return None

    # a constant's view
    x = Tensor(np.array([2.0, 3.0]))
    expected = view(x).data.copy()

    def build(w):
        y = (w * view(x)).sum()
        return lambda: (y.backward(), w.grad)[1]

    got = outcome(build, lambda: x.__setattr__("data", x.data.__isub__(1)))
    assert got is None or np.array_equal(got, expected)

    # a view made without recording
    p = leaf([2.0, 3.0])

    def build(w):
        with ag.no_grad():
            v = view(p)
        y = (w * v).sum()
        return lambda: (y.backward(), w.grad)[1]

    got = outcome(build, lambda: p.__setattr__("data", p.data.__isub__(1)))
    assert got is None or np.array_equal(got, expected)

    # a view recorded outside a transform that uses it
    q = leaf([2.0, 3.0])
    v = view(q)
    _, pull = ag.vjp(lambda x: (x * v).sum(), np.ones(2))
    q.data -= 1
    try:
        got = pull(1.0)[0]
    except RuntimeError:
        return
    np.testing.assert_array_equal(got.data if isinstance(got, Tensor) else got, expected)


def refused(backward):
    """Return True if the call raised because something had changed, which is as correct as the
    right number.
    """
    try:
        backward()
    except RuntimeError as error:
        assert "was changed" in str(error)
        return True
    return False


def test_a_change_in_place_of_a_view_is_noticed_by_its_owner():
    """Regression: w[:2].data -= 1 wrote into w, and the gradient was wrong."""
    w = leaf([1.0, 2.0, 3.0])
    y = (w * w).sum()
    v = w[:2]
    v.data -= 1
    if not refused(y.backward):
        np.testing.assert_array_equal(w.grad, [2, 4, 6])


def test_assigning_to_items_is_explained():
    t = leaf([1.0, 2.0])
    for assign in (
        lambda: t.__setitem__(0, 1.0),
        lambda: t.__setitem__(slice(None), t),
        lambda: exec("t[0] += 1", {"t": t}),
    ):
        with pytest.raises(TypeError, match="cannot be assigned.*where.*data"):
            assign()
    np.testing.assert_array_equal(t.data, [1, 2])


def test_data_keeps_its_shape_and_dtype():
    t = Tensor(np.ones(2, np.float32), requires_grad=True)
    t.data = [1, 2]
    assert t.dtype == np.float32
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        t.data = np.ones(3)
    with pytest.raises(ValueError, match=r"\(2,\)"):
        t.data = 1.0
    array = t.data
    t.data += 1  # written in place, because another array would exceed the limit
    assert t.data is array and array[0] == 2
    whole = Tensor([1, 2])
    whole.data = [1.5, 2]
    assert whole.data[0] == 1.5


@pytest.mark.parametrize(
    "function, rule",
    [(lambda x: x[::-1], lambda g, z, x: g[::-1]), (lambda x: x, lambda g, z, x: -g)],
    ids=["flip", "reversed gradient"],
)
def test_custom_rows_may_return_views(function, rule):
    """Regression: the fast path did not see that such a result shares the memory of its input."""
    row = ag.linear(function, rule, name="row")
    w = leaf([1.0, 2.0, 3.0])
    old, v = function(w.data).copy(), row(w)
    _, pull = ag.vjp(lambda x: (x * v).sum(), np.ones(3))
    w.data -= 1
    try:
        np.testing.assert_array_equal(pull(1.0)[0].data, old)
    except RuntimeError as error:
        assert "was changed" in str(error)
    y = (w * w).sum()
    v = row(w)
    v.data -= 1
    if not refused(y.backward):
        np.testing.assert_array_equal(w.grad, [0, 2, 4])


def test_rows_of_two_arguments_may_return_one_of_them():
    """A straight-through estimator does this: it returns the first argument and sends the
    gradient to the second.
    """
    for i in (0, 1):
        row = ag.elementwise(
            lambda x, y, i=i: (x, y)[i], lambda g, z, x, y: g, lambda g, z, x, y: g, name="row"
        )
        w, other = leaf([1.0, 2.0]), leaf([5.0, 6.0])
        v = row(w, other) if i == 0 else row(other, w)
        _, pull = ag.vjp(lambda x, v=v: (x * v).sum(), np.ones(2))
        w.data -= 1
        try:
            np.testing.assert_array_equal(pull(1.0)[0].data, [1, 2])
        except RuntimeError as error:
            assert "was changed" in str(error)


def test_a_tensor_changed_after_it_was_given_to_a_transform():
    """Regression: pull() read the new value."""
    for f in (lambda x: (x * x).sum(), lambda x: ag.exp(x).sum(), lambda x: (x * x.T).sum()):
        for w in (leaf([1.0, 2.0]), Tensor([1.0, 2.0])):
            _, pull = ag.vjp(f, w)
            expected = ag.grad(f)(np.array([1.0, 2.0]))
            w.data -= 1
            try:
                got = pull(1.0)[0]
            except RuntimeError as error:
                assert "was changed" in str(error)
            else:
                np.testing.assert_array_equal(
                    got.data if isinstance(got, Tensor) else got, expected
                )


def test_arrays_that_no_longer_share_memory_raise_no_error():
    w = leaf([1.0, 2.0, 3.0])
    with ag.no_grad():
        v = w[:2]
    v.requires_grad = True  # owns a copy from here
    y = (w * w).sum()
    v.data -= 1
    y.backward()
    np.testing.assert_array_equal(w.grad, [2, 4, 6])
    m = leaf([[1.0, 2.0]])
    with ag.no_grad():
        target = m.logsumexp(axis=1)
    y = (w * target).sum()
    m.data -= 1
    y.backward()


def test_entries_of_a_scalar_can_be_assigned():
    """Regression: the assignment was lost, because .data returned a new 0-d array at each
    access.
    """
    t = leaf(2.0)
    t.data[...] = 7
    assert t.item() == 7
    t.data[()] += 1
    (t * t).backward()
    assert t.grad == 16
    y = t * t
    t.data -= 1
    assert t.item() == 7
    with pytest.raises(RuntimeError, match="was changed"):
        y.backward()
    z = t * 2
    z.data[...] = 5
    assert z.item() == 5


def test_a_value_used_after_its_change_is_fine():
    x = leaf([1.0, 2.0])
    for _ in range(3):
        x.grad = None
        (x * x).sum().backward()
        np.testing.assert_array_equal(x.grad, 2 * x.data)
        x.data -= 0.1 * x.grad


# --- Misuse of backward ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2,), (2, 3), (0,), (1, 0)])
def test_backward_of_a_non_scalar_needs_a_gradient(shape):
    """Catch a backward pass that starts from ones with no error."""
    x = Tensor(np.ones(shape), requires_grad=True)
    with pytest.raises(RuntimeError, match=r"scalar.*\.sum\(\)"):
        (x * 2).backward()
    assert x.grad is None
    (x * 2).backward(np.ones(shape))
    np.testing.assert_array_equal(x.grad, 2 * np.ones(shape))


@pytest.mark.parametrize("seed", [1.0, np.ones(3), np.ones((1, 2)), np.ones((2, 1))], ids=repr)
def test_a_seed_must_have_the_shape(seed):
    with pytest.raises(ValueError, match=r"\(2,\)"):
        (leaf([1.0, 2.0]) * 2).backward(seed)


def test_a_single_entry_of_any_shape_is_a_scalar():
    for shape in ((), (1,), (1, 1)):
        x = Tensor(np.full(shape, 3.0), requires_grad=True)
        (x * x).backward()
        np.testing.assert_array_equal(x.grad, np.full(shape, 6.0))


@pytest.mark.parametrize(
    "seed",
    [np.array([1j, 2]), np.ma.array([1.0, 2.0], mask=[False, True]), ["a", "b"], [None, 1]],
    ids=["complex", "masked", "text", "None"],
)
def test_a_seed_or_tangent_must_be_made_of_real_numbers(seed):
    """Regression: imaginary parts were discarded with only NumPy's warning."""
    for use in (
        lambda: (leaf([1.0, 2.0]) * 2).backward(seed),
        lambda: ag.vjp(lambda x: x, np.ones(2))[1](seed),
        lambda: ag.jvp(lambda x: x, (np.ones(2),), (seed,)),
    ):
        with pytest.raises((TypeError, ValueError)):
            use()


def test_backward_without_a_gradient_anywhere():
    for t in (Tensor(1.0), Tensor(1.0) * 2, leaf(1.0).detach(), leaf(1.0).detach() * 2):
        with pytest.raises(RuntimeError, match="requires_grad=True"):
            t.backward()


def test_backward_of_a_leaf():
    x, seed = leaf([1.0, 2.0]), np.array([3.0, 4.0])
    x.backward(seed)
    x.grad[:] = 9
    np.testing.assert_array_equal(seed, [3, 4])
    x.backward(seed)
    np.testing.assert_array_equal(x.grad, [12, 13])


def test_backward_inside_a_transform():
    with pytest.raises(RuntimeError, match="inside a function that is being differentiated"):
        ag.grad(lambda x: (x * x).backward())(1.0)


# --- no_grad ---------------------------------------------------------------------------------------------


def recording():
    return (leaf(1.0) * 2).requires_grad


def alone(test):
    """Run the test in a context of its own, so that a state it fails to restore does not affect
    the next test.
    """

    @functools.wraps(test)
    def run():
        contextvars.copy_context().run(test)

    return run


@alone
def test_no_grad_restores_its_state_when_the_block_raises():
    """Catch an __exit__ that does nothing."""
    with pytest.raises(ZeroDivisionError), ag.no_grad():
        assert not recording()
        raise ZeroDivisionError
    assert recording()
    with ag.no_grad():
        with pytest.raises(KeyboardInterrupt), ag.no_grad():
            raise KeyboardInterrupt
        assert not recording()
    assert recording()


@alone
def test_one_no_grad_object_can_be_entered_twice():
    """Catch a single context token stored on the object."""
    block = ag.no_grad()
    with block:
        with block:
            assert not recording()
        assert not recording()
    assert recording()
    with block:
        assert not recording()
    assert recording()


@alone
def test_no_grad_affects_only_levels_opened_before_it():
    with ag.no_grad():
        assert ag.grad(lambda x: x**3)(2.0) == 12
        assert ag.grad(ag.grad(lambda x: x**3))(2.0) == 12
        assert ag.jvp(lambda x: x**3, (2.0,), (1.0,))[1] == 12

    def f(x):
        with ag.no_grad():
            y = x * x
        return x * y

    assert ag.grad(f)(3.0) == 9
    assert ag.jvp(f, (3.0,), (1.0,))[1] == 9

    def g(x):
        with ag.no_grad():
            slope = ag.grad(lambda y: y * y)(x)  # a constant to the outer grad
        return slope * x

    assert ag.grad(g)(3.0) == 6


@alone
def test_no_grad_is_per_thread():
    """Catch a plain module variable for the state."""
    seen, inside, leave = [], threading.Event(), threading.Event()

    def blocked():
        with ag.no_grad():
            inside.set()
            leave.wait(10)
            seen.append(recording())

    thread = threading.Thread(target=blocked)
    thread.start()
    inside.wait(10)
    seen.append(recording())
    leave.set()
    thread.join()
    assert seen == [True, False] and recording()


@alone
def test_no_grad_before_a_function():
    @ag.no_grad()
    def evaluate(x, deeper=True):
        """Said."""
        assert not recording() and (not deeper or evaluate(x, deeper=False) is not None)
        return x * 2

    x = leaf(1.0)
    assert not evaluate(x).requires_grad and recording()
    assert evaluate.__name__ == "evaluate" and evaluate.__doc__ == "Said."

    @ag.no_grad()
    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert recording()

    def generator():
        yield x * 2

    with pytest.raises(TypeError, match="no_grad.*with"):
        ag.no_grad()(generator)  # the body of a generator runs after the call, so it would record


@alone
def test_one_no_grad_object_in_two_threads():
    """Catch thread A leaving the block of thread B and B leaving that of A, which disables
    recording in both for good.
    """
    block, inside, leave, seen = ag.no_grad(), threading.Event(), threading.Event(), []

    def other():
        with block:
            inside.set()
            leave.wait(10)
            seen.append(recording())
        seen.append(recording())

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    with block:
        leave.set()
        thread.join()
        seen.append(recording())
    assert [*seen, recording()] == [False, True, False, True]


# --- Threads ---------------------------------------------------------------------------------------------


def test_threads_compute_gradients_concurrently():
    """Catch a ledger that is a module variable."""
    wrong, start = [], threading.Barrier(4)

    def work(seed):
        rng = np.random.default_rng(seed)
        start.wait(10)
        for k in range(60):
            x, c = leaf(rng.normal(size=4)), rng.normal(size=4)
            if k % 3:
                ((x * c).tanh() * x).sum().backward()
                t = np.tanh(x.data * c)
                expected, got = t + x.data * c * (1 - t * t), x.grad
            else:
                with ag.no_grad():
                    got, expected = ag.hvp(lambda x: ag.sum(x * x * x), x.data, c), 6 * x.data * c
            if not np.allclose(got, expected, rtol=1e-12):
                wrong.append((seed, k))
            x.data -= 0.1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


# --- Memory ----------------------------------------------------------------------------------------------


def test_a_graph_is_freed_without_the_cyclic_collector():
    """Catch a node that holds a closure over itself."""
    gc.collect()
    gc.disable()
    try:
        x = leaf(np.ones(10))
        h = (x * 2).tanh()
        y = ag.concatenate([h, h[::2]]).sum()
        y.backward()
        watched = [weakref.ref(h), weakref.ref(y), weakref.ref(h.inputs[0])]
        del h, y
        assert [ref() for ref in watched] == [None] * 3

        def f(x):
            z = (x * x).sum()
            watched.append(weakref.ref(z))
            return z

        ag.grad(f)(np.ones(3))
        ag.hvp(f, np.ones(3), np.ones(3))
        value, pull = ag.vjp(f, np.ones(3))
        pull(1.0)
        del pull
        assert [ref() for ref in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_a_view_made_under_no_grad_does_not_keep_the_graph():
    gc.collect()
    gc.disable()
    try:
        h = (leaf([1.0, 2.0]) * 2).tanh()
        inner = weakref.ref(h.inputs[0])
        with ag.no_grad():
            v = h[0:1]
        del h
        assert inner() is None and v.shape == (1,)
    finally:
        gc.enable()


def test_a_failed_pass_frees_its_graph_too():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0)
        y = x * x
        x.data = 2.0
        with pytest.raises(RuntimeError):
            y.backward()
        ref = weakref.ref(y)
        del y
        assert ref() is None
    finally:
        gc.enable()


# --- Ownership -------------------------------------------------------------------------------------------


def test_a_tensor_to_be_updated_owns_its_array_and_a_constant_shares():
    """Catch a data setter that does not copy."""
    raw = np.ones(3)
    t = Tensor(raw, requires_grad=True)
    t.data -= 1
    np.testing.assert_array_equal(raw, 1)
    raw[:] = 7
    np.testing.assert_array_equal(t.data, 0)
    late = Tensor(raw)
    late.requires_grad = True
    late.data -= 1
    np.testing.assert_array_equal(raw, 7)
    new = np.ones(3)
    t.data = new
    t.data -= 1
    np.testing.assert_array_equal(new, 1)
    assert np.shares_memory(Tensor(raw).data, raw)


@pytest.mark.parametrize(
    "raw",
    [
        np.broadcast_to(1.0, (3,)),
        np.arange(12.0)[::-4],
        np.asfortranarray(np.ones((2, 2))),
        np.ones((2, 2)).T,
    ],
    ids=["broadcast", "strided", "fortran", "transposed"],
)
def test_any_layout_may_require_a_gradient(raw):
    raw = raw.view()
    raw.flags.writeable = False
    t = Tensor(raw, requires_grad=True)
    before = raw.copy()
    (t * t).sum().backward()
    np.testing.assert_array_equal(t.grad, 2 * before)
    t.data -= np.arange(float(t.size)).reshape(t.shape)
    np.testing.assert_array_equal(t.data, before - np.arange(float(t.size)).reshape(t.shape))
    np.testing.assert_array_equal(raw, before)


PASSES_G_ON = [
    lambda x: x + 0.0,
    lambda x: x.reshape(-1).reshape(x.shape),
    lambda x: x.T.T,
    lambda x: +x,
    lambda x: x[:],
    lambda x: ag.concatenate([x]),
    lambda x: x.squeeze(),
    lambda x: x.astype(float),
    lambda x: x.broadcast_to(x.shape),
    lambda x: 0.0 + x - 0.0,
]


@pytest.mark.parametrize("f", PASSES_G_ON)
def test_gradients_share_no_memory(f):
    """A gradient shares no memory with the seed, another leaf, an intermediate value or the next
    pass. Catches a missing copy for leaves.
    """
    seed, a, b = np.ones(3), leaf([1.0, 2, 3]), leaf([1.0, 2, 3])
    h = f(a)
    h.retain_grad()
    z = h + f(b)
    z.retain_grad()
    z.backward(seed)
    for t in {id(t): t for t in (a, b, h, z)}.values():
        np.testing.assert_array_equal([t.grad for t in (a, b, h, z)], 1)
        t.grad[:] = 9
        np.testing.assert_array_equal(seed, 1)
        assert sum(t.grad[0] == 9 for t in {id(t): t for t in (a, b, h, z)}.values()) == 1
        t.grad[:] = 1
    kept = b.grad
    z.backward(seed)
    np.testing.assert_array_equal(kept, 1)


@pytest.mark.parametrize("f", PASSES_G_ON)
def test_transforms_return_arrays_that_share_no_memory(f):
    x, y, seed = np.ones(3), np.ones(3), np.ones(3)
    value, pull = ag.vjp(lambda x, y: f(x) + y, x, y)
    first = pull(seed)
    value[:] = 7
    first[0][:] = 7
    np.testing.assert_array_equal([x, y, seed, first[1], *pull(seed)], 1)
    value, pull = ag.vjp(f, x)
    value[:] = 7
    pull(seed)[0][:] = 7
    value, tangent = ag.jvp(f, (x,), (seed,))
    value[:], tangent[:] = 7, 7
    np.testing.assert_array_equal([x, seed, pull(seed)[0]], 1)


def test_one_array_from_two_rules_becomes_two_gradients():
    made = {}

    def first(g, z, x, y):
        made["array"] = g * 2
        return made["array"]

    twin = ag.elementwise(
        lambda x, y: 2 * (x + y), first, lambda g, z, x, y: made["array"], name="twin"
    )
    a, b = leaf([1.0, 2]), leaf([1.0, 2])
    twin(a, b).sum().backward()
    a.grad += 100
    np.testing.assert_array_equal(b.grad, 2)
    _, pull = ag.vjp(twin, np.ones(2), np.ones(2))
    ga, gb = pull(np.ones(2))
    ga += 100
    np.testing.assert_array_equal(gb, 2)


KEPT, BUFFER = np.ones(3), np.empty(3)
RETURNS = {  # rules of np.exp that return an array which is used elsewhere
    "the value": lambda g, z, x: z,
    "a view of the value": lambda g, z, x: z[::-1],
    "the input": lambda g, z, x: x,
    "the upstream gradient": lambda g, z, x: g,
    "an array that it keeps": lambda g, z, x: KEPT,
    "an array that it writes into again": lambda g, z, x: np.multiply(g, z, out=BUFFER),
}


def alone(*arrays):
    """Return True if no two of the arrays share memory."""
    return not any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[i + 1 :])


@pytest.mark.parametrize("rule", RETURNS.values(), ids=RETURNS)
@pytest.mark.parametrize("wrap", [lambda f: f, ag.checkpoint])
def test_gradients_share_no_memory_with_what_a_rule_returned(rule, wrap):
    f = wrap(ag.elementwise(np.exp, rule, name="f"))
    a, b, seed = leaf([0.0, 1, 2]), leaf([3.0, 4, 5]), np.ones(3)
    h = a * 1
    h.retain_grad()
    z = f(h) + f(b)
    z.retain_grad()
    z.backward(seed)
    first = [t.grad for t in (a, b, h, z)]
    for t in (a, b, h, z):
        t.grad = None
    z.backward(seed)
    second = [t.grad for t in (a, b, h, z)]
    np.testing.assert_array_equal(first, second)
    assert alone(*first, *second, *(t.data for t in (a, b, h, z)), seed, KEPT, BUFFER)


@pytest.mark.parametrize("rule", RETURNS.values(), ids=RETURNS)
def test_transforms_share_no_memory_with_what_a_rule_returned(rule):
    f = ag.elementwise(np.exp, rule, name="f")
    x, y, seed, results = np.zeros(3), np.ones(3), np.ones(3), []

    def both(x, y):
        results.append(f(x) + f(y))
        return results[-1]

    value, pull = ag.vjp(both, x, y)
    first, second = pull(seed), pull(seed)
    np.testing.assert_array_equal(first, second)
    gradients = ag.grad(lambda *xs: both(*xs).sum(), (0, 1))(x, y)
    np.testing.assert_array_equal(gradients, first)
    _, tangent = ag.jvp(f, (x,), (seed,))
    _, again = ag.jvp(f, (x,), (seed,))
    assert alone(
        *first, *second, *gradients, tangent, again, value, x, seed, KEPT, BUFFER, results[0].data
    )


def test_a_number_from_a_rule_shares_no_memory():
    kept = np.array(2.0)
    double = ag.elementwise(lambda x: 2 * x, lambda g, z, x: kept, name="double")
    a = leaf(1.0)
    double(a).backward()
    a.grad[...] = 9
    assert kept == 2


def test_a_rule_may_write_each_result_into_the_same_array():
    """Catch a result that is kept as it is: the next call of the rule overwrites it."""
    buffer = np.empty(2)

    def rule(g, z, *xs):
        return np.multiply(g, z, out=buffer)

    def twice(row):
        return lambda x: row(x) + row(x + 1)

    exp = ag.elementwise(np.exp, rule, name="exp")
    x = np.array([0.0, 1.0])
    expected = np.exp(x) + np.exp(x + 1)
    a, b = leaf(x), leaf(x + 1)
    (exp(a) + exp(b)).sum().backward()
    np.testing.assert_allclose([a.grad, b.grad], np.exp([x, x + 1]))
    np.testing.assert_allclose(ag.grad(lambda x: twice(exp)(x).sum())(x), expected)
    push = ag.primitive(np.exp, [rule], [rule], name="push")
    for row in (exp, push):
        np.testing.assert_allclose(ag.jvp(twice(row), (x,), (np.ones(2),))[1], expected)
    product = ag.elementwise(
        np.multiply,
        lambda g, z, x, y: np.multiply(g, y, out=buffer),
        lambda g, z, x, y: np.multiply(g, x, out=buffer),
        name="product",
    )
    np.testing.assert_allclose(ag.jvp(product, (x, x + 1), (x, x + 1))[1], 2 * x * (x + 1))


def test_a_push_may_write_into_its_tangent():
    """The tangent of y goes to both calls, so one may not change what the other gets."""

    def rule(g, z, x):
        g *= z
        return g

    def twice(row, y):
        return row(y) + row(y)

    for exp in (
        ag.elementwise(np.exp, rule, name="exp"),
        ag.primitive(np.exp, [rule], [rule], name="exp"),
    ):
        _, tangent = ag.jvp(functools.partial(twice, exp), (np.ones(2),), (np.full(2, 2.0),))
        np.testing.assert_allclose(tangent, 4 * np.exp([1, 1]))


def test_one_rule_of_the_user_is_enough_to_copy():
    """The row is the user's also if only its second rule is, or if a rule has no module."""
    rules = (ag.add.rules[0], lambda g, z, x, y: KEPT)
    a, b = leaf([1.0, 2, 3]), leaf([1.0, 2, 3])
    ag.elementwise(np.add, *rules, name="mixed")(a, b).sum().backward()
    assert alone(b.grad, KEPT)

    def rule(g, z, *xs):
        return KEPT

    rule.__module__ = None
    ag.elementwise(np.exp, rule, name="f")(c := leaf([1.0, 2, 3])).sum().backward()
    assert alone(c.grad, KEPT)
    joined = ag.linear(lambda *xs: sum(xs), each=lambda i: rule, name="joined")
    a.grad = b.grad = None
    joined(a, b).sum().backward()
    assert alone(a.grad, b.grad, KEPT)
    assert not any(row.user_defined for row in ops.ROWS.values())


@pytest.mark.parametrize("wanted", [True, False])
def test_requires_grad_cannot_be_set_inside_a_transform(wanted):
    """Without the error, a frozen argument would get the gradient 0."""

    def f(x):
        x.requires_grad = wanted
        return x * x

    for transformed in (ag.grad(f), ag.compile(f)):
        with pytest.raises(
            (RuntimeError, TypeError), match="requires_grad: set it before you call"
        ):
            transformed(np.array(3.0))


# --- A pass that fails -----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_failing_pass_leaves_every_grad_untouched(error):
    """Catch gradients that are added to .grad during the pass."""
    failing = []

    def rule(g, z, x):
        if failing:
            raise error("in a rule")
        return g

    op = ag.elementwise(lambda x: x * 1.0, rule, name="op")
    a, b = leaf([1.0, 2]), leaf([1.0, 2])
    b.grad = np.array([5.0, 5.0])
    h = op(a)
    c = leaf([1.0, 2])  # newer than h, so visited before the rule fails
    z = (h + b * b).sum() + (h * 0 + c).sum()
    failing.append(True)
    for _ in range(2):
        with pytest.raises(error, match="in a rule"):
            z.backward()
        assert a.grad is None and c.grad is None
        np.testing.assert_array_equal(b.grad, 5)
    failing.clear()
    z.backward()
    np.testing.assert_array_equal(a.grad, 1)
    np.testing.assert_array_equal(b.grad, [7, 9])


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_pass_leaves_every_grad_untouched_wherever_it_is_stopped(error):
    """The pass is stopped at each line of the engine in turn, except for the last lines of
    `backward`, which assign the gradients.
    """
    leaves = [leaf([1.0, 2.0]) for _ in range(4)]
    leaves[1].grad = np.array([5.0, 5.0])
    h = leaves[0] * leaves[1]
    h.retain_grad()
    y = (
        ag.checkpoint(lambda h: ag.tanh(h * leaves[2]))(h) + ag.concatenate([leaves[3][:1], h[1:]])
    ).sum()
    tensors, runs = [*leaves, h], 0
    before = [t.grad if t.grad is None else t.grad.copy() for t in tensors]
    while True:
        lines = 0

        def stop(frame, event, arg):
            nonlocal lines
            if "autograd_lib" not in frame.f_code.co_filename:
                return None
            if frame.f_code is Tensor.backward.__code__ and "grads" in frame.f_locals:
                return None  # the pass is over
            lines += event in ("line", "return")
            if event in ("line", "return") and lines > runs:
                sys.settrace(None)
                raise error
            return stop

        sys.settrace(stop)
        try:
            y.backward()
            break
        except error:
            pass
        finally:
            sys.settrace(None)
        runs += 1
        for t, g in zip(tensors, before):
            assert t.grad is g or np.array_equal(t.grad, g)
    assert runs > 100 and all(t.grad is not None for t in tensors)


def test_a_grad_of_the_wrong_shape_is_found_before_any_is_written():
    """Catch other gradients being written first, and a .grad that broadcasts changing its
    shape with no error.
    """
    for wrong in (np.ones(5), np.ones((2, 3)), np.ones(1), Tensor([1.0, 1, 1]), "ones"):
        a, b, c = (leaf([1.0, 2, 3], name=name) for name in "abc")
        b.grad = wrong
        with pytest.raises((ValueError, TypeError), match="backward: .*the .grad"):
            (a * b * c).sum().backward()
        assert a.grad is None and b.grad is wrong and c.grad is None
    a = leaf([1.0, 2, 3])
    a.grad = [1, 1, 1]
    (a * 2).sum().backward()
    assert a.grad.dtype == np.float64
    np.testing.assert_array_equal(a.grad, 3)


def test_a_rule_of_the_wrong_shape_is_named():
    for wrong in (np.ones(3), np.ones(()), np.ones((2, 1, 3))):
        op = ag.primitive(
            lambda x: x * 1.0, [lambda g, z, x, wrong=wrong: wrong], [None], name="op"
        )
        x = leaf([1.0, 2.0])
        with pytest.raises(
            ValueError, match=r"op: the rule of argument 0 returned shape .* \(2,\)"
        ):
            op(x).sum().backward()


def test_rules_may_compute_gradients_of_their_own():
    """A rule may itself run a backward pass and a transform."""

    def rule(g, z, x):
        t = leaf(x)
        (t * t * t).sum().backward()
        assert np.allclose(ag.grad(lambda y: ag.sum(y * y * y))(x), t.grad)
        return g * t.grad

    cube = ag.elementwise(lambda x: x**3, rule, name="cube")
    x = leaf([1.0, 2.0])
    (cube(x) * cube(x)).sum().backward()
    np.testing.assert_allclose(x.grad, 6 * x.data**5)


# --- retain_grad, detach, item, repr ---------------------------------------------------------------------


def test_retain_grad_keeps_an_intermediates_gradient():
    x = leaf([1.0, 2.0])
    h = x * 3
    h.retain_grad()
    y = (h * h).sum()
    y.backward()
    np.testing.assert_array_equal(h.grad, [6, 12])
    y.backward()
    np.testing.assert_array_equal(h.grad, [12, 24])
    np.testing.assert_array_equal(
        x.grad, [36, 72]
    )  # twice 18 is 36: the gradient kept from the first pass is not sent again
    h.zero_grad()
    assert h.grad is None


def test_detach_is_a_constant_with_a_value_of_its_own():
    x = leaf([1.0, 2.0])
    d = x.detach()
    assert not d.requires_grad and d.op is None
    y = (x * d).sum()
    x.data -= 1
    np.testing.assert_array_equal(d.data, [1, 2])
    with pytest.raises(RuntimeError):
        y.backward()
    assert ag.grad(lambda x: x * x.detach())(3.0) == 3
    assert ag.jvp(lambda x: x * x.detach(), (3.0,), (1.0,))[1] == 3


def test_requires_grad_is_set_on_leaves_only():
    y = leaf(1.0) * 2
    with pytest.raises(RuntimeError, match="detach.*multiply"):
        y.requires_grad = False
    t = Tensor(2.0)
    t.requires_grad = True
    (t * t).backward()
    assert t.grad == 4
    t.requires_grad = False
    assert not (t * t).requires_grad


def test_item_and_conversions():
    assert leaf([[3.0]]).item() == 3.0 and type(leaf(3.0).item()) is float
    with pytest.raises(ValueError, match=r"\(2,\)"):
        leaf([1.0, 2.0]).item()
    for convert in (
        np.array,
        np.asarray,
        lambda t: np.array([t, t]),
        lambda t: Tensor([t, t]),
        lambda t: np.ones(2).dot(t),
    ):
        with pytest.raises(TypeError):
            convert(leaf([1.0, 2.0]))
    with pytest.raises(TypeError, match="expected an array, got a Tensor"):
        Tensor(leaf(1.0))
    np.testing.assert_array_equal(np.asarray(Tensor([1.0, 2.0])), [1, 2])


def test_repr_shows_value_and_how_it_was_made():
    x = Tensor([1.0, 2.0], requires_grad=True, name="x")
    assert repr(x) == "Tensor([1., 2.], name='x', requires_grad=True)"
    assert repr(x * 2) == "Tensor([2., 4.], op=multiply)"
    assert repr(Tensor(np.float32(1.5))) == "Tensor(1.5, dtype=float32)"
    shown = []
    ag.grad(lambda x: (shown.append(repr(x)), x * x)[1])(3.0)
    assert "3.0" in shown[0]


def test_a_result_names_its_op():
    x, c = leaf([[1.0, 2.0]]), np.ones((1, 2))
    y = x + c
    assert y.op is ag.add and y.op.name == "add" and y.op.kind == "elementwise"
    assert y.inputs[0] is x and y.inputs[1] is c
    z = y.sum(axis=0)
    assert z.params == {"axis": 0} and z.op.kind == "linear"
    assert x.op is None and x.inputs == () and x.params == {}
    assert (z.shape, z.ndim, z.size, z.dtype) == ((2,), 1, 2, np.float64)


def test_the_generator_is_backward():
    """The steppers of the course rely on these values: node, g, gradient of each input. Leaves
    come last and have no inputs.
    """
    a, c = leaf([1.0, 2.0], name="a"), Tensor([3.0, 4.0])
    y = a * c
    z = y.sum()
    visits = list(tape.backward_pass(z, np.ones(())))
    assert [node for node, _, _ in visits] == [z, y, a]
    assert visits[1][2][1] is None
    np.testing.assert_array_equal(visits[1][2][0], [3, 4])
    np.testing.assert_array_equal(visits[2][1], [3, 4])
    assert all(len(grads) == len(node.inputs) for node, _, grads in visits)
    assert a.grad is None  # only backward() assigns .grad
    partly = tape.backward_pass(z, np.ones(()))
    next(partly)
    partly.close()
    z.backward()
    np.testing.assert_array_equal(a.grad, [3, 4])


def test_input_gradients_of_one_node():
    """Check the functions from which pictures compute the gradients of a node's inputs."""
    a, b = leaf([1.0, 2.0]), Tensor(np.float32([[3.0], [4.0]]), requires_grad=True)
    y = a * b
    g = np.array([[1.0, 10.0], [100.0, 1000.0]])
    to_a, to_b = tape.input_gradients(y, g)
    np.testing.assert_array_equal(to_a, [403, 4030])
    np.testing.assert_array_equal(to_b, [[21], [2100]])
    assert to_b.dtype == np.float32
    assert [i for i, _ in y.edges] == [0, 1] and y.number > b.number > a.number
    raw = y.op.rule(1)(g, y.data, *y.values, **y.params)
    assert raw.shape == (2, 2)
    np.testing.assert_array_equal(tape.match_input(raw, y, 1), to_b)
    np.testing.assert_array_equal(tape.unbroadcast(raw, (2, 1)), to_b)
    assert tape.input_gradients(a * 2.0, g[0])[1] is None and tape.input_gradients(a, g[0]) == []
    kept = ag.checkpoint(lambda a: a * b)(a)
    assert (
        y.recompute is None
        and kept.recompute
        and kept.edges == ()
        and tape.input_gradients(kept, g) == [None, None]
    )


def test_a_row_lists_the_arguments_of_its_rules():
    rows = ag.ops.ROWS
    assert (rows["add"].arity, rows["add"].input_names, rows["add"].keywords) == (2, ("x", "y"), ())
    assert (rows["sum"].input_names, rows["sum"].keywords) == (("x",), ("axis", "keepdims"))
    assert rows["where"].rule(0) is None and rows["where"].input_names == ("c", "x", "y")
    joined = rows["concatenate"]
    assert (joined.arity, joined.input_names, joined.keywords) == (
        None,
        ("*xs",),
        ("axis", "starts"),
    ) and joined.rule(7)


# --- Copies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies_of_leaves_are_other_tensors(duplicate):
    """Catch the default copy, which keeps the creation number, so that the ledger takes both
    Tensors for one.
    """
    x = Tensor(np.array([1.0, 2.0]), requires_grad=True, name="x")
    y = duplicate(x)
    assert (y.name, y.requires_grad, y.grad) == ("x", True, None)
    (x * y * y).sum().backward()
    np.testing.assert_array_equal(x.grad, [1, 4])
    np.testing.assert_array_equal(y.grad, [2, 8])
    y.data -= 1
    np.testing.assert_array_equal(x.data, [1, 2])
    constant = duplicate(Tensor(3))
    assert constant.item() == 3 and not constant.requires_grad


def test_keywords_are_not_shared_between_tensors():
    t = leaf(1.0)
    try:
        t.params["axis"] = 0
    except TypeError:
        pass
    try:
        assert leaf(1.0).params == {} and (leaf(1.0) * 2).params == {}
    finally:
        Tensor.params and Tensor.params.clear()


def test_results_cannot_be_copied_or_pickled():
    y = leaf(1.0) * 2
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="multiply.*detach"):
            duplicate(y)
    assert copy.deepcopy(y.detach()).item() == 2


def test_a_module_is_deep_copied_with_its_own_parameters():
    model = ag.nn.MLP([2, 3, 1], rng=0)
    twin = copy.deepcopy(model)
    twin(np.ones((1, 2))).sum().backward()
    assert all(p.grad is None for p in model.parameters())
    assert all(p.grad is not None for p in twin.parameters())


# --- Rows of one's own -----------------------------------------------------------------------------------


def test_a_row_whose_rule_takes_too_few_arguments_is_refused_at_once():
    with pytest.raises(TypeError, match="square.*rule 0.*g, z and 1 input"):
        ag.elementwise(np.square, lambda g, x: 2 * g * x, name="square")


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda f, r: ag.primitive(f, [r], None), "pushes to be functions"),
        (lambda f, r: ag.primitive(f, [r], []), "length 1 .* 0 "),
        (lambda f, r: ag.primitive(f, [r], [r, r]), "length 1 .* 2 "),
        (lambda f, r: ag.primitive(f, [None, r], [r, r]), "and None where the rule is None"),
        (lambda f, r: ag.primitive(f, r, r), "rules to be functions"),
        (lambda f, r: ag.elementwise(f)(1.0), "expected one rule for each input"),
        (lambda f, r: ag.elementwise(f, [r, r]), "rules to be functions"),
        (lambda f, r: ag.linear(f, 3.0), "rules to be functions"),
    ],
)
def test_rules_that_do_not_fit_are_refused_at_once(make, words):
    """Regression: the errors came late, were hard to understand, or were missing."""

    def op(x):
        return x * 1.0

    with pytest.raises(TypeError, match=f"op: .*{words}"):
        make(op, lambda g, z, x: g)


def test_a_missing_push_is_an_error():
    """Regression: without a push, the tangent was 0, with no error."""
    op = ag.primitive(lambda x: x * 2.0, [lambda g, z, x: g * 2], [None], name="op")
    assert ag.grad(op)(1.0) == 2
    with pytest.raises(TypeError, match="op: argument 0 has no push.*jvp"):
        ag.jvp(op, (1.0,), (1.0,))
    chosen = ag.primitive(
        lambda c, x: c * x,
        [None, lambda g, z, c, x: g * c],
        [None, lambda t, z, c, x: t * c],
        name="chosen",
    )
    assert ag.jvp(chosen, (3.0, 1.0), (1.0, 1.0))[1] == 3


def test_one_rule_for_two_inputs_is_a_clear_error():
    """Regression: the message was "Expected an array, got a Tensor"."""
    op = ag.elementwise(lambda x, y: x * y, lambda g, z, x, y: g * y, name="op")
    with pytest.raises(TypeError, match="op: expected a constant as keyword y.*only x can"):
        op(leaf(1.0), leaf(2.0))
    with pytest.raises(TypeError, match="op: expected a constant as keyword y"):
        ag.grad(lambda y: op(leaf(1.0), y))(2.0)
    assert op(leaf(1.0), 2.0).item() == 2  # a number is allowed as the value of a keyword


def test_a_row_returns_one_array():
    """Regression: a tuple was stacked into one array, with no error."""
    op = ag.elementwise(lambda x: (x, 2 * x), lambda g, z, x: g, name="op")
    with pytest.raises(TypeError, match="op: expected one array.*tuple of 2"):
        op(leaf(1.0))


@pytest.mark.parametrize(
    "row, xs, slopes",
    [
        (ag.elementwise(math.sin, lambda g, z, x: g * math.cos(x)), [1.0], [math.cos(1)]),
        (
            ag.elementwise(
                math.atan2,
                lambda g, z, x, y: g * y / (x * x + y * y),
                lambda g, z, x, y: -g * x / (x * x + y * y),
            ),
            [1.0, 2.0],
            [0.4, -0.2],
        ),
        (
            ag.elementwise(lambda x: 1 if x > 0 else 0, lambda g, z, x: g * 0, name="step"),
            [1.0],
            [0],
        ),
        (
            ag.elementwise(lambda x: [1.0, 2.0], lambda g, z, x: g * x, name="listed"),
            [[3.0, 4.0]],
            [[3, 4]],
        ),
    ],
    ids=["sin", "atan2", "step", "list"],
)
def test_a_row_may_return_python_numbers(row, xs, slopes):
    """Regression: a list was stored as it is, and list * 2 does not double its numbers."""
    ts = [leaf(x) for x in xs]
    z = row(*ts)
    assert z.shape == ts[0].shape and isinstance(z.data, np.ndarray)
    twice = z * 2.0
    np.testing.assert_array_equal(twice.data, 2 * np.asarray(row.function(*xs)))
    ag.sum(twice).backward()
    for t, slope in zip(ts, slopes, strict=True):
        np.testing.assert_allclose(t.grad, 2 * np.asarray(slope))


def test_a_row_that_returns_no_number_is_named():
    for function in (lambda x: None, lambda x: "a", lambda x: x + 1j):
        with pytest.raises(TypeError, match="strange"):
            z = ag.elementwise(function, lambda g, z, x: g, name="strange")(leaf([1.0, 2.0]))
            z.backward(np.ones(2))


def test_a_new_row_has_every_order_and_mode():
    cube = ag.elementwise(lambda x: x * x * x, lambda g, z, x: 3 * g * x * x, name="cube")
    assert ag.grad(ag.grad(ag.grad(cube)))(2.0) == 6
    assert ag.hvp(cube, 2.0, 1.0) == 12
    assert ag.jvp(cube, (2.0,), (1.0,))[1] == 12


# --- Silent wrong numbers that are right or refused now ---------------------------------------------------


@pytest.mark.parametrize(
    "apply", [lambda m, t: m * t, lambda m, t: m - t, lambda m, t: m**t, lambda m, t: m / t]
)
def test_a_masked_array_on_the_left_is_refused(apply):
    """numpy.ma reads an attribute `_data` of its operands, so the gradient would be lost."""
    masked = np.ma.array([3.0, 4.0], mask=[False, True])
    with pytest.raises(TypeError, match="gradient would be lost"):
        apply(masked, Tensor([1.0, 2.0], requires_grad=True))
    with pytest.raises(TypeError, match="gradient would be lost"):
        ag.grad(lambda x: apply(masked, x).sum())(np.ones(2))


def test_a_rule_of_the_user_may_write_into_its_g():
    """Two nodes receive the same g from a sum. Regression: a rule that wrote into g changed the
    gradient of the other node.
    """

    def rule(g, z, x):
        g[x <= 0] = 0
        return g

    relu = ag.elementwise(lambda x: np.maximum(x, 0), rule, name="relu")
    x = np.array([-1.0, 2.0, -3.0])
    found = ag.grad(lambda x: ((relu(x) + x) ** 2).sum())(x)
    np.testing.assert_array_equal(found, [-2.0, 16.0, -6.0])
    np.testing.assert_array_equal(ag.grad(lambda x: relu(x).sum())(x), [0.0, 1.0, 0.0])
    both = ag.elementwise(
        lambda x, y: x * y, lambda g, z, x, y: rule(g, z, x) * y, lambda g, z, x, y: g * x
    )
    found = ag.grad(lambda x, y: both(x, y).sum(), (0, 1))(x, np.ones(3))
    np.testing.assert_array_equal(found, [[0.0, 1.0, 0.0], x])
    seed = np.ones(3)
    relu(Tensor(x, requires_grad=True)).backward(seed)
    assert seed.tolist() == [1, 1, 1]


def test_backward_names_an_open_no_grad_block():
    with ag.no_grad(), pytest.raises(RuntimeError, match="no_grad block is open .*Ctrl-C"):
        (Tensor(1.0, requires_grad=True) * 2).backward()
    with pytest.raises(RuntimeError, match="requires_grad=True"):
        (Tensor(1.0) * 2).backward()


def test_interleaved_generators_leave_no_block_open():
    def steps():
        with ag.no_grad():
            yield

    first, second = steps(), steps()
    next(first), next(second)
    first.close()
    assert not levels.is_recording()
    second.close()
    assert levels.is_recording()


def test_a_block_that_ends_in_another_thread_is_a_clear_error():
    block, errors = ag.no_grad(), []

    def leave():
        try:
            block.__exit__()
        except RuntimeError as error:
            errors.append(str(error))

    with block:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert "another thread" in errors[0] and levels.is_recording()


def test_no_grad_without_parentheses_is_a_clear_error():
    with pytest.raises(TypeError, match="brackets"):
        with ag.no_grad:
            pass
    with pytest.raises(TypeError, match="brackets"):

        @ag.no_grad
        def f():
            pass

    assert levels.is_recording()


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: ag.hvp(f, (x,), (x,)),
        lambda f, x: ag.vjp(f, [x, x]),
        lambda f, x: ag.grad(f)((x, x)),
        lambda f, x: ag.jvp(f, ([x, x],), ([x, x],)),
    ],
)
def test_a_tuple_of_arrays_is_not_taken_for_one_array(call):
    with pytest.raises(TypeError, match="expected one array, got a (tuple|list)"):
        call(lambda x: (x.sum(axis=0) ** 3).sum(), np.array([1.0, 2.0, 3.0]))


def test_versions_are_dropped_with_their_array():
    before = len(tape._values._array_changes)
    for _ in range(100):
        t = Tensor(np.ones(3), requires_grad=True)
        t.data *= 2
    del t
    assert len(tape._values._array_changes) == before


@pytest.mark.parametrize("keyword", ["retain_graph", "create_graph", "gradient"])
def test_keywords_of_pytorch_are_explained(keyword):
    x = Tensor(1.0, requires_grad=True)
    with pytest.raises(TypeError, match=f"backward.*{keyword}.*(leave|grad here).*its arguments"):
        (x * x).backward(**{keyword: None})
    with pytest.raises(TypeError, match="zero_grad.*set_to_none.*leave"):
        x.zero_grad(set_to_none=True)
