"""The pytest plugin, run in a pytest of its own. Those tests share this process's JVM, except the one of xdist."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from firesteel import pytest_plugin, surroundings
from firesteel.spark.session import archive, reset

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def installed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """firesteel as pip would install it, with its entry point, whether it is installed here or not."""
    # What the inner pytest's tests do is not heard by the plugin of this one.
    monkeypatch.setattr(surroundings, "_listeners", [])
    # pytester gives every test a home of its own, where there is no archive.
    monkeypatch.setenv("XDG_CACHE_HOME", str(_CACHE))
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(pytester.path), *filter(None, sys.path)]))
    about = pytester.mkdir("firesteel_entry-0.dist-info")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: firesteel-entry\nVersion: 0\n")
    (about / "entry_points.txt").write_text("[pytest11]\nfiresteel = firesteel.pytest_plugin\n")
    pytester.syspathinsert()


_CACHE = archive.cache_directory().parent


class TestWithoutSpark:
    def test_imports_no_spark(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            import sys

            def test_nothing():
                assert "firesteel.pytest_plugin" in sys.modules
                for name in ("pyspark", "py4j", "hypothesis.strategies", "firesteel.spark.session", "pandas"):
                    assert name not in sys.modules
        """)
        pytester.runpytest_subprocess().assert_outcomes(passed=1)

    def test_the_fixture_and_the_marker_are_known(self, pytester: pytest.Pytester) -> None:
        fixtures = pytester.runpytest_subprocess("--fixtures")
        fixtures.stdout.fnmatch_lines(["spark [[]session scope[]]*", "*The local Spark session of this test run*"])
        pytester.runpytest_subprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.firesteel_no_reset: *"])

    @pytest.mark.slow
    @pytest.mark.parametrize("off", ["-p no:firesteel", "-o firesteel_spark_fixture=false"])
    def test_switched_off_the_name_is_free(self, pytester: pytest.Pytester, off: str) -> None:
        pytester.makepyfile("def test_it(spark): pass")
        done = pytester.runpytest_subprocess(*off.split())
        done.stdout.fnmatch_lines(["*fixture 'spark' not found*"])
        assert "_firesteel_reset" not in pytester.runpytest_subprocess(*off.split(), "--fixtures", "-v").stdout.str()

    @pytest.mark.slow
    def test_the_projects_own_fixture_wins(self, pytester: pytest.Pytester) -> None:
        pytester.makeconftest("""
            import pytest

            @pytest.fixture(scope="session")
            def spark():
                return "mine"
        """)
        pytester.makepyfile("def test_it(spark): assert spark == 'mine'")
        pytester.runpytest_subprocess().assert_outcomes(passed=1)

    @pytest.mark.slow
    def test_hypothesis_does_not_object_to_the_reset_fixture(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            from hypothesis import given, strategies as st

            @given(st.integers())
            def test_it(n): pass
        """)
        pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


class TestManners:
    """Which tests the session is put back after; what is done with the session is only written down here."""

    @pytest.fixture
    def done(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        log: list[str] = []
        monkeypatch.setattr(pytest_plugin, "_snapshot", lambda: log.append("look"))
        monkeypatch.setattr(pytest_plugin, "_restore", lambda before: log.append("put back"))
        pytester.makepyfile("""
            import pytest
            from firesteel.surroundings import Called, tell

            @pytest.fixture(scope="session")
            def my_spark():
                tell(Called("fs.session"))  # as fs.session() does
                return "mine"

            @pytest.fixture
            def table(my_spark):
                return "table"

            @pytest.fixture
            def other():
                return "other"

            def test_other(other): pass
            def test_calls(): tell(Called("fs.run"))
            def test_after(other): pass
            def test_fixture(my_spark): pass
            def test_fixture_of_fixture(table): pass
            @pytest.mark.firesteel_no_reset
            def test_marked(my_spark): pass
        """)
        return log

    @pytest.mark.parametrize(
        "test, expected",
        [
            ("test_other", []),
            ("test_calls", ["look", "put back"]),
            ("test_fixture", ["look", "put back"]),
            ("test_fixture_of_fixture", ["look", "put back"]),
            ("test_marked", []),
        ],
    )
    def test_only_tests_that_use_firesteel(
        self, pytester: pytest.Pytester, done: list[str], test: str, expected: list[str]
    ) -> None:
        name = next(iter(pytester.path.glob("test_*.py"))).name
        pytester.runpytest_inprocess(f"{name}::{test}").assert_outcomes(passed=1)
        assert done == expected

    def test_after_one_that_does_the_others_are_only_looked_at(
        self, pytester: pytest.Pytester, done: list[str]
    ) -> None:
        name = next(iter(pytester.path.glob("test_*.py"))).name
        pytester.runpytest_inprocess(f"{name}::test_calls", f"{name}::test_after").assert_outcomes(passed=2)
        assert done == ["look", "put back", "look"]

    def test_a_project_can_have_it_for_all_tests(self, pytester: pytest.Pytester, done: list[str]) -> None:
        name = next(iter(pytester.path.glob("test_*.py"))).name
        done_all = pytester.runpytest_inprocess(f"{name}::test_other", "-o", "firesteel_reset_all=true")
        done_all.assert_outcomes(passed=1)
        assert done == ["look", "put back"]


class TestSummaries:
    @pytest.fixture(autouse=True)
    def checks(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            import pytest
            from firesteel import Report, Verdict
            from firesteel.evidence.report import Asked, Disagreement, Ran
            from firesteel.surroundings import Reported, tell

            def told(**more):
                tell(Reported(Report(Verdict.TRUE, 3, asked=Asked("fs.for_all"), ran=Ran(alone=3), **more)))

            def test_two():
                told()
                told()

            def test_given_up():
                told(one_by_one=Disagreement(1, "batch"))

            def test_none(): pass
        """)

    @pytest.mark.parametrize("option", ["-v", "--firesteel-summary", "-ofiresteel_summary=true"])
    def test_shown_where_asked_for(self, pytester: pytest.Pytester, option: str) -> None:
        done = pytester.runpytest_inprocess(option, "-p", "no:randomly")
        done.stdout.fnmatch_lines(
            [
                "*firesteel summary*",
                "*::test_two  fs.for_all: true in 3 cases: 3 alone; records: 0 in, 0 out, 0 dropped as late",
                "*::test_two  fs.for_all: true in 3 cases*",
                "*::test_given_up  fs.for_all: *bulk was given up: a bulk run and a run alone *differ in batch 1*",
            ]
        )
        assert done.stdout.str().count("fs.for_all:") == 3

    def test_otherwise_only_where_a_bulk_run_was_wrong(self, pytester: pytest.Pytester) -> None:
        text = pytester.runpytest_inprocess().stdout.str()
        assert text.count("fs.for_all:") == 1 and "bulk was given up" in text

    def test_nothing_is_said_where_nothing_was_checked(self, pytester: pytest.Pytester) -> None:
        assert "firesteel summary" not in pytester.runpytest_inprocess("-v", "-k", "test_none").stdout.str()

    def test_kept_for_other_reports(self, pytester: pytest.Pytester) -> None:
        pytester.makeconftest("""
            from firesteel.pytest_plugin import REPORTS

            def pytest_runtest_teardown(item):
                if REPORTS in item.stash:
                    print("kept", item.name, [report.cases for report in item.stash[REPORTS]], item.user_properties)
        """)
        done = pytester.runpytest_inprocess("-s", "-p", "no:randomly")
        done.stdout.fnmatch_lines(["*kept test_two [[]3, 3] [[]('firesteel', 'fs.for_all: true in 3 cases*"])


def test_long_replays_are_put_below_the_root_of_pytest(pytester: pytest.Pytester) -> None:
    inner = pytester.mkpydir("inner")
    (pytester.path / "pytest.ini").write_text("[pytest]\n")
    (inner / "test_it.py").write_text(
        "def test_it():\n    from firesteel.runs.replay import kept\n    kept('x' * 900)\n"
    )
    pytester.runpytest_inprocess(str(inner)).assert_outcomes(passed=1)
    (file,) = (pytester.path / ".firesteel").iterdir()
    assert file.read_text() == "x" * 900 + "\n"


@pytest.mark.usefixtures("spark")
class TestReset:
    def test_a_check_is_a_use(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            import firesteel as fs
            from pyspark.sql import SparkSession

            def test_theirs():
                SparkSession.active().range(3).createTempView("theirs")

            def test_check():
                fs.assert_same(SparkSession.active().table("theirs"), SparkSession.active().range(3))
                SparkSession.active().range(3).createTempView("mine")

            def test_after():
                catalog = SparkSession.active().catalog
                assert catalog.tableExists("theirs") and not catalog.tableExists("mine")
                catalog.dropTempView("theirs")
        """)
        pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=3)

    def test_what_a_test_leaves_is_gone_for_the_next(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            def test_one(spark):
                spark.range(3).createTempView("left_over")
                spark.conf.set("spark.sql.shuffle.partitions", "11")
                spark.conf.set("my.own", "x")
                spark.range(4).cache().count()
                query = spark.readStream.format("rate").load().writeStream.format("memory").queryName("stray").start()
                assert query.isActive

            def test_two(spark):
                assert [table.name for table in spark.catalog.listTables()] == []
                assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
                assert spark.conf.get("my.own", None) is None
                assert spark._jsparkSession.sharedState().cacheManager().isEmpty()
                assert spark.streams.active == []
        """)
        pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=2)

    def test_what_a_wider_fixture_set_up_stays(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            import pytest

            @pytest.fixture(scope="module")
            def prepared(spark):
                spark.range(3).createTempView("kept")
                spark.conf.set("spark.sql.shuffle.partitions", "5")
                frame = spark.range(4).cache()
                frame.count()
                yield frame
                frame.unpersist()

            @pytest.mark.parametrize("number", [1, 2])
            def test_it(spark, prepared, number):
                assert spark.table("kept").count() == 3
                assert spark.conf.get("spark.sql.shuffle.partitions") == "5"
                assert prepared.storageLevel.useMemory
                spark.conf.set("spark.sql.shuffle.partitions", "6")
                spark.range(1).createTempView("left_over")
        """)
        pytester.runpytest_inprocess().assert_outcomes(passed=2)

    def test_the_marker_leaves_all_as_it_is(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            import pytest

            @pytest.mark.firesteel_no_reset
            def test_one(spark):
                spark.range(3).createTempView("wanted")

            def test_two(spark):
                assert spark.table("wanted").count() == 3
        """)
        pytester.runpytest_inprocess("--strict-markers").assert_outcomes(passed=2)

    def test_a_session_that_the_test_itself_started_goes_back_to_its_start(self, spark: SparkSession) -> None:
        spark.conf.set("spark.sql.shuffle.partitions", "11")
        spark.range(3).createTempView("left_over")
        pytest_plugin._restore(None)
        assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
        assert not spark.catalog.tableExists("left_over")

    def test_a_session_that_was_stopped_is_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = pytest_plugin._snapshot()
        assert before is not None
        monkeypatch.setattr(reset, "existing", lambda: None)
        pytest_plugin._restore(before)
        assert pytest_plugin._snapshot() is None


@pytest.mark.slow
def test_workers_of_xdist_have_their_own_warehouse_and_leave_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xdist")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    place = pytester.mkdir("place")
    monkeypatch.setenv("TMPDIR", str(place))
    pytester.makepyfile("""
        import os
        from pathlib import Path
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_it(spark, number):
            spark.range(number).write.saveAsTable("same_name")
            assert spark.table("same_name").count() == number
            (Path(__file__).parent / f"seen-{os.environ['PYTEST_XDIST_WORKER']}").write_text(
                spark.conf.get("spark.sql.warehouse.dir"))
    """)
    done = pytester.runpytest_subprocess("-n", "2", "--dist", "load", timeout=180)
    done.assert_outcomes(passed=2)
    seen = [Path(file).read_text() for file in pytester.path.glob("seen-*")]
    assert len(set(seen)) == 2
    end = time.monotonic() + 30  # the JVMs end a moment later
    while (left := list(place.glob("[!p]*"))) and time.monotonic() < end:  # but for pytest's own folder
        time.sleep(0.1)
    assert left == []
    assert not (pytester.path / "spark-warehouse").exists()
