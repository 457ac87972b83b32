"""What a check of a model found, in words: the run that breaks a rule, state by state."""

from __future__ import annotations

from firesteel.evidence.models import BoundMet, BrokenRun, ModelState
from firesteel.evidence.report import Report
from firesteel.names import counted
from firesteel.report.facts import lines

_FIRST, _LAST = 5, 25
"""How many states of a long run are shown."""
_WIDEST = 100
"""The longest text, in letters, of what changes in a state. One change is always shown."""


def told(found: BrokenRun | BoundMet, report: Report) -> str:
    """The whole message."""
    match found:
        case BoundMet(program, formula, option, limit):
            more = "a run that is longer" if option == "bound" else "more runs"
            unit = counted(limit, "state" if option == "bound" else "run")
            return (
                f"not every run of {program} was looked at: it has {more} than {unit}\n\n"
                f"{_so_far(report)} satisfy {formula}. Write a larger {option}=, if there is an end."
            )
        case BrokenRun():
            parts = [_title(found), _reason(found), _table(found), _facts(found, report)]
            return "\n\n".join(parts)


def _so_far(report: Report) -> str:
    runs = 0 if report.explored is None else report.explored.runs
    return f"The {counted(runs, 'run')} that ended"


def _title(found: BrokenRun) -> str:
    return f"the formula is false in a run of {found.program}: state {found.decided}"


def _reason(found: BrokenRun) -> str:
    parts = [str(part) for part in found.failed if part != found.formula]
    what = f"`{parts[0]}`, a part of the formula," if len(parts) == 1 else "the formula"
    if found.decided < len(found.states) - 1:
        return f"State {found.decided} makes {what} false, whatever comes after it."
    return f"The run ends with state {found.decided}, and {what} is false then."


def _table(found: BrokenRun) -> str:
    names = sorted(found.propositions)
    rows = [["state", "changes", *names]]
    shown = _shown(found)
    for place, state in enumerate(shown):
        if place and state.number != shown[place - 1].number + 1:
            rows.append(["...", f"({state.number - shown[place - 1].number - 1} states)", *([""] * len(names))])
        changes = _changes(state)
        mark = ["<- false here"] if state.number == found.decided else []
        rows.append([str(state.number), changes, *("yes" if name in state.holds else "no" for name in names), *mark])
    widths = [max(len(row[column]) for row in rows if column < len(row)) for column in range(max(map(len, rows)))]
    return "\n".join("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=False)).rstrip() for row in rows)


def _changes(state: ModelState) -> str:
    """What changes in a state, as far as a line has room: a model of a Spark program starts with many variables."""
    parts = [f"{name}={value}" for name, value in state.changes]
    count = len(parts)
    while count > 1 and len("  ".join(parts[:count])) > _WIDEST:
        count -= 1
    left = f"  (and {len(parts) - count} more)" if count < len(parts) else ""
    return "  ".join(parts[:count]) + left or "(nothing)"


def _shown(found: BrokenRun) -> list[ModelState]:
    """The first states, and those around the one that decides."""
    return [state for state in found.states if state.number < _FIRST or abs(state.number - found.decided) <= _LAST]


def _facts(found: BrokenRun, report: Report) -> str:
    facts = [("formula", str(found.formula))]
    facts += [(name, text) for name, text in found.propositions.items() if name != text]
    facts += [("inputs", "  ".join(f"{name}={value}" for name, value in found.inputs.items()))] if found.inputs else []
    if report.explored is not None:
        runs, states = counted(report.explored.runs, "run"), counted(report.explored.states, "state")
        facts.append(("found in", f"the last of {runs}, {states} in all"))
    return lines(facts)
