"""Operators that only exist on Spark: transformations of DataFrames and sinks. They are tested by running them there.

`operator` has the operators as values, `model` says what every property means for them, `feeds` what a run is, `making`
makes tests, `running` runs them (many in one query where that is possible), `examine` searches for evidence, `analysis`
goes through the properties in their order.
"""
