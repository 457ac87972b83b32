"""For tests, doctests and examples alike: long replay lines go to a temporary folder, and no solver is asked."""

import os

import pytest

from firesteel import surroundings

# Where the solver is installed, it takes seconds for each question that is left open: only its own tests want it.
os.environ.setdefault("FIRESTEEL_SYMBOLIC", "off")


@pytest.fixture(autouse=True, scope="session")
def long_replays(tmp_path_factory):
    with surroundings.rooted_at(tmp_path_factory.mktemp("root")):
        yield
