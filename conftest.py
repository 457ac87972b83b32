"""For tests, doctests and examples alike: long replay lines go to a temporary folder, not into the working tree."""

import pytest

from firesteel import surroundings


@pytest.fixture(autouse=True, scope="session")
def long_replays(tmp_path_factory):
    with surroundings.rooted_at(tmp_path_factory.mktemp("root")):
        yield
