"""Data sets. The first two come with scikit-learn; the third is fetched where there is a network."""
import numpy as np


def digits():
    """Scikit-learn's 1,797 scans of handwritten digits: (images, labels, test images, test labels).

    Images are rows of 64 grey values from 0 to 1 (8 × 8, float64), 1,437 to learn from and 360 held out, each digit in
    proportion; labels are the ints 0 to 9. The split is the same every time.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    pixels, labels = load_digits(return_X_y=True)
    train, test, train_labels, test_labels = train_test_split(pixels / 16, labels, test_size=360, random_state=0, stratify=labels)
    return train, train_labels, test, test_labels


def moons(n=200, noise=0.25, seed=0):
    """Two interleaved half circles with noise: points of shape (n, 2), float64, and their classes, 0 or 1, of shape (n,)."""
    from sklearn.datasets import make_moons
    return make_moons(n, noise=noise, random_state=seed)


def mnist():
    """MNIST as `digits()` gives the small set: rows of 784 grey values from 0 to 1, float32, 60,000 and 10,000 of them.

    Fetched from OpenML the first time (about 15 MB) and kept in scikit-learn's data folder. Raises ConnectionError if it is
    not there and cannot be fetched.
    """
    from sklearn.datasets import fetch_openml
    try:
        pixels, labels = fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff", return_X_y=True)
    except OSError as error:
        raise ConnectionError("MNIST could not be fetched from OpenML; connect to a network once, or use digits(), which needs "
                              f"none ({error})") from None
    pixels, labels = (pixels / 255).astype(np.float32), labels.astype(int)
    return pixels[:60_000], labels[:60_000], pixels[60_000:], labels[60_000:]
