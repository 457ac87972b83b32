"""One Spark session for the whole test run: the `spark` fixture of firesteel's plugin. Hypothesis is deterministic."""

import os
import sys

import pytest
from hypothesis import settings

from firesteel.hypothesis_internals import leave_out_constants_of_the_project

# Use a class-data archive that exists, but do not build one in the background of a test run.
os.environ.setdefault("FIRESTEEL_ARCHIVE", "use")

leave_out_constants_of_the_project()
settings.register_profile("firesteel", derandomize=True, deadline=None)
settings.load_profile("firesteel")

pytest_plugins = ["pytester"]


def pytest_collection_modifyitems(config, items):
    """Leave the sweeps out, unless they are asked for: here, so that no other `-m` brings them in.

    Files with slow tests come first. Processes take whole files, so none is left with a long one at the end.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    if "sweep" in config.option.markexpr:
        return
    sweeps = [item for item in items if item.get_closest_marker("sweep")]
    if sweeps:
        config.hook.pytest_deselected(items=sweeps)
        items[:] = [item for item in items if not item.get_closest_marker("sweep")]


@pytest.fixture(autouse=True)
def _no_job_tag_is_left():
    """A tag that stays on the thread would mark, and have cancelled, jobs that are somebody else's."""
    yield
    pyspark = sys.modules.get("pyspark")
    context = None if pyspark is None else pyspark.SparkContext._active_spark_context
    if context is not None and context._jsc is not None:
        from firesteel.spark.jobs import left_behind

        assert not left_behind(context)


@pytest.fixture
def sweep_seed():
    """The seed of a sweep's random draws, from `make sweep SEED=1`."""
    return int(os.environ.get("SWEEP_SEED", "0"))


@pytest.fixture
def fresh_database(tmp_path):
    """Settings with an example database of their own, as a user's project has."""
    from hypothesis.database import DirectoryBasedExampleDatabase

    return settings(derandomize=False, database=DirectoryBasedExampleDatabase(tmp_path / "examples"))
