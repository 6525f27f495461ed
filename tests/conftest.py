"""Settings of the whole suite."""

import gc
import os

import hypothesis
import once
import parts
import pytest
import rotation

# Use one BLAS thread in every process. The suite already fills all cores with processes, and
# threads that wait for each other made a lesson of 8 s take 140 s. This is set here because NumPy
# reads it at import; kernels inherit it.
for name in [
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
]:
    os.environ.setdefault(name, "1")

# The eleven thousand collected tests stay in memory to the end. Scanning them in the garbage
# collector took half of the collection time, so it is off during collection and ignores them
# afterwards.
gc.disable()

# The same examples every time, and no time limit: a slow machine is not a failure.
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
hypothesis.settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def progress_is_not_kept_here(tmp_path_factory):
    """Redirect the progress file, because a right answer would create it in the current folder."""
    from autograd_course import record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "FILE", tmp_path_factory.mktemp("record") / record.FILE.name)
        yield


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="open every lesson in a browser")
    parser.addoption(
        "--screenshots",
        action="store_true",
        help="leave pictures of every lesson in tests/screenshots/",
    )


def pytest_configure(config):
    for plugin in (
        parts,
        once,
        rotation,
    ):  # hooks in a conftest do not apply to notebooks/
        config.pluginmanager.register(plugin)


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Print the measurements of the tests: the lines passed to `record_property("summary", line)`
    in any process.

    Also print how many wrong answers were tested, from `record_property("wrong answers", (count,
    count with a hint))`.
    """
    passed = terminalreporter.getreports("passed")
    properties = [one for report in passed for one in report.user_properties]
    lines = [line for name, line in properties if name == "summary"]
    counts = [counted for name, counted in properties if name == "wrong answers"]
    if counts:
        caught, hinted = map(sum, zip(*counts))
        lines.append(f"wrong answers: {caught} caught, {hinted} of them with a hint of their own")
    if lines:
        terminalreporter.section("measured")
        terminalreporter.line("\n".join(lines))
