"""FlinkCheck's Tables 3 and 4: seconds for 100 cases of its safety and its liveness property, the paper's beside ours.

As in the paper, windows are those of the property: hours for safety, quarters of an hour for liveness, where half
hours are generated and the job has windows of an hour.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from run import Bound, load_module

import firesteel as fs
from firesteel import strategies as ss

bulk = load_module("bulk")

CASES = 100
WINDOWS = (4, 8, 12, 16, 20, 24, 28)
RECORDS = (50, 150, 250, 350)
PAPER = {  # an 8-core i7 at 3.6 GHz, Flink 1.8, 5 cases at a time
    "safety": {
        50: (424, 730, 1051, 1386, 1714, 2006, 2364),
        150: (412, 752, 1071, 1396, 1747, 2057, 2414),
        250: (458, 778, 1129, 1478, 1818, 2187, 2540),
        350: (430, 782, 1163, 1474, 1834, 2220, 2599),
    },
    "liveness": {
        50: (385, 785, 1191, 1615, 2001, 2422, 2845),
        150: (370, 796, 1221, 1636, 2035, 2413, 2851),
        250: (380, 803, 1246, 1687, 2040, 2569, 2897),
        350: (389, 834, 1267, 1671, 2116, 2556, 2946),
    },
}
QUARTERS = fs.tumbling("15 minutes", on={"input": "ts", "output": "at"})


def promise(now: fs.Instant) -> fs.Formula:
    hot = {r.zone for r in now.input if r.danger > 8}
    shown = fs.now(lambda later: hot <= {r.zone for r in later.output if r.level == "Extreme"}, name="shown_as_extreme")
    return fs.implies(bool(hot), fs.eventually(shown, within=4))


def half_hours(windows: int, records: int) -> st.SearchStrategy[fs.Stream]:
    incident = ss.records(bulk.INCIDENT, zone=st.integers(0, 9), danger=st.floats(0.0, 10.0))
    each = ss.batches(incident, min_size=2 * records, max_size=2 * records)
    return ss.timed(ss.always(each, during=windows // 2), every="30 minutes", column="ts")


def check(name: str, windows: int, records: int) -> None:
    match name:
        case "safety":
            streams: Any = bulk.incidents(windows, records)
            fs.for_all(streams, bulk.harass_max, bulk.NEVER_SAFE, over=bulk.HOURS, cases=CASES)
        case "liveness":
            # The last windows' promises are due after the end.
            becomes_extreme = fs.always(fs.let(promise), during=windows - 3)
            fs.for_all(half_hours(windows, records), bulk.harass_max, becomes_extreme, over=QUARTERS, cases=CASES)


def seconds(name: str, windows: int, records: int) -> float:
    start = time.perf_counter()
    check(name, windows, records)
    took = time.perf_counter() - start
    print(f"{name}, {windows} windows of {records} records: {took:.1f} s", file=sys.stderr, flush=True)
    return took


def measure() -> Mapping[str, Bound]:
    fs.session()
    for name in PAPER:
        seconds(name, 4, 50)  # warm up
    took = {(n, w, r): seconds(n, w, r) for n in PAPER for r in RECORDS for w in WINDOWS}
    for name, table in PAPER.items():
        print(f"\n{name}, {CASES} cases: seconds here (seconds in the paper)\n")
        print(f"{'records':>8}" + "".join(f"{windows:>11} w" for windows in WINDOWS))
        for records in RECORDS:
            cells = zip((took[name, w, records] for w in WINDOWS), table[records], strict=True)
            print(f"{records:>8}" + "".join(f"{ours:6.1f} ({paper:4})" for ours, paper in cells))
    print()
    least, most = WINDOWS[0], WINDOWS[-1]
    bounds = {}
    for name in PAPER:
        growth = max(took[name, most, r] / took[name, least, r] for r in RECORDS)
        bounds[f"{name}_windows_4_to_28"] = Bound(growth, at_most=most / least)
        growth = max(took[name, w, RECORDS[-1]] / took[name, w, RECORDS[0]] for w in WINDOWS)
        bounds[f"{name}_records_50_to_350"] = Bound(growth, at_most=2.5)
    return bounds
