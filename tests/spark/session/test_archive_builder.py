"""The process that builds the class-data archive. Only the last test builds a real one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from firesteel.spark.session import archive, archive_builder

pytestmark = pytest.mark.usefixtures("cache")

SOURCE = Path(archive.__file__).parents[3]


class TestBuilder:
    """In a process of its own, as the real one; only the making is made up."""

    def run(self, body: str) -> subprocess.CompletedProcess[str]:
        program = (
            f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
            "from firesteel.spark.session import archive, archive_builder\n"
            f"{body}\n"
            "archive_builder.main(background=True)"
        )
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    def test_success(self, file: Path) -> None:
        done = self.run("archive_builder._run_to_the_end = lambda partial: partial.write_bytes(b'made')")
        assert done.returncode == 0, done.stderr
        assert file.read_bytes() == b"made"
        assert [path.name for path in file.parent.iterdir()] == [file.name]

    def test_failure_is_written_down(self, file: Path) -> None:
        self.run("def broken(partial): raise OSError('no space')\narchive_builder._run_to_the_end = broken")
        assert archive.status().state == "failed"
        assert "OSError: no space" in archive.status().detail
        assert not archive.lock_file(file).exists()

    def test_no_archive_is_a_failure(self, file: Path) -> None:
        self.run("archive_builder._run_to_the_end = lambda partial: None")
        assert "the JVM ended without writing an archive" in archive.status().detail

    def test_it_ends_itself(self, file: Path) -> None:
        done = self.run(
            "import time; archive.LIMIT = 0.2\n"
            "archive_builder._run_to_the_end = lambda partial: (partial.write_bytes(b'half'), time.sleep(50))"
        )
        assert done.returncode == 1
        assert "not done after 0.2 seconds" in archive.status().detail
        assert [path.suffix for path in file.parent.iterdir()] == [".failed"]

    def test_it_leaves_the_work_to_another(self, file: Path) -> None:
        archive.lock_file(file).write_text(str(os.getpid()))
        done = self.run("archive_builder._run_to_the_end = lambda partial: 1 / 0")
        assert done.returncode == 0, done.stderr
        assert archive.status().state == "building"

    def test_a_failed_build_is_tried_again_only_when_asked(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        archive.record_failure(file, "it failed before")
        asked: list[Path] = []
        monkeypatch.setattr(archive, "_start_builder", lambda file, *, background: asked.append(file))
        monkeypatch.setattr(archive, "_wait", lambda builder: None)
        assert archive.build().state == "missing"
        assert asked == [file]

    def test_a_cache_that_cannot_be_written_does_no_harm(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "a file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
        assert archive.build().state == "missing"


def test_what_nobody_uses_is_removed(cache: Path) -> None:
    for name, age in [("spark-old.jsa", 40), ("spark-new.jsa", 3), ("other", 40)]:
        (cache / name).write_text("")
        os.utime(cache / name, (time.time() - age * 86400,) * 2)
    archive_builder._prune(cache)
    assert sorted(path.name for path in cache.iterdir()) == ["other", "spark-new.jsa"]


@pytest.mark.slow
def test_a_real_archive(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME")
    now = archive.build()
    assert now.state == "ready" and now.path is not None, now
    assert now.path.stat().st_size > 50e6
    log = archive.log_file(now.path).read_text()
    assert "Traceback" not in log
    assert "_streams: " in log
