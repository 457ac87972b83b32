"""A program as SVG: a box for the operations of the same stages, thick edges where records are shuffled."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from firesteel.evidence.lint import Lint
from firesteel.report.dags.groups import Group, about, groups_of, jobs_word, lines_of, place
from firesteel.report.dags.layered import Layout, layered, layers
from firesteel.report.dags.marks import Marked, of_action, worst_of
from firesteel.values.programs import Action, Operation, Program

_PAD, _TITLE, _LINE, _HEAD = 14.0, 22.0, 15.0, 24.0
_ACROSS, _DOWN, _INNER, _PORT = 26.0, 46.0, 30.0, 0.0
_STYLE = """
.fsd text { font: 12px ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #24292f; }
.fsd .title { font-size: 11px; fill: #57606a; }
.fsd .name { font-weight: 600; font-size: 13px; }
.fsd .more { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #57606a; }
.fsd .box { fill: #f6f8fa; stroke: #d0d7de; }
.fsd .unrun { stroke-dasharray: 5 4; }
.fsd .operation { fill: #ffffff; stroke: #8c959f; }
.fsd .wide { stroke: #bc4c00; stroke-width: 1.6; }
.fsd .cached { fill: #dafbe1; }
.fsd .action { fill: #0969da; stroke: none; }
.fsd .failed { fill: #cf222e; }
.fsd .action-text { fill: #ffffff; }
.fsd .error { fill: #ffebe9; stroke: #cf222e; stroke-width: 2; }
.fsd .warning { fill: #fff8c5; stroke: #9a6700; stroke-width: 2; }
.fsd .edge { fill: none; stroke: #6e7781; stroke-width: 1.3; }
.fsd .shuffle { stroke: #bc4c00; stroke-width: 3; }
.fsd .wanted { stroke: #0969da; stroke-dasharray: 2 3; }
"""


@dataclass(frozen=True)
class _Drawn:
    """A box with its inside laid out."""

    key: Hashable
    width: float
    height: float
    group: Group | None
    action: Action | None
    inside: Layout | None


def svg(program: Program, marked: Marked | None = None) -> str:
    """The picture; operations that a lint reports are coloured, and say why when they are pointed at."""
    if not program.operations and not program.actions:
        return _page(320, 60, '<text x="16" y="34">Nothing was captured: no operation ran.</text>')
    drawn = [_box(program, group) for group in groups_of(program)] + [_action(one) for one in program.actions]
    sizes: dict[Hashable, tuple[float, float]] = {one.key: (one.width, one.height) for one in drawn}
    home: dict[int, Hashable] = {
        operation.id: one.key for one in drawn if one.group is not None for operation in one.group.operations
    }
    between: list[tuple[Hashable, Hashable]] = [(home[edge.source], home[edge.target]) for edge in program.edges]
    between += [(home[source], of_action(one.id)) for one in program.actions for source in one.operations]
    whole = layered(sizes, between, _ACROSS, _DOWN)
    corners = _corners(drawn, whole)
    boxes = {one.key: one for one in drawn}
    parts = [_shown(one, whole, corners, marked or {}) for one in drawn]
    edges = []
    for source, target, kind, tip in _arrows(program):
        ends = (home[source], home.get(target, target) if isinstance(target, int) else target)
        points = _ways(source, target, boxes[ends[0]], boxes[ends[1]], whole)
        edges.append(_edge(corners[source], corners[target], points, kind, tip))
    return _page(whole.width + 2 * _PAD, whole.height + 2 * _PAD, "\n".join([*parts, *edges]))


def _arrows(program: Program) -> Iterator[tuple[int, Hashable, str, str]]:
    """Where edges begin and end, what they look like, and what they say."""
    for edge in program.edges:
        if edge.wide:
            yield edge.source, edge.target, "edge shuffle", "records are shuffled"
        else:
            yield edge.source, edge.target, "edge", "within a partition"
    for action in program.actions:
        for source in action.operations:
            yield source, of_action(action.id), "edge wanted", action.name


def _ways(source: int, target: Hashable, start: _Drawn, end: _Drawn, whole: Layout) -> list[tuple[float, float]]:
    """The points that an edge passes: through its box, between the boxes, and through the box that it leads to."""
    if start is end:
        return [_inside(start, point, whole) for point in _bends(start, (source, target))]
    out, into = ("out", source, target), ("in", source, target)
    points = []
    if start.inside is not None and out in start.inside.places:
        points += [_inside(start, point, whole) for point in (*_bends(start, (source, out)), start.inside.places[out])]
    points += [(x + _PAD, y + _PAD) for x, y in whole.bends.get((start.key, end.key), ())]
    if end.inside is not None and into in end.inside.places:
        points += [_inside(end, point, whole) for point in (end.inside.places[into], *_bends(end, (into, target)))]
    return points


def _bends(one: _Drawn, edge: tuple[Hashable, Hashable]) -> tuple[tuple[float, float], ...]:
    return one.inside.bends.get(edge, ()) if one.inside is not None else ()


def _inside(one: _Drawn, point: tuple[float, float], whole: Layout) -> tuple[float, float]:
    """A point of a box's inside in the whole picture."""
    assert one.inside is not None
    x, y = whole.places[one.key]
    return x + (one.width - one.inside.width) / 2 + point[0] + _PAD, y + _TITLE + point[1] + _PAD


def _page(width: float, height: float, inside: str) -> str:
    return (
        f'<svg class="fsd" xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n<style>{_STYLE}</style>\n'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{inside}\n</svg>\n'
    )


def _text_width(text: str, each: float) -> float:
    return sum(2 * each if ord(letter) > 0x2E80 else each for letter in text)


def _size(operation: Operation) -> tuple[float, float]:
    lines = lines_of(operation)
    width = max([_text_width(operation.name, 8.0), *(_text_width(line, 6.8) for line in lines)]) + 20
    return max(width, 90), _HEAD + _LINE * len(lines) + (4 if lines else 0)


def _box(program: Program, group: Group) -> _Drawn:
    sizes: dict[Hashable, tuple[float, float]] = {one.id: _size(one) for one in group.operations}
    inner: list[tuple[Hashable, Hashable]] = [
        (edge.source, edge.target) for edge in program.edges if edge.source in sizes and edge.target in sizes
    ]
    # An edge that leads past other operations of the box, on its way in or out, needs a way around them.
    depth = layers(list(sizes), inner)
    last = max(depth.values())
    arrows = [(source, target) for source, target, _, _ in _arrows(program) if (source in sizes) != (target in sizes)]
    top = [("in", source, target) for source, target in arrows if depth.get(target, 0) > 0]
    bottom = [("out", source, target) for source, target in arrows if depth.get(source, last) < last]
    sizes |= dict.fromkeys((*top, *bottom), (_PORT, 0.0))
    inner += [(port, port[2]) for port in top] + [(port[1], port) for port in bottom]
    inside = layered(sizes, inner, _ACROSS, _INNER, top, bottom)
    width = max(inside.width, _text_width(group.title, 6.4)) + 2 * _PAD
    return _Drawn(("group", group.operations[0].id), width, inside.height + _TITLE + _PAD, group, None, inside)


def _action(action: Action) -> _Drawn:
    lines = _action_lines(action)
    width = max(_text_width(line, 7.4) for line in lines) + 32
    return _Drawn(of_action(action.id), max(width, 100), _HEAD + _LINE * (len(lines) - 1) + 6, None, action, None)


def _action_lines(action: Action) -> list[str]:
    more = [jobs_word(action)] + ([place(action.call_site)] if action.call_site else [])
    return [action.name, *([f"failed: {action.error}"] if action.error else []), " · ".join(more)]


def _corners(drawn: list[_Drawn], whole: Layout) -> dict[Hashable, tuple[float, float, float, float]]:
    """Left, top, width and height of everything that an edge may lead to."""
    found: dict[Hashable, tuple[float, float, float, float]] = {}
    for one in drawn:
        x, y = whole.places[one.key]
        if one.group is None or one.inside is None:
            found[one.key] = (x, y, one.width, one.height)
            continue
        left = x + (one.width - one.inside.width) / 2
        for operation in one.group.operations:
            inner_x, inner_y = one.inside.places[operation.id]
            found[operation.id] = (left + inner_x, y + _TITLE + inner_y, *_size(operation))
    return {key: (x + _PAD, y + _PAD, width, height) for key, (x, y, width, height) in found.items()}


def _shown(
    one: _Drawn, whole: Layout, corners: dict[Hashable, tuple[float, float, float, float]], marked: Marked
) -> str:
    x, y = whole.places[one.key]
    x, y = x + _PAD, y + _PAD
    if one.action is not None:
        return _shown_action(one.action, x, y, one, marked.get(one.key, ()))
    assert one.group is not None
    unrun = "" if any(operation.stages for operation in one.group.operations) else " unrun"
    parts = [
        f'<rect class="box{unrun}" x="{x:.1f}" y="{y:.1f}" width="{one.width:.1f}" height="{one.height:.1f}" rx="8"/>',
        f'<text class="title" x="{x + 10:.1f}" y="{y + 15:.1f}">{escape(one.group.title)}</text>',
    ]
    return "\n".join(
        parts + [_shown_operation(each, corners[each.id], marked.get(each.id, ())) for each in one.group.operations]
    )


def _shown_operation(operation: Operation, corner: tuple[float, float, float, float], lints: Sequence[Lint]) -> str:
    x, y, width, height = corner
    kinds = ["operation", *(["wide"] if operation.wide else []), *(["cached"] if operation.cached else [])]
    worst = worst_of(lints)
    kinds += [worst.value] if worst is not None else []
    tip = "\n".join([about(operation), *_told(lints)])
    middle = x + width / 2
    parts = [
        f'<g><title>{escape(tip)}</title><rect class="{" ".join(kinds)}" x="{x:.1f}" y="{y:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}" rx="5"/>',
        f'<text class="name" text-anchor="middle" x="{middle:.1f}" y="{y + 17:.1f}">{escape(operation.name)}</text>',
    ]
    for number, line in enumerate(lines_of(operation)):
        at = y + 17 + _LINE * (number + 1)
        parts.append(f'<text class="more" text-anchor="middle" x="{middle:.1f}" y="{at:.1f}">{escape(line)}</text>')
    return "\n".join([*parts, "</g>"])


def _told(lints: Sequence[Lint]) -> list[str]:
    return [f"{one.severity.value}: {one.message} [{one.rule}]" for one in lints]


def _shown_action(action: Action, x: float, y: float, one: _Drawn, lints: Sequence[Lint]) -> str:
    middle = x + one.width / 2
    worst = worst_of(lints)
    kinds = ["action", *(["failed"] if action.error else []), *([worst.value] if worst is not None else [])]
    parts = [
        f'<g>{f"<title>{escape(chr(10).join(_told(lints)))}</title>" if lints else ""}<rect class="{" ".join(kinds)}" '
        f'x="{x:.1f}" y="{y:.1f}" width="{one.width:.1f}" height="{one.height:.1f}" rx="{one.height / 2:.1f}"/>'
    ]
    # What is marked is light, so its text is dark.
    first, others = ("action-text name", "action-text") if worst is None else ("name", "title")
    for number, line in enumerate(_action_lines(action)):
        at, kind = y + 18 + _LINE * number, first if number == 0 else others
        parts.append(f'<text class="{kind}" text-anchor="middle" x="{middle:.1f}" y="{at:.1f}">{escape(line)}</text>')
    return "\n".join([*parts, "</g>"])


def _edge(
    source: tuple[float, float, float, float],
    target: tuple[float, float, float, float],
    passed: list[tuple[float, float]],
    kind: str,
    tip: str,
) -> str:
    start = (source[0] + source[2] / 2, source[1] + source[3])
    end = (target[0] + target[2] / 2, target[1])
    points = [start, *passed, end]
    path = f"M{start[0]:.1f} {start[1]:.1f}"
    for (x1, y1), (x2, y2) in pairwise(points):
        half = (y1 + y2) / 2
        path += f" C{x1:.1f} {half:.1f} {x2:.1f} {half:.1f} {x2:.1f} {y2:.1f}"
    return f'<path class="{kind}" d="{path}" marker-end="url(#arrow)"><title>{escape(tip)}</title></path>'
