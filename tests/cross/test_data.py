"""The digits and the moons are identical to those of scikit-learn, if scikit-learn is installed."""

import numpy as np
import pytest

from autograd_course import digits, moons, scans


def same(ours, theirs):
    return all(
        np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(ours, theirs, strict=True)
    )


@pytest.fixture
def datasets():
    """Import scikit-learn's data sets here, because an import at the top of the file would make
    test collection load SciPy.
    """
    return pytest.importorskip(
        "sklearn.datasets",
        reason="scikit-learn is not installed: its data sets are not compared with those of the course",
    )


def test_digits(datasets):
    from sklearn.model_selection import train_test_split

    pixels, labels = datasets.load_digits(return_X_y=True)
    split = train_test_split(pixels / 16, labels, test_size=360, random_state=0, stratify=labels)
    assert same(scans(), [pixels / 16, labels]) and same(digits(), [split[i] for i in (0, 2, 1, 3)])


@pytest.mark.parametrize("n, noise, seed", [(200, 0.25, 0), (7, 0.1, 3), (40, 0.0, 1)])
def test_moons(datasets, n, noise, seed):
    assert same(moons(n, noise, seed), datasets.make_moons(n, noise=noise, random_state=seed))
