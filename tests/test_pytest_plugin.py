"""The pytest plugin, run in a pytest of its own. Those tests share this process's JVM, except the one of xdist."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from firesteel import pytest_plugin
from firesteel.spark.session import archive, reset

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def installed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """firesteel as pip would install it, with its entry point, whether it is installed here or not."""
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

    @pytest.mark.parametrize("off", ["-p no:firesteel", "-o firesteel_spark_fixture=false"])
    def test_switched_off_the_name_is_free(self, pytester: pytest.Pytester, off: str) -> None:
        pytester.makepyfile("def test_it(spark): pass")
        done = pytester.runpytest_subprocess(*off.split())
        done.stdout.fnmatch_lines(["*fixture 'spark' not found*"])
        assert "_firesteel_reset" not in pytester.runpytest_subprocess(*off.split(), "--fixtures", "-v").stdout.str()

    def test_the_projects_own_fixture_wins(self, pytester: pytest.Pytester) -> None:
        pytester.makeconftest("""
            import pytest

            @pytest.fixture(scope="session")
            def spark():
                return "mine"
        """)
        pytester.makepyfile("def test_it(spark): assert spark == 'mine'")
        pytester.runpytest_subprocess().assert_outcomes(passed=1)

    def test_hypothesis_does_not_object_to_the_reset_fixture(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("""
            from hypothesis import given, strategies as st

            @given(st.integers())
            def test_it(n): pass
        """)
        pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


@pytest.mark.usefixtures("spark")
class TestReset:
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
