"""The class-data archive: Spark's classes, parsed and checked once, so that Spark starts in about half the time.

The JVM writes it when it ends (`-XX:ArchiveClassesAtExit`) and maps it into memory when it starts
(`-XX:SharedArchiveFile`). It belongs to one exact JDK build and one class path, so its file name is a hash of both.
Where it does not fit, `-Xshare:auto` makes the JVM go on without it. The archive only saves time, so no failure here
stops a run: it is written down for `firesteel doctor`.

JDK 19 and later can write it from any run (`-XX:+AutoCreateSharedArchive`). That is not used: the user's own run would
wait for the writing, and the contents would depend on which test ran first.

Here: where the archive is, who may build it, and using it. `archive_builder` is the process that builds it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from firesteel.spark.session import folders, java

if TYPE_CHECKING:
    pass

State = Literal["ready", "building", "missing", "failed", "off"]

LIMIT = 300
"""Seconds after which a builder ends itself. It takes about 50."""


@dataclass(frozen=True)
class ArchiveStatus:
    """The state of the archive for this Java and this PySpark.

    >>> ArchiveStatus("off", None, "FIRESTEEL_ARCHIVE=off").state
    'off'
    """

    state: State
    path: Path | None
    """Where it is or would be; None if there is no Java or no PySpark to make one for."""
    detail: str
    """One sentence for people."""


def status() -> ArchiveStatus:
    """Is there an archive, is one being built, or what went wrong? Takes a few milliseconds and starts nothing.

    >>> status().state in {"ready", "building", "missing", "failed", "off"}
    True
    """
    if _switched_off():
        return ArchiveStatus("off", None, f"FIRESTEEL_ARCHIVE={os.environ['FIRESTEEL_ARCHIVE']} is set")
    file = path()
    if file is None:
        return ArchiveStatus("missing", None, "needs both Java and PySpark")
    if file.exists():
        return ArchiveStatus("ready", file, f"{file.stat().st_size / 1e6:.0f} MB")
    owner = _owner(lock_file(file))
    if owner is not None:
        return ArchiveStatus("building", file, f"by process {owner}")
    failure = failure_file(file)
    if failure.exists():
        reason = failure.read_text(encoding="utf-8", errors="replace").strip()
        return ArchiveStatus("failed", file, f"{reason} (log: {log_file(file)})")
    if not _builds_by_itself():
        return ArchiveStatus("missing", file, "not built by itself where CI or FIRESTEEL_ARCHIVE=use is set")
    return ArchiveStatus("missing", file, "built in the background after the next run")


def java_options() -> list[str]:
    """The JVM options that use the archive; none where there is no archive."""
    now = status()
    if now.state != "ready" or now.path is None:
        return []
    with contextlib.suppress(OSError):
        os.utime(now.path)  # `_prune` goes by the last use
    # The last one: an archive that does not fit is reported on standard output, even with -Xshare:auto.
    return [f"-XX:SharedArchiveFile={now.path}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]


def build(wait: bool = True) -> ArchiveStatus:
    """Builds the archive if there is none; a build that failed before is tried again.

    >>> build().state                                                   # doctest: +SKIP
    'ready'

    With `wait` it takes about 50 seconds; without, a process of low priority goes on after this one.
    """
    now = status()
    if now.path is None or now.state == "ready":
        return now
    with contextlib.suppress(OSError):
        failure_file(now.path).unlink(missing_ok=True)
        builder = None if now.state == "building" else _start_builder(now.path, background=not wait)
        if wait:
            _wait(builder)
    return status()


def build_at_exit() -> None:
    """Has the archive built after this process has ended, if there is none and nobody is building one.

    Not at once: measured on 2 cores, a first run of 23 seconds takes 30 with a builder of nice 19 beside it, because
    both JVMs want both cores while they start. After the end nobody waits.
    """
    if status().state == "missing" and path() is not None and _builds_by_itself():
        atexit.register(_build_after, os.getpid())


def _build_after(owner: int) -> None:
    # A forked child inherits the registration, but it is not the one whose end counts.
    if os.getpid() == owner and status().state == "missing":
        build(wait=False)


def _switched_off() -> bool:
    return os.environ.get("FIRESTEEL_ARCHIVE", "").lower() in {"off", "0", "false", "no"}


def _builds_by_itself() -> bool:
    """Not in CI, where no later run would use it, nor with FIRESTEEL_ARCHIVE=use, which only uses what exists."""
    return "CI" not in os.environ and os.environ.get("FIRESTEEL_ARCHIVE", "").lower() != "use"


# --- files ---------------------------------------------------------------------------------------


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/firesteel`, by default `~/.cache/firesteel`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules: a path that is not absolute does not count.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "firesteel"


def path() -> Path | None:
    """The archive's file for this Java and this PySpark, whether it exists or not; None where either is missing."""
    found, jars = java.find(), jar_directory()
    if found is None or jars is None:
        return None
    digest = hashlib.sha256(f"{found.executable}\n{found.build}\n{jars}\n".encode())
    with os.scandir(jars) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            about = entry.stat()
            digest.update(f"{entry.name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return cache_directory() / f"spark-{digest.hexdigest()[:16]}.jsa"


def jar_directory() -> Path | None:
    """Spark's jars: those of SPARK_HOME, or else of the installed package. Does not import that package."""
    home = os.environ.get("SPARK_HOME")
    if home:
        root: Path | None = Path(home)
    else:
        spec = importlib.util.find_spec("pyspark")
        root = None if spec is None or spec.origin is None else Path(spec.origin).parent
    return root / "jars" if root is not None and (root / "jars").is_dir() else None


def lock_file(file: Path) -> Path:
    """Holds the number of the process that is building the archive."""
    return file.with_suffix(".lock")


def failure_file(file: Path) -> Path:
    """Says in one line why the last build failed."""
    return file.with_suffix(".failed")


def record_failure(file: Path, reason: str) -> None:
    """Writes down why a build failed; `status` reads it."""
    failure_file(file).write_text(reason.splitlines()[0][:500], encoding="utf-8")


def log_file(file: Path) -> Path:
    """What the last builder printed."""
    return file.with_suffix(".log")


# --- the lock ------------------------------------------------------------------------------------


def _owner(lock: Path) -> int | None:
    """The process that holds the lock; None if there is no lock, or its process has ended."""
    try:
        pid = int(lock.read_text(encoding="ascii"))
        age = time.time() - lock.stat().st_mtime
    except (OSError, ValueError):
        return None
    # By age too: after a restart of the machine another process may have the same number.
    return pid if folders.is_alive(pid) and age < 2 * LIMIT else None


def take(lock: Path) -> bool:
    """Takes the lock, also from an owner that is gone. False if another process has it.

    The file appears with its owner in it (linked, not written in place), so that nobody ever reads an empty lock. Very
    rarely, two processes that find the same stale lock at the same moment both take it. Each then writes a whole
    archive, and the last one stays.
    """
    own = lock.with_suffix(f".lock-{os.getpid()}")
    own.write_text(str(os.getpid()), encoding="ascii")
    try:
        for _ in range(2):
            with contextlib.suppress(FileExistsError):
                os.link(own, lock)
                return True
            if _owner(lock) is not None:
                return False
            lock.unlink(missing_ok=True)
        return False
    finally:
        own.unlink(missing_ok=True)


# --- starting a builder --------------------------------------------------------------------------


def _start_builder(file: Path, *, background: bool) -> subprocess.Popen[bytes]:
    """A process of its own: the archive is written when its JVM ends, and the user's must not wait for that."""
    file.parent.mkdir(parents=True, exist_ok=True)
    home = str(Path(__file__).parents[3])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])}
    command = f"from firesteel.spark.session import archive_builder; archive_builder.main(background={background})"
    with log_file(file).open("wb") as log:
        builder = subprocess.Popen(
            [sys.executable, "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=file.parent,
            env=environment,
            start_new_session=True,
        )
    if background:
        # Nobody will ask how it ended. Without this, Popen warns about a process that is still running.
        builder.returncode = 0
    return builder


def _wait(builder: subprocess.Popen[bytes] | None) -> None:
    end = time.monotonic() + LIMIT + 30
    if builder is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            builder.wait(LIMIT + 30)
    # Our builder may have found another one at work, and left the archive to it.
    while status().state == "building" and time.monotonic() < end:
        time.sleep(0.5)
