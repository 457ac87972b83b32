"""The class-data archive: its state, its lock, who builds it and when."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firesteel.spark.session import archive

pytestmark = pytest.mark.usefixtures("cache")

SOURCE = Path(archive.__file__).parents[3]


def a_dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


class TestStatus:
    def test_missing(self, file: Path) -> None:
        assert archive.status().state == "missing"
        assert archive.java_options() == []

    def test_ready(self, file: Path) -> None:
        file.write_bytes(b"x" * 2_000_000)
        os.utime(file, (0, 0))
        assert archive.status() == archive.ArchiveStatus("ready", file, "2 MB")
        assert archive.java_options()[:2] == [f"-XX:SharedArchiveFile={file}", "-Xshare:auto"]
        assert time.time() - file.stat().st_mtime < 60, "its use is remembered"

    def test_building(self, file: Path) -> None:
        archive.lock_file(file).write_text(str(os.getpid()))
        assert archive.status() == archive.ArchiveStatus("building", file, f"by process {os.getpid()}")

    @pytest.mark.parametrize("text", ["", "not a number"])
    def test_a_broken_lock_does_not_count(self, file: Path, text: str) -> None:
        archive.lock_file(file).write_text(text)
        assert archive.status().state == "missing"

    def test_failed(self, file: Path) -> None:
        archive.record_failure(file, "OSError: no space\nmore")
        now = archive.status()
        assert now.state == "failed"
        assert now.detail.startswith("OSError: no space (log: ")

    @pytest.mark.parametrize("value", ["off", "OFF", "0", "false", "no"])
    def test_off(self, file: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
        file.write_bytes(b"")
        monkeypatch.setenv("FIRESTEEL_ARCHIVE", value)
        assert archive.status().state == "off"
        assert archive.build().state == "off"

    def test_without_spark(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("SPARK_HOME", str(tmp_path / "nowhere"))
        assert archive.build() == archive.ArchiveStatus("missing", None, "needs both Java and PySpark")

    def test_a_relative_cache_home_does_not_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", "here")
        assert archive.cache_directory() == Path.home() / ".cache" / "firesteel"


class TestKey:
    def test_stays(self, file: Path) -> None:
        assert archive.path() == file

    def test_other_jars(self, file: Path, tmp_path: Path) -> None:
        (tmp_path / "spark" / "jars" / "more.jar").write_text("")
        assert archive.path() != file

    def test_a_jar_of_another_time(self, file: Path, tmp_path: Path) -> None:
        os.utime(tmp_path / "spark" / "jars" / "spark-core.jar", (1, 1))
        assert archive.path() != file

    def test_another_java(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        java = archive.java.Java(Path("/opt/java"), "17.0.1", "17.0.1+1")
        monkeypatch.setattr("firesteel.spark.session.java.find", lambda: java)
        assert archive.path() != file


class TestLock:
    def test_is_taken_once(self, file: Path) -> None:
        lock = archive.lock_file(file)
        assert archive.take(lock)
        assert not archive.take(lock)
        assert [path.name for path in file.parent.iterdir()] == [lock.name], "no other files stay"

    def test_is_taken_over_from_the_dead(self, file: Path) -> None:
        lock = archive.lock_file(file)
        lock.write_text(str(a_dead_process()))
        assert archive.status().state == "missing"
        assert archive.take(lock)
        assert lock.read_text() == str(os.getpid())

    def test_is_taken_over_when_it_is_older_than_a_builder_can_be(self, file: Path) -> None:
        lock = archive.lock_file(file)
        lock.write_text(str(os.getpid()))
        os.utime(lock, (1, 1))
        assert archive.take(lock)

    def test_one_of_many_gets_it(self, file: Path) -> None:
        program = textwrap.dedent(f"""
            import sys, time
            sys.path.insert(0, {str(SOURCE)!r})
            from pathlib import Path
            from firesteel.spark.session import archive
            print("ready", flush=True)
            sys.stdin.readline()
            print(archive.take(Path({str(archive.lock_file(file))!r})), flush=True)
            sys.stdin.readline()
        """)
        many = [
            subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(6)
        ]
        try:
            assert [_answer(one) for one in many] == ["ready"] * 6
            for one in many:
                assert one.stdin is not None
                one.stdin.write("go\n")
                one.stdin.flush()
            assert sorted(_answer(one) for one in many) == ["False"] * 5 + ["True"]
        finally:
            for one in many:
                one.communicate("end\n", timeout=30)


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


class TestAtExit:
    @pytest.fixture
    def registered(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
        calls: list[tuple[Any, ...]] = []
        monkeypatch.setattr("atexit.register", lambda *call: calls.append(call))
        return calls

    @pytest.fixture
    def started(self, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        calls: list[bool] = []
        monkeypatch.setattr(archive, "_start_builder", lambda file, *, background: calls.append(background))
        return calls

    def test_a_first_run_has_it_built_after_its_end(
        self, file: Path, registered: list[tuple[Any, ...]], started: list[bool]
    ) -> None:
        archive.build_at_exit()
        (call,) = registered
        assert started == []
        call[0](*call[1:])
        assert started == [True]

    def test_not_twice(self, file: Path, started: list[bool]) -> None:
        archive.lock_file(file).write_text(str(os.getpid()))
        archive._build_after(os.getpid())
        assert started == []

    def test_not_by_a_forked_child(self, file: Path, started: list[bool]) -> None:
        archive._build_after(os.getpid() + 1)
        assert started == []

    @pytest.mark.parametrize(
        "when",
        [
            lambda file, environment: file.write_bytes(b""),
            lambda file, environment: archive.record_failure(file, "it failed before"),
            lambda file, environment: environment("CI", "true"),
            lambda file, environment: environment("FIRESTEEL_ARCHIVE", "off"),
            lambda file, environment: environment("FIRESTEEL_ARCHIVE", "use"),
        ],
        ids=["ready", "failed", "CI", "off", "use"],
    )
    def test_not_when(
        self,
        file: Path,
        monkeypatch: pytest.MonkeyPatch,
        registered: list[tuple[Any, ...]],
        when: Callable[[Path, Any], object],
    ) -> None:
        when(file, monkeypatch.setenv)
        archive.build_at_exit()
        assert registered == []
