"""A grammar of programs: random compositions of operations, expressions and functions, with cases for them."""

from tests.spark.bulk.grammar.cases import cases as cases
from tests.spark.bulk.grammar.drawing import program as program
