"""What a comparison of two DataFrames found, as text: the rows that only one of them has, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from firesteel.evidence.frames import ColumnTypes, Difference, Odd, Undecided
from firesteel.names import counted
from firesteel.report.lookalikes import around, spots
from firesteel.values.records import Record, brief, canonical

_ROWS = 10
_WIDTH = 70
# A column is not cut to fewer characters than this.
_LEAST = 24
_SPOTS = 5
_Pair: TypeAlias = tuple[Odd | None, Odd | None]


def told(found: Difference | Undecided) -> str:
    """The whole text of a finding.

    >>> print(told(Difference(1, 2, (Odd(Record(n=1, x=None)),), (Odd(Record(n=1, x=0.5)), Odd(Record(n=2, x=0.0))))))
    the frames differ: 1 row only left, 2 only right
    <BLANKLINE>
      left         right
      n=1  x=None  n=1  x=0.5
      -            n=2  x=0.0
    """
    match found:
        case Undecided():
            return _undecided(found)
        case Difference(schema=()):
            return _rows_differ(found)
        case Difference(schema=columns):
            return "\n".join(["the schemas differ", "", *(f"  {_column(column)}" for column in columns)])


def _undecided(found: Undecided) -> str:
    return (
        f"{counted(found.only_left, 'row')} only left and {found.only_right} only right have no exact equal: that is "
        f"more than the {found.most:,} that are compared on the driver with {found.equal!r}. "
        "Round the columns in Spark first, with F.round, or compare the frames part by part"
    )


def _column(column: ColumnTypes) -> str:
    return f"column {column.name!r}: {column.left or 'missing'} left, {column.right or 'missing'} right"


def _rows_differ(found: Difference) -> str:
    title = f"the frames differ: {counted(found.only_left, 'row')} only left, {found.only_right} only right"
    parts = [title, found.reason, "\n".join(_table(found)), "\n".join(_spots(_paired(found)[:_ROWS]))]
    if found.exact_first is not None:
        parts.append(f"{found.exact_first!r}: rows that are exactly equal were paired first, then those that are close")
    return "\n\n".join(part for part in parts if part)


def _table(found: Difference) -> Iterator[str]:
    pairs = _paired(found)
    rows = [_line(pair, found) for pair in pairs[:_ROWS]]
    heads = (["row"] if found.key is not None else []) + ["left", "right"]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    rest = [
        f"{count - shown} more only {name}"
        for side, (name, count) in enumerate((("left", found.only_left), ("right", found.only_right)))
        if count > (shown := sum(odd.times for pair in pairs[:_ROWS] if (odd := pair[side]) is not None))
    ]
    if rest:
        yield f"  (and {', '.join(rest)})"


def _paired(found: Difference) -> list[_Pair]:
    """Every row beside the row of the other side that it was probably meant to be: at its place, or most like it."""
    rights = list(found.right)
    pairs: list[_Pair] = []
    for left in found.left:
        scores = [_alike(left, right, found) for right in rights]
        best = max(scores, default=0)
        pairs.append((left, rights.pop(scores.index(best)) if best else None))
    if found.key is not None:
        pairs += [(None, right) for right in rights]
        return sorted(pairs, key=lambda pair: min(odd.place or 0 for odd in pair if odd is not None))
    # Rows that are not like any other fill the gaps.
    others = iter(rights)
    pairs = [pair if pair[1] is not None else (pair[0], next(others, None)) for pair in pairs]
    return pairs + [(None, right) for right in others]


def _alike(left: Odd, right: Odd, found: Difference) -> int:
    """In how many columns two rows agree; 0 if they cannot be meant to be the same row."""
    if found.key is not None:
        same_key = all(canonical(left.record[name]) == canonical(right.record[name]) for name in found.key)
        return int(same_key and left.place == right.place)
    return len(left.record) - len(_differing(left.record, right.record))


def _differing(left: Record, right: Record) -> list[str]:
    mine, theirs = left.__dict__, right.__dict__
    return [name for name, value in mine.items() if name not in theirs or canonical(value) != canonical(theirs[name])]


def _line(pair: _Pair, found: Difference) -> list[str]:
    left, right = pair
    known = next(odd for odd in pair if odd is not None)
    different = None if left is None or right is None else _differing(left.record, right.record)
    cells = [str(known.place)] if found.key is not None else []
    return [*cells, _cell(left, right, different), _cell(right, left, different)]


def _cell(odd: Odd | None, other: Odd | None, different: Sequence[str] | None) -> str:
    """A row as one line. If it is too long, the columns that differ are kept, and one of the others to know it by."""
    if odd is None:
        return "-"
    texts = {name: brief(value) for name, value in odd.record.__dict__.items()}
    text = "  ".join(f"{name}={_short(said, _WIDTH)}" for name, said in texts.items()) or "(no columns)"
    if len(text) > _WIDTH:
        others = {} if other is None else {name: brief(value) for name, value in other.record.__dict__.items()}
        text = _around(texts, others, list(texts) if different is None else different)
    return text if odd.times == 1 else f"{text}  ({odd.times} times)"


def _around(texts: Mapping[str, str], others: Mapping[str, str], different: Sequence[str]) -> str:
    """The columns that differ, where they differ; of the others the first, and as many more as there is room for."""
    agreeing = [name for name in texts if name not in different]
    share = max(_LEAST, (_WIDTH - _LEAST) // max(1, len(different)))
    said = {
        name: f"{name}={around(text, others.get(name, ''), share) if name in different else _short(text, _LEAST)}"
        for name, text in texts.items()
    }
    kept: list[str] = []
    room = 2 * _WIDTH
    for name in (*agreeing[:1], *(name for name in texts if name in different)):
        if (room := room - len(said[name]) - 2) >= 0 or not kept:
            kept.append(name)
    room = _WIDTH - sum(len(said[name]) + 2 for name in kept)
    kept += [name for name in agreeing[1:] if (room := room - len(said[name]) - 2) >= 0]
    shown = [said[name] if name in kept else "..." for name in texts]
    return "  ".join(cell for at, cell in enumerate(shown) if cell != "..." or not at or shown[at - 1] != "...")


def _spots(pairs: Sequence[_Pair]) -> list[str]:
    """Where texts differ that look the same in the table, or that are cut there."""
    lines = []
    for left, right in pairs:
        if left is None or right is None:
            continue
        mine, theirs = left.record, right.record
        different = _differing(mine, theirs)
        known_by = next(
            (f"{name}={_short(brief(mine[name]), _LEAST)}, " for name in mine.__dict__ if name not in different), ""
        )
        for name in different:
            if name in theirs.__dict__:
                lines += [f"  {known_by}{spot}" for spot in spots(name, mine[name], theirs[name], _WIDTH - _LEAST)]
    more = [f"  (and {len(lines) - _SPOTS} more)"] if len(lines) > _SPOTS else []
    return lines[:_SPOTS] + more


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
