"""The checks of a run, as values that a file keeps; and a clock for a machine that others use."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Check:
    """One property of one instance, answered."""

    way: str
    seed: int
    instance: str
    property: str
    violated: bool
    """Was there evidence?"""
    settled_by: str
    cases: int
    outputs: int
    seconds: float
    why: str = ""

    @property
    def key(self) -> tuple[str, int, str, str]:
        return self.way, self.seed, self.instance, self.property


class CpuClock:
    """Seconds of processor time, of this process and of all that it started."""

    def monotonic(self) -> float:
        children: dict[int, list[int]] = {}
        ticks: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):  # it is over
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    children.setdefault(int(fields[1]), []).append(int(entry.name))
                    ticks[int(entry.name)] = sum(map(int, fields[11:15]))
        waiting, total = [os.getpid()], 0
        while waiting:
            pid = waiting.pop()
            total += ticks.get(pid, 0)
            waiting += children.get(pid, [])
        return total / os.sysconf("SC_CLK_TCK")


class Results:
    """The checks so far, in a file if there is one."""

    def __init__(self, file: str | None = None) -> None:
        given = file or os.environ.get("OPERATORS_RESULTS")
        self._file = Path(given) if given else None
        self.checks: dict[tuple[str, int, str, str], Check] = {}
        if self._file is not None and self._file.exists():
            for line in self._file.read_text().splitlines():
                check = Check(**json.loads(line))
                self.checks[check.key] = check

    def add(self, check: Check) -> None:
        self.checks[check.key] = check
        if self._file is not None:
            with self._file.open("a") as file:
                print(json.dumps(asdict(check)), file=file)

    def of(self, way: str) -> list[Check]:
        return [each for each in self.checks.values() if each.way == way]
