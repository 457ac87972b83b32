"""What a check says about its cases, in words; `firesteel.report` puts them on the page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from firesteel.names import counted, name_of, place_of
from firesteel.spark.engines.subject import Subject
from firesteel.spark.running import Running
from firesteel.values import durations
from firesteel.values.records import brief
from firesteel.values.streams import Batch, Instant, Stream, Trace


def unit_of(how: Running) -> str:
    """What an instant is: a "batch", or a "window" of event time."""
    return "batch" if how.over is None else "window"


def size_of(inputs: Mapping[str, Stream]) -> str:
    """`2 batches, 1 record`."""
    length = max(len(stream) for stream in inputs.values())
    records = sum(len(batch) for stream in inputs.values() for batch in stream)
    return f"{counted(length, 'batch')}, {counted(records, 'record')}"


def strays(trace: Trace) -> str:
    """Output that no window holds."""
    count = sum(len(batch) for batch in trace.outside.values())
    some = [f"{name} {brief(record)}" for name, batch in trace.outside.items() for record in _first(batch)]
    return (
        f"{counted(count, 'output record')} {'lies' if count == 1 else 'lie'} in none of the input's windows, so the "
        f"property never saw {'it' if count == 1 else 'them'}: {', '.join(some[:3])}. If that is right, let the "
        "stream cover more time (ss.timed(..., close_after=...)), name another event-time column (on=...), or "
        "pass on_inconclusive='pass'"
    )


def _first(batch: Batch, most: int = 3) -> Sequence[Any]:
    return batch.records[:most] if type(batch) is Batch else [batch]


def outputs_of(trace: Trace, unit: str) -> str:
    """What came out, instant by instant."""
    return "; ".join(_output(instant, unit) for instant in trace)


def _output(instant: Instant, unit: str) -> str:
    return f"{unit} {instant.index} " + ", ".join(f"{name}={batch!r}" for name, batch in instant.outputs.items())


def call_of(subject: Subject, how: Running) -> str:
    """The subject's part of a line of code that runs it: its name, and the options that are not the usual ones."""
    usual, name = Running(), name_of(subject)
    texts = {
        "engine": repr(how.engine),
        "output_mode": repr(how.output_mode),
        "batch_interval": repr(durations.text(how.batch_interval)),
        "over": f"fs.{how.over!r}",
        "close": repr(how.close),
        "state": repr(how.state),
    }
    options = [f"{option}={text}" for option, text in texts.items() if getattr(how, option) != getattr(usual, option)]
    return ", ".join([name if name.isidentifier() else "subject", *options])


def subject_line(subject: Subject, how: Running, version: str) -> str:
    """What was run, and on what."""
    modes = how.output_mode
    modes = modes if isinstance(modes, str) else ", ".join(f"{name}: {mode}" for name, mode in modes.items())
    engine = f"structured, {modes} mode" if how.engine == "structured" else how.engine
    place = _relative(place_of(subject))
    return f"{name_of(subject)}{f' ({place})' if place else ''}, {engine}, Spark {version}"


def _relative(place: str | None) -> str | None:
    if place is None:
        return None
    inside = os.path.relpath(place)
    return place if inside.startswith("..") else inside
