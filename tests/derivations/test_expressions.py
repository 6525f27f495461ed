"""Formulas are parsed as people type them, and printed so that they parse to the same formula."""

import pytest

from autograd_course.derivations.expressions import (
    LONGEST,
    MOST_NESTED,
    MOST_SUMS,
    MOST_SYMBOLS,
    Unreadable,
    as_tex,
    as_text,
    parse,
)

LETTERS = ["x", "y", "z", "dx", "dy", "g", "A", "B"]
MATRICES = ["A", "B"]


@pytest.mark.parametrize(
    "typed, text",
    [
        ("yz", "y * z"),
        ("y dx", "y * dx"),
        ("ydx", "y * dx"),
        ("2x", "2 * x"),
        ("x²", "x^2"),
        ("x**2", "x^2"),
        ("x⁴", "x^4"),
        ("x⁻¹²y", "x^(-12) * y"),
        ("x^{2}", "x^2"),
        ("x^{-(y + z)}", "x^(-(y + z))"),
        (r"\frac{x^{2}}{y}", "x^2 / y"),
        (r"\left(x + \dfrac{1}{\frac{x}{y}}\right)\,z", "(x + 1 / (x / y)) * z"),
        ("−x·y", "-x * y"),
        ("-z/y", "-z / y"),
        ("(-z)/y", "(-z) / y"),
        ("x (-y)", "x * (-y)"),
        ("-x^2", "-x^2"),
        ("e^-x", "e^(-x)"),
        ("np.exp(-x)", "exp(-x)"),
        ("tanh^2 x", "tanh(x)^2"),
        ("tanh(x)^2", "tanh(x)^2"),
        ("1-tanh(x)^2", "1 - tanh(x)^2"),
        ("√x", "sqrt(x)"),
        ("½x", "1 / 2 * x"),
        ("¾x", "3 / 4 * x"),
        ("ln x", "log(x)"),
        ("x - y - z", "x - y - z"),
        ("x - (y - z)", "x - (y - z)"),
        ("x/y/z", "x / y / z"),
        ("x/(y/z)", "x / (y / z)"),
        ("x^y^z", "x^(y^z)"),
        ("(x + y) z", "(x + y) * z"),
        ("g_ij", "g[i, j]"),
        ("g_{ij}", "g[i, j]"),
        ("g[i,j]", "g[i, j]"),
        ("Σ_j g_ij B_kj", "sum_j g[i, j] * B[k, j]"),
        ("(sum_j g_ij) B_kj", "(sum_j g[i, j]) * B[k, j]"),
        ("x (sum_j g_ij) y", "(x * sum_j g[i, j]) * y"),
        ("x sum_j g_ij", "x * sum_j g[i, j]"),
        ("sum(g[i,j] for j in range(4))", "sum_j g[i, j]"),
        ("A^T B", "A.T @ B"),
        ("Aᵀ·B", "A.T @ B"),
        ("A.T @ B", "A.T @ B"),
        ("A'B", "A.T @ B"),
        ("A^{T} B", "A.T @ B"),
        (r"A^{\top} B", "A.T @ B"),
        ("sum_i,j g_ij", "sum_i sum_j g[i, j]"),
        ("sum_i, j g_i,j", "sum_i sum_j g[i, j]"),
        ("np.transpose(A) @ B", "A.T @ B"),
        ("A.T[k,i]", "A[i, k]"),
        ("A * B", "A * B"),
        ("2 A", "2 * A"),
        ("e⁻ˣ", "e^(-x)"),
        ("x⁽ʸ⁺²⁾", "x^(y + 2)"),
        ("Aᵢₖ", "A[i, k]"),
        ("$x : y$.", "x / y"),
        ("𝑥（y）", "x * y"),
        ("A.T.dot(B)", "A.T @ B"),
        ("torch.matmul(A, B)", "A @ B"),
        ("A.transpose(0, 1)", "A.T"),
        ("x.pow(2)", "x^2"),
        (r"A^{\mathsf{T}} \times B", "A.T @ B"),
        (r"x_i\sum\limits_{j} g_{ij}", "x[i] * sum_j g[i, j]"),
        ("sum(g[i,j] A[i,k], i)", "sum_i g[i, j] * A[i, k]"),
        ("x sum(v)", "x * sum_m v[m]"),
        ("np.sum(v * g[j])", "sum_m v[m] * g[j]"),
        ("v.sum(axis=-1, keepdims=True)", "sum_m v[m]"),
    ],
)
def test_read_and_written(typed, text):
    tree = parse(typed, [*LETTERS, "v"], MATRICES, vectors=["v"])
    assert as_text(tree) == text
    assert parse(as_text(tree), [*LETTERS, "v"], MATRICES) == tree


@pytest.mark.parametrize(
    "typed, code",
    [("-e^-x", "-np.exp(-x)"), ("1 - tanh(x)^2", "1 - np.tanh(x)**2"), ("σ(x)", "ag.sigmoid(x)")],
)
def test_written_as_code(typed, code):
    assert as_text(parse(typed, LETTERS), code=True) == code


@pytest.mark.parametrize(
    "typed, tex",
    [
        ("(dx - z dy)/y", r"\frac{dx - z\,dy}{y}"),
        ("-z/y", r"-\frac{z}{y}"),
        ("1 - tanh(x)^2", r"1 - \tanh\left(x\right)^{2}"),
        ("(x + y)^2", r"\left(x + y\right)^{2}"),
        ("x - (y - z)", r"x - \left(y - z\right)"),
        ("A.T @ B", r"A^\top \cdot B"),
        ("sum_j g[i,j]", r"\sum_{j} g_{ij}"),
    ],
)
def test_drawn(typed, tex):
    assert as_tex(parse(typed, LETTERS, MATRICES)).replace(" ", "") == tex.replace(" ", "")


def test_a_product_without_a_sign_may_bind_tightly():
    assert as_text(parse("1/2x", LETTERS)) == "1 / 2 * x"
    assert as_text(parse("1/2x", LETTERS, tight=True)) == "1 / (2 * x)"


def test_an_exponent_may_be_read_without_its_brackets():
    for typed, narrow, wide in [
        ("y x^z-1", "y * x^z - 1", "y * x^(z - 1)"),
        ("x**2+1 y", "x^2 + 1 * y", "x^(2 + 1) * y"),
        ("e^-2x", "e^(-2) * x", "e^(-2 * x)"),
    ]:
        assert as_text(parse(typed, LETTERS)) == narrow
        assert as_text(parse(typed, LETTERS, wide=True)) == wide


@pytest.mark.parametrize(
    "typed, named",
    [
        ("", "empty"),
        ("-z/", "ends after “/”"),
        ("-(z/y", "“)”"),
        ("z = x", "right-hand side only"),
        ("dz/dx = 1", "right-hand side only"),
        ("w/y", "“w”"),
        ("sech(x)", "“sech”"),
        ("sum g[i,j]", "index"),
        ("x)", "“)”"),
        ("x}", "“}”"),
        ("{x)", "“}”"),
        ("sech(x)", "tanh"),
        ("g_", "index"),
        ("g[]", "index"),
        ("j", "is an index"),
        ("x[1 - y]", "Use round"),
        ("[x - y] / y", "Use round"),
        ("dq/dx x", "derivative"),
        ("∂z/∂x", "derivative"),
        ("x'", "derivative"),
        ("exp^(-x)", "exp(…)"),
        ("2 tanh * x", "tanh(…)"),
        ("sum_{i=1}^{2} x", "all values"),
        ("sum_i=1^2 x", "all values"),
        ("sum_{i≠j} x", "all values"),
        ("sum_(i!=j) x", "all values"),
        ("x_{i-1}", "“i-1” is not an index"),
        ("g[i, None]", "one letter"),
        ("g_{ij", "“}”"),
        ("np.einsum('ij->i', g)", "not with `einsum`"),
        ("grad_output / x", "Write g "),
        ("* x", "“*”"),
        ("x" * (LONGEST + 1), str(LONGEST)),
        ("x" * (MOST_SYMBOLS + 1), str(MOST_SYMBOLS)),
        ("sum_i " * (MOST_SUMS + 1) + "x", str(MOST_SUMS)),
        ("(" * MOST_NESTED + "x", "brackets"),
        ("-" * MOST_NESTED + "x", "brackets"),
    ],
)
def test_what_cannot_be_read_is_named(typed, named):
    with pytest.raises(Unreadable) as problem:
        parse(typed, LETTERS, indices=["i", "j"])
    assert named in str(problem.value)


def test_the_limits_admit_what_is_just_inside():
    inside = "(" * (MOST_NESTED - 1) + "x" + ")" * (MOST_NESTED - 1)
    assert parse(inside, LETTERS) == ("name", "x")
    with pytest.raises(Unreadable):
        parse(f"({inside})", LETTERS)
    assert parse("x" + " " * (LONGEST - 1), LETTERS) == ("name", "x")
    assert parse("x" * MOST_SYMBOLS, LETTERS)[0] == "*"
    assert parse("sum_i " * MOST_SUMS + "g_ii", LETTERS)[0] == "sum"
