"""`firesteel doctor`: what firesteel needs, whether it is here, and what to do if it is not.

Each probe looks at one thing and gives a `Finding`; showing them is a separate step. No probe imports PySpark or pandas
or starts a JVM, so the answer comes at once.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from firesteel.cli.command import Command

Status = Literal["ok", "warn", "problem"]


@dataclass(frozen=True)
class Finding:
    """What one probe found.

    >>> Finding("Python", "ok", "3.11.9").advice
    ''
    """

    name: str
    status: Status
    value: str
    advice: str = ""
    """What to do about it; empty when there is nothing to do."""


def main(*, build_archive: bool = False) -> int:
    """Prints what was found; 1 if something keeps firesteel from working, else 0."""
    if build_archive:
        _build_archive()
    findings = examine()
    show(findings)
    return 1 if any(finding.status == "problem" for finding in findings) else 0


def examine() -> list[Finding]:
    """Every probe's finding, in the order in which people meet the trouble.

    >>> [finding.name for finding in examine()]
    ['Python', 'Java', 'PySpark', 'pandas', 'PyArrow', 'memory', 'archive']
    """
    return [probe() for probe in PROBES]


# --- probes --------------------------------------------------------------------------------------


def probe_python() -> Finding:
    """Python itself: 3.11 or later, and below 3.15, the newest that PySpark knows being 3.14."""
    running = python_version()
    version = ".".join(map(str, running))
    if running < (3, 11):
        return Finding("Python", "problem", version, "firesteel needs Python 3.11 or later")
    if running >= (3, 15):
        return Finding("Python", "warn", version, "PySpark is tested up to Python 3.14; if it fails, try that one")
    return Finding("Python", "ok", version)


def probe_java() -> Finding:
    """The Java that Spark will start."""
    from firesteel.spark.session import java

    found = java.find()
    why = java.problem(found)
    value = "not found" if found is None else f"{found.version} ({found.executable})"
    return Finding("Java", "ok", value) if why is None else Finding("Java", "problem", value, why)


def probe_pyspark() -> Finding:
    """PySpark, of a version that firesteel works with."""
    from firesteel.spark.session import versions

    version = _version("pyspark")
    if version is None:
        if _version("pyspark-client") is not None:
            return Finding(
                "PySpark",
                "problem",
                "only pyspark-client",
                f"That package has Spark Connect alone; firesteel runs Spark in this process: `{versions.INSTALL}`",
            )
        return Finding("PySpark", "problem", "not installed", f"Install it: `{versions.INSTALL}`")
    why = versions.problem(version)
    if why is not None:
        return Finding("PySpark", "problem", version, why)
    home = os.environ.get("SPARK_HOME")
    if home:
        return Finding(
            "PySpark", "warn", version, f"SPARK_HOME={home} is set: Spark starts from there. Unset it if that is wrong"
        )
    return Finding("PySpark", "ok", version)


def probe_pandas() -> Finding:
    """pandas: not needed, but if it is installed, it must be a version that PySpark can use."""
    version = _version("pandas")
    if version is None:
        return Finding(
            "pandas",
            "ok",
            "not installed",
            "Needed only for pandas functions in the pipeline (applyInPandas, pandas_udf, toPandas): "
            "`pip install 'pandas<3'`",
        )
    if _numbers(version) >= (3,):
        return Finding(
            "pandas", "problem", version, "PySpark does not work with pandas 3 yet: `pip install 'pandas<3'`"
        )
    return Finding("pandas", "ok", version)


def probe_pyarrow() -> Finding:
    """PyArrow: records go to Spark quicker with it."""
    version = _version("pyarrow")
    if version is None:
        return Finding(
            "PyArrow",
            "warn",
            "not installed",
            "Without it records go to Spark about four times as slowly, and pandas functions do not run: "
            "`pip install pyarrow`",
        )
    return Finding("PyArrow", "ok", version)


def probe_memory() -> Finding:
    """Memory that this process may have: Spark's JVM takes 1 GB of heap, and about as much again around it."""
    free = available_memory()
    if free is None:
        return Finding("memory", "ok", "not known on this system")
    value = f"{free / 2**30:.1f} GB available"
    if free < 1 * 2**30:
        return Finding("memory", "problem", value, "Spark needs about 2 GB; close something, or raise the limit")
    if free < 2 * 2**30:
        return Finding("memory", "warn", value, "Spark needs about 2 GB; with less it may be slow or be killed")
    return Finding("memory", "ok", value)


def probe_archive() -> Finding:
    """The class-data archive; never a problem, as it only saves time."""
    from firesteel.spark.session import archive

    now = archive.status()
    value = f"{now.state} ({now.detail})"
    match now.state:
        case "ready" | "building":
            return Finding("archive", "ok", value)
        case "missing":
            return Finding("archive", "ok", value, "For a quick start at once: `firesteel doctor --build-archive`")
        case "failed":
            return Finding("archive", "warn", value, "Try again with `firesteel doctor --build-archive`")
        case "off":
            return Finding("archive", "ok", value, "Unset it to start Spark in about half the time")


PROBES: tuple[Callable[[], Finding], ...] = (
    probe_python,
    probe_java,
    probe_pyspark,
    probe_pandas,
    probe_pyarrow,
    probe_memory,
    probe_archive,
)


def python_version() -> tuple[int, ...]:
    """The running Python's: (3, 11, 9)."""
    return tuple(sys.version_info[:3])


def available_memory() -> int | None:
    """Bytes that are free, or that the container still allows, whichever is less; None where neither is known."""
    found = [amount for amount in (_free_memory(), _allowed_memory()) if amount is not None]
    return min(found, default=None)


def _free_memory() -> int | None:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    line = re.search(r"^MemAvailable:\s+(\d+) kB$", text, flags=re.MULTILINE)
    return None if line is None else int(line.group(1)) * 1024


def _allowed_memory() -> int | None:
    group = Path("/sys/fs/cgroup")
    try:
        most = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or the word "max"
        return None
    return max(most - used, 0)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


# --- showing ---------------------------------------------------------------------------------------

_MARKS: dict[Status, str] = {"ok": "ok", "warn": "warn", "problem": "PROBLEM"}
_COLOURS: dict[Status, str] = {"ok": "green", "warn": "yellow", "problem": "bold red"}


def show(findings: Sequence[Finding]) -> None:
    """Prints the findings: with colours in a terminal that has rich, else as plain lines."""
    if sys.stdout.isatty():
        try:
            _show_rich(findings)
            return
        except ImportError:
            pass
    print("\n".join(plain(findings)))


def plain(findings: Sequence[Finding]) -> list[str]:
    """The findings as lines of text.

    >>> for line in plain([Finding("Java", "problem", "not found", "Install one")]):
    ...     print(line)
    PROBLEM  Java     not found
             -> Install one
    <BLANKLINE>
    1 problem: see above for what to do.
    """
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.status]:9}{finding.name:9}{finding.value}")
        if finding.advice:
            lines.append(f"{'':9}-> {finding.advice}")
    return [*lines, "", summary(findings)]


def summary(findings: Sequence[Finding]) -> str:
    """The last line.

    >>> summary([Finding("Python", "ok", "3.11.9")])
    'Everything that firesteel needs is here.'
    """
    problems = sum(finding.status == "problem" for finding in findings)
    if problems:
        return f"{problems} problem{'' if problems == 1 else 's'}: see above for what to do."
    if any(finding.status == "warn" for finding in findings):
        return "firesteel works here; see the warnings above."
    return "Everything that firesteel needs is here."


def _show_rich(findings: Sequence[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        about = Text(finding.value)
        if finding.advice:
            about.append(f"\n{finding.advice}", style="dim" if finding.status == "ok" else "")
        table.add_row(Text(_MARKS[finding.status], style=_COLOURS[finding.status]), finding.name, about)
    console = Console()
    console.print(table)
    console.print()
    console.print(summary(findings), highlight=False)


def _build_archive() -> None:
    from firesteel.spark.session import archive

    if archive.status().state not in ("ready", "off"):
        print("Building the class-data archive; this takes about a minute ...", flush=True)
    archive.build()


# --- the subcommand ------------------------------------------------------------------------------


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--build-archive",
        action="store_true",
        help="build the class-data archive now, with which Spark starts in about half the time; takes about a "
        "minute, and happens by itself after your first test run",
    )


COMMAND = Command(
    name="doctor",
    place=10,
    invitation="is everything here that firesteel needs?",
    summary="check that Python, Java, PySpark and the rest fit together",
    description="Checks what firesteel needs on this machine, and says what to do about what is missing. "
    "The exit code is 1 if something keeps firesteel from working, else 0.",
    run=lambda chosen: main(build_archive=chosen.build_archive),
    add_arguments=_add_arguments,
)
