"""Where inputs come from, what the pool holds, and how tests are made."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from random import Random
from typing import Any, Literal, NamedTuple

import pytest

from firesteel import operators
from firesteel.operators import domains as d
from firesteel.operators.constants import pool_of
from firesteel.operators.inputs import known_inputs, of_hint
from firesteel.operators.properties import About
from firesteel.operators.techniques import OURS, TWELVE, Maker


class Colour(enum.Enum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Sale:
    shop: str
    price: float


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        (int, "int"),
        (bool, "bool"),
        (float | None, "float or None"),
        (list[int], "list"),
        (tuple[int, str], "(int, str)"),
        (dict[str, int], "dict"),
        (Literal["a", "b"], "choice"),
        (Colour, "Colour"),
        (Point, "(int, float)"),
        (Sale, "(str, float)"),
        (datetime.date, "date"),
    ],
)
def test_type_hints(hint: Any, name: str) -> None:
    domain = of_hint(hint)
    assert domain is not None and domain.name == name
    rng = Random(0)
    values = [domain.random(rng) for _ in range(50)]
    for value in values:
        for simpler in domain.simpler(value):
            assert type(simpler) is type(value) or value is None or simpler is None
    if hint is Sale:
        assert all(isinstance(value, Sale) for value in values)


def test_a_hint_that_says_too_little() -> None:
    assert of_hint(Any) is None and of_hint(int | str) is None


def test_default_values_and_nothing() -> None:
    def scaled(by=2.5):
        return by

    known = known_inputs(operators.function(scaled), None, None)
    assert known is not None and known.said == "float"
    assert known_inputs(operators.function(lambda x: x), None, None) is None


LIMIT = {"deep": [99_000]}


def helper(x: int) -> bool:
    return x == 31_337


def many_constants(x: Any, when: datetime.date = datetime.date(2020, 1, 1)) -> bool:
    wanted = datetime.date(2024, 2, 29)
    return x in (1.5, "red", b"raw") or helper(x) or x > LIMIT["deep"][0] or when == wanted


def test_the_pool_holds_constants_of_what_is_called_too() -> None:
    pool = pool_of([many_constants])
    assert {31_337, 99_000} <= set(pool.ints)
    assert 1.5 in pool.floats and "red" in pool.strings and b"raw" in pool.binaries
    assert {datetime.date(2024, 2, 29), datetime.date(2020, 1, 1)} <= set(pool.dates)
    assert set(pool_of([lambda s: len(s) > 40]).lengths) >= {39, 40, 41}


def about(function: Any, **options: Any) -> About:
    made = operators.function(function, **options)
    known = known_inputs(made, None, None)
    assert known is not None
    return About(made, known)


def two(code: int, name: str) -> str:
    return "both" if code == 7_301 and name == "zebra" else name


def drawn(technique: Any, count: int = 400, **options: Any) -> list[Any]:
    made = about(two, **options)
    tests = Maker(made, options.get("name", "stateless"), (technique,), pool_of([two]), Random(1))
    return [record for material in tests.some(count) for record in material]


def test_what_the_techniques_draw() -> None:
    rare = (7_301, "zebra")
    random, pool, pairwise = (drawn(technique) for technique in TWELVE[:3])
    assert rare not in random
    assert rare in pool and rare in pairwise
    assert rare in drawn(OURS[0])


def test_mutation_extends_only_what_had_no_output() -> None:
    tests = Maker(about(two), "stateless", (TWELVE[3],), pool_of([two]), Random(1))
    silent, loud = tests.some(2)
    tests.see(silent, False, ())
    tests.see(loud, True, ())
    drawn = tests.some(50)
    later = [material for material in drawn if material[: len(silent)] == silent]
    assert len(later) == 1 and len(later[0]) > len(silent)
    assert not any(material[: len(loud)] == loud for material in drawn)


def test_reuse_begins_with_what_had_output() -> None:
    saved = [((1, "a"), (2, "b"))]
    tests = Maker(about(two), "commutative", (TWELVE[6],), pool_of([two]), Random(3), saved)
    assert set(saved[0]) <= set(tests.some(1)[0])
    fresh = Maker(about(two), "deterministic", (TWELVE[6],), pool_of([two]), Random(3), saved)
    assert fresh.some(1)[0] != saved[0]


def test_tests_of_a_key_have_few_keys() -> None:
    made = about(two, key="name")
    tests = Maker(made, "partition_isolated", OURS, pool_of([two]), Random(1))
    for material in tests.some(50):
        assert len({name for _, name in material}) <= 2


def test_a_finite_domain_is_known() -> None:
    assert d.Rows((d.Few((1, 2)), d.Few((3,)))).all_values() == ((1, 3), (2, 3))
    assert d.Rows((d.Few((1, 2)), d.Ints())).all_values() is None
