"""The pytest plugin: the `spark` fixture, resets after tests that use firesteel, summaries, tests of declared claims.

Loaded by pytest in every project that has firesteel installed, so it imports neither PySpark nor the rest of firesteel
until a test asks, and leaves tests alone that have nothing to do with firesteel. `-p no:firesteel` switches all of it
off; `firesteel_spark_fixture = false` in pytest's configuration leaves the name `spark` and the session to the project.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from firesteel.surroundings import Called, Reported, heard_by, rooted_at, spark_starts_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from firesteel.evidence import Report

NO_RESET = "firesteel_no_reset"
REPORTS: pytest.StashKey[list[Report]] = pytest.StashKey()
"""Where a test item keeps the reports of its checks."""
SUMMARY, GIVEN_UP = "firesteel", "firesteel_bulk_given_up"
"""The properties of a test's report (`user_properties`) that hold the summaries of its checks; the second where a bulk
run turned out to be wrong."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "firesteel_spark_fixture",
        "firesteel's `spark` fixture and the reset of the session after each test (default: true)",
        type="bool",
        default=True,
    )
    parser.addini(
        "firesteel_reset_all",
        "reset the Spark session after every test, also after those that do not use firesteel (default: false)",
        type="bool",
        default=False,
    )
    parser.addini("firesteel_summary", "the same as --firesteel-summary (default: false)", type="bool", default=False)
    parser.getgroup("firesteel").addoption(
        "--firesteel-summary",
        action="store_true",
        help="show how every check of firesteel came to its answer, in one line each; so does -v",
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
    stack = ExitStack()
    stack.enter_context(rooted_at(config.rootpath))
    stack.enter_context(spark_starts_in(Path.cwd()))
    config.add_cleanup(stack.close)
    config.pluginmanager.register(_Summaries(config), "firesteel-summaries")
    if config.getini("firesteel_spark_fixture"):
        users = _Users()
        config.pluginmanager.register(users, "firesteel-users")
        config.pluginmanager.register(_fixtures(users), "firesteel-spark")


# --- summaries -----------------------------------------------------------------------------------


class _Summaries:
    """Keeps what the checks of each test say of themselves, and shows it at the end."""

    def __init__(self, config: pytest.Config) -> None:
        wanted = config.getoption("--firesteel-summary") or config.getini("firesteel_summary")
        self._shown = bool(wanted) or config.get_verbosity() > 0
        self._lines: list[tuple[str, str]] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        def keep(event: Called | Reported) -> None:
            if isinstance(event, Reported):
                item.stash.setdefault(REPORTS, []).append(event.report)
                item.user_properties.append(_property(event.report))

        with heard_by(keep):
            yield

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":  # which has what all phases of the test added
            self._lines += [
                (report.nodeid, str(text))
                for name, text in report.user_properties
                if name == GIVEN_UP or (name == SUMMARY and self._shown)
            ]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._lines:
            terminalreporter.section("firesteel summary")
            for test, text in self._lines:
                terminalreporter.line(f"{test}  {text}")


def _property(report: Report) -> tuple[str, str]:
    function = "firesteel" if report.asked is None else report.asked.function
    return GIVEN_UP if report.gave_up_bulk else SUMMARY, f"{function}: {report.summary()}"


# --- the session ---------------------------------------------------------------------------------


class _Users:
    """Who uses firesteel: fixtures in whose set-up it was called, and so the tests that ask for them."""

    def __init__(self) -> None:
        self.any = False
        self._fixtures: set[Any] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        heard: list[object] = []
        with heard_by(heard.append):
            yield
        if heard:
            self._fixtures.add(fixturedef)

    def has(self, node: Any) -> bool:
        """Does a test ask for such a fixture, be it through another one?"""
        known = getattr(getattr(node, "_fixtureinfo", None), "name2fixturedefs", {})
        return any(definition in self._fixtures for found in known.values() for definition in found[-1:])


class _Before:
    """The session as it was before a test; or as it was when the test first called firesteel, if it was not known."""

    def __init__(self, users: _Users, *, wanted: bool) -> None:
        self._users = users
        self.wanted = wanted
        self._snapshot = _snapshot() if wanted or users.any else None

    def __call__(self, event: object) -> None:
        if not self.wanted and self._snapshot is None:
            self._snapshot = _snapshot()
        self.wanted = self._users.any = True

    def restore(self) -> None:
        if self.wanted:
            _restore(self._snapshot)


def _fixtures(users: _Users) -> ModuleType:
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
        import firesteel

        return firesteel.session()

    @pytest.fixture(autouse=True)
    def _firesteel_reset(request: pytest.FixtureRequest) -> Iterator[None]:
        """Puts the session back as it was before a test that uses firesteel. What wider fixtures have set up stays.

        A test uses firesteel if it, or a fixture that it asks for, calls `fs.session`, `fs.run` or a check. Others are
        left alone, unless `firesteel_reset_all` is set.

        Measured on 2 cores: 2 ms a test with a session and nothing to undo, 7 ms with a view and a setting;
        without a session, microseconds. (`spark.catalog.listTables` alone, the usual way, takes 90 ms.)
        """
        if request.node.get_closest_marker(NO_RESET) is not None:
            yield
            return
        before = _Before(users, wanted=request.config.getini("firesteel_reset_all") or users.has(request.node))
        with heard_by(before):
            yield
        before.restore()

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
