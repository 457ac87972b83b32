"""`Case`: the streams of one run, by the names of their inputs, and the values that were drawn with them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.values.batches import Batch, make_batch
from firesteel.values.records import Record, same
from firesteel.values.streams import Stream


class Case(Mapping[str, Stream]):
    """The streams of one case, and values that were drawn with them, on which property and subject may depend.

    A strategy of cases may be given wherever a strategy of streams may. The values are in `instant.drawn`. A subject
    that has a parameter of the same name is given the value.

    >>> case = Case(Stream("n INT", [[(1,), (5,)]]), least=3)
    >>> case["input"], case.drawn.least
    (Stream('n INT', [[(1,), (5,)]]), 3)
    >>> import firesteel as fs
    >>> (now,) = fs.run(case, lambda numbers, least: numbers.where(f"n >= {least}"))
    >>> now.output.values("n"), bool(now.output.every(lambda r: r.n >= now.drawn.least))
    ([5], True)

    A report has to show the values, so they must be data: numbers, text, times, and lists, dicts and records of these.
    """

    __slots__ = ("drawn", "inputs")

    def __init__(self, streams: Stream | Mapping[str, Stream], /, **drawn: Any) -> None:
        inputs = _by_name(streams)
        for name, value in drawn.items():
            if name in inputs:
                raise InvalidArgument(f"{name!r} is the name of a stream already: give the drawn value another name")
            if not _is_data(value):
                raise InvalidArgument(
                    f"{described(name, value)} is not data, so a report could not show it: draw a number, a text, a "
                    "time, or a list, dict or record of these, and make the rest of it where it is needed"
                )
        before = streams.drawn.__dict__ if isinstance(streams, Case) else {}
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "drawn", Record({**before, **drawn}))

    if TYPE_CHECKING:
        inputs: Mapping[str, Stream]
        drawn: Record

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a case cannot be changed: make a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_made, (self.inputs, self.drawn))

    def __getitem__(self, name: str) -> Stream:
        return self.inputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.inputs)

    def __len__(self) -> int:
        return len(self.inputs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Case):
            return self.inputs == other.inputs and same(self.drawn, other.drawn)
        return self.inputs == other if isinstance(other, Mapping) and not len(self.drawn) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        streams = self.inputs["input"] if list(self.inputs) == ["input"] else dict(self.inputs)
        return f"Case({streams!r}{''.join(f', {text}' for text in texts_of(self.drawn))})"

    @property
    def length(self) -> int:
        """The number of batches: shorter inputs are padded with empty ones."""
        return max(map(len, self.inputs.values()), default=0)

    def batches_at(self, index: int) -> dict[str, Batch]:
        """The batch of every input at an instant; an empty one where a stream is shorter."""
        return {
            name: stream[index] if index < len(stream) else make_batch((), stream.schema)
            for name, stream in self.inputs.items()
        }

    def with_each(self, change: Callable[[Stream], Stream]) -> Case:
        """The case with every stream changed."""
        return _made({name: change(stream) for name, stream in self.inputs.items()}, self.drawn)


def as_case(drawn: Any) -> Case:
    """A drawn value as a case: a stream by itself is called `input`."""
    return drawn if isinstance(drawn, Case) else Case(drawn)


def texts_of(drawn: Record) -> list[str]:
    """Drawn values as they are written: `n=3`."""
    return [f"{name}={value!r}" for name, value in drawn.__dict__.items()]


def exact(value: Any) -> Hashable:
    """What tells drawn data from all other data. Values may be equal and yet make another program: 1, 1.0 and True.

    >>> exact([1]) == exact([1]), exact([1]) == exact([True]), exact(0.0) == exact(-0.0)
    (True, False, False)
    """
    match value:
        case float():
            return type(value), value.hex()
        case Decimal():
            return type(value), value.as_tuple()
        case datetime() | time():
            return type(value), value.isoformat(), str(value.tzinfo), value.fold
        case list() | tuple():
            return type(value), tuple(map(exact, value))
        case set() | frozenset():
            return type(value), frozenset(map(exact, value))
        case dict() | Record():
            named = value if isinstance(value, dict) else value.__dict__
            return type(value), tuple((exact(name), exact(each)) for name, each in named.items())
        case _:
            return type(value), value


def _made(inputs: Mapping[str, Stream], drawn: Record) -> Case:
    case = Case.__new__(Case)
    object.__setattr__(case, "inputs", inputs)
    object.__setattr__(case, "drawn", drawn)
    return case


def _by_name(streams: Any) -> Mapping[str, Stream]:
    match streams:
        case Case():
            return streams.inputs
        case Stream():
            return {"input": streams}
        case Mapping() if streams and all(isinstance(stream, Stream) for stream in streams.values()):
            return {str(name): stream for name, stream in streams.items()}
        case Batch():
            raise InvalidArgument(
                f"{described('streams', streams)} is a batch, where a stream is meant: write Stream(schema, [batch]), "
                "or ss.always(batches, during=n) for a strategy"
            )
        case _:
            raise InvalidArgument(
                f"{described('streams', streams)} is not a stream: give a stream, or a dict of streams by input name; "
                "to fs.for_all a strategy of these (ss.always(...), st.fixed_dictionaries({...}))"
            )


def _is_data(value: Any) -> bool:
    match value:
        case None | bool() | int() | float() | str() | bytes() | date() | time() | timedelta() | Decimal():
            return True
        case list() | tuple() | set() | frozenset() | Record():
            return all(map(_is_data, value))
        case dict():
            return all(map(_is_data, value)) and all(map(_is_data, value.values()))
        case _:
            return False
