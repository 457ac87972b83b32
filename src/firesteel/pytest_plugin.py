"""The pytest plugin: the `spark` fixture, a reset of the session after every test, and tests of declared claims.

Loaded by pytest in every project that has firesteel installed, so it imports neither PySpark nor the rest of firesteel
until a test asks. `-p no:firesteel` switches all of it off; `firesteel_spark_fixture = false` in pytest's
configuration leaves the name `spark` and the session to the project.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

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
    parser.addini(
        "firesteel_declared",
        "packages and modules whose declarations (fs.declares) are collected: a test for every claim",
        type="args",
        default=[],
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


# --- what code declares about itself ---


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test for every claim that the packages of `firesteel_declared` declare, if no files were asked for."""
    names = config.getini("firesteel_declared")
    if names and config.args_source is not pytest.Config.ArgsSource.ARGS:
        collector = _Declared.from_parent(session, name="declared")
        items.extend(item for name in names for item in collector.claims_of(name))


class _Declared(pytest.Collector):
    """Where the tests of claims belong."""

    def collect(self) -> list[pytest.Item]:
        return []

    def claims_of(self, package: str) -> Iterator[pytest.Item]:
        import importlib
        import pkgutil

        from firesteel.operators.declared import declarations_of

        module = importlib.import_module(package)
        for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"{package}."):
            importlib.import_module(found.name)
        for made in declarations_of(package):
            for claim in made.claims:
                yield _Claim.from_parent(self, name=f"{made.module}.{made.name}: {claim}", made=made, claim=claim)


class _Claim(pytest.Item):
    """One claim of one function."""

    def __init__(self, made: Any, claim: str, **rest: Any) -> None:
        super().__init__(**rest)
        self._made, self._claim = made, claim

    def runtest(self) -> None:
        from firesteel.promises import check_claim

        check_claim(self._made, self._claim)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        code = getattr(self._made.function, "__code__", None)
        return (getattr(code, "co_filename", self.path), getattr(code, "co_firstlineno", 1) - 1, self.name)
