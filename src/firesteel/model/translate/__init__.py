"""A Spark program that was captured, as a program of MSVL that means the same.

`functions` has the user's functions, `syntax` and `blocks` what they are made of; `building` makes stages and tasks;
`operations`, `shuffles` and `actions` say what each call does; `frames`, `sql` and `aggregates` turn plans of
DataFrames into such calls. `model` puts all together, `paper` prints the form of the paper, and `events` finds the
stages of the model in a real run. Nothing here needs Spark.
"""
