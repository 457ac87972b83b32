"""How to see a failure again, as lines of code to paste."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firesteel.evidence.report import Asked, Claimed, Program, Reproduction
from firesteel.evidence.runs import Counterexample
from firesteel.values import durations
from firesteel.values.batches import make_batch
from firesteel.values.cases import Case, texts_of
from firesteel.values.streams import Stream, make_stream
from firesteel.values.traces import WINDOW

# A line of more characters is not printed.
_REPLAY = 2_000
_TEST = 4_000


def again(asked: Asked, found: Counterexample, how: Reproduction) -> str:
    """What to keep as a test, and what to run again."""
    property_ = asked.claimed is Claimed.PROPERTY
    test = _run(asked, found, how) if property_ else _compared(asked, how)
    if len(test) > _TEST:
        test = "(too long to print: failure.report.counterexample.inputs has the streams)"
    lines = ["Keep it as a test:", f"  {test}"]
    if len(how.line) <= _REPLAY:
        note = "    # also in .hypothesis/; plain pytest tries it first"
        lines += ["Run it again:", f'  {asked.function}(..., replay="{how.line}"){note}']
    return "\n".join(lines)


def _run(asked: Asked, found: Counterexample, how: Reproduction) -> str:
    """A call of `fs.run` with the batches that are needed."""
    windows = found.unit == WINDOW
    needed = how.case if windows else how.case.with_each(lambda stream: _beginning(stream, how.needed))
    arguments = [_case_text(needed), _name(asked.programs), *_options(asked.options)]
    # The stream went on after the batches that are shown: event time, if there is any, did not end there.
    cut_short = any(len(s) > how.needed for s in how.case.values()) and any(map(_has_time, how.case.values()))
    if cut_short and asked.engine == "structured" and "close" not in asked.options:
        arguments.append("close=False")
    return f"fs.run({', '.join(arguments)})"


def _compared(asked: Asked, how: Reproduction) -> str:
    names = [program.name for program in asked.programs if program.name.isidentifier()]
    return f"{asked.function}(..., {', '.join(names) or '...'}, ..., examples=[{_case_text(how.case)}])"


def _name(programs: tuple[Program, ...]) -> str:
    """The subject as it can be written: a lambda has no name."""
    name = programs[0].name if programs else "subject"
    return name if name.isidentifier() else "subject"


def _options(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_option(name, value)}" for name, value in options.items()]


def _option(name: str, value: Any) -> str:
    match name:
        case "batch_interval":
            return repr(durations.text(value))
        case "over":
            return f"fs.{value!r}"
        case _:
            return repr(value)


def _has_time(stream: Stream) -> bool:
    """May there be event time in it? A watermark shows only from the second batch on."""
    return stream.schema is not None and any(f.dataType.typeName().startswith("timestamp") for f in stream.schema)


def _beginning(stream: Stream, batches: int) -> Stream:
    """The first batches, with the schema."""
    return make_stream((make_batch(b.records, stream.schema, b.partitions) for b in stream[:batches]), stream.schema)


def _case_text(case: Case) -> str:
    texts = {name: _stream_text(stream) for name, stream in case.inputs.items()}
    streams = "{" + ", ".join(f"{name!r}: {text}" for name, text in texts.items()) + "}"
    if list(texts) == ["input"]:
        streams = texts["input"]
    return f"fs.Case({', '.join([streams, *texts_of(case.drawn)])})" if len(case.drawn) else streams


def _stream_text(stream: Stream) -> str:
    if all(batch.partitions is None for batch in stream):
        return f"fs.{stream!r}"
    return f"fs.Stream(None, [{', '.join(f'fs.{batch!r}' for batch in stream)}])"
