"""Symbolic search: inputs that a solver works out, where random ones do not come by them. Needs `firesteel[symbolic]`.

CrossHair runs a function with values that stand for many, and asks a solver which of them take another branch. It is a
backend of Hypothesis, so a domain is searched as a strategy. What it finds is a suspicion: the usual tests confirm it.

`wanted_of` is for the caller; the rest runs in a child of the worker, which is ended when its time is up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from firesteel.evidence.operators import Finding
from firesteel.logic.verdicts import Verdict
from firesteel.operators.execute import Loaded, firing
from firesteel.operators.kinds import Kind, inner_function
from firesteel.operators.outcomes import Gave, Raised, Seen
from firesteel.operators.properties import PAIRED, About, Material, feed

SECONDS = 10.0
"""For all properties of an operator; loading the solver takes one or two of them."""
_SIZES = {
    Kind.FUNCTION: {"prolific": 1, "one_to_one": 1, "selective": 1, "idempotent": 1, "total": 1},
    Kind.FLAT: {"prolific": 1, "one_to_one": 1, "selective": 1, "total": 1},
    Kind.PARTITION_FUNCTION: {"total": 1},
    Kind.REDUCER: {"commutative": 2, "associative": 3, "idempotent": 1, "total": 2},
    Kind.AGGREGATE: {"commutative": 2, "associative": 3, "zero_is_identity": 1, "seq_comb_agree": 2, "total": 2},
    Kind.COMBINER: {"commutative": 2, "associative": 3, "seq_comb_agree": 2, "total": 2},
}
"""What a function without state may lack, and how many records show it."""


def is_there() -> bool:
    """Is the extra installed, and not switched off by FIRESTEEL_SYMBOLIC=off?"""
    return os.environ.get("FIRESTEEL_SYMBOLIC") != "off" and find_spec("hypothesis_crosshair_provider") is not None


def wanted_of(about: About, done: Mapping[str, Finding]) -> tuple[str, ...]:
    """The properties that are worth a symbolic search: those that are open, of a function that seems to be pure."""
    if about.inputs.is_sample or not all(map(_has_code, about.operator.functions)):
        return ()
    if any(name in done and done[name].verdict is Verdict.FALSE for name in ("deterministic", "pure")):
        return ()
    sizes = _SIZES.get(about.operator.kind, {})
    return tuple(name for name, each in done.items() if name in sizes and each.verdict is Verdict.INCONCLUSIVE)


def _has_code(function: Callable[..., Any]) -> bool:
    return hasattr(inner_function(function), "__code__")


def suspects(loaded: Loaded, about: About, properties: tuple[str, ...], until: float) -> Iterator[tuple[str, Material]]:
    """Materials that seem to refute a property, each with its name."""
    for number, name in enumerate(properties):
        now = time.monotonic()
        material = _suspect(loaded, about, name, now + (until - now) / (len(properties) - number))
        if material is not None:
            yield name, material


class _Found(Exception):
    pass


class _Enough(BaseException):
    pass


def _suspect(loaded: Loaded, about: About, name: str, until: float) -> Material | None:
    from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
    from hypothesis import strategies as st

    from firesteel.operators.as_strategy import strategy_of

    tracers: Any = import_module("crosshair.tracers")
    fire = firing(loaded)
    found: list[Material] = []
    record = strategy_of(about.inputs.record)

    @seed(0)
    @settings(
        backend="crosshair",
        max_examples=500,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(st.tuples(*[record] * _SIZES[about.operator.kind][name]))
    def look(material: Material) -> None:
        solving = tracers.is_tracing()
        if solving:
            with tracers.NoTracing():  # else the solver would choose the time
                late = time.monotonic() > until
        else:
            late = time.monotonic() > until
        if late:
            raise _Enough
        if _is_suspicious(about, fire, name, material):
            if not solving:  # a value that stands for many is asked for again as one of them
                found.append(material)
            raise _Found

    with suppress(_Found, _Enough, Exception):
        look()
    return found[-1] if found else None


def _is_suspicious(about: About, fire: Callable[[Any], Any], name: str, material: Material) -> bool:
    """Compares by plain equality, which a solver understands; what differs by chance is sorted out later."""
    if name in PAIRED:
        for pair in PAIRED[name](about, material):
            left, right = (side.look.at(_seen(fire, side.run)) for side in (pair.left, pair.right))
            if left is not None and right is not None and left != right:
                return True
        return False
    if name == "total":
        return not _seen(fire, feed(about, material)).is_whole
    seen = _seen(fire, material)
    if not seen.is_whole:
        return False
    count = len([output for output in seen.all_outputs if output is not None])
    return count != 1 if name == "one_to_one" else count > 1


def _seen(fire: Callable[[Any], Any], run: tuple[Any, ...]) -> Seen:
    outcomes = []
    for each in run:
        try:
            outcomes.append(Gave(tuple(fire(each))))
        except Exception as error:
            if type(error).__module__.startswith(("crosshair", "hypothesis")):
                raise
            return Seen((Raised(type(error).__name__, ""),))
    return Seen(tuple(outcomes))
