"""Which types PySpark can send to Spark and collect again, and why others cannot be carried."""

import pytest

from firesteel.values.schemas import parse, why_not_carried
from tests.values.schemas.test_ddl import Unknown, only
from tests.values.schemas.test_fit import FITTING

REFUSED = [
    ("INTERVAL YEAR", "use INT, the number of months"),
    ("INTERVAL", "INTERVAL cannot be sent to Spark from Python, nor collected: use INTERVAL DAY TO SECOND"),
    ("CHAR(3)", "CHAR(3) cannot be the type of a DataFrame's column, only of a table's: use STRING"),
    ("VARCHAR(3)", "use STRING"),
    ("DECIMAL(0,0)", "use a precision of 1 to 38"),
    ("MAP<ARRAY<INT>, INT>", "key: ARRAY<INT> cannot be in the key of a map"),
    ("MAP<STRUCT<a: MAP<INT, INT>>, INT>", "key.a: MAP<INT, INT> cannot be in the key of a map"),
    ("MAP<VARIANT, INT>", "key: VARIANT cannot be"),
    ("MAP<GEOMETRY(0), INT>", "key: GEOMETRY(0) cannot be"),
    ("MAP<VOID, INT>", "key: VOID cannot be"),
    ("STRUCT<a: ARRAY<MAP<INT, INTERVAL MONTH>>>", "a.element.value: INTERVAL MONTH cannot be"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_types_that_cannot_be_carried(text, message):
    assert message in why_not_carried(only(f"c {text}").dataType)


def test_foreign_types_cannot_be_carried():
    assert "is none of Spark SQL's own types" in why_not_carried(Unknown())


@pytest.mark.parametrize("text", [text for text, _ in FITTING if not text.startswith("VARCHAR")])
def test_types_that_can_be_carried(text):
    assert why_not_carried(parse(f"c {text}")) is None
