"""The paper's testing order: which answers settle others, for functions and for operators on Spark alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from firesteel.evidence.operators import Finding
from firesteel.logic.verdicts import Verdict


def settled(name: str, done: Mapping[str, Finding], *, always_tested: str, one_record_fires: bool) -> Finding | None:
    """What earlier answers settle about a property; None where it has to be tested.

    `always_tested` is a property that says something about what is not deterministic too. Where one record makes a
    firing, what is potentially stateless is potentially commutative and partition-isolated.
    """
    open_ = Finding(name, Verdict.INCONCLUSIVE)
    if name not in ("deterministic", always_tested) and _is_false(done, "deterministic"):
        return replace(open_, settled_by="deterministic", why="it is not deterministic, so this was not tested")
    if name == "stateless" and _is_false(done, "non_blocking"):
        blocking = done["non_blocking"]
        return replace(
            open_, verdict=Verdict.FALSE, settled_by="non_blocking", proof=blocking.proof, port=blocking.port
        )
    if name in ("one_to_one", "selective") and (witness := done.get("prolific")) is not None and witness.proof:
        return replace(open_, verdict=Verdict.FALSE, proof=witness.proof, settled_by="prolific")
    if name in ("commutative", "partition_isolated") and one_record_fires:
        earlier = done.get("stateless")
        if earlier is not None and earlier.verdict is not Verdict.FALSE and earlier.outputs:
            return replace(open_, tests=earlier.tests, outputs=earlier.outputs, settled_by="stateless")
    return None


def _is_false(done: Mapping[str, Finding], name: str) -> bool:
    return name in done and done[name].verdict is Verdict.FALSE
