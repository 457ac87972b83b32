"""A report as plain text: what a failure's message says, made from the report's data alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from firesteel.evidence import Counterexample, Failed, Falsified, Inconclusive, Report, SubjectError
from firesteel.logic.ltl.formulas import Atom, Formula
from firesteel.names import plural
from firesteel.report.reasons import sentence
from firesteel.values.cases import Case, texts_of
from firesteel.values.records import Record, brief, columns_of, shown
from firesteel.values.streams import Batch, Instant, Stream, make_batch, make_stream

_RECORDS = 6
_BATCHES = 30
_REPLAY = 2_000
_TEST = 4_000


def render(report: Report, failure: type[Failed] | None = None) -> str:
    """The whole text.

    >>> from firesteel import Verdict
    >>> render(Report(Verdict.TRUE, 20))
    'true in 20 cases'
    """
    if failure is None:
        return "\n".join([f"{report.verdict.name.lower()} in {report.cases} cases", *report.notes])
    found = report.counterexample
    parts = [_title(report, failure)]
    if found is None:
        parts += ["\n".join(report.notes), _lines(_facts(report))]
        return "\n\n".join(part for part in parts if part)
    parts.append(_reason(found, failure))
    parts.append(_table(found, failure))
    parts.append(_lines(_facts(report)))
    if report.notes:
        parts.append(_lines(("noted", note) for note in report.notes))
    parts.append(_again(report, found, failure))
    return "\n\n".join(part for part in parts if part)


def _title(report: Report, failure: type[Failed]) -> str:
    found = report.counterexample
    what = {"fs.equivalent": "the equivalence", "fs.stable": "the stability"}.get(report.called, "the property")
    if failure is Falsified and found is not None:
        return f"{what} is false in {_named(found, deciding(found))}"
    if failure is Inconclusive:
        return f"{what} could not be decided"
    if failure is SubjectError:
        return "the subject failed"
    return f"{what} says nothing here"


def _named(found: Counterexample, index: int) -> str:
    """`batch 3`, or `window 3, from 2000-01-01 03:00:00`."""
    at = found.trace[index].time if index < len(found.trace) else None
    begins = f", from {brief(at)}," if found.unit == "window" and at is not None else ""
    return f"{found.unit} {index}{begins}".rstrip(",")


def deciding(found: Counterexample) -> int:
    """The instant that made the property false."""
    if found.explanation is None:
        return max(len(found.trace) - 1, 0)
    last = max(len(found.trace) - 1, 0)
    return min(last, max((leaf.at for leaf in found.explanation.leaves()), default=last))


def _reason(found: Counterexample, failure: type[Failed]) -> str:
    if found.explanation is not None and failure is Falsified:
        return sentence(found.explanation, found.unit)
    return found.reason


# --- the table -------------------------------------------------------------------------------------


def _table(found: Counterexample, failure: type[Failed]) -> str:
    """Every batch that was judged: what went in, what came out, and what the deciding predicates said."""
    if not len(found.trace):
        return _inputs_only(found)
    atoms = _atoms(found)
    facts = _time_facts(found)
    streams = [*found.trace[0].inputs, *found.trace[0].outputs]
    heads = [found.unit, *facts, *streams, *_state_head(found), *map(str, atoms)]
    rows: list[list[str]] = []
    false_at: int | None = None
    for instant in _shown_instants(found):
        cells = [[str(instant.index)], *([fact(instant)] for fact in facts.values())]
        batches = {**instant.inputs, **instant.outputs}
        cells += [_cell(batches[name]) if name in batches else [""] for name in streams]
        cells += [_cell(instant.state) for _ in _state_head(found)]
        cells += [[_said(atom, instant, found)] for atom in atoms]
        if instant.index == deciding(found) and found.explanation is not None:
            false_at = len(rows)
        rows += [list(row) for row in zip_longest(*cells, fillvalue="")]
    if failure is SubjectError:
        rows += _failed_row(found, len(heads), len(facts))
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [_line(heads, widths)] + [_line(row, widths) for row in rows]
    if false_at is not None:
        lines[false_at + 1] = f"{lines[false_at + 1].ljust(sum(widths) + 2 * len(widths) - 2)}  <- false here"
    hidden = len(found.trace) - len(_shown_instants(found))
    if hidden:
        lines.append(f"({hidden} earlier {plural(found.unit)} are not shown)")
    for name, batch in found.trace.outside.items():
        some = "; ".join(_cell(batch)[:3])
        lines.append(f"({len(batch)} of {name} in no window: {some})")
    rest = max(len(stream) for stream in found.inputs.values()) - _needed_batches(found, failure)
    if rest > 0:
        lines.append(f"({rest} more batch{' was' if rest == 1 else 'es were'} not needed)")
    return "\n".join(f"  {line}".rstrip() for line in lines)


def _state_head(found: Counterexample) -> list[str]:
    """The state is shown where it was recorded."""
    return ["state"] if found.trace[0].recorded_state is not None else []


def _time_facts(found: Counterexample) -> dict[str, Callable[[Instant], str]]:
    """Columns about time that have something to say: where windows start, the watermark, what was late."""
    facts: dict[str, Callable[[Instant], str]] = {}
    if found.unit == "window":
        facts["from"] = lambda instant: brief(instant.time)
    if any(instant.watermark is not None for instant in found.trace):
        facts["watermark"] = lambda instant: "(none)" if instant.watermark is None else brief(instant.watermark)
    if any(instant.dropped for instant in found.trace):
        facts["late"] = lambda instant: str(instant.dropped)
    return facts


def _failed_row(found: Counterexample, columns: int, facts: int) -> list[list[str]]:
    """The batch that the subject did not survive: it went in, and nothing came out."""
    index = len(found.trace)
    batches = [stream[index] for stream in found.inputs.values() if index < len(stream)]
    if len(batches) < len(found.inputs):
        return []
    cells = [[str(index)], *([[""]] * facts), *map(_cell, batches), ["(failed)"]]
    cells += [[""]] * (columns - len(cells))
    return [list(row) for row in zip_longest(*cells, fillvalue="")]


def _needed_batches(found: Counterexample, failure: type[Failed]) -> int:
    """How many batches it takes to see this again."""
    longest = max(len(stream) for stream in found.inputs.values())
    if found.unit == "window":
        return longest  # a window may hold what came in any batch
    if failure is SubjectError:
        return min(longest, len(found.trace) + 1)
    return len(found.trace) or longest


def _inputs_only(found: Counterexample) -> str:
    return "\n".join(f"  {name}  {_short(repr(stream), 400)}" for name, stream in found.inputs.items())


def _shown_instants(found: Counterexample) -> Sequence[Instant]:
    instants: Sequence[Instant] = found.trace[-_BATCHES:]
    return instants


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cell(batch: Batch) -> list[str]:
    if type(batch) is not Batch:
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
    leaves = found.explanation.leaves() if found.explanation is not None else ()
    return list(dict.fromkeys(leaf.formula for leaf in leaves if isinstance(leaf.formula, Atom)))


def _said(atom: Formula, instant: Instant, found: Counterexample) -> str:
    assert found.explanation is not None
    decided = any(
        leaf.formula == atom and leaf.at == instant.index and instant.index == deciding(found)
        for leaf in found.explanation.leaves()
    )
    holds = found.answers.get((atom, instant.index))
    if holds is None:
        return ""  # not asked: it did not matter there
    return ("YES" if holds else "NO") if decided else ("yes" if holds else "no")


# --- the rest ----------------------------------------------------------------------------------------


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    if report.formula is not None:
        yield "property", repr(report.formula)
    yield from report.setting.items()


def _lines(facts: Iterator[tuple[str, str]]) -> str:
    pairs = list(facts)
    width = max((len(name) for name, _ in pairs), default=0)
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in pairs)


def _again(report: Report, found: Counterexample, failure: type[Failed]) -> str:
    count = _needed_batches(found, failure)
    windows = found.unit == "window"
    needed = found.inputs if windows else found.inputs.with_each(lambda stream: _needed(stream, count))
    # In the case the stream went on after what is shown: event time, if there is any, did not end there.
    cut_short = any(len(s) > count for s in found.inputs.values()) and any(map(_has_time, found.inputs.values()))
    keep_open = ", close=False" if cut_short and not re.search("close=|engine=", report.call) else ""
    test = f"fs.run({_inputs_text(needed)}, {report.call}{keep_open})"
    if report.called != "fs.for_all":
        test = f"{report.called}(..., {report.call}, ..., examples=[{_inputs_text(found.inputs)}])"
    if len(test) > _TEST:
        test = "(too long to print: failure.report.counterexample.inputs has the streams)"
    lines = ["Keep it as a test:", f"  {test}"]
    if len(found.replay) <= _REPLAY:
        note = "    # also in .hypothesis/; plain pytest tries it first"
        lines += ["Run it again:", f'  {report.called}(..., replay="{found.replay}"){note}']
    return "\n".join(lines)


def _has_time(stream: Stream) -> bool:
    """May there be event time in it? A watermark shows only from the second batch on."""
    return stream.schema is not None and any(f.dataType.typeName().startswith("timestamp") for f in stream.schema)


def _needed(stream: Stream, instants: int) -> Stream:
    """The batches that were judged, with the schema."""
    return make_stream((make_batch(b.records, stream.schema, b.partitions) for b in stream[:instants]), stream.schema)


def _inputs_text(case: Case) -> str:
    texts = {name: _stream_text(stream) for name, stream in case.inputs.items()}
    streams = "{" + ", ".join(f"{name!r}: {text}" for name, text in texts.items()) + "}"
    if list(texts) == ["input"]:
        streams = texts["input"]
    return f"fs.Case({', '.join([streams, *texts_of(case.drawn)])})" if len(case.drawn) else streams


def _stream_text(stream: Stream) -> str:
    if all(batch.partitions is None for batch in stream):
        return f"fs.{stream!r}"
    return f"fs.Stream(None, [{', '.join(f'fs.{batch!r}' for batch in stream)}])"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
