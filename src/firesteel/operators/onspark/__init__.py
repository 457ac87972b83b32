"""Operators that only exist on Spark: transformations, code with state, table functions, expressions, sinks.
They are tested by running them there.

`operator` has the operators as values, `model` says what every property means for them, `plan` what their plans say of
it, `feeds` what a run is, `making` makes tests, `running` runs them (many in one query where that is possible),
`examine` searches for evidence, `analysis` goes through the properties in their order. `trying` has code with state
tried in Python first, by its `imitation`.
"""
