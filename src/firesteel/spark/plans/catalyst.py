"""Makes nodes and expressions of Spark's plans in the JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.spark.jvm import Package, Scala, java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CATALYST = "org.apache.spark.sql.catalyst"


class Catalyst:
    """The classes that plans are made of, for one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._gateway: Any = spark.sparkContext._gateway
        self.spark = spark
        self.scala = Scala(self._gateway)
        self.seq = self.scala.seq
        self.logical = Package(self._gateway, f"{_CATALYST}.plans.logical")
        self.expressions = Package(self._gateway, f"{_CATALYST}.expressions")

    def named(self, name: str) -> Any:
        """Another class of Catalyst's."""
        return java_class(self._gateway, f"{_CATALYST}.{name}")

    def elsewhere(self, name: str) -> Any:
        """A class of Spark's or Scala's that is not in Catalyst."""
        return java_class(self._gateway, name)

    def project(self, expressions: Any, child: Any) -> Any:
        """A projection of a plan to a Seq of expressions."""
        return self.logical.Project(expressions, child)

    def alias(self, expression: Any, name: str, id_: Any) -> Any:
        """A named expression."""
        return self.expressions.Alias(expression, name, id_, self.seq([]), self.scala.none, self.seq([]))

    def new_id(self) -> Any:
        """An id for a named expression that no other has."""
        return self.expressions.NamedExpression.newExprId()

    def dataset(self, plan: Any) -> Any:
        """The JVM's DataFrame of a plan."""
        return self.elsewhere("org.apache.spark.sql.classic.Dataset").ofRows(self.spark._jsparkSession, plan)
