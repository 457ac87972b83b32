"""The pytest plugin: the `spark` fixture, and a reset of the session after every test.

Loaded by pytest in every project that has firesteel installed, so it imports neither PySpark nor the rest of firesteel
until a test asks. `-p no:firesteel` switches all of it off; `firesteel_spark_fixture = false` in pytest's
configuration leaves the name `spark` and the session to the project.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_RESET = "firesteel_no_reset"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "firesteel_spark_fixture",
        "firesteel's `spark` fixture and the reset of the session after each test (default: true)",
        type="bool",
        default=True,
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{NO_RESET}: leave the Spark session as this test leaves it (temporary views, cache, settings, ...)"
    )
    if config.getini("firesteel_spark_fixture"):
        config.pluginmanager.register(_fixtures(), "firesteel-spark")


def _fixtures() -> ModuleType:
    """The fixtures that `firesteel_spark_fixture` switches, as a plugin of their own.

    At the top of this module pytest would find them even when they are switched off.
    """

    @pytest.fixture(scope="session")
    def spark() -> SparkSession:
        """The local Spark session of this test run, started by the first test that asks: `fs.session()`.

        To choose settings, write your own in conftest.py; it takes the place of this one:

            @pytest.fixture(scope="session")
            def spark():
                return fs.session({"spark.sql.shuffle.partitions": "4"})
        """
        # Never stopped: it ends with the process, and stopping takes longer than that.
        from firesteel.spark.session.start import session

        return session()

    @pytest.fixture(autouse=True)
    def _firesteel_reset(request: pytest.FixtureRequest) -> Iterator[None]:
        """Puts the session back as it was before this test. What fixtures of wider scope have set up stays.

        Measured on 2 cores: 2 ms a test with a session and nothing to undo, 7 ms with a view and a setting;
        without a session, microseconds. (`spark.catalog.listTables` alone, the usual way, takes 90 ms.)
        """
        if request.node.get_closest_marker(NO_RESET) is not None:
            yield
            return
        before = _snapshot()
        yield
        _restore(before)

    holder = ModuleType(f"{__name__}.fixtures")
    vars(holder).update(spark=spark, _firesteel_reset=_firesteel_reset)
    return holder


def _snapshot() -> object | None:
    if "pyspark.sql.session" not in sys.modules:
        return None
    from firesteel.spark.session import reset

    spark = reset.existing()
    return None if spark is None else (spark, reset.snapshot(spark))


def _restore(before: object | None) -> None:
    if "pyspark.sql.session" not in sys.modules:
        return
    from firesteel.spark.session import reset

    spark = reset.existing()
    if spark is None:
        return
    match before:
        case (old, reset.Snapshot() as snapshot) if old is spark:
            reset.restore(spark, snapshot)
        case _:
            reset.restore(spark, None)
