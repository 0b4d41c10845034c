"""What the documentation shows is what happens."""

import doctest
import os
import pathlib
import re

import gridweave
import pytest

REPOSITORY = pathlib.Path(os.environ.get("GRIDWEAVE_PAGES") or pathlib.Path(__file__).resolve().parents[3])
PAGES = [REPOSITORY / "bindings/python/README.md", REPOSITORY / "docs/guide/python.md"]
OBJECTS = [gridweave, *(getattr(gridweave, name) for name in gridweave.__all__ if name not in ("SCHEDULERS", "__version__"))]


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: thing.__name__)
def test_examples_in_docstrings_run(thing):
    assert thing.__doc__, "it has no docstring"
    found = doctest.DocTestParser().get_doctest(thing.__doc__, {}, thing.__name__, None, 0)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(found, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


def test_all_that_is_public_has_a_docstring():
    for thing in OBJECTS[1:]:
        for name, member in vars(thing).items() if isinstance(thing, type) else ():
            if not name.startswith("_") and callable(member):
                assert member.__doc__, f"{thing.__name__}.{name} has no docstring"


def blocks(page: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.name)
def test_the_code_of_the_pages_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    assert blocks(page)
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), scope)
