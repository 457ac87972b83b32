"""The table of engines. What each does is tested in the file of its name."""

from dataclasses import fields

from firesteel.spark.engines.exercise import ENGINES
from firesteel.spark.running import Running


def test_the_options_that_engines_refuse_are_those_of_a_run():
    options = {field.name for field in fields(Running)}
    for name, engine in ENGINES.items():
        assert engine.name == name and set(engine.refuses_options) <= options


def test_the_usual_engine_refuses_nothing():
    usual = ENGINES[Running().engine]
    assert not usual.refuses_options and not usual.lacks and usual.bulk and usual.parallel
