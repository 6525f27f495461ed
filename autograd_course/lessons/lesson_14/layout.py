"""Lesson 14: from images and kernels to the matrices whose product is a convolution, and back."""


def as_columns(y):
    """Return kernels (K, C, kh, kw) as (kh·kw·C, K), a column for each, in the order of unfold's rows."""
    return y.transpose(2, 3, 1, 0).reshape(-1, len(y))


def as_rows(g):
    """Return (N, K, h, w) as (N, h·w, K), a row for each window."""
    return g.reshape(*g.shape[:2], -1).mT


def as_kernels(columns, shape):
    """Return the columns (kh·kw·C, K) as kernels of the shape (K, C, kh, kw)."""
    k, c, kh, kw = shape
    return columns.reshape(kh, kw, c, k).transpose(3, 2, 0, 1)
