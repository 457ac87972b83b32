"""Which records could be in a large batch, and as what."""

from decimal import Decimal

from firesteel import Record
from firesteel.spark.frames.fitting import nullable, split
from firesteel.values import schemas

SCHEMA = nullable(schemas.parse("k STRING NOT NULL, x DOUBLE, d DECIMAL(5,2)"))


def test_numbers_become_those_of_the_columns():
    half = Decimal("0.5")
    fitting, misfits = split([("a", 1, 0.5), {"d": 0.5, "x": True, "k": None}, Record(k="a", x=1.0, d=half)], SCHEMA)
    assert [tuple(record) for record in fitting] == [("a", 1.0, half), (None, 1.0, half), ("a", 1.0, half)]
    assert all(type(record.x) is float and type(record.d) is Decimal for record in fitting) and not misfits


def test_other_columns_types_and_orders_do_not_fit():
    wrong = [("a", "x", None), Record(x=1.0, k="a", d=None), ("a", 1.0), "abc", None, {"k": "a"}]
    assert split(wrong, SCHEMA) == ([], tuple(wrong))
