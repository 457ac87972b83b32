"""Materials for operators on Spark: a few records that meet, with values from the code's own constants.

Every material draws its values from a small palette, so that keys repeat and ports have keys in common. All materials
of a round share their event times: cases whose watermarks move alike can run in one query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeAlias

from firesteel.evidence.onspark import Step
from firesteel.operators import domains as d
from firesteel.operators.constants import pool_of
from firesteel.operators.domains import Pool
from firesteel.operators.onspark.feeds import LONG, Material
from firesteel.operators.onspark.operator import Port, SparkOperator
from firesteel.operators.sampling import from_sample, of_type
from firesteel.values import durations
from firesteel.values.records import named

_START = datetime(2000, 1, 1, tzinfo=UTC)
_STEPS = (timedelta(0), timedelta(seconds=1), timedelta(seconds=20), timedelta(minutes=7), timedelta(days=1))
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_LENGTH = re.compile(r"\d+(?:\.\d+)?\s+[a-z]+")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_LENGTHS = (2, 3, 3, 4, 6)
_LONGEST = 1_100
"""No buffer that is larger is filled: a hundred such cases in one query are a hundred thousand records."""


def constants_of(operator: SparkOperator) -> tuple[Pool, tuple[timedelta, ...]]:
    """The constants of the code, those inside its SQL texts too, and its durations: "10 minutes"."""
    pool = pool_of(operator.functions)
    ints, floats, strings = list(pool.ints), list(pool.floats), list(pool.strings)
    lengths: list[timedelta] = []
    for text in (*pool.strings, operator.text):
        for found in _NUMBER.findall(text):
            if "." in found:
                floats.append(float(found))
            else:
                ints.append(int(found))
        strings += [single or double for single, double in _QUOTED.findall(text)]
        for length in _LENGTH.findall(text):
            with suppress(Exception):
                lengths.append(durations.duration(length, "text"))
    found = replace(
        pool,
        ints=tuple(dict.fromkeys(ints)),
        floats=tuple(dict.fromkeys(floats)),
        strings=tuple(dict.fromkeys(strings)),
    )
    return found, tuple(dict.fromkeys(lengths))


@dataclass(frozen=True)
class _Fields:
    """The domains of a port's columns."""

    port: Port
    domains: tuple[d.Domain, ...]
    rows: tuple[tuple[Any, ...], ...] = ()
    """Rows that were given, in place of values that are made."""


_Shape: TypeAlias = tuple[tuple[_Fields, datetime], ...]


class Maker:
    """Makes materials, the same ones for the same seed and round."""

    def __init__(self, operator: SparkOperator, sample: Any = None, seed: int = 0) -> None:
        self._operator, self._seed = operator, seed
        self._pool, self._lengths = constants_of(operator)
        self._fields = [_fields(port, sample) for port in operator.ports]
        self._loud: list[Material] = []
        self._seen = 0

    def round(self, number: int, count: int) -> list[Material]:
        """So many materials that may run together."""
        rng = Random(f"{self._seed} {number}")
        if not self._operator.has_time:
            return [self._material(rng, self._shape(rng, 2)) for _ in range(count)]
        shape = self._shape(rng, number % 3)  # one for all: their watermarks move alike
        return [self._material(rng, shape) for _ in range(count)]

    def see(self, material: Material, had_output: bool) -> None:
        """What came of a material. Where few have output, those that had some are worth changing a little."""
        self._seen += 1
        if had_output and len(material) <= LONG:
            self._loud.append(material)

    def _shape(self, rng: Random, how: int) -> _Shape:
        """The ports and event times of a material's records, in one of three ways.

        0: the last record on each port is far later, and closes what the others opened. 1: then one more comes, too
        late. 2: anything.
        """
        count = len(self._fields)
        length = rng.choice(_LENGTHS) if how == 2 else max(rng.choice(_LENGTHS), count + 1 + how)
        ports = [rng.choice(self._fields) for _ in range(length)]
        moments = list(self._moments(rng, length))
        if how == 2:
            missing = [each for each in self._fields if each not in ports]
            for place, each in zip(rng.sample(range(length), min(len(missing), length)), missing, strict=False):
                ports[place] = each
            return tuple(zip(ports, moments, strict=True))
        start = length - how - count
        ports[start : start + count] = rng.sample(self._fields, count)
        moments[start : start + count] = [max(moments) + self._far] * count
        if how == 1:
            ports[-1] = rng.choice([each for each in self._fields if each is not ports[0]] or self._fields)
            moments[-1] = rng.choice(moments[:start])
        return tuple(zip(ports, moments, strict=True))

    @property
    def _far(self) -> timedelta:
        return max(timedelta(days=1), 3 * sum(self._lengths, timedelta(0)))

    def _moments(self, rng: Random, length: int) -> Iterator[datetime]:
        """Event times: mostly later and later, by steps that the code's windows are about."""
        steps = [*_STEPS, *self._lengths, *(each + timedelta(seconds=1) for each in self._lengths)]
        moments = [_START]
        for _ in range(length - 1):
            moments.append(rng.choice(moments) if rng.random() < 0.12 else moments[-1] + rng.choice(steps))
        yield from moments

    def _material(self, rng: Random, shape: _Shape) -> Material:
        if self._loud and len(self._loud) < 0.3 * self._seen and rng.random() < 0.5:
            return self._varied(rng, rng.choice(self._loud), shape)
        material = self._records(rng, shape)
        how = rng.random()
        if how < 0.15:
            return self._with_joined(rng, material)
        if how < 0.22 and self._buffers:
            return self._repeated(rng, material)
        return material

    def _varied(self, rng: Random, material: Material, shape: _Shape) -> Material:
        """Records of a material, some of them with another value."""
        fresh = self._records(rng, shape)
        made: list[Step] = []
        for step, (fields, moment) in zip(fresh, shape, strict=True):
            rows = [row for name, row in material if name == fields.port.name]
            if not rows:
                made.append(step)
                continue
            row = rng.choice(rows)
            at = rng.randrange(len(row))
            if rng.random() < 0.4:
                row = _put(row, at, rng.choice((rng.choice(rows)[at], step[1][at])))
            if fields.port.time is not None and not fields.rows:
                row = _put(row, fields.port.time, self._moment(fields, moment))
            made.append((fields.port.name, row))
        return tuple(made)

    def _moment(self, fields: _Fields, moment: datetime) -> datetime:
        kind = fields.port.schema.fields[fields.port.time or 0].dataType.typeName()
        return moment if kind == "timestamp" else moment.replace(tzinfo=None)

    @property
    def _buffers(self) -> list[int]:
        """Constants that may be the size of a buffer."""
        return [each for each in self._pool.ints if LONG < each <= _LONGEST]

    def _with_joined(self, rng: Random, material: Material) -> Material:
        """The same with one text that is made of the texts of a record: a condition may compare these."""
        texts = [[value for value in row if isinstance(value, str)] for _, row in material]
        makers = [each for each in texts if len(each) > 1]
        places = [
            (at, place)
            for at, (_, row) in enumerate(material)
            for place, value in enumerate(row)
            if isinstance(value, str) and (len(texts[at]) == 1 or len(self._fields) == 1)
        ]
        if not makers or not places:
            return material
        (at, place), joined = rng.choice(places), "".join(rng.choice(makers))
        name, row = material[at]
        return (*material[:at], (name, _put(row, place, joined)), *material[at + 1 :])

    def _repeated(self, rng: Random, material: Material) -> Material:
        """One record so often that a buffer is full, and then the others, mostly with the same key."""
        (name, row), *others = material
        size = rng.choice(self._buffers) + rng.randint(1, 3)
        if rng.random() < 0.8:
            columns = self._operator.port(name).columns
            key = {each: row[columns.index(each)] for each in self._operator.key}
            others = [(port, self._with_key(port, other, key)) for port, other in others]
        return (*[(name, row)] * size, *others)

    def _with_key(self, port: str, row: tuple[Any, ...], key: dict[str, Any]) -> tuple[Any, ...]:
        columns = self._operator.port(port).columns
        return tuple(key.get(column, value) for column, value in zip(columns, row, strict=True))

    def _records(self, rng: Random, shape: _Shape) -> Material:
        palettes: dict[tuple[str, str], list[Any]] = {}
        exact = rng.random() < 0.2  # nothing but constants of the code, as they are
        alike = rng.random() < 0.25  # records that differ in one column
        made: list[Step] = []
        for fields, moment in shape:
            before = next((row for name, row in made if name == fields.port.name), None)
            row = self._row(rng, fields, palettes, moment, exact=exact)
            if alike and before is not None:
                kept = rng.randrange(len(row))
                row = tuple(new if at in (kept, fields.port.time) else old for at, (new, old) in _places(row, before))
            made.append((fields.port.name, row))
        return tuple(made)

    def _row(
        self,
        rng: Random,
        fields: _Fields,
        palettes: dict[tuple[str, str], list[Any]],
        moment: datetime,
        *,
        exact: bool,
    ) -> tuple[Any, ...]:
        if fields.rows:
            return rng.choice(fields.rows)
        names = enumerate(fields.port.columns)
        return tuple(self._value(rng, at, name, fields, palettes, moment, exact=exact) for at, name in names)

    def _value(
        self,
        rng: Random,
        place: int,
        name: str,
        fields: _Fields,
        palettes: dict[tuple[str, str], list[Any]],
        moment: datetime,
        *,
        exact: bool,
    ) -> Any:
        kind = fields.port.schema.fields[place].dataType.typeName()
        if place == fields.port.time:
            return self._moment(fields, moment)
        domain = fields.domains[place]
        shared = name if name in self._operator.key or len(self._fields) > 1 else f"{fields.port.name}.{name}"
        palette = palettes.setdefault((shared, kind), [])
        if exact and len(palette) < 2 and (known := self._constants(domain)):
            palette.append(rng.choice(known))
        elif len(palette) < (2 if name in self._operator.key else 3) and not exact:
            pooled = rng.random() < 0.6
            value = domain.pooled(rng, self._pool) if pooled else domain.random(rng)
            palette.append(_small(value) if rng.random() < 0.3 else value)
        elif not palette:
            palette.append(domain.random(rng))
        return rng.choice(palette)

    def _constants(self, domain: d.Domain) -> tuple[Any, ...]:
        """The code's constants of a type, as they are."""
        match domain:
            case d.Ints():
                return tuple(each for each in self._pool.ints if domain.low <= each <= domain.high)
            case d.Floats():
                return tuple(map(domain.fit, self._pool.floats))
            case d.Texts():
                return self._pool.strings
            case _:
                return ()


def _places(row: tuple[Any, ...], before: tuple[Any, ...]) -> Iterator[tuple[int, tuple[Any, Any]]]:
    return enumerate(zip(row, before, strict=True))


def _small(value: Any) -> Any:
    """Small numbers meet more often."""
    return abs(value) % 4 if isinstance(value, int) and not isinstance(value, bool) else value


def _fields(port: Port, sample: Any) -> _Fields:
    given = sample.get(port.name) if isinstance(sample, dict) else sample
    if given is None:
        return _Fields(port, tuple(_domain(each.dataType) for each in port.schema.fields))
    rows = []
    for value in from_sample(given).values:
        columns = named(value)
        rows.append(tuple(value) if columns is None else tuple(columns[name] for name in port.columns))
    return _Fields(port, (), tuple(rows))


def _domain(kind: Any) -> d.Domain:
    if kind.typeName() in ("timestamp", "timestamp_ntz"):
        return d.Moments(in_utc=kind.typeName() == "timestamp")
    return of_type(kind)


def simpler(operator: SparkOperator, material: Material) -> Iterator[Material]:
    """Simpler materials: fewer records, then simpler ones."""
    size = len(material)
    yield _ranked(operator, material)
    if size > 4:
        yield material[size // 2 :]
        yield material[: size // 2]
    if size > 1:
        for at in range(size):
            yield (*material[:at], *material[at + 1 :])
    for at, (name, row) in enumerate(material):
        port = operator.port(name)
        for place, field in enumerate(port.schema.fields):
            if row[place] is None:
                continue
            for value in _simpler_values(_domain(field.dataType), row[place]):
                changed = (name, (*row[:place], value, *row[place + 1 :]))
                yield (*material[:at], changed, *material[at + 1 :])
                everywhere = tuple(
                    (other, _put(each, place, value)) if other == name and each[place] == row[place] else (other, each)
                    for other, each in material
                )
                yield everywhere


def _ranked(operator: SparkOperator, material: Material) -> Material:
    """The same material with the simplest values that are as different from each other as the old ones were."""
    seen: dict[tuple[str, str], list[Any]] = {}
    made = []
    for name, row in material:
        port, values = operator.port(name), list(row)
        for place, column in enumerate(port.columns):
            known = seen.setdefault((column, port.schema.fields[place].dataType.typeName()), [])
            if row[place] not in known:
                known.append(row[place])
            values[place] = _of_rank(row[place], known.index(row[place]))
        made.append((name, tuple(values)))
    return tuple(made)


def _of_rank(value: Any, rank: int) -> Any:
    match value:
        case bool():
            return value
        case int():
            return rank
        case float():
            return float(rank)
        case str():
            return "abcdefghij"[rank % 10]
        case _:
            return value


def _put(row: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*row[:place], value, *row[place + 1 :])


def _simpler_values(domain: d.Domain, value: Any) -> Iterator[Any]:
    for number, each in enumerate(domain.simpler(value)):
        if number == 4:
            return
        yield each
