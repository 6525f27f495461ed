"""Mini-batches, as torch.utils.data gives them, from arrays."""

import numpy as np


class DataLoader:
    """Goes over arrays of the same length in batches: `for x, y in DataLoader(images, labels, batch_size=32, shuffle=True)`.

    Every pass yields each row once, together with the rows of the other arrays that belong to it: a tuple of arrays, or the array
    itself where one alone was given. With `shuffle` each pass has an order of its own. The last batch is smaller if the rows
    do not divide, and left out with `drop_last`. `len` is the number of batches. `rng` is a NumPy Generator or a seed.

    Raises ValueError if there is no array, their lengths differ, or `batch_size` is not a whole number from 1.
    """

    def __init__(self, *arrays, batch_size=1, shuffle=False, drop_last=False, rng=None):
        if any(isinstance(a, tuple) for a in arrays):
            raise ValueError(
                "DataLoader: give the arrays one by one, DataLoader(x, y, batch_size=…), not as a tuple"
            )
        self.arrays = [np.asarray(a) for a in arrays]
        shapes = [a.shape for a in self.arrays]
        if not shapes or () in shapes or len({shape[0] for shape in shapes}) > 1:
            raise ValueError(
                f"DataLoader: arrays of the same length are needed, not of shapes {shapes}; batch_size is given by name"
            )
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ValueError(
                f"DataLoader: batch_size must be a whole number from 1, and is {batch_size}"
            )
        self.batch_size, self.shuffle, self.drop_last, self.rng = (
            batch_size,
            shuffle,
            drop_last,
            np.random.default_rng(rng),
        )

    def __len__(self):
        n, size = len(self.arrays[0]), self.batch_size
        return n // size if self.drop_last else -(-n // size)

    def __iter__(self):
        n, size = len(self.arrays[0]), self.batch_size
        order = self.rng.permutation(n) if self.shuffle else np.arange(n)
        for k in range(len(self)):
            rows = order[k * size : (k + 1) * size]
            batch = tuple(a[rows] for a in self.arrays)
            yield batch if len(batch) > 1 else batch[0]
