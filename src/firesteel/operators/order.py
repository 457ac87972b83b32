"""Which properties apply to a kind, what Spark requires of it, and in which order they are tested."""

from __future__ import annotations

from firesteel.operators import domains as d
from firesteel.operators.kinds import Family, Kind
from firesteel.operators.properties import About

ORDER = (
    "deterministic",
    "picklable",
    "prolific",
    "one_to_one",
    "selective",
    "non_blocking",
    "stateless",
    "commutative",
    "partition_isolated",
    "associative",
    "zero_is_identity",
    "seq_comb_agree",
    "idempotent",
    "row_wise",
    "batch_independent",
    "keeps_columns",
    "null_safe",
    "nan_safe",
    "total",
    "pure",
)
"""The testing order. What an answer settles comes after it."""

_SELECTIVITY = {"one_to_one", "selective", "prolific"}
_ALWAYS = {"picklable", "deterministic", "stateless", "commutative", "null_safe", "nan_safe", "total", "pure"}
_OF_KIND: dict[Kind, set[str]] = {
    Kind.FUNCTION: {*_SELECTIVITY, "partition_isolated", "idempotent", "keeps_columns"},
    Kind.FLAT: {*_SELECTIVITY, "partition_isolated"},
    Kind.REDUCER: {"associative", "idempotent"},
    Kind.AGGREGATE: {"associative", "zero_is_identity", "seq_comb_agree"},
    Kind.COMBINER: {"associative", "seq_comb_agree"},
    Kind.PANDAS_UDF: {"partition_isolated", "row_wise"},
    Kind.ARROW_UDF: {"partition_isolated", "row_wise"},
    Kind.MAP_IN_PANDAS: {*_SELECTIVITY, "partition_isolated", "batch_independent", "keeps_columns"},
    Kind.MAP_IN_ARROW: {*_SELECTIVITY, "partition_isolated", "batch_independent", "keeps_columns"},
    Kind.GROUPED_MAP: {*_SELECTIVITY, "partition_isolated", "keeps_columns"},
    Kind.COGROUPED_MAP: {*_SELECTIVITY, "partition_isolated", "non_blocking"},
    Kind.GROUPED_AGG: set(),
    Kind.PARTITION_FUNCTION: set(),
}
REQUIRED: dict[Kind, tuple[str, ...]] = {
    Kind.REDUCER: ("commutative", "associative"),
    Kind.AGGREGATE: ("zero_is_identity", "seq_comb_agree", "commutative", "associative"),
    Kind.COMBINER: ("seq_comb_agree", "commutative", "associative"),
    Kind.PARTITION_FUNCTION: ("deterministic",),
    Kind.PANDAS_UDF: ("deterministic", "row_wise"),
    Kind.ARROW_UDF: ("deterministic", "row_wise"),
    Kind.MAP_IN_PANDAS: ("deterministic", "batch_independent"),
    Kind.MAP_IN_ARROW: ("deterministic", "batch_independent"),
}
"""What Spark takes for granted of a kind; of the others, that they are deterministic and stateless."""
BY_DEFAULT = ("deterministic", "stateless")


def possible(kind: Kind) -> tuple[str, ...]:
    """The properties that a kind may have, whatever its inputs are."""
    wanted = (_ALWAYS | _OF_KIND[kind]) - ({"commutative"} if kind is Kind.PARTITION_FUNCTION else set())
    return tuple(each for each in ORDER if each in wanted)


def applicable(about: About) -> tuple[str, ...]:
    """The properties that make sense for an operator and its inputs."""
    return tuple(each for each in possible(about.operator.kind) if why_not(each, about) is None)


def why_not(property: str, about: About) -> str | None:
    """Why a property makes no sense here; None if it does."""
    operator, inputs = about.operator, about.inputs
    record = inputs.record
    match property:
        case "partition_isolated" if not operator.key:
            return 'name a key: key="user"'
        case "idempotent" if operator.kind is Kind.FUNCTION and _width(record) != 1:
            return "only a function of one argument can take its own output"
        case "keeps_columns" if operator.kind is Kind.FUNCTION and not _is_record(record):
            return 'declare the columns of its record: input="user STRING, n INT"'
        case "total" if inputs.is_sample or inputs.source.startswith("trying"):
            return "declare its type, with type hints or a schema"
        case "null_safe" if inputs.is_sample and operator.kind.family is Family.CALLS:
            return "the values were given: whether None may come is not known"
        case "nan_safe" if not _has_floats(record):
            return "no float goes in"
        case _:
            return None


def _width(record: d.Domain) -> int:
    match record:
        case d.Rows(fields=fields):
            return len(fields)
        case d.Samples(values=values):
            return len(values[0])
        case _:
            return 1


def _is_record(record: d.Domain) -> bool:
    match record:
        case d.Rows(fields=(d.Rows(names=names),)):
            return bool(names)
        case d.Samples(values=values):
            only = values[0][0] if len(values[0]) == 1 else None
            return isinstance(only, dict) or hasattr(only, "asDict")
        case _:
            return False


def _has_floats(record: d.Domain) -> bool:
    match record:
        case d.Floats():
            return True
        case d.Rows(fields=fields):
            return any(map(_has_floats, fields))
        case _:
            return False
