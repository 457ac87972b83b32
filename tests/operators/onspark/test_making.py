"""How materials are made: what the code's constants are good for, and what is learnt from output."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from firesteel import operators
from firesteel.evidence.onspark import Fired
from firesteel.operators.onspark.feeds import LONG, Gave, Material, one_by_one
from firesteel.operators.onspark.harder import QUESTIONS, another
from firesteel.operators.onspark.making import Maker, constants_of, simpler
from firesteel.operators.onspark.model import About
from firesteel.values import schemas
from firesteel.values.records import Record, canonical
from firesteel.values.schemas.fit import checker

BOTH = {"left": "k STRING, n INT", "right": "k STRING, n INT"}
TIMED = operators.transformation(lambda frame: frame, input="k STRING, ts TIMESTAMP", key="k")


def made(operator: Any, rounds: int = 6, count: int = 50) -> list[Material]:
    maker = Maker(operator)
    return [each for number in range(rounds) for each in maker.round(number, count)]


def test_a_buffer_is_filled_to_the_size_that_the_code_names() -> None:
    def gate(left: Any, right: Any) -> Any:
        return left.limit(400)

    sizes = [len(each) for each in made(operators.transformation(gate, input=BOTH, key="k"))]
    assert any(size > 400 for size in sizes) and sum(size > LONG for size in sizes) < len(sizes) / 10


def test_equal_records_of_a_long_material_share_a_batch_and_no_firing_has_several() -> None:
    step = ("input", ("a", 1))
    long: Material = (*[step] * 20, ("input", ("b", 1)), step)
    assert [len(batch) for batch in one_by_one(long)] == [20, 1, 1]
    assert [len(batch) for batch in one_by_one(long[-5:])] == [1] * 5
    keyed = operators.transformation(lambda frame: frame, input="k STRING, n INT", key="k")
    (question,) = QUESTIONS["one_to_one"](About(keyed), long)
    assert question.judge([Gave(((1,) * 20, (1,), (1,)))]) is None
    assert isinstance(question.judge([Gave(((1,) * 20, (1,), ()))]), Fired)


def test_a_gate_with_room_blocks_when_it_is_full() -> None:
    gate = operators.transformation(lambda left, right: left, input=BOTH, key="k")
    long: Material = (*[("left", ("a", 1))] * 20, ("right", ("a", 5)))
    question = next(each for each in QUESTIONS["non_blocking"](About(gate), long) if each.port == "left")
    row = Record(k="a", n=1)
    held, nothing = Gave(((row,) * 18, (row, row))), Gave(((),))
    itself, before = Gave(((row,) * 18, ())), Gave(((row,) * 18,))
    assert question.judge([held, held, nothing, itself, before]) is not None
    repeated = Gave(((row,) * 20, (row, row)))  # all had come out already: nothing was held back
    assert question.judge([repeated, repeated, nothing, itself, Gave(((row,) * 20,))]) is None


def test_one_text_may_be_made_of_others() -> None:
    def join(calls: Any, numbers: Any) -> Any:
        return calls

    ports = {"calls": "country STRING, area STRING, line STRING", "numbers": "number STRING"}
    found = [
        each
        for each in made(operators.transformation(join, input=ports))
        if any(
            all(call) and "".join(call) == number
            for port, call in each
            if port == "calls"
            for other, (number, *_) in each
            if other == "numbers"
        )
    ]
    assert len(found) >= 6


def test_records_with_output_are_varied_where_output_is_rare() -> None:
    def opens(row: tuple[Any, ...]) -> bool:
        return row[1] == "open-7731" and row[2] == 90210

    def vault(frame: Any) -> Any:
        return frame.where("code = 'open-7731' and n = 90210 and other in ('a1', 'a2', 'a3') and m in (11, 12)")

    maker = Maker(operators.transformation(vault, input="k STRING, code STRING, n INT", key="k"))
    rates = []
    for number in range(6):
        some = maker.round(number, 100)
        opened = [any(opens(row) for _, row in each) for each in some]
        rates.append(sum(opened))
        for each, had_output in zip(some, opened, strict=True):
            maker.see(each, had_output)
    assert rates[0] < 15 and rates[2] > rates[0] + 10


PORTS = operators.transformation(
    lambda left, right: left,
    input={"left": "k STRING, ts TIMESTAMP", "right": "k STRING, ts TIMESTAMP"},
    key="k",
)


@pytest.mark.parametrize("operator, ports", [(TIMED, 1), (PORTS, 2)])
def test_a_round_in_three_has_a_late_record_and_one_closes_all(operator: Any, ports: int) -> None:
    maker, day = Maker(operator), timedelta(days=1)
    for number in range(9):
        some = maker.round(number, 5)
        assert len({tuple((port, row[1]) for port, row in each) for each in some}) == 1, "their watermarks move alike"
        times = [row[1] for _, row in some[0]]
        if number % 3 < 2:
            far = some[0][:-1][-ports:] if number % 3 else some[0][-ports:]
            assert len({port for port, _ in far}) == ports, "every port moves its watermark"
            assert all(row[1] - times[0] >= day for _, row in far)
        if number % 3 == 1:
            assert max(times) - times[-1] >= day
            assert ports == 1 or some[0][-1][0] != some[0][0][0]


def test_lengths_inside_sql_and_no_docstrings() -> None:
    def near(frame: Any) -> Any:
        """Within 99 hours."""
        return frame.where("us between ts and ts + interval 7 minutes")

    pool, lengths = constants_of(operators.transformation(near, input="k STRING, ts TIMESTAMP"))
    assert lengths == (timedelta(minutes=7),)
    assert 99 not in pool.ints and not any("Within" in each for each in pool.strings)


class Counter:
    """A class that the code names: its constants are the code's."""

    def step(self) -> int:
        return 48_611


def test_constants_of_classes_that_the_code_names() -> None:
    def counted(frame: Any) -> Any:
        return Counter, frame

    assert 48_611 in constants_of(operators.transformation(counted, input="n INT"))[0].ints


TIGHT = "f FLOAT, d DECIMAL(4,2), e DECIMAL(3,3), t TINYINT, s SMALLINT, n INT, b BOOLEAN, w DATE, fs ARRAY<FLOAT>"


def test_values_fit_the_declared_types() -> None:
    """Floats of 32 bits, decimals of few digits, small whole numbers: whatever constants the code has."""

    def busy(frame: Any) -> Any:
        return frame.where("f > 0.1 or f < 1e300 or d = 12345678 or t = 4711 or n = 99999999999")

    operator = operators.transformation(busy, input=TIGHT)
    (port,) = operator.ports
    check = checker(port.schema)
    materials = made(operator, count=40)
    wrong = {check(row) for material in materials for _, row in material}
    simple = [each for material in materials[:40] for each in simpler(operator, material)]
    assert wrong | {check(row) for material in simple for _, row in material} == {None}
    assert len({row[0] for material in materials for _, row in material}) > 50


@pytest.mark.parametrize(
    "kind, value",
    [
        ("BOOLEAN", True),
        ("TINYINT", 127),
        ("INT", 2**31 - 1),
        ("FLOAT", 3.0),
        ("DOUBLE", 1e16),
        ("DOUBLE", float("nan")),
        ("DECIMAL(4,2)", Decimal("99.99")),
        ("DECIMAL(3,3)", Decimal("0.5")),
        ("DATE", date(2000, 1, 1)),
        ("TIMESTAMP", datetime(2000, 1, 1, tzinfo=UTC)),
        ("ARRAY<INT>", [1, 2]),
        ("MAP<STRING, INT>", {"a": 1}),
        ("BINARY", b""),
    ],
)
def test_another_value_differs_and_fits(kind: str, value: Any) -> None:
    schema = schemas.parse(f"v {kind}")
    assert schema is not None
    other = another(value, schema.fields[0].dataType)
    assert canonical(other) != canonical(value) and checker(schema)((other,)) is None


def test_a_value_that_nothing_else_is_known_of_stays() -> None:
    schema = schemas.parse("v INT, ns ARRAY<INT>")
    assert schema is not None
    assert another(None, schema.fields[0].dataType) is None and another([], schema.fields[1].dataType) == []
