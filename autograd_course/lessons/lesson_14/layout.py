"""Convert images and kernels to the matrices whose product is a convolution, and back, for lesson 14."""


def as_columns(y):
    """Return kernels of shape (K, C, kh, kw) as a matrix of shape (kh·kw·C, K), with a column for each kernel.

    The entries of a column are in the same order as the entries of a row that unfold returns.
    """
    return y.transpose(2, 3, 1, 0).reshape(-1, len(y))


def as_rows(g):
    """Return an array of shape (N, K, h, w) as an array of shape (N, h·w, K), with a row for each window."""
    return g.reshape(*g.shape[:2], -1).mT


def as_kernels(columns, shape):
    """Return a matrix of shape (kh·kw·C, K) as kernels of shape (K, C, kh, kw), the inverse of `as_columns`."""
    k, c, kh, kw = shape
    return columns.reshape(kh, kw, c, k).transpose(3, 2, 0, 1)
