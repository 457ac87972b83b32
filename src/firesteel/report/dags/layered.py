"""A layered layout: what reads from another stands below it, and long edges get room of their own.

Layers are by the longest way from the top. The order within layers is found by moving everything to the middle of its
neighbours, a few times down and up; the places by least squares, so that neighbours stand below each other as far as
the order allows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 8
_BEND = 12.0
"""The width of the room that a long edge has in a layer that it passes."""


@dataclass(frozen=True)
class Layout:
    """Where things stand: the left upper corners, and the points that edges pass."""

    places: Mapping[Hashable, tuple[float, float]]
    bends: Mapping[tuple[Hashable, Hashable], tuple[tuple[float, float], ...]]
    width: float
    height: float


@dataclass(frozen=True)
class _Bend:
    """The room of an edge in a layer."""

    source: Hashable
    target: Hashable
    layer: int


def layered(
    sizes: Mapping[Hashable, tuple[float, float]],
    edges: Sequence[tuple[Hashable, Hashable]],
    across: float,
    down: float,
    top: Sequence[Hashable] = (),
    bottom: Sequence[Hashable] = (),
) -> Layout:
    """Lay out a graph without circles. `across` is the room between neighbours, `down` that between layers.

    What is in `top` and nothing leads to stands in the first layer, what is in `bottom` and leads nowhere in the last.
    """
    if not sizes:
        return Layout({}, {}, 0, 0)
    unique = list(dict.fromkeys((a, b) for a, b in edges if a != b))
    layer = layers(list(sizes), unique)
    layer.update(dict.fromkeys(top, 0))
    layer.update(dict.fromkeys(bottom, max(layer.values())))
    rows: list[list[Hashable]] = [[] for _ in range(max(layer.values()) + 1)]
    for one in sizes:
        rows[layer[one]].append(one)
    links: list[tuple[Hashable, Hashable]] = []
    chains: dict[tuple[Hashable, Hashable], list[_Bend]] = {}
    for a, b in unique:
        chain = [_Bend(a, b, number) for number in range(layer[a] + 1, layer[b])]
        chains[a, b] = chain
        for bend in chain:
            rows[bend.layer].append(bend)
        links += zip([a, *chain], [*chain, b], strict=True)
    up, below = defaultdict[Hashable, list[Hashable]](list), defaultdict[Hashable, list[Hashable]](list)
    for a, b in links:
        below[a].append(b)
        up[b].append(a)
    rows = _ordered(rows, up, below)
    width = {one: _BEND if isinstance(one, _Bend) else sizes[one][0] for row in rows for one in row}
    centre = _centres(rows, up, below, width, across)
    left = min(centre[one] - width[one] / 2 for row in rows for one in row)
    places: dict[Hashable, tuple[float, float]] = {}
    middles: dict[_Bend, tuple[float, float]] = {}
    y = 0.0
    for row in rows:
        height = max((sizes[one][1] for one in row if not isinstance(one, _Bend)), default=0.0)
        for one in row:
            x = centre[one] - left
            if isinstance(one, _Bend):
                middles[one] = (x, y + height / 2)
            else:
                own = sizes[one]
                places[one] = (x - own[0] / 2, y + (height - own[1]) / 2)
        y += height + down
    total = max(centre[one] + width[one] / 2 for row in rows for one in row) - left
    bends = {edge: tuple(middles[bend] for bend in chain) for edge, chain in chains.items()}
    return Layout(places, bends, total, y - down)


def layers(nodes: list[Hashable], edges: list[tuple[Hashable, Hashable]]) -> dict[Hashable, int]:
    """The longest way from the top; what nothing leads to stands just above what it leads to."""
    below, above = defaultdict[Hashable, list[Hashable]](list), defaultdict[Hashable, list[Hashable]](list)
    for a, b in edges:
        below[a].append(b)
        above[b].append(a)
    layer: dict[Hashable, int] = {}
    missing = {one: len(above[one]) for one in nodes}
    ready = [one for one in nodes if not missing[one]]
    done: list[Hashable] = []
    while ready:
        one = ready.pop(0)
        done.append(one)
        layer[one] = max((layer[each] + 1 for each in above[one]), default=0)
        for each in below[one]:
            missing[each] -= 1
            if not missing[each]:
                ready.append(each)
    if len(done) < len(nodes):
        raise ValueError("the graph has a circle")
    for one in reversed(done):
        if not above[one] and below[one]:
            layer[one] = min(layer[each] for each in below[one]) - 1
    return layer


def _ordered(
    rows: list[list[Hashable]],
    up: Mapping[Hashable, list[Hashable]],
    below: Mapping[Hashable, list[Hashable]],
) -> list[list[Hashable]]:
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(_SWEEPS):
        neighbours = up if sweep % 2 == 0 else below
        current = [list(row) for row in rows]
        numbers = range(len(rows)) if sweep % 2 == 0 else reversed(range(len(rows)))
        place = {one: float(at) for row in current for at, one in enumerate(row)}
        for number in numbers:
            row = current[number]
            wanted = {
                one: sum(place[each] for each in neighbours[one]) / len(neighbours[one])
                if neighbours[one]
                else place[one]
                for one in row
            }
            row.sort(key=lambda one: wanted[one])
            place.update({one: float(at) for at, one in enumerate(row)})
        rows = current
        found = _crossings(rows, below)
        if found < fewest:
            best, fewest = rows, found
    return best


def _crossings(rows: list[list[Hashable]], below: Mapping[Hashable, list[Hashable]]) -> int:
    """How many pairs of edges cross between neighbouring layers."""
    total = 0
    for row, following in pairwise(rows):
        place = {one: at for at, one in enumerate(following)}
        ends = [at for one in row for at in sorted(place[each] for each in below[one])]
        total += sum(1 for index, at in enumerate(ends) for later in ends[index + 1 :] if later < at)
        if len(ends) > 400:
            break  # nobody sees a crossing more or less there
    return total


def _centres(
    rows: list[list[Hashable]],
    up: Mapping[Hashable, list[Hashable]],
    below: Mapping[Hashable, list[Hashable]],
    width: Mapping[Hashable, float],
    across: float,
) -> dict[Hashable, float]:
    centre: dict[Hashable, float] = {}
    for row in rows:
        x = 0.0
        for one in row:
            centre[one] = x + width[one] / 2
            x += width[one] + across
    for sweep in range(_SWEEPS):
        numbers = range(len(rows)) if sweep % 2 == 0 else reversed(range(len(rows)))
        for number in numbers:
            row = rows[number]
            near = {one: [*up[one], *below[one]] for one in row}
            wanted = [
                sum(centre[each] for each in near[one]) / len(near[one]) if near[one] else centre[one] for one in row
            ]
            gaps = [(width[a] + width[b]) / 2 + across for a, b in pairwise(row)]
            for one, x in zip(row, spread(wanted, gaps), strict=True):
                centre[one] = x
    return centre


def spread(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to those wanted, by least squares, that keep the order and the gaps between neighbours.

    >>> spread([0, 0], [10])
    [-5.0, 5.0]
    >>> spread([0, 100], [10])
    [0.0, 100.0]
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    blocks: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=False):
        blocks.append((want - offset, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (b, n), (a, m) = blocks.pop(), blocks.pop()
            blocks.append(((a * m + b * n) / (m + n), m + n))
    levels = [level for level, size in blocks for _ in range(size)]
    return [level + offset for level, offset in zip(levels, offsets, strict=False)]
