"""A program as text."""

from __future__ import annotations

from firesteel.names import counted, short
from firesteel.report.dags.groups import groups_of, is_short, jobs_word, numbers, place, shown
from firesteel.values.programs import Action, Operation, Program


def headline(program: Program) -> str:
    """How much there is, in one line."""
    ran = sum(1 for stage in program.stages if stage.attempts)
    return ", ".join(
        [
            counted(len(program.operations), "operation"),
            counted(len(program.actions), "action"),
            counted(len(program.jobs), "job"),
            counted(ran, "stage"),
        ]
    )


def text(program: Program) -> str:
    """What `print(dag)` prints."""
    lines = [headline(program)]
    if not program.jobs:
        lines.append("Spark ran no job.")
    width = max((len(one.name) for one in program.operations), default=0)
    for group in groups_of(program):
        lines += ["", group.title]
        lines += [_operation(program, one, width) for one in group.operations]
    if program.actions:
        lines += ["", "actions"]
        lines += [_action(one) for one in program.actions]
    asked = [(one, [job.id for job in program.jobs if job.operation == one.id]) for one in program.operations]
    if any(jobs for _, jobs in asked):
        lines += ["", "jobs that operations started"]
        lines += [f"  {one.id:>3}  {one.name}: {numbers(jobs)}" for one, jobs in asked if jobs]
    if program.differences:
        lines += ["", "what Spark ran is not what was captured:", *(f"  {one}" for one in program.differences)]
    return "\n".join(lines)


def _operation(program: Program, operation: Operation, width: int) -> str:
    wide = {edge.source for edge in program.edges if edge.target == operation.id and edge.wide}
    parents = ", ".join(f"{'<=' if one in wide else '<-'} {one}" for one in operation.parents)
    facts = [parents, _given(operation), "cached" if operation.cached else ""]
    facts += [
        "made before the block" if operation.earlier else "",
        place(operation.call_site) if operation.call_site else "",
    ]
    told = "  ".join(filter(None, facts))
    return f"  {operation.id:>3}  {operation.name:<{width}}  {told}".rstrip()


def _given(one: Operation | Action) -> str:
    functions = [short(function.name, 50) for function in one.functions]
    values = [f"{name}={short(shown(value), 40)}" for name, value in one.arguments.items() if is_short(value)]
    return ", ".join([*functions, *values])


def _action(action: Action) -> str:
    on = f"<- {', '.join(map(str, action.operations))}" if action.operations else ""
    facts = [on, _given(action), jobs_word(action), f"failed with {action.error}" if action.error else ""]
    facts.append(place(action.call_site) if action.call_site else "")
    return f"       {action.name}  {'  '.join(filter(None, facts))}"
