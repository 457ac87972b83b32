"""firesteel's temporary folders: a killed run's are cleared when they are old, and nothing else ever is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from firesteel.spark.session import folders, start

A_DAY = 24 * 60 * 60
GONE = 2**31 - 1  # the number of a process that no system gives


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(path: Path, age: float) -> Path:
    """The folder and what is in it, as if last changed so many seconds ago."""
    for each in [*path.rglob("*"), path]:
        os.utime(each, (time.time() - age,) * 2, follow_symlinks=False)
    return path


def a_folder(place: Path, name: str, age: float = 2 * A_DAY) -> Path:
    folder = place / name
    (folder / "warehouse" / "numbers").mkdir(parents=True)
    (folder / "warehouse" / "numbers" / "part-0").write_text("rows")
    return aged(folder, age)


@pytest.mark.parametrize(
    "name",
    [
        f"firesteel-{GONE}-abc_d3fg",
        f"firesteel-{GONE}-123e4567-e89b-12d3-a456-426614174000",
        f"firesteel-{10**30}-abc_d3fg",
    ],
    ids=["private", "checkpoint", "a number that is too large"],
)
def test_what_a_killed_run_left_is_removed(place: Path, name: str) -> None:
    a_folder(place, name)
    folders.clear_abandoned()
    assert os.listdir(place) == []


@pytest.mark.parametrize(
    "name",
    [
        f"firesteel-{os.getpid()}-abc_d3fg",
        f"firesteel-{os.getppid()}-abc_d3fg",
        "firesteel-demo",
        "firesteel-2024-backup-of-mine",
        f"my-firesteel-{GONE}-abc_d3fg",
        f"firesteel-{GONE}-abc_d3fg.tar",
        f"firesteel-{GONE}",
        f"spark-{GONE}-abc_d3fg",
    ],
    ids=["of this process", "of its parent", "a word", "a date", "a prefix", "a suffix", "no end", "of Spark"],
)
def test_a_folder_that_is_held_or_that_firesteel_did_not_name_stays(place: Path, name: str) -> None:
    a_folder(place, name)
    folders.clear_abandoned()
    assert (place / name / "warehouse" / "numbers" / "part-0").read_text() == "rows"


class TestStays:
    NAME = f"firesteel-{GONE}-abc_d3fg"

    def test_a_young_one(self, place: Path) -> None:
        a_folder(place, self.NAME, age=A_DAY - 60)
        folders.clear_abandoned()
        assert (place / self.NAME).exists()

    def test_one_in_which_something_changed_lately(self, place: Path) -> None:
        folder = a_folder(place, self.NAME)
        os.utime(folder / "warehouse")
        folders.clear_abandoned()
        assert folder.exists()

    def test_another_users(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        a_folder(place, self.NAME)
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        folders.clear_abandoned()
        assert (place / self.NAME).exists()

    def test_a_file(self, place: Path) -> None:
        (place / self.NAME).write_text("")
        aged(place / self.NAME, 2 * A_DAY)
        folders.clear_abandoned()
        assert (place / self.NAME).exists()

    def test_a_link_and_what_it_leads_to(self, place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        precious = a_folder(tmp_path_factory.mktemp("elsewhere"), "precious")
        (place / self.NAME).symlink_to(precious)
        os.utime(place / self.NAME, (1, 1), follow_symlinks=False)
        folders.clear_abandoned()
        assert (place / self.NAME / "warehouse").is_dir()


def test_a_temporary_directory_that_cannot_be_read_is_not_an_error(place: Path) -> None:
    shutil.rmtree(place)
    folders.clear_abandoned()


def test_the_names_of_new_folders_are_those_that_are_cleared(place: Path) -> None:
    assert folders._NAME.fullmatch(folders.new_name())
    assert folders._NAME.fullmatch(folders.new_directory().name)


def test_a_session_that_starts_clears(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stop(Exception):
        pass

    def stop(settings: object) -> None:
        raise Stop

    a_folder(place, f"firesteel-{GONE}-abc_d3fg")
    monkeypatch.setattr(start, "_running", lambda: None)
    monkeypatch.setattr(start, "_launch", stop)
    with pytest.raises(Stop):
        start.session()
    assert [name for name in os.listdir(place) if str(GONE) in name] == []


@pytest.mark.parametrize(
    ("length", "settings"), [(20, {}), (90, {"spark.python.unix.domain.socket.dir": "/tmp"})], ids=["short", "long"]
)
def test_sockets_have_short_paths(length: int, settings: dict[str, str]) -> None:
    assert start._socket_settings(Path("/" + "x" * (length - 1))) == settings


_KILLED = """
import os
from firesteel.spark.session.start import session
session().sparkContext.parallelize(range(2), 2).map(lambda n: n + 1).collect()
print(*os.listdir(os.environ["TMPDIR"]), flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
def test_when_python_is_killed_the_jvm_clears(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), "CI": "1"}
    done = subprocess.run([sys.executable, "-c", _KILLED], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout.startswith("firesteel-")
    end = time.monotonic() + 30
    while os.listdir(tmp_path) and time.monotonic() < end:
        time.sleep(0.1)
    assert os.listdir(tmp_path) == []
