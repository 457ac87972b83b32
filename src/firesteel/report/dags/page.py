"""A program as one page of HTML: the picture, and below it every operation, job and plan. It needs no other file."""

from __future__ import annotations

from html import escape

from firesteel.report.dags.groups import about, jobs_word, numbers, stages_word
from firesteel.report.dags.marks import Marked
from firesteel.report.dags.svg import svg
from firesteel.report.dags.text import headline
from firesteel.values.programs import Execution, Job, PhysicalNode, Program, Stage

_STYLE = """
body { font: 15px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; margin: 2rem; color: #24292f; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.picture { overflow: auto; border: 1px solid #d0d7de; border-radius: 8px; max-height: 85vh; }
.picture svg { display: block; margin: 0 auto; }
pre { background: #f6f8fa; padding: .6rem; overflow: auto; border-radius: 6px; font-size: 13px; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
.bad { color: #cf222e; }
"""


def page(program: Program, marked: Marked | None = None) -> str:
    """The page."""
    parts = [f"<h1>{escape(headline(program))}</h1>", f'<div class="picture">{svg(program, marked)}</div>']
    if program.differences:
        told = "".join(f"<li>{escape(str(one))}</li>" for one in program.differences)
        parts.append(f'<h2 class="bad">What Spark ran is not what was captured</h2><ul>{told}</ul>')
    if marked:
        told = "".join(f"<li>{escape(str(one))}</li>" for lints in marked.values() for one in lints)
        parts.append(f"<h2>Where the result hangs on luck</h2><ul>{told}</ul>")
    parts.append("<h2>Operations</h2>")
    for operation in program.operations:
        told = f"{operation.id} {operation.name}: {stages_word(operation.stages)}"
        parts.append(f"<details><summary>{escape(told)}</summary><pre>{escape(about(operation))}</pre></details>")
    parts.append("<h2>Actions</h2>")
    parts.append(
        _table(["", "on", "jobs"], [[one.name, numbers(one.operations), jobs_word(one)] for one in program.actions])
    )
    parts.append("<h2>Jobs and stages</h2>")
    parts.append(_table(["job", "for", "stages", "skipped", "batch"], [_job(program, one) for one in program.jobs]))
    parts.append(
        _table(["stage", "after", "tasks", "operations", ""], [_stage(program, one) for one in program.stages])
    )
    if program.executions:
        parts.append("<h2>Plans of SQL</h2>")
        parts += [_execution(one) for one in program.executions]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>A Spark program</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return "<p>None.</p>"
    first = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    return f"<table><tr>{first}</tr>{''.join(_row(row) for row in rows)}</table>"


def _row(cells: list[str]) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _job(program: Program, job: Job) -> list[str]:
    wanted = ""
    if job.action is not None:
        wanted = program.actions[job.action].name
    elif job.operation is not None:
        wanted = f"{program.operations[job.operation].name} (operation {job.operation})"
    return [str(job.id), wanted, numbers(job.stages), numbers(job.skipped), "" if job.batch is None else str(job.batch)]


def _stage(program: Program, stage: Stage) -> list[str]:
    names = ", ".join(program.operations[one].name for one in stage.operations)
    state = "skipped" if not stage.attempts else f"failed: {stage.failure.splitlines()[0]}" if stage.failure else ""
    return [str(stage.id), numbers(stage.parents), f"{stage.finished} of {stage.tasks}", names, state]


def _execution(execution: Execution) -> str:
    title = f"{execution.id} {execution.name}" + ("" if execution.batch is None else f", batch {execution.batch}")
    plan = execution.physical
    told = "no plan is known" if plan is None else "\n".join(_lines(plan))
    again = f" (planned anew {len(execution.replanned)} times)" if execution.replanned else ""
    return f"<details><summary>{escape(title + again)}</summary><pre>{escape(told)}</pre></details>"


def _lines(root: PhysicalNode) -> list[str]:
    lines, waiting = [], [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        ran = f"   [{stages_word(node.stages)}]" if node.stages else ""
        lines.append(f"{'  ' * depth}{node.text}{ran}")
        waiting.extend((child, depth + 1) for child in reversed(node.children))
    return lines
