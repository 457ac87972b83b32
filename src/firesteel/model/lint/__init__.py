"""Lint: where the result of a program hangs on luck.

It reads programs that were captured, and the trees of their plans; it knows neither Spark nor py4j. What needs a
running session (the Python function behind a UDF, two runs that differ) is handed in as functions, in a `Help`.
"""
