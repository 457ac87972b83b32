"""How to see a failure again: a whole test to paste, and the line that replays the case."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from firesteel.evidence.report import Asked, Program, Reproduction
from firesteel.report.source import Source, option
from firesteel.values.batches import rows_text
from firesteel.values.cases import Case
from firesteel.values.records import shown
from firesteel.values.schemas import to_ddl
from firesteel.values.streams import Stream

# A case of more characters is not printed: a test replays it from its file.
_CASE = 3_000
_WIDTH = 100


def again(asked: Asked, how: Reproduction) -> str:
    """What to keep as a test, and what to run again."""
    lines = ["Keep it as a test:", "", textwrap.indent(_test(asked, how), "  "), ""]
    if not how.line:
        return "\n".join([*lines, how.why_no_line or "(there is no replay line)"])
    note = "    # also in .hypothesis/; plain pytest tries it first"
    return "\n".join([*lines, "Run it again:", f"  {asked.function}(..., replay={_replay(how)}){note}"])


def _replay(how: Reproduction) -> str:
    """The file's name, in double quotes as code mostly has them; or the line itself."""
    return f'"{how.file}"' if how.file is not None else repr(how.line)


def _test(asked: Asked, how: Reproduction) -> str:
    """A test of this one case, which fails as long as the subject does what it did."""
    source = Source()
    arguments = [*_claimed(asked, source), *(option(source, *given) for given in asked.options.items())]
    written = _case(how.case, source) if how.line or not how.why_no_line else None
    if written is not None:
        arguments.insert(0, "case")
        body = [f"case = {written}"]
    else:
        arguments = ["...", *arguments, f"replay={_replay(how)}"]
        body = []
    body.append(_call(asked.function, arguments))
    imports = [*sorted({"import firesteel as fs", *source.imports}, key=lambda line: (line.startswith("from"), line))]
    missing = [f"# write here what {name} is: {what}" for name, what in source.missing.items()]
    names = [f"{program.name}_" for program in asked.programs if program.name.isidentifier()]
    head = f"def test_{''.join(names[-1:])}failed_on_this_case():"
    definitions = [part for text in source.definitions.values() for part in (text, "")]
    return "\n".join([*imports, "", *definitions, head, *(textwrap.indent(text, "    ") for text in (*missing, *body))])


def _claimed(asked: Asked, source: Source) -> list[str]:
    """The arguments that say what is claimed of the case: programs, and a formula or what they are compared by."""
    programs = [_program(program, source) for program in asked.programs]
    formula = [] if asked.formula is None else [source.formula(asked.formula)]
    if asked.function != "fs.for_all":
        formula = [f"property={text}" for text in formula]
    return [*programs, *formula, *_compared(asked.arguments, source)]


def _program(program: Program, source: Source) -> str:
    if program.function is None and program.name.isidentifier():
        return program.name
    return source.function(program.function, program.role)


def _compared(arguments: Mapping[str, Any], source: Source) -> list[str]:
    return [
        f"{name}={source.function(value, name) if name == 'accept' else source.value(value, name)}"
        for name, value in arguments.items()
    ]


def _call(function: str, arguments: list[str]) -> str:
    text = f"{function}({', '.join(arguments)})"
    if len(text) <= _WIDTH:
        return text
    return "\n".join([f"{function}(", *(f"    {argument}," for argument in arguments), ")"])


def _case(case: Case, source: Source) -> str | None:
    """The case as code; None where that is too long."""
    texts = {name: _stream(stream, source) for name, stream in case.inputs.items()}
    drawn = [f"{name}={source.text(shown(value), name)}" for name, value in case.drawn.__dict__.items()]
    if sum(map(len, texts.values())) > _CASE:
        return None
    if list(texts) == ["input"]:
        streams = texts["input"]
    else:
        inside = "".join(f"    {name!r}: {textwrap.indent(text, '    ').lstrip()},\n" for name, text in texts.items())
        streams = f"{{\n{inside}}}"
    return f"fs.Case({', '.join([streams, *drawn])})" if drawn else streams


def _stream(stream: Stream, source: Source) -> str:
    whole = repr(stream)
    if len(whole) > _CASE:
        return whole
    text = source.text(whole, "stream")
    if len(text) <= _WIDTH:
        return text
    schema = repr(None if stream.schema is None else to_ddl(stream.schema))
    batches = "".join(f"        {source.text(rows_text(batch), 'batch')},\n" for batch in stream)
    span = "" if stream.span is None else f"    span={source.text(shown(stream.span), 'span')},\n"
    return f"fs.Stream(\n    {schema},\n    [\n{batches}    ],\n{span})"
