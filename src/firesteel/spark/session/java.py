"""The Java that Spark will start: where it is, which version, and what is wrong with it.

Nothing here imports PySpark: a missing Java is found before PySpark can be noisy about it, and `firesteel doctor`
answers at once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from firesteel.errors import InvalidArgument

OLDEST = 17
"""Spark 4 runs on Java 17 and later."""

_INSTALL = (
    "Install one (Debian, Ubuntu: `apt install openjdk-17-jre-headless`; macOS: `brew install openjdk@17`), "
    "or set JAVA_HOME to a Java 17 or later that you have"
)


@dataclass(frozen=True)
class Java:
    """One Java runtime.

    >>> Java(Path("/opt/jdk/bin/java"), "17.0.15", "17.0.15+6").major
    17
    """

    executable: Path
    """The real file, with symbolic links followed."""
    version: str
    build: str
    """Whatever tells two builds of the same version apart: a class-data archive belongs to exactly one."""
    modules: frozenset[str] | None = None
    """The modules it has, where it says so: a runtime cut down with jlink may lack some that Spark needs."""

    @property
    def major(self) -> int:
        """17 for "17.0.15", 8 for "1.8.0_402", 0 where the version cannot be read."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)]
        if not numbers:
            return 0
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def find() -> Java | None:
    """The Java that Spark's scripts will take: JAVA_HOME's if that is set, else the one on the PATH.

    None if there is none. `require` raises an error that explains instead.
    """
    executable = _executable()
    if executable is None:
        return None
    return _from_release_file(executable) or _from_version_text(executable)


def problem(java: Java | None) -> str | None:
    """What keeps Spark from starting on this Java and what to do about it; None if nothing does.

    >>> problem(Java(Path("/opt/jdk/bin/java"), "11.0.2", "11.0.2+9"))
    'Spark 4 needs Java 17 or later, and /opt/jdk/bin/java is Java 11.0.2. Install one ...'
    """
    if java is None:
        home = os.environ.get("JAVA_HOME")
        if home:
            return f"JAVA_HOME={home} has no bin/java that runs. {_INSTALL}"
        return f"Spark needs Java {OLDEST} or later, and there is no `java` on the PATH. {_INSTALL}"
    if java.major < OLDEST:
        return f"Spark 4 needs Java {OLDEST} or later, and {java.executable} is Java {java.version}. {_INSTALL}"
    # Spark's launcher always adds this module; a runtime without it dies with an error about the boot layer.
    if java.modules is not None and "jdk.incubator.vector" not in java.modules:
        return f"{java.executable} lacks the module jdk.incubator.vector, which Spark's launcher asks for. {_INSTALL}"
    return None


def require() -> Java:
    """The Java that Spark will take, or an `InvalidArgument` that says what to install.

    >>> require().major >= 17
    True
    """
    java = find()
    why = problem(java)
    if java is None or why is not None:
        raise InvalidArgument(why)
    return java


def _executable() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    return None if found is None else Path(found).resolve()


def _from_release_file(executable: Path) -> Java | None:
    """From the file `release` that every JDK ships: about 100 ms quicker than running `java -version`."""
    file = executable.parent.parent / "release"
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
        changed = file.stat().st_mtime_ns
    except OSError:
        return None
    fields = dict(re.findall(r'^(\w+)="(.*)"$', text, flags=re.MULTILINE))
    if "JAVA_VERSION" not in fields:
        return None
    modules = frozenset(fields["MODULES"].split()) if "MODULES" in fields else None
    return Java(executable, fields["JAVA_VERSION"], f"{text}\n{changed}", modules)


def _from_version_text(executable: Path) -> Java | None:
    try:
        done = subprocess.run(
            [str(executable), "-version"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # macOS has a /usr/bin/java that only says that there is no Java, and fails.
    quoted = re.search(r'version "([^"]+)"', done.stderr + done.stdout)
    if done.returncode != 0 or quoted is None:
        return None
    return Java(executable, quoted.group(1), done.stderr + done.stdout)
