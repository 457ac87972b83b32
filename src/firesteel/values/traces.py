"""`Instant` and `Trace`: what is seen of a run, instant by instant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from firesteel.values.batches import Batch, together
from firesteel.values.records import Record, listed

__all__ = ["Instant", "Trace"]


def _no_batches() -> Mapping[str, Batch]:
    return {}


@dataclass(frozen=True)
class Instant:
    """What is seen at one moment: the batch of every input and output, with index, time and watermark.

    >>> now = Instant(0, {"input": Batch([1, 2])}, {"output": Batch([3])})
    >>> now.input, now["output"]
    (Batch([1, 2]), Batch([3]))
    """

    index: int
    """0, 1, 2, ...: the input batch, or the window."""
    inputs: Mapping[str, Batch] = field(default_factory=_no_batches)
    """The batch of every input, by name; `input` where there is one."""
    outputs: Mapping[str, Batch] = field(default_factory=_no_batches)
    """What every output put out, by name; `output` where there is one."""
    time: datetime | None = None
    """Start of the window with `over=`, else the batch's time; aware, UTC."""
    is_window: bool = False
    """Is this a window of event time (`over=`), and not a batch?"""
    recorded_watermark: datetime | None = None
    """What `watermark` returns for a batch."""
    recorded_dropped: int | None = 0
    """What `dropped` returns; None where it is not known."""
    recorded_state: Batch | None = field(default=None, repr=False)
    """What `state` returns, where it was recorded."""
    drawn: Record = field(default_factory=Record, repr=False)
    """What was drawn with the case's streams: `fs.Case(stream, n=3)` gives `drawn.n`."""
    previous: Instant | None = field(default=None, repr=False, compare=False)
    """The instant before this one in its trace; `so_far` looks back through it."""

    def after(self, previous: Instant | None) -> Instant:
        """This instant, with `previous` as the one before it; None makes it the first of a trace.

        >>> first, second = Instant(0, {"input": Batch([1])}), Instant(1, {"input": Batch([2])})
        >>> second.after(first).so_far.input
        Batch([1, 2])
        """
        return self if self.previous is previous else replace(self, previous=previous)

    def __getitem__(self, name: str) -> Batch:
        for batches in (self.inputs, self.outputs):
            if name in batches:
                return batches[name]
        raise KeyError(f"no stream {name!r}; this instant has {listed([*self.inputs, *self.outputs])}")

    @property
    def input(self) -> Batch:
        """The input's batch, where there is one input."""
        return _only(self.inputs, "input")

    @property
    def output(self) -> Batch:
        """The output's batch, where there is one output."""
        return _only(self.outputs, "output")

    @property
    def watermark(self) -> datetime | None:
        """The watermark in force while this batch ran; aware, UTC. None before there is one.

        Spark's stateful operators drop records that are not after it. An aggregation compares the end of a record's
        window with it. A window (`over=`) has no watermark, and asking for it is an error.
        """
        if self.is_window:
            raise AttributeError(
                "a window (over=) has no watermark: its records may come in several batches, and each batch has a "
                "watermark of its own. Leave out over= to see now.watermark batch by batch"
            )
        return self.recorded_watermark

    @property
    def dropped(self) -> int:
        """How many records Spark dropped as late in this batch.

        Spark counts what its stateful operators drop. An aggregation combines the records of a group before it looks
        for late ones, so there `dropped` counts groups: three late records of one window and one key can count as one.
        Where there are several operators, or outputs, their counts are added up.

        Spark does not say which records it dropped. So for a window (`over=`) the number is known where nothing was
        dropped in the whole run, and where the run has only one window. Otherwise asking for it is an error.
        """
        if self.recorded_dropped is None:
            raise AttributeError(
                "Spark dropped late records in this run, and it does not say in which windows they belong. Leave out "
                "over= to see now.dropped batch by batch, or compare the window's input with its output"
            )
        return self.recorded_dropped

    @property
    def state(self) -> Batch:
        """The subject's state after this instant, as Spark keeps it: one record for every key, with `key` and `value`.

        Only where it was asked for: `fs.run(..., state=True)`.
        """
        if self.recorded_state is None:
            raise AttributeError(
                "the state of the subject was not recorded: ask for it with state=True, as in fs.run(..., state=True)"
            )
        return self.recorded_state

    @cached_property
    def so_far(self) -> Instant:
        """This instant with all batches up to here: each name has the records of batches 0 to this one.

        >>> trace = Trace([Instant(0, {"input": Batch([1])}), Instant(1, {"input": Batch([2])})])
        >>> trace[1].so_far.input
        Batch([1, 2])
        """
        past: list[Instant] = [self]
        while past[-1].previous is not None:
            past.append(past[-1].previous)
        past.reverse()
        return replace(
            self,
            inputs={name: together(instant.inputs[name] for instant in past) for name in self.inputs},
            outputs={name: together(instant.outputs[name] for instant in past) for name in self.outputs},
            recorded_dropped=all_dropped(past),
            previous=None,
        )


BATCH, WINDOW = "batch", "window"
"""What an instant of a trace is."""


class Trace(Sequence[Instant]):
    """The instants of one run.

    >>> trace = Trace([Instant(0, {}, {"output": Batch([1])}), Instant(1, {}, {"output": Batch([2])})])
    >>> len(trace), trace.output
    (2, Batch([1, 2]))
    """

    __slots__ = ("instants", "outside")

    def __init__(self, instants: Iterable[Instant], *, outside: Mapping[str, Batch] | None = None) -> None:
        linked: list[Instant] = []
        for instant in instants:
            linked.append(instant.after(linked[-1] if linked else None))
        object.__setattr__(self, "instants", tuple(linked))
        object.__setattr__(self, "outside", dict(outside or {}))

    if TYPE_CHECKING:
        instants: tuple[Instant, ...]
        outside: Mapping[str, Batch]
        """With `over=`: the output, by name, whose event time lies in none of the input's windows."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a trace cannot be changed: make a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_trace, (self.instants, self.outside))

    def __getitem__(self, index: Any) -> Any:
        return self.instants[index]

    def __len__(self) -> int:
        return len(self.instants)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Trace, list, tuple)):
            outside = other.outside if isinstance(other, Trace) else {}
            return list(self) == list(other) and self.outside == outside
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(instant.index for instant in self.instants))

    def __repr__(self) -> str:
        outside = f", outside={self.outside!r}" if self.outside else ""
        return f"Trace([{', '.join(map(repr, self.instants))}]{outside})"

    @property
    def output(self) -> Batch:
        """Everything that came out, in order."""
        return together(instant.output for instant in self.instants)


def up_to(trace: Trace, stop: Callable[[Instant], bool]) -> Trace:
    """A trace up to the first instant at which a function says so, that instant included.

    >>> trace = Trace([Instant(0), Instant(1), Instant(2)])
    >>> len(up_to(trace, lambda instant: instant.index == 1))
    2
    """
    seen = []
    for instant in trace:
        seen.append(instant)
        if stop(instant):
            break
    return Trace(seen, outside=trace.outside)


def all_dropped(instants: Iterable[Instant]) -> int | None:
    """How many records Spark dropped as late in all these instants; None where it is not known.

    >>> all_dropped([Instant(0, recorded_dropped=2), Instant(1)])
    2
    """
    numbers = [instant.recorded_dropped for instant in instants]
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _trace(instants: Iterable[Instant], outside: Mapping[str, Batch]) -> Trace:
    return Trace(instants, outside=outside)


def _only(batches: Mapping[str, Batch], kind: str) -> Batch:
    if len(batches) == 1:
        return next(iter(batches.values()))
    raise AttributeError(
        f"this instant has {len(batches)} {kind}s ({listed(list(batches))}): "
        f"name the one you mean, now[{next(iter(batches), 'name')!r}]"
    )
