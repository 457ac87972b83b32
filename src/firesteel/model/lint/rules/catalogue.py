"""All rules, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from firesteel.model.lint.rules import joins, luck, order, streaming
from firesteel.model.lint.rules.rule import Rule

RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.name: rule for family in (order, luck, joins, streaming) for rule in family.RULES}
)
