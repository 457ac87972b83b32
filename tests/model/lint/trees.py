"""Plans made by hand: nodes and expressions without Spark."""

from firesteel.spark.plans.tree import Expression, Node

DELAY = "spark.watermarkDelayMs"


def column(
    id_, name="c", kind="AttributeReference", children=(), data_type="int", nullable=True, delay=None, **arguments
):
    metadata = {} if delay is None else {DELAY: delay}
    return Expression(kind, tuple(children), id_, name, data_type, nullable, metadata, arguments, None, 0)


def call(kind, *children, data_type="int", **arguments):
    return column(None, None, kind, children, data_type, **arguments)


def node(kind, *children, output=(), streaming=False, **arguments):
    return Node(kind, children, tuple(output), arguments, streaming, None, 0)
