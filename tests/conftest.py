"""One Spark session for the whole test run: the `spark` fixture of firesteel's plugin. Hypothesis is deterministic."""

import os

import pytest
from hypothesis import settings

# Use a class-data archive that exists, but do not build one in the background of a test run.
os.environ.setdefault("FIRESTEEL_ARCHIVE", "use")

settings.register_profile("firesteel", derandomize=True, deadline=None)
settings.load_profile("firesteel")

pytest_plugins = ["pytester"]


@pytest.fixture
def fresh_database(tmp_path):
    """Settings with an example database of their own, as a user's project has."""
    from hypothesis.database import DirectoryBasedExampleDatabase

    return settings(derandomize=False, database=DirectoryBasedExampleDatabase(tmp_path / "examples"))
