"""A case as one line of text, for `replay=`: JSON with a tag and a version. Reading it makes plain values, no more.

A short line is readable; a longer one is compressed, and a long one stands in a file below `.firesteel/`.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel import surroundings
from firesteel.errors import InvalidArgument, described
from firesteel.evidence.report import Reproduction
from firesteel.spark.engines.source import plain
from firesteel.values import lines
from firesteel.values.as_json import NotJson, of_json, to_json
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from firesteel.values.schemas import parse
from firesteel.values.schemas.writer import to_ddl
from firesteel.values.streams import Stream, make_stream

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

FOLDER = ".firesteel"
# A line of more characters goes to a file.
_IN_A_MESSAGE = 400


def encoded(case: Case) -> str:
    """The case as a line of text; `InvalidArgument` where it holds a value that JSON cannot carry.

    >>> line = encoded(Case(Stream("n INT", [[(1,)], []]), least=3))
    >>> line
    'fs1:{"input":{"schema":"n INT","batches":[[[1]],[]]},"drawn":{"least":3}}'
    >>> decoded(line)
    Case(Stream('n INT', [[(1,)], []]), least=3)
    """
    try:
        streams = {name: _stream_json(stream) for name, stream in case.inputs.items()}
        drawn = {name: to_json(value) for name, value in case.drawn.__dict__.items()}
    except NotJson as error:
        raise InvalidArgument(f"the case has no replay line: {error}") from error
    only = list(streams) == ["input"]
    data = ({"input": streams["input"]} if only else {"inputs": streams}) | ({"drawn": drawn} if drawn else {})
    try:
        return lines.written(data)
    except ValueError as error:
        raise InvalidArgument(f"the case has no replay line: {error}") from error


def decoded(given: str | os.PathLike[str]) -> Case:
    """The case of a line of text, or of the file that holds it."""
    text = _line(given)
    if not text.startswith(lines.TAG):
        raise InvalidArgument(f"{described('replay', given)} {_why_not(text)}")
    try:
        data = lines.read(text)
        streams = data["inputs"] if "inputs" in data else {"input": data["input"]}
        inputs = {name: _stream(**stream) for name, stream in streams.items()}
        return Case(inputs, **{name: of_json(value) for name, value in data.get("drawn", {}).items()})
    except Exception as error:
        raise InvalidArgument(
            f"{described('replay', given)} is not a replay line: copy it whole from the failure that you want to see "
            "again"
        ) from error


def reproduction(case: Case, needed: int) -> Reproduction:
    """How to see a case again: its line, and the file that a long one was put into."""
    try:
        line = encoded(case)
    except InvalidArgument as error:
        return Reproduction(case, needed, "", why_no_line=str(error))
    file = kept(line)
    return Reproduction(case, needed, line, None if file is None else file.as_posix())


def kept(line: str) -> Path | None:
    """The file that a line which is too long for a message is put into, below the root; None for a short one.

    Where the file cannot be written there is none either: then the message has the line, however long.
    """
    if len(line) <= _IN_A_MESSAGE:
        return None
    name = f"replay-{hashlib.sha256(line.encode()).hexdigest()[:12]}.txt"
    root = surroundings.root()
    try:
        (root / FOLDER).mkdir(exist_ok=True)
        (root / FOLDER / name).write_text(line + "\n")
    except OSError:
        return None
    return Path(FOLDER) / name


# --- reading -------------------------------------------------------------------------------------


def _line(given: Any) -> str:
    """The text of a line, be it given itself or by its file."""
    if isinstance(given, str) and not re.search(r"\.txt\s*$", given):
        return given.strip()
    if not isinstance(given, (str, os.PathLike)):
        raise InvalidArgument(
            f"{described('replay', given)} is not a replay line: write the text or the file name that the failure "
            "printed"
        )
    path = Path(str(given).strip())
    found = next((place for place in (path, surroundings.root() / path) if place.is_file()), None)
    if found is None:
        raise InvalidArgument(f"{described('replay', given)} is a file that does not exist: run the failing test again")
    if found.stat().st_size > lines.LONGEST:
        raise InvalidArgument(f"{described('replay', given)} is too large for a file with a replay line")
    return found.read_text(errors="replace").strip()


def _why_not(text: str) -> str:
    again = "run the test again, and copy the line that it prints now"
    if text.startswith("eN"):  # how zlib begins, in base 64
        return f"was printed by an earlier version of firesteel, which wrote lines in another way: {again}"
    if re.match(r"fs\d+:", text):
        return f"was printed by another version of firesteel: {again}"
    return "is not a replay line: copy it whole from the failure that you want to see again"


def _stream(schema: Any, batches: list[Any], span: Any = None) -> Stream:
    made = _schema(schema)
    begin, end = (None, None) if span is None else map(of_json, span)
    covered = None if begin is None or end is None else (begin, end)
    return make_stream((_batch(batch, made) for batch in batches), made, covered)


def _batch(written: Any, schema: StructType | None) -> Batch:
    rows, partitions = written, None
    if isinstance(written, dict):
        rows, partitions = written["rows"], written.get("partitions")
        schema = _schema(written["schema"]) if "schema" in written else schema
    return Batch([of_json(row) for row in rows], schema=schema, partitions=partitions)


def _schema(written: Any) -> StructType | None:
    if isinstance(written, dict):
        from pyspark.sql.types import StructType

        _refuse_classes(written)
        return StructType.fromJson(written)
    return parse(written)


def _refuse_classes(written: Any) -> None:
    """PySpark imports, and calls, the Python class that a user-defined type names: a replay line may not do that."""
    if isinstance(written, dict):
        if written.get("type") == "udt":
            raise ValueError("a replay line has no user-defined types")
        for inside in written.values():
            _refuse_classes(inside)
    elif isinstance(written, list):
        for inside in written:
            _refuse_classes(inside)


# --- writing -------------------------------------------------------------------------------------


def _stream_json(stream: Stream) -> dict[str, Any]:
    span = {} if stream.span is None else {"span": list(map(to_json, stream.span))}
    batches = [_batch_json(batch, stream.schema) for batch in stream]
    return {"schema": _schema_json(stream.schema), "batches": batches, **span}


def _batch_json(batch: Batch, schema: StructType | None) -> Any:
    more: dict[str, Any] = {} if batch.partitions is None else {"partitions": list(batch.partitions)}
    if batch.schema != schema:
        more["schema"] = _schema_json(batch.schema)
    rows = [to_json(list(plain(record)) if batch.schema is not None else record) for record in batch]
    return {"rows": rows, **more} if more else rows


def _schema_json(schema: StructType | None) -> Any:
    """DDL, which people can read; Spark's own JSON where DDL has no words for it, as for arrays without nulls."""
    if schema is None:
        return None
    ddl = to_ddl(schema)
    return ddl if parse(ddl) == schema else schema.jsonValue()
