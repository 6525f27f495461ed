"""Read the cells of a lesson's notebook, for tests that run some of them."""

from functools import cache

from autograd_course import sync_notebooks


@cache
def sources(lesson):
    """Return a dict with the id and the text of each cell of a lesson, such as "13"."""
    (path,) = sync_notebooks.NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    return {one["id"]: sync_notebooks.source(one) for one in sync_notebooks.read(path)["cells"]}
