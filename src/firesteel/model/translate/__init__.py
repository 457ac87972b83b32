"""A Spark program that was captured, as a program of MSVL that means the same.

`functions` has the user's functions, `syntax` and `blocks` what they are made of; `tasks` cuts the operations into
stages, `operations` and `shuffles` say what each operation does; `model` puts them together, and `paper` prints the form
of the paper. Nothing here needs Spark.
"""
