"""Load data sets: handwritten digits from digits.npz, random moons, and MNIST."""

import gzip
import zlib
from functools import cache
from math import prod
from pathlib import Path

import numpy as np


def digits():
    """Return handwritten digits, split into a training set and a test set.

    The ten digits occur in the same proportions in both sets. The split is the same every time.

    Returns
    -------
    training_images : ndarray
        Array of shape (1437, 64), float64. Each row has the grey values of a scan; see `scans`.
    training_labels : ndarray
        The digit of each training image, an integer from 0 to 9, in the shape (1437,).
    test_images, test_labels : ndarray
        The same for 360 other scans.
    """
    images, labels = scans()
    train, test = np.split(_digits()["split"], [-360])
    return images[train], labels[train], images[test], labels[test]


def scans():
    """Return 1,797 scans of handwritten digits, and the digit that each scan shows.

    The scans are the test set of Optical Recognition of Handwritten Digits, E. Alpaydin and
    C. Kaynak, UCI Machine Learning Repository, 1998, doi 10.24432/C50P49, CC BY 4.0, as in
    scikit-learn. (digits.npz contains this source as well.)

    Returns
    -------
    images : ndarray
        Array of shape (1797, 64), float64. Each row has the 8 × 8 grey values of a scan, from 0 to
        1, row by row.
    labels : ndarray
        Integers from 0 to 9, of shape (1797,).
    """
    return _digits()["pixels"] / 16, _digits()["labels"].astype(int)


@cache
def _digits():
    with np.load(Path(__file__).with_name("digits.npz")) as file:
        return dict(file)


def moons(n=200, noise=0.25, seed=0):
    """Return `n` points on two interleaved half circles with noise, and their classes.

    The result is identical to that of scikit-learn's `make_moons`.

    Parameters
    ----------
    n : int, default 200
        Number of points. Each class has half of the points; if `n` is odd, class 1 has one more.
    noise : float, default 0.25
        Standard deviation of the noise that is added to each coordinate.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    points : ndarray
        Array of shape (n, 2), float64.
    classes : ndarray
        Integers 0 and 1, of shape (n,), for the two half circles.
    """
    random = np.random.RandomState(seed)
    counts = n // 2, n - n // 2
    upper, lower = (np.linspace(0, np.pi, count) for count in counts)
    points = np.concatenate(
        [[np.cos(upper), np.sin(upper)], [1 - np.cos(lower), 1 - np.sin(lower) - 0.5]], axis=1
    ).T
    order = random.permutation(n)
    return points[order] + random.normal(scale=noise, size=(n, 2)), np.repeat([0, 1], counts)[order]


def mnist(folder=None):
    """Return the images and labels of MNIST, split into a training set and a test set.

    Parameters
    ----------
    folder : str or path-like, optional
        The folder of MNIST's own four files, train-images-idx3-ubyte and so on, either unpacked or
        as .gz. By default, scikit-learn downloads MNIST from OpenML the first time (about 15 MB)
        and keeps the files in its data folder.

    Returns
    -------
    training_images : ndarray
        Array of shape (60000, 784), float32. Each row has the grey values of an image, from 0 to 1.
    training_labels : ndarray
        Integers from 0 to 9, of shape (60000,).
    test_images, test_labels : ndarray
        The same for the 10,000 images of the test set.

    Raises
    ------
    ConnectionError
        If no folder is given, and scikit-learn is not installed or the download fails.
    FileNotFoundError
        If one of the files is missing.
    ValueError
        If one of the files is damaged, or if images and labels do not belong together.
    """
    train, test = (
        _fetched() if folder is None else [_read(Path(folder), part) for part in ("train", "t10k")]
    )
    return *_rows(*train), *_rows(*test)


def _fetched():
    try:
        from sklearn.datasets import fetch_openml

        pixels, labels = fetch_openml(
            "mnist_784", version=1, as_frame=False, parser="liac-arff", return_X_y=True
        )
    except (ImportError, OSError) as error:
        raise ConnectionError(
            f"mnist: MNIST could not be downloaded ({error}). The first call needs a network and "
            "scikit-learn (%pip install scikit-learn). Or pass the folder of the four files, "
            "mnist(folder), or use digits(), which needs no network."
        ) from None
    source = "OpenML's mnist_784"
    return [
        (source, pixels[part], source, labels[part])
        for part in (slice(60_000), slice(60_000, None))
    ]


def _read(folder, part):
    images, labels = (
        _file(folder, f"{part}-images-idx3-ubyte"),
        _file(folder, f"{part}-labels-idx1-ubyte"),
    )
    return images, _idx(images, 2051), labels, _idx(labels, 2049)


def _file(folder, name):
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    raise FileNotFoundError(
        f"mnist: there is no file {folder / name}, with or without .gz. MNIST consists of four "
        "files, train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
        "t10k-labels-idx1-ubyte; put them into one folder."
    )


def _idx(path, magic):
    """Return the array of bytes in an IDX file, which may be compressed by gzip.

    The file holds the number `magic`, whose last byte is the number of axes, then the lengths of
    the axes, and then the bytes of the array. The numbers are big-endian, with four bytes each.

    Raises
    ------
    ValueError
        If the file is damaged, or begins with another number.
    """
    with open(path, "rb") as file:
        packed = (
            file.read(2) == b"\x1f\x8b"
        )  # gzip; by its first bytes, since a browser may unpack a file and leave it its name
    try:
        with (gzip.open if packed else open)(path, "rb") as file:
            start = 4 + 4 * (magic % 256)
            header = file.read(start)
            found = int.from_bytes(header[:4], "big")
            if found != magic:
                raise ValueError(
                    f"mnist: expected {path} to begin with the number {magic}, got {found}. "
                    "Is this a different file with the same name? Download it again."
                )
            shape = [int.from_bytes(header[at : at + 4], "big") for at in range(4, start, 4)]
            if prod(shape) > 2**30:
                raise ValueError(
                    f"mnist: the header of {path} gives the shape {' × '.join(map(str, shape))}, "
                    "more than 1 GB, so this is not MNIST. Download it again."
                )
            data = file.read(
                prod(shape) + 1
            )  # read no further: a small gzip file may unpack to more than the memory holds
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"mnist: the gzip file {path} is damaged ({error}). Download it again."
        ) from None
    if len(header) < start or len(data) != prod(shape):
        long = len(data) > prod(shape)
        size = f"more than {start + prod(shape):,}" if long else f"{len(header) + len(data):,}"
        raise ValueError(
            f"mnist: expected {start + prod(shape):,} bytes in {path}, because the shape in its "
            f"header is {' × '.join(map(str, shape))}, got {size} bytes. "
            f"The file is {'too long' if long else 'cut short'}: download it again."
        )
    return np.frombuffer(data, np.uint8).reshape(shape)


def _rows(images_from, images, labels_from, labels):
    """Convert the pixels and labels of MNIST to the form that `mnist` returns.

    The pixels are from 0 to 255, and the labels are digits, as numbers or as strings. `images_from`
    and `labels_from` are the sources that an error message names.

    Raises
    ------
    ValueError
        If the numbers of images and labels differ, or if a label is not from 0 to 9.
    """
    if len(images) != len(labels):
        raise ValueError(
            f"mnist: {images_from} has {len(images)} images, but {labels_from} has {len(labels)} "
            "labels. The two do not belong together: download both again."
        )
    labels = labels.astype(int)
    if not np.isin(labels, range(10)).all():
        raise ValueError(
            f"mnist: expected labels from 0 to 9 in {labels_from}, got {labels.min()} to "
            f"{labels.max()}. Download the file again."
        )
    return images.reshape(len(images), -1).astype(np.float32) / 255, labels
