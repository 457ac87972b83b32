"""Schemas from classes with type hints."""

import dataclasses
import datetime as dt
import typing
from decimal import Decimal

import pytest
from pyspark.sql import types as T

from firesteel.errors import InvalidArgument
from firesteel.values.schemas import parse, to_ddl


@dataclasses.dataclass
class Address:
    zip: str
    since: dt.date | None
    kind: typing.ClassVar[str] = "home"
    _: dataclasses.KW_ONLY
    floor: typing.Optional[int] = None  # noqa: UP045


class Everything(typing.NamedTuple):
    a: bool
    b: int
    c: float
    d: str
    e: bytes
    f: dt.date
    g: dt.datetime
    h: dt.time
    i: dt.timedelta
    j: Decimal
    k: list[int | None]
    l: dict[str, list[str]]  # noqa: E741
    m: Address
    n: Address | None


class Order(typing.TypedDict):
    id: int
    note: typing.NotRequired[str | None]


class Plain:
    x: "list[Order]"


class Itself:
    next: "Itself | None"


class Empty:
    pass


def test_type_hints():
    schema = parse(Everything)
    assert to_ddl(schema) == (
        "a BOOLEAN NOT NULL, b BIGINT NOT NULL, c DOUBLE NOT NULL, d STRING NOT NULL, e BINARY NOT NULL, "
        "f DATE NOT NULL, g TIMESTAMP NOT NULL, h TIME NOT NULL, i INTERVAL DAY TO SECOND NOT NULL, "
        "j DECIMAL(38,18) NOT NULL, k ARRAY<BIGINT> NOT NULL, l MAP<STRING, ARRAY<STRING>> NOT NULL, "
        "m STRUCT<zip: STRING NOT NULL, since: DATE, floor: BIGINT> NOT NULL, "
        "n STRUCT<zip: STRING NOT NULL, since: DATE, floor: BIGINT>"
    )
    assert schema["k"].dataType.containsNull
    assert not schema["l"].dataType.valueContainsNull
    assert to_ddl(parse(Order)) == "id BIGINT NOT NULL, note STRING"
    assert to_ddl(parse(Plain)) == "x ARRAY<STRUCT<id: BIGINT NOT NULL, note: STRING>> NOT NULL"


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Empty, "has no type hints"),
        (int, "has no type hints"),
        (Itself, "Itself.next: Itself holds itself"),
        (
            type("A", (), {"__annotations__": {"x": int | str}}),
            "A.x: no Spark type for the hint int | str: use Decimal",
        ),
        (type("A", (), {"__annotations__": {"x": list}}), "A.x: no Spark type for the hint"),
        (type("A", (), {"__annotations__": {"x": list[object]}}), "A.x[]: no Spark type for the hint"),
        (type("A", (), {"__annotations__": {"x": dict[str | None, int]}}), "A.x: the keys of a map are never null"),
        (type("A", (), {"__annotations__": {"x": "Nowhere"}}), "A: a type hint cannot be read (name 'Nowhere'"),
    ],
)
def test_hints_without_a_type(cls, message):
    with pytest.raises(InvalidArgument) as error:
        parse(cls)
    assert message in str(error.value)


def test_a_pyspark_without_time(monkeypatch):
    monkeypatch.delattr(T, "TimeType")
    with pytest.raises(InvalidArgument, match=r"Everything\.h: this PySpark has no TimeType"):
        parse(Everything)
