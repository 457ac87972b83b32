"""Rules about keys that do not match as they look: types, floating-point numbers, nulls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firesteel.model.lint.expressions import conjuncts
from firesteel.model.lint.levels import Facts
from firesteel.model.lint.rules.rule import WARNING, Found, Rule
from firesteel.spark.plans.tree import Expression, Node

_FLOATS = frozenset({"float", "double"})
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_EXACT = ("bigint", "decimal")


def nodes_of(facts: Facts, *kinds: str) -> Iterator[Node]:
    """The nodes of some kinds in all plans, each once."""
    return (node for node in facts.nodes if not kinds or node.kind in kinds)


def _equalities(node: Node) -> Iterator[tuple[Expression, Expression]]:
    """What the condition of a join wants to be equal, of one side and of the other."""
    if node.arguments.get("condition") is None:
        return
    left, right = ({one.id for one in child.output} for child in node.children)
    for one in (each for top in node.expressions_of("condition") for each in conjuncts(top)):
        if one.kind in ("EqualTo", "EqualNullSafe"):
            first, then = one.children
            if (_from(first, left) and _from(then, right)) or (_from(first, right) and _from(then, left)):
                yield first, then


def _from(expression: Expression, ids: set[int | None]) -> bool:
    used = {one.id for one in expression.walk() if one.kind == "AttributeReference"}
    return bool(used) and used <= ids


def _bare(facts: Facts, expression: Expression) -> Expression:
    """A key without the casts that Spark added."""
    while expression.kind == "Cast" and not facts.help.is_written(expression):
        expression = expression.children[0]
    return expression


def _types(facts: Facts) -> Iterable[Found]:
    for node in nodes_of(facts, "Join"):
        for first, then in _equalities(node):
            one, other = (_bare(facts, each).data_type or "" for each in (first, then))
            if _clash(one, other) or _clash(other, one):
                yield Found(
                    f"the join compares {one} with {other}: Spark casts, and values that look different become equal, "
                    "or cannot be cast at all",
                    facts.plans.owner(node),
                )


def _clash(one: str, other: str) -> bool:
    is_text = one == "string" and (other.startswith((*_NUMBERS, "date", "timestamp", "boolean")))
    return is_text or (one in _FLOATS and other.startswith(_EXACT))


def _floats(facts: Facts) -> Iterable[Found]:
    for node in nodes_of(facts, "Join"):
        for first, then in _equalities(node):
            if (_bare(facts, first).data_type or "") in _FLOATS and (_bare(facts, then).data_type or "") in _FLOATS:
                yield Found(
                    "the join wants floating-point numbers to be equal, which hangs on how they were computed",
                    facts.plans.owner(node),
                )


def _not_in(facts: Facts) -> Iterable[Found]:
    for node in nodes_of(facts):
        for one in (each for top in node.expressions for each in top.walk() if each.kind == "Not"):
            inner = one.children[0]
            if inner.kind == "InSubquery":
                if any(_may_be_null(plan) for each in inner.children for plan in each.plans):
                    yield Found(
                        "NOT IN gives no row at all as soon as the subquery has a null", facts.plans.owner(node)
                    )
            elif inner.kind == "In" and any(_is_null(each) for each in inner.children[1:]):
                yield Found("NOT IN a list with a null gives no row at all", facts.plans.owner(node))


def _may_be_null(plan: Node) -> bool:
    """May a column of a subquery be null, as far as its types and its filters say?"""
    filtered = {
        one.children[0].id
        for node in plan.walk()
        if node.kind == "Filter"
        for top in node.expressions_of("condition")
        for one in conjuncts(top)
        if one.kind == "IsNotNull"
    }
    renamed = {
        one.id: one.children[0].id
        for node in plan.walk()
        if node.kind == "Project"
        for one in node.expressions_of("projectList")
        if one.kind == "Alias"
    }
    return any(
        one.nullable and one.id not in filtered and renamed.get(one.id, one.id) not in filtered for one in plan.output
    )


def _is_null(one: Expression) -> bool:
    while one.kind == "Cast":
        one = one.children[0]
    return one.kind == "Literal" and one.arguments.get("value", "") is None


RULES = (
    Rule(
        "join-key-types",
        WARNING,
        "join keys of different types, which Spark casts",
        "1 and '01' are equal after the cast, and 9007199254740993 and 9007199254740992.0 are",
        "cast one side by hand, to the type that the keys really have",
        _types,
        confirmable=False,
        why=(
            "Spark casts one side or both. Values that look different become equal, large numbers lose digits, "
            "and texts that are not numbers fail or become null."
        ),
    ),
    Rule(
        "float-join-key",
        WARNING,
        "floating-point numbers as join keys",
        "0.1 + 0.2 does not find 0.3",
        "join on whole numbers or decimals: col.cast('decimal(20, 6)')",
        _floats,
        confirmable=False,
        why=(
            "Two floating-point numbers that should be equal differ in the last digit, if they were computed in "
            "different ways."
        ),
    ),
    Rule(
        "null-in-not-in",
        WARNING,
        "NOT IN with something that may be null",
        "where id NOT IN (1, NULL) keeps nothing",
        "NOT EXISTS, a left_anti join, or a subquery WHERE id IS NOT NULL",
        _not_in,
        confirmable=False,
        why=(
            "A comparison with null is neither true nor false. So NOT IN is never true once there is a null among "
            "the values."
        ),
    ),
)
