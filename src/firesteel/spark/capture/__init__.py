"""Seeing a program while it runs.

`wrapping` and `recording` write down what the user calls, `account` what Spark says it ran, `executions` and `frames`
what plans there were. `matching` makes one program of these, and `capturing` holds it all together.
"""
