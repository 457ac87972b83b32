"""What it costs that samples of bulk runs have teeth: checks of `bulk`, `shrink` and `flinkcheck-table`, both ways.

Without, samples are as they were at first: a few cases of the first bulk run, spread over it, with their first eight
batches. With, they are chosen at random, more where the plan is not known to be carried well, one in every later
generation; and a few cases are run together once more, in other company.

Both sides take turns in one process. Processor time is that of the process, its JVM and its Python workers: a machine
that does other things as well does not change it much.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from run import Bound, load_module

import firesteel as fs
from firesteel import strategies as ss
from firesteel.runs import screening
from firesteel.runs.sampling import Sample
from firesteel.values.cases import Case
from firesteel.values.streams import make_stream

bulk = load_module("bulk")
table = load_module("flinkcheck-table")

ROUNDS = 4
_FIRST = 8


# --- without teeth ---


def _spread(cases: Sequence[Case], memory: object, *, later: bool = False) -> list[Sample]:
    most = 0 if later else _few(len(cases), doubtful=False)
    if most < 2:
        return [_first_batches(cases[len(cases) // 2])] if most else []
    return [_first_batches(cases[round(index * (len(cases) - 1) / (most - 1))]) for index in range(most)]


def _first_batches(case: Case) -> Sample:
    if case.length <= _FIRST:
        return Sample(case, case)
    return Sample(case, case.with_each(lambda s: make_stream(s.batches[:_FIRST], s.schema, s.span)))


def _few(cases: int, *, doubtful: bool) -> int:
    return max(1, min(3, cases // 50))


@contextmanager
def without_teeth() -> Iterator[None]:
    nobody: Callable[..., list[Any]] = lambda ran, memory: []  # noqa: E731
    with (
        patch.object(screening, "samples", _spread),
        patch.object(screening, "wanted", _few),
        patch.object(screening, "company", nobody),
    ):
        yield


# --- the checks ---


def _as_in_bulk() -> None:
    streams = bulk.incidents(bulk.WINDOWS, bulk.RECORDS)
    fs.for_all(streams, bulk.harass_max, bulk.NEVER_SAFE, over=bulk.HOURS, cases=100)


def _as_in_shrink() -> None:
    dangers = st.one_of(st.floats(4, 10.0), st.floats(0.5, 10))
    each = ss.batches(ss.records(bulk.INCIDENT, zone=st.integers(0, 9), danger=dangers), min_size=2, max_size=5)
    hours = ss.timed(ss.always(each, during=bulk.WINDOWS), every="1 hour", column="ts")
    with suppress(fs.Falsified):
        fs.for_all(hours, bulk.harass_max, bulk.NEVER_SAFE, over=bulk.HOURS, cases=100)
        raise RuntimeError("it has to be found false")


CHECKS: dict[str, Callable[[], None]] = {
    "bulk": _as_in_bulk,
    "shrink": _as_in_shrink,
    "flinkcheck_safety": lambda: table.check("safety", 12, 50),
    "flinkcheck_liveness": lambda: table.check("liveness", 12, 50),
}


# --- time ---


def processor_seconds() -> float:
    """What this process and all that it started have used, with those that have ended."""
    ticks, children = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    waiting, total = [os.getpid()], 0
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += children.get(process, [])
    return total / os.sysconf("SC_CLK_TCK")


def spent(action: Callable[[], None]) -> tuple[float, float]:
    start, used = time.perf_counter(), processor_seconds()
    action()
    return time.perf_counter() - start, processor_seconds() - used


def measure() -> Mapping[str, Bound]:
    fs.session()
    settings.register_profile("teeth", derandomize=True, database=None)  # the same cases on both sides
    settings.load_profile("teeth")
    bounds = {}
    print(f"seconds for {ROUNDS} checks each, and processor seconds\n")
    print(f"{'':22}{'without teeth':>20}{'with teeth':>20}{'times':>14}")
    for name, check in CHECKS.items():
        check()  # warm up
        found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        for number in range(2 * ROUNDS):
            teeth = number % 4 in (1, 2)  # so that neither side is always first
            if teeth:
                found[teeth].append(spent(check))
            else:
                with without_teeth():
                    found[teeth].append(spent(check))
            print(f"{name}, teeth: {teeth}, {found[teeth][-1]}", file=sys.stderr, flush=True)
        (off, off_used), (on, on_used) = (tuple(map(sum, zip(*found[side], strict=True))) for side in (False, True))
        print(f"{name:22}{off:10.1f}{off_used:10.1f}{on:10.1f}{on_used:10.1f}{on / off:7.2f}{on_used / off_used:7.2f}")
        bounds[name] = Bound(on_used / off_used, at_most=1.2)
    return bounds
