"""A case as one line of text, for `replay=`: plain data, packed; nothing in it is run."""

from __future__ import annotations

import base64
import io
import pickle
import zlib
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.spark.engines.source import plain
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from firesteel.values.schemas import parse
from firesteel.values.schemas.writer import to_ddl
from firesteel.values.streams import Stream

# What a value of a Spark type may be made of. Unpickling anything else is refused: a replay line is data.
_ALLOWED = frozenset(
    {
        ("datetime", "date"), ("datetime", "datetime"), ("datetime", "time"), ("datetime", "timedelta"),
        ("datetime", "timezone"), ("decimal", "Decimal"), ("builtins", "bytearray"),
        ("pyspark.sql.types", "VariantVal"), ("copyreg", "_reconstructor"), ("builtins", "object"),
        ("pyspark.sql.types", "Geometry"), ("pyspark.sql.types", "Geography"),
        ("firesteel.values.records", "Record"),
    }
)  # fmt: skip


def encoded(case: Case) -> str:
    """The case as a line of text.

    >>> decoded(encoded(Case(Stream("n INT", [[(1,)], []]), least=3)))
    Case(Stream('n INT', [[(1,)], []]), least=3)
    """
    data = [
        (name, _ddl(stream), [[plain(r) for r in b] for b in stream], stream.span, [b.partitions for b in stream])
        for name, stream in case.inputs.items()
    ]
    whole = (data, case.drawn.__dict__) if case.drawn.__dict__ else data
    return base64.urlsafe_b64encode(zlib.compress(pickle.dumps(whole, protocol=4), 9)).decode()


def _ddl(stream: Stream) -> str | None:
    return None if stream.schema is None else to_ddl(stream.schema)


def decoded(text: str) -> Case:
    """The case of a line of text."""
    try:
        data = _Reader(io.BytesIO(zlib.decompress(base64.urlsafe_b64decode(text)))).load()
        data, drawn = data if isinstance(data, tuple) else (data, {})
        return Case({name: _stream(*rest) for name, *rest in data}, **drawn)
    except Exception as error:
        raise InvalidArgument(
            f"{described('replay', text)} is not a replay line: copy it whole from the failure that you want to see "
            "again"
        ) from error


def _stream(schema: str | None, batches: list[list[Any]], span: Any = None, partitions: Any = None) -> Stream:
    # Lines of an earlier version have no span, or no partitions.
    placed = zip(batches, partitions or [None] * len(batches), strict=True)
    parsed = parse(schema)
    return Stream(parsed, [Batch(batch, schema=parsed, partitions=sizes) for batch, sizes in placed], span=span)


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not data")
        return super().find_class(module, name)
