"""What runs on Spark showed about an operator, in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from firesteel.evidence.onspark import Fed, Fired, Grew, OnSpark, Raised, Step, Unlike
from firesteel.names import counted
from firesteel.values import durations
from firesteel.values.records import named, shown

_MOST = 300


def sentence(proof: OnSpark) -> str:
    """The evidence in one sentence.

    >>> one, two = ("input", ("a", 1)), ("input", ("b", 2))
    >>> left = Fed(((one,), (two,)), (1, 2), columns=(("input", ("k", "n")),))
    >>> from dataclasses import replace
    >>> sentence(Unlike(left, replace(left, batches=((one, two),), outputs=(3,))))
    "k='a', n=1; then k='b', n=2 gives 1 and 2; k='a', n=1 and k='b', n=2 in one batch gives 3"
    """
    match proof:
        case Unlike(left, right):
            again = "again" if right.batches == left.batches and not _how(right) else ""
            fed = _fed(right) if right.batches != left.batches else "the same"
            said = ", ".join(filter(None, (f"{fed} {again}".strip(), _how(right))))
            return f"{_whole(left)} gives {_out(left.outputs)}; {said} gives {_out(right.outputs)}"
        case Fired(seen):
            *before, last = (_batch(batch, seen) for batch in seen.batches)
            after = f" after {'; then '.join(before)}" if before else ""
            return _short(f"{last} has {counted(len(seen.outputs), 'output')}{after}: {_out(seen.outputs)}")
        case Grew(_, keys, few, many):
            return (
                f"after {counted(keys, 'key')} that nothing more comes for, there are {counted(few, 'row')} of state; "
                f"after {4 * keys} there are {many}"
            )
        case Raised(seen, error):
            return _short(f"{_whole(seen)}: {error}")


def _whole(seen: Fed) -> str:
    return ", ".join(filter(None, (_fed(seen), _how(seen))))


def _fed(seen: Fed) -> str:
    if not any(seen.batches):
        return "nothing"
    texts = [_batch(batch, seen) for batch in seen.batches]
    together = " in one batch" if len(texts) == 1 and len(seen.batches[0]) > 1 else ""
    return _short("; then ".join(texts)) + together


def _batch(batch: Sequence[Step], seen: Fed) -> str:
    return " and ".join(_step(step, seen) for step in batch) or "an empty batch"


def _step(step: Step, seen: Fed) -> str:
    name, row = step
    columns = dict(seen.columns).get(name, ())
    text = ", ".join(f"{column}={_value(value)}" for column, value in zip(columns, row, strict=False)) or shown(row)
    return text if len(seen.columns) == 1 else f"{name}({text})"


def _value(value: Any) -> str:
    """A value in few characters: a moment as people write it."""
    return f"'{value:%Y-%m-%d %H:%M:%S}'" if isinstance(value, datetime) else shown(value)


def _row(row: Any) -> str:
    columns = named(row)
    return (
        shown(row) if columns is None else f"({', '.join(f'{name}={_value(each)}' for name, each in columns.items())})"
    )


def _how(seen: Fed) -> str:
    said = [f"in {seen.dealt} partitions"] if seen.dealt > 1 else []
    if seen.under.changes:
        said.append(f"with {seen.under}")
    if seen.retried:
        said.append("with every task retried")
    if seen.interval is not None:
        said.append(f"with {durations.text(seen.interval)} between batches")
    return ", ".join(said)


def _out(outputs: Sequence[Any]) -> str:
    return _short(" and ".join(map(_row, outputs))) or "nothing"


def _short(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 3] + "..."
