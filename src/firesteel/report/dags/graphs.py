"""A program for other tools: DOT for Graphviz, Mermaid for Markdown."""

from __future__ import annotations

from collections.abc import Hashable

from firesteel.report.dags.groups import groups_of, jobs_word, lines_of
from firesteel.report.dags.marks import COLOURS, Marked, of_action, worst_of
from firesteel.values.programs import Program


def dot(program: Program, marked: Marked | None = None) -> str:
    """The language of Graphviz."""
    lines = ["digraph program {", "  node [shape=box, style=rounded];"]
    for number, group in enumerate(groups_of(program)):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(group.title)};"]
        for one in group.operations:
            label = _quoted(chr(10).join([one.name, *lines_of(one)]))
            lines.append(f"    o{one.id} [label={label}{_filled(one.id, marked)}];")
        lines.append("  }")
    for action in program.actions:
        label = _quoted(f"{action.name}\n{jobs_word(action)}")
        lines.append(f"  a{action.id} [label={label}, shape=oval{_filled(of_action(action.id), marked)}];")
    for edge in program.edges:
        style = ' [style=bold, color="#bc4c00", label="shuffle"]' if edge.wide else ""
        lines.append(f"  o{edge.source} -> o{edge.target}{style};")
    lines += [f"  o{source} -> a{one.id} [style=dotted];" for one in program.actions for source in one.operations]
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def mermaid(program: Program, marked: Marked | None = None) -> str:
    """A flow chart of Mermaid."""
    lines = ["flowchart TD"]
    for number, group in enumerate(groups_of(program)):
        lines.append(f'  subgraph g{number}["{_safe(group.title)}"]')
        for one in group.operations:
            lines.append(f'    o{one.id}["{_safe(chr(10).join([one.name, *lines_of(one)]))}"]')
        lines.append("  end")
    for action in program.actions:
        label = _safe(f"{action.name}\n{jobs_word(action)}")
        lines.append(f'  a{action.id}(["{label}"])')
    for edge in program.edges:
        lines.append(f"  o{edge.source} {'== shuffle ==>' if edge.wide else '-->'} o{edge.target}")
    lines += [f"  o{source} -.-> a{one.id}" for one in program.actions for source in one.operations]
    places: list[tuple[str, Hashable]] = [(f"o{one.id}", one.id) for one in program.operations]
    places += [(f"a{one.id}", of_action(one.id)) for one in program.actions]
    lines += [f"  style {name} fill:{colour}" for name, place in places if (colour := _colour(place, marked))]
    return "\n".join([*lines, ""])


def _filled(place: Hashable, marked: Marked | None) -> str:
    colour = _colour(place, marked)
    return f', style="rounded,filled", fillcolor="{colour}"' if colour else ""


def _colour(place: Hashable, marked: Marked | None) -> str | None:
    worst = worst_of((marked or {}).get(place, ()))
    return COLOURS[worst] if worst is not None else None


def _safe(text: str) -> str:
    """Mermaid has no escapes but entities by number."""
    kept = " .,:;=-_+()"
    return "".join(
        "<br/>" if letter == "\n" else letter if letter.isalnum() or letter in kept else f"#{ord(letter)};"
        for letter in text
    )
