"""Makes an automaton as small as possible: states that accept the same continuations become one.

States start in two blocks, accepting and not. A block is split as long as its states lead to different blocks. After a
split, the largest part of the block keeps its number, and only states that lead to the other parts are looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.logic.pptl.diagrams import Diagram, Diagrams, values_of


def minimised(
    rows: Sequence[Diagram], accepting: Sequence[bool], diagrams: Diagrams
) -> tuple[tuple[Diagram, ...], tuple[bool, ...]]:
    """The rows and the accepting states of the smallest automaton, with its states in the order they are reached."""
    blocks = _blocks(rows, accepting, diagrams)
    known: dict[Diagram, Diagram] = {}
    merged: dict[int, Diagram] = {}
    ends: dict[int, bool] = {}
    for state, row in enumerate(rows):
        if blocks[state] not in merged:
            merged[blocks[state]] = diagrams.mapped(blocks.__getitem__, row, known)
            ends[blocks[state]] = accepting[state]
    numbers = {blocks[0]: 0}
    order = [blocks[0]]
    for block in order:
        for to in values_of(merged[block]):
            if to not in numbers:
                numbers[to] = len(order)
                order.append(to)
    renamed: dict[Diagram, Diagram] = {}
    final = tuple(diagrams.mapped(numbers.__getitem__, merged[block], renamed) for block in order)
    return final, tuple(ends[block] for block in order)


def _blocks(rows: Sequence[Diagram], accepting: Sequence[bool], diagrams: Diagrams) -> list[int]:
    """For every state the number of its block."""
    before: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for to in values_of(row):
            before[to].append(state)
    block = [int(ends) for ends in accepting]
    members: dict[int, set[int]] = {}
    for state, number in enumerate(block):
        members.setdefault(number, set()).add(state)
    fresh = 2
    touched = set(range(len(rows)))
    while touched:
        known: dict[Diagram, Diagram] = {}
        split: dict[int, dict[Diagram, list[int]]] = {}
        for state in touched:
            signature = diagrams.mapped(block.__getitem__, rows[state], known)
            split.setdefault(block[state], {}).setdefault(signature, []).append(state)
        touched = set()
        for number, groups in split.items():
            parts = [set(group) for group in groups.values()]
            rest = members[number].difference(*parts)
            if rest:
                parts.append(rest)
            parts.sort(key=len)
            members[number] = parts.pop()
            for part in parts:
                members[fresh] = part
                for state in part:
                    block[state] = fresh
                    touched.update(before[state])
                fresh += 1
    return block
