"""The table of a counterexample: every batch that was judged, what went in, what came out, what predicates said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from firesteel.evidence.runs import Broken, Counterexample, Raised
from firesteel.logic.ltl.formulas import Atom, Formula
from firesteel.names import plural
from firesteel.values.batches import Batch
from firesteel.values.records import Record, brief, columns_of, shown
from firesteel.values.traces import WINDOW, Instant

# How many records of a batch, and how many instants of a trace, are shown.
_RECORDS = 6
_INSTANTS = 30


def deciding(found: Counterexample) -> int:
    """The instant that made the claim false."""
    last = max(len(found.trace) - 1, 0)
    if not isinstance(found, Broken):
        return last
    return min(last, max((leaf.at for leaf in found.explanation.leaves()), default=last))


def table(found: Counterexample, needed: int) -> str:
    """A table of the instants that were judged; `needed` is how many input batches it takes to see this again."""
    if not len(found.trace):
        return _inputs_only(found)
    times = _times(found)
    streams = [*found.trace[0].inputs, *found.trace[0].outputs]
    atoms = _atoms(found)
    heads = [found.unit, *times, *streams, *_state_head(found), *map(str, atoms)]
    rows, false_at = _rows(found, times, streams, atoms)
    if isinstance(found, Raised):
        rows += _failed_row(found, len(heads), len(times))
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [_line(heads, widths)] + [_line(row, widths) for row in rows]
    if false_at is not None:
        lines[false_at + 1] = f"{lines[false_at + 1].ljust(sum(widths) + 2 * len(widths) - 2)}  <- false here"
    return "\n".join(f"  {line}".rstrip() for line in [*lines, *_left_out(found, needed)])


def _rows(
    found: Counterexample,
    times: dict[str, Callable[[Instant], str]],
    streams: Sequence[str],
    atoms: Sequence[Formula],
) -> tuple[list[list[str]], int | None]:
    """The rows of the instants that are shown, and the index of the deciding instant's first row."""
    rows: list[list[str]] = []
    false_at: int | None = None
    for instant in found.trace[-_INSTANTS:]:
        cells = [[str(instant.index)], *([time(instant)] for time in times.values())]
        batches = {**instant.inputs, **instant.outputs}
        cells += [_cell(batches[name]) if name in batches else [""] for name in streams]
        cells += [_cell(instant.state) for _ in _state_head(found)]
        cells += [[_said(atom, instant, found)] for atom in atoms]
        if instant.index == deciding(found) and isinstance(found, Broken):
            false_at = len(rows)
        rows += [list(row) for row in zip_longest(*cells, fillvalue="")]
    return rows, false_at


def _left_out(found: Counterexample, needed: int) -> list[str]:
    """What is not in the rows."""
    lines = []
    hidden = len(found.trace) - _INSTANTS
    if hidden > 0:
        lines.append(f"({hidden} earlier {plural(found.unit)} are not shown)")
    for name, batch in found.trace.outside.items():
        lines.append(f"({len(batch)} of {name} in no window: {'; '.join(_cell(batch)[:3])})")
    rest = found.inputs.length - needed
    if rest > 0:
        lines.append(f"({rest} more batch{' was' if rest == 1 else 'es were'} not needed)")
    return lines


def _state_head(found: Counterexample) -> list[str]:
    """The state is shown where it was recorded."""
    return ["state"] if found.trace[0].recorded_state is not None else []


def _times(found: Counterexample) -> dict[str, Callable[[Instant], str]]:
    """Columns about time that have something to say: where windows start, the watermark, what was late."""
    facts: dict[str, Callable[[Instant], str]] = {}
    if found.unit == WINDOW:
        facts["from"] = lambda instant: brief(instant.time)
    elif any(instant.watermark is not None for instant in found.trace):
        facts["watermark"] = lambda instant: "(none)" if instant.watermark is None else brief(instant.watermark)
    if any(instant.recorded_dropped for instant in found.trace):
        facts["late"] = lambda instant: str(instant.recorded_dropped)
    return facts


def _failed_row(found: Counterexample, columns: int, times: int) -> list[list[str]]:
    """The batch that the subject did not survive: it went in, and nothing came out."""
    index = len(found.trace)
    batches = [stream[index] for stream in found.inputs.values() if index < len(stream)]
    if len(batches) < len(found.inputs):
        return []
    cells = [[str(index)], *([[""]] * times), *map(_cell, batches), ["(failed)"]]
    cells += [[""]] * (columns - len(cells))
    return [list(row) for row in zip_longest(*cells, fillvalue="")]


def _inputs_only(found: Counterexample) -> str:
    return "\n".join(f"  {name}  {_short(repr(stream), 400)}" for name, stream in found.inputs.items())


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cell(batch: Batch) -> list[str]:
    if batch.stays_in_spark:
        return [repr(batch)]
    if not batch:
        return ["(none)"]
    records = batch.records[:_RECORDS]
    lines = _aligned(records) if all(isinstance(r, Record) for r in records) else [shown(r) for r in records]
    more = len(batch) - len(records)
    return [_short(line, 80) for line in lines] + ([f"({more} more)"] if more else [])


def _aligned(records: Sequence[Record]) -> list[str]:
    """`user=1   honest=True`, with the columns below each other."""
    rows = [[f"{name}={brief(r[name])}" for name in columns_of(r) or ()] for r in records]
    if len({len(row) for row in rows}) != 1:
        return [" ".join(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths) for row in rows]


def _atoms(found: Counterexample) -> list[Formula]:
    """The predicates that decided it."""
    leaves = found.explanation.leaves() if isinstance(found, Broken) else ()
    return list(dict.fromkeys(leaf.formula for leaf in leaves if isinstance(leaf.formula, Atom)))


def _said(atom: Formula, instant: Instant, found: Counterexample) -> str:
    assert isinstance(found, Broken)
    decided = any(
        leaf.formula == atom and leaf.at == instant.index and instant.index == deciding(found)
        for leaf in found.explanation.leaves()
    )
    holds = found.answers.get((atom, instant.index))
    if holds is None:
        return ""  # not asked: it did not matter there
    return ("YES" if holds else "NO") if decided else ("yes" if holds else "no")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
