"""`firesteel lint SCRIPT`: where the result of a PySpark program hangs on luck."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firesteel.cli.command import Command
from firesteel.errors import InvalidArgument, described
from firesteel.evidence.lint import Lint, Severity
from firesteel.names import counted

FOUND, REFUSED, FAILED = 1, 2, 3
"""The exit codes: something was found, the arguments are wrong, the program itself failed."""

_FAIL_ON = ("error", "warning", "never")
_HINT = "If it never ends, as a stream does, stop it and write --seconds 60"
_WRITE = "write [tool.firesteel.lint], and in it ignore, fail-on, baseline or seconds"


@dataclass(frozen=True)
class Wanted:
    """What is asked for, on the command line or in pyproject.toml."""

    ignore: tuple[str, ...] = ()
    fail_on: str = "error"
    baseline: Path | None = None
    seconds: float | None = None


def main(chosen: argparse.Namespace) -> int:
    """Runs a program and lints it."""
    from firesteel.cli.scripts import to_write
    from firesteel.report.lint import listed

    if chosen.rules:
        print(listed())
        return 0
    try:
        script = _script(chosen.script)
        wanted = _wanted(chosen, _configured(script))
        known = _baseline(wanted.baseline, is_made=bool(chosen.write_baseline))
        if chosen.write_baseline:
            to_write("--write-baseline", chosen.write_baseline)
        return _linted(script, chosen, wanted, known)
    except InvalidArgument as error:
        print(f"firesteel lint: {error}", file=sys.stderr)
        return REFUSED


def _linted(script: Path, chosen: argparse.Namespace, wanted: Wanted, known: frozenset[str]) -> int:
    from firesteel.cli.scripts import run_script
    from firesteel.linting import lint_program
    from firesteel.report.lint import fingerprint

    ran = run_script(script, chosen.arguments, wanted.seconds, _HINT)
    found = lint_program(ran.dag.program, ignore=wanted.ignore, confirm=not chosen.quick)
    notes = list(found.notes)
    if ran.was_stopped:
        notes.append(f"the program did not end within {wanted.seconds:g} s. This is what it did until it was stopped")
    if ran.failure is not None:
        notes.append(f"the program failed: {ran.failure}. This is what it did until then")
    new = [one for one in found.findings if fingerprint(one) not in known]
    left_out = len(found.findings) - len(new)
    if left_out:
        notes.append(f"{counted(left_out, 'finding')} of the baseline {'is' if left_out == 1 else 'are'} left out")
    print(_written(chosen.format, new, notes, left_out))
    if chosen.write_baseline:
        _write_baseline(Path(chosen.write_baseline), found.findings)
    bad = [one for one in new if one.severity.value == wanted.fail_on or one.severity is Severity.ERROR]
    if bad and wanted.fail_on != "never" and not chosen.write_baseline:
        return FOUND
    return FAILED if ran.failure is not None else 0


def _written(format: str, findings: Sequence[Lint], notes: Sequence[str], left_out: int) -> str:
    import firesteel
    from firesteel.report.lint import as_data, as_sarif, text

    match format:
        case "json":
            return json.dumps(as_data(findings, notes), indent=2)
        case "sarif":
            return json.dumps(as_sarif(findings, firesteel.__version__, notes), indent=2)
        case _:
            return text(findings, notes, left_out)


# --- what is asked for ---


def _script(given: str | None) -> Path:
    if given is None:
        raise InvalidArgument("no program is given: write firesteel lint SCRIPT.py")
    script = Path(given)
    if not script.is_file():
        raise InvalidArgument(f"{described('SCRIPT', given)} is not a file: write the path of a Python program")
    if script.suffix != ".py":
        raise InvalidArgument(f"{described('SCRIPT', given)} is not a Python program: its name has to end in .py")
    return script


def _configured(script: Path) -> Wanted:
    """What [tool.firesteel] says in the pyproject.toml that is nearest to the program."""
    for folder in script.resolve().parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            try:
                tools = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise InvalidArgument(f"{file} cannot be read: {error}") from error
            return _of_table(_table(tools, file), file)
    return Wanted()


def _table(tools: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    """The table [tool.firesteel.lint]. It is the only one there may be."""
    match tools.get("firesteel", {}):
        case {"lint": dict() as table, **others} if not others:
            return table
        case {"lint": given} if not isinstance(given, dict):
            raise InvalidArgument(f"{described('lint', given)} in [tool.firesteel] of {file} is not a table: {_WRITE}")
        case {**others} if others:
            key = next(one for one in others if one != "lint")
            raise InvalidArgument(f"{described('key', key)} in [tool.firesteel] of {file} is not known: {_WRITE}")
        case dict():
            return {}
        case given:
            raise InvalidArgument(f"{described('firesteel', given)} in [tool] of {file} is not a table: {_WRITE}")


def _of_table(table: Mapping[str, Any], file: Path) -> Wanted:
    wanted, place = Wanted(), f"[tool.firesteel.lint] of {file}"
    for key, value in table.items():
        match key, value:
            case "ignore", [*names] if all(isinstance(one, str) for one in names):
                wanted = replace(wanted, ignore=tuple(names))
            case "fail-on", str() if value in _FAIL_ON:
                wanted = replace(wanted, fail_on=value)
            case "baseline", str():
                wanted = replace(wanted, baseline=file.parent / value)
            case "seconds", int() | float() if not isinstance(value, bool) and value > 0:
                wanted = replace(wanted, seconds=float(value))
            case "ignore" | "fail-on" | "baseline" | "seconds", _:
                raise InvalidArgument(f"{described(key, value)} in {place} cannot be used: see `firesteel lint --help`")
            case _:
                raise InvalidArgument(
                    f"{described('key', key)} in {place} is not known: write ignore, fail-on, baseline or seconds"
                )
    return wanted


def _wanted(chosen: argparse.Namespace, configured: Wanted) -> Wanted:
    from firesteel.model.lint.linting import refuse_unknown

    if chosen.seconds is not None and not chosen.seconds > 0:
        raise InvalidArgument(f"{described('--seconds', chosen.seconds)} is not a time: write a number above 0")
    refuse_unknown(chosen.ignore, "--ignore")
    refuse_unknown(configured.ignore, "ignore of [tool.firesteel.lint]")
    return Wanted(
        (*configured.ignore, *chosen.ignore),
        chosen.fail_on or configured.fail_on,
        Path(chosen.baseline) if chosen.baseline else configured.baseline,
        chosen.seconds if chosen.seconds is not None else configured.seconds,
    )


# --- old findings ---


def _baseline(file: Path | None, *, is_made: bool) -> frozenset[str]:
    """The findings of a baseline; none where it is not there yet, and this run makes one."""
    if file is None or (is_made and not file.exists()):
        return frozenset()
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return frozenset(str(one["fingerprint"]) for one in data["findings"])
    except FileNotFoundError:
        raise InvalidArgument(
            f"{described('--baseline', str(file))} does not exist: make it with --write-baseline {file}"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidArgument(f"{described('--baseline', str(file))} is not a baseline: {error}") from error


def _write_baseline(file: Path, findings: Sequence[Lint]) -> None:
    from firesteel.report.lint import as_data

    file.write_text(json.dumps(as_data(findings), indent=2) + "\n", encoding="utf-8")
    print(f"written to {file}", file=sys.stderr)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=["text", "json", "sarif"], default="text", help="how to print findings")
    parser.add_argument(
        "--fail-on", choices=_FAIL_ON, default=None, help="which findings make the exit code 1 (default: error)"
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="RULE", help="leave a rule out")
    parser.add_argument("--baseline", metavar="FILE", help="leave out the findings that are in this file")
    parser.add_argument("--write-baseline", metavar="FILE", help="write all findings into a file, for --baseline")
    parser.add_argument("--seconds", type=float, default=None, help="stop the program after so long, as for streams")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="do not run anything again: findings are not confirmed, reducers not tested",
    )
    parser.add_argument("--rules", action="store_true", help="list the rules")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="a PySpark program (.py)")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="the program's own arguments")


COMMAND = Command(
    name="lint",
    place=65,
    invitation="does a program's result hang on luck? runs it and says where",
    summary="run a PySpark program, and say where its result hangs on luck",
    description="Runs a PySpark program with a session of firesteel's, with its own arguments or smaller ones. Says "
    "where its result hangs on luck: on the order in which rows arrive, on retries, on clocks. Options stand before "
    "the program. [tool.firesteel.lint] in pyproject.toml may hold ignore, fail-on, baseline and seconds. The exit "
    "code is 1 if something was found that --fail-on names, 2 if an argument is wrong, 3 if nothing of that kind was "
    "found and the program itself failed, else 0.",
    run=main,
    add_arguments=_add_arguments,
)
