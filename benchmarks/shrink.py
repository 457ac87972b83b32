"""From the first failure to the smallest counterexample: FlinkCheck's safety property with dangers from 0.5."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from run import Bound, load_module

import firesteel as fs
from firesteel import strategies as ss
from firesteel.report.facts import facts
from firesteel.search.find import _Search

bulk = load_module("bulk")


def measure() -> Mapping[str, Bound]:
    fs.session()
    incident = ss.records(
        bulk.INCIDENT, zone=st.integers(0, 9), danger=st.one_of(st.floats(4, 10.0), st.floats(0.5, 10))
    )
    each = ss.batches(incident, min_size=2, max_size=5)
    hours = ss.timed(ss.always(each, during=bulk.WINDOWS), every="1 hour", column="ts")
    started: list[float] = []
    before = _Search._simplest

    def watched(search: Any, *arguments: Any) -> Any:
        started.append(time.perf_counter())
        return before(search, *arguments)

    _Search._simplest = watched  # type: ignore[method-assign]
    print("searching ...", file=sys.stderr, flush=True)
    try:
        fs.for_all(
            hours, bulk.harass_max, bulk.NEVER_SAFE, over=bulk.HOURS, cases=100, settings=settings(database=None)
        )
        raise AssertionError("it has to be found false")
    except fs.Falsified as failure:
        took = time.perf_counter() - started[0]
        found = failure.report.counterexample
        assert found is not None
        print(f"{facts(failure.report)['found in']}\n")
        low = [record for batch in found.inputs["input"] for record in batch if record.danger <= 1]
        print(
            f"seconds from the first failure to the smallest counterexample: {took:.1f}; records at fault: {len(low)}"
        )
    finally:
        _Search._simplest = before  # type: ignore[method-assign]
    return {"seconds": Bound(took, at_most=20)}
