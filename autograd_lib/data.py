"""Mini-batches of arrays, as in torch.utils.data."""

import numpy as np

from .hints import as_generator


class DataLoader:
    """Iterate over arrays of the same length in mini-batches.

    Each pass over the loader visits every row once, except for rows that `drop_last` leaves out. A
    batch is a tuple with the same rows of every array, or a single array if only one array was
    given. `len(loader)` is the number of batches.

    Parameters
    ----------
    *arrays : array_like
        Arrays of the same length, of any dtypes and with any further axes.
    batch_size : int, default 1
        Number of rows in a batch.
    shuffle : bool, default False
        Draw a new order for each pass.
    drop_last : bool, default False
        Leave out the last batch if it is smaller than the others.
    rng : numpy.random.Generator or int, optional
        Generator or seed for the order. By default, the order differs from run to run.

    Raises
    ------
    TypeError
        If `rng` is neither a generator nor a seed.
    ValueError
        If there is no array, the lengths differ, the arrays are given as a tuple, or `batch_size`
        is not a positive integer.

    Examples
    --------
    >>> images, labels = np.zeros((5, 2)), np.arange(5)
    >>> [len(x) for x, y in DataLoader(images, labels, batch_size=2, shuffle=True)]
    [2, 2, 1]
    """

    def __init__(self, *arrays, batch_size=1, shuffle=False, drop_last=False, rng=None):
        if any(isinstance(a, tuple) for a in arrays):
            raise ValueError(
                "DataLoader: expected arrays one by one, as in DataLoader(x, y, batch_size=…), "
                "got a tuple"
            )
        self.arrays = [np.asarray(a) for a in arrays]
        shapes = [a.shape for a in self.arrays]
        if not shapes or () in shapes or len({shape[0] for shape in shapes}) > 1:
            raise ValueError(
                f"DataLoader: expected one or more arrays of the same length, got shapes {shapes}"
                + "; pass batch_size by keyword, as in batch_size=32" * (() in shapes)
            )
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ValueError(
                f"DataLoader: batch_size must be a positive integer, got {batch_size!r}"
            )
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last
        self.rng = as_generator(rng, "DataLoader")

    def __len__(self):
        n, size = len(self.arrays[0]), self.batch_size
        return n // size if self.drop_last else -(-n // size)

    def __iter__(self):
        n, size = len(self.arrays[0]), self.batch_size
        row_order = self.rng.permutation(n) if self.shuffle else np.arange(n)
        for k in range(len(self)):
            rows = row_order[k * size : (k + 1) * size]
            batch = tuple(a[rows] for a in self.arrays)
            yield batch if len(batch) > 1 else batch[0]
