"""Runs a command as on a machine that never ran firesteel, and fails if the command leaves anything behind.

    python tools/clean_run.py python -m pytest -m "not slow"

The command gets an empty temporary directory, an empty home with an empty cache, and a Hypothesis database of its own.
When it has ended, nothing may be left in the temporary directory or in the home, and the working tree has to be as it
was, apart from the caches in CACHES. What is left is listed, and the exit code is 1 where the command itself said 0.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from firesteel.spark.session import folders

CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".import_linter_cache", ".venv"})
"""Names of files and folders that tools keep in the working tree on purpose. No test's result depends on them."""

PATIENCE = float(os.environ.get("CLEAN_RUN_PATIENCE", "20"))
"""Seconds that processes of the command have to clear away: a JVM ends a moment after the Python that started it."""


def main(command: list[str]) -> int:
    if not command:
        print("usage: python tools/clean_run.py COMMAND [ARGUMENT ...]", file=sys.stderr)
        return 2
    folders.clear_abandoned()
    place = folders.new_directory()
    try:
        tree = working_tree()
        code = run(command, os.environ | surroundings(place))
        left = left_behind(place, tree)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    for line in left:
        print(f"left behind: {line}", file=sys.stderr)
    return code or (1 if left else 0)


def run(command: list[str], environment: dict[str, str]) -> int:
    """The exit code of the command. An interrupt from the keyboard reaches the command too, which then ends itself."""
    process = subprocess.Popen(command, env=environment)
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return process.wait()


def surroundings(place: Path) -> dict[str, str]:
    """The environment variables that lead a command to the empty folders, which are made here."""
    for name in ("tmp", "home", "pytest"):
        (place / name).mkdir()
    return {
        "TMPDIR": str(place / "tmp"),
        "HOME": str(place / "home"),
        "XDG_CACHE_HOME": str(place / "home" / ".cache"),
        # A JVM does not know TMPDIR. firesteel tells the ones that it starts; tests may start others. These live for
        # seconds, as firesteel's own do: code that is compiled once costs less there than code that is compiled well.
        "SPARK_SUBMIT_OPTS": f"-Djava.io.tmpdir={place / 'tmp'} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m",
        # These keep files on purpose: tmp_path folders for a look at a failure, examples for the next run.
        "PYTEST_DEBUG_TEMPROOT": str(place / "pytest"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(place / "hypothesis"),
        # An archive that is built in the background is left behind for the next run; that is what it is for.
        "FIRESTEEL_ARCHIVE": os.environ.get("FIRESTEEL_ARCHIVE", "use"),
    }


def left_behind(place: Path, tree: frozenset[str]) -> list[str]:
    """What is still there when everything has had time to end, as lines for people."""
    end = time.monotonic() + PATIENCE
    while (left := _files(place, "tmp") + _files(place, "home")) and time.monotonic() < end:
        time.sleep(0.2)
    return left + [f"{change} (in the working tree)" for change in sorted(working_tree() - tree)]


def _files(place: Path, name: str) -> list[str]:
    """Everything below one of the folders, but of a folder that is not empty only what is in it."""
    found = sorted((place / name).rglob("*"))
    inner = {path.parent for path in found}
    return [f"{name}/{path.relative_to(place / name)}" for path in found if path not in inner]


def working_tree() -> frozenset[str]:
    """What git says about the files here that are not committed, ignored ones too; nothing where there is no git."""
    command = ["git", "status", "--porcelain", "--ignored", "--untracked-files=all", "."]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return frozenset()
    return frozenset(line for line in said.splitlines() if not _is_cache(line[3:]))


def _is_cache(path: str) -> bool:
    return any(part in CACHES or part.endswith(".egg-info") for part in Path(path.strip('"')).parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
