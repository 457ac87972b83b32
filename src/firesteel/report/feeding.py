"""What was fed to an operator, as text that reads like the calls that Spark makes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from firesteel.evidence.operators import Observed, Subject
from firesteel.values.records import shown

_MOST = 160
_FOLDS = ("aggregate", "combiner", "grouped_agg")
_COLUMNS = ("pandas_udf", "arrow_udf", "map_in_pandas", "map_in_arrow")


def calls(subject: Subject, seen: Observed) -> str:
    """A run: its last firing, and those before it."""
    texts = [called(subject, firing) for firing in seen.run]
    if len(texts) == 1:
        return texts[0]
    if len(texts) <= 4 and len(set(texts)) > 1:
        return _short(", ".join(texts[:-1]) + f", then {texts[-1]}")
    if len(set(texts)) == 1:
        return _short(f"{texts[0]} for the {_ordinal(len(texts))} time")
    return _short(f"{texts[-1]} after {len(texts) - 1} others")


def _ordinal(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")


def called(subject: Subject, firing: Any) -> str:
    """One firing as a call."""
    name = subject.name
    if subject.kind == "reducer":
        return _short(_folded(name, firing))
    if subject.kind in _FOLDS:
        parts = [_part(subject, part) for group in firing for part in group]
        return _short(f"{name} over {' merged with '.join(parts)}")
    if subject.kind in _COLUMNS:
        batches = " and then ".join(_rows(subject, batch, 0) for batch in firing)
        return _short(f"{name}({batches})")
    if subject.kind in ("grouped_map", "cogrouped_map"):
        return _short(f"{name}({', '.join(_rows(subject, rows, port) for port, rows in enumerate(firing))})")
    inner = getattr(firing, "arguments", None)
    if inner is not None:
        return _short(f"{name}({name}({', '.join(map(shown, inner))}))")
    return _short(f"{name}({', '.join(map(shown, firing))})")


def _folded(name: str, fold: Sequence[Any]) -> str:
    """A reducer's fold as nested calls."""

    def together(texts: Sequence[str]) -> str:
        return reduce(lambda left, right: f"{name}({left}, {right})", texts)

    return together([together([together(list(map(shown, part))) for part in group]) for group in fold])


def _part(subject: Subject, part: Sequence[Any]) -> str:
    values = [value[0] if subject.kind == "grouped_agg" and len(value) == 1 else value for value in part]
    return shown(values)


def _rows(subject: Subject, rows: Sequence[Any], port: int) -> str:
    names = subject.columns[port] if port < len(subject.columns) else ()
    if len(names) == 1 or (rows and len(rows[0]) == 1):
        return f"{names[0] + '=' if names else ''}{shown([row[0] for row in rows])}"
    if not names:
        return shown([tuple(row) for row in rows])
    columns = [f"{name}={shown([row[place] for row in rows])}" for place, name in enumerate(names)]
    return "{" + ", ".join(columns) + "}"


def shown_outputs(outputs: Sequence[Any]) -> str:
    """The outputs: one by itself, several as a list."""
    return _short(shown(outputs[0]) if len(outputs) == 1 else shown(list(outputs)))


def _short(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 3] + "..."
