"""Listening to PySpark's public methods while a block runs.

Every method is replaced by one that writes the call down and calls it. PySpark finds the user's line by looking for the
first frame in one of its own files. So the code of a replacement carries the file, line and name of what it replaces,
and calls it directly: Spark's call sites, and what its errors say about the user's line, stay what they are.

A thread that is inside a call of the user's does not write down what PySpark calls meanwhile.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from types import FrameType, FunctionType
from typing import Any

from firesteel.spark.capture.account import CALL
from firesteel.spark.capture.dstreams import Batch
from firesteel.spark.capture.recording import Call, Recorder
from firesteel.spark.capture.surface import LAZY, Listened, Role, is_listened_to, listened
from firesteel.values.programs import Api, CallSite


class Wrapping:
    """PySpark's methods, replaced from `install` to `remove`."""

    def __init__(self, recorder: Recorder, context: Any) -> None:
        self._recorder, self._context = recorder, context
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        self._inside = _Inside()

    def install(self) -> None:
        """Listen from now on."""
        for one in listened():
            for name, found in list(vars(one.kind).items()):
                if is_listened_to(one, name) or name in one.properties:
                    self._listen(one, name, found)
        self._listen_to_rdds()
        self._listen_to_dstreams()

    def remove(self) -> None:
        """Put everything back."""
        for kind, name, original, ours in reversed(self._replaced):
            if vars(kind).get(name) is ours:  # PySpark itself sets some anew, such as RDD.toDF
                setattr(kind, name, original)
        self._replaced.clear()

    def _replace(self, kind: Any, name: str, original: Any, ours: Any) -> None:
        setattr(kind, name, ours)
        self._replaced.append((kind, name, original, ours))

    def _listen(self, one: Listened, name: str, found: Any) -> None:
        if isinstance(found, FunctionType):
            self._replace(one.kind, name, found, self._wrapped(one, name, found))
        elif name in one.properties and isinstance(found, property) and isinstance(found.fget, FunctionType):
            self._replace(one.kind, name, found, property(self._wrapped(one, name, found.fget)))
        elif name in one.properties and isinstance(found, cached_property):
            ours = cached_property(self._wrapped(one, name, found.func))
            ours.__set_name__(one.kind, name)
            self._replace(one.kind, name, found, ours)

    def _wrapped(self, one: Listened, name: str, original: Any) -> Any:
        signature = inspect.signature(original)

        def before(arguments: tuple[Any, ...], named: dict[str, Any]) -> Call | _Moving | Batch | None:
            return self._before(one, name, original, signature, arguments, named)

        return _stand_in(original, *self._safely(before, self._after, self._failed))

    def _safely(self, *listeners: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
        """Functions that listen, and never harm the user's program: what one of them cannot do is a difference."""
        for listener in listeners:
            yield _safe(listener, self._recorder)

    def _before(
        self,
        one: Listened,
        name: str,
        original: Any,
        signature: inspect.Signature,
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> Call | _Moving | Batch | None:
        """A method is called: what the user calls is written down, once."""
        inside = self._inside
        if inside.call is not None:
            return _Moving(inside.call, arguments[0]) if name == "partitionBy" and arguments else None
        caller = sys._getframe(4)
        found, site = _user_frame(caller)
        if not found:
            batch = inside.batch
            if batch is None or batch.busy:
                return None
            batch.busy = True
            return batch
        try:
            given = dict(signature.bind(*arguments, **named).arguments)
        except TypeError:
            return None  # PySpark says what is wrong with these arguments
        owner = given.pop(next(iter(given)), None)
        given = _flat(given, signature)
        call = self._recorder.called(name, one.role, one.api, owner, given, site)
        call.by_library = _is_by_library(caller)
        if (
            one.role is Role.ROOT
            and one.api is Api.RDD
            and not any(isinstance(each, Iterator) for each in given.values())
        ):
            call.again = lambda: original(*arguments, **named).glom().collect()
        if name not in LAZY:
            self._tag(call)
        inside.call = call
        return call

    def _after(self, call: Call | _Moving | Batch, result: Any) -> None:
        if isinstance(call, Batch):
            call.busy = False
            self._recorder.resulted(call, result)
            return
        if isinstance(call, _Moving):
            call.within.wide = call.within.wide or result is not call.owner
            return
        call.wide = call.wide or _moves(call, result)
        self._inside.call = None
        self._untag(call)
        self._recorder.returned(call, result)

    def _failed(self, call: Call | _Moving | Batch, error: BaseException) -> None:
        if isinstance(call, Batch):
            call.busy = False
        if isinstance(call, Call):
            self._inside.call = None
            self._untag(call)
            self._recorder.failed(call, error)

    # --- the jobs of a call ---

    def _tag(self, call: Call) -> None:
        """Have the jobs that start meanwhile say which call they run for."""
        if (java := self._context._jsc) is not None:
            call.previous, call.tagged = java.getLocalProperty(CALL), True
            java.setLocalProperty(CALL, str(call.number))

    def _untag(self, call: Call) -> None:
        if call.tagged and (java := self._context._jsc) is not None:
            try:
                java.setLocalProperty(CALL, call.previous)
            except Exception:  # the application may have ended in this very call
                return

    # --- RDDs that PySpark makes ---

    def _listen_to_rdds(self) -> None:
        from pyspark import RDD
        from pyspark.core.rdd import PipelinedRDD

        def initialised(rdd: Any, *_: Any) -> None:
            call = self._inside.call
            self._recorder.initialised(rdd, call.number if call is not None else None, self._inside.batch)

        for kind in (RDD, PipelinedRDD):
            original: Any = kind.__init__
            self._replace(kind, "__init__", original, _followed(original, _safe(initialised, self._recorder)))
        found: Any = vars(PipelinedRDD)["_jrdd"]
        told = _safe(self._recorder.materialised, self._recorder)
        self._replace(PipelinedRDD, "_jrdd", found, property(_followed(found.fget, told)))

    # --- DStreams ---

    def _listen_to_dstreams(self) -> None:
        from pyspark.streaming.dstream import TransformedDStream
        from pyspark.streaming.util import TransformFunction

        batches, inside = self._recorder.batches, self._inside

        def number() -> int | None:
            return inside.call.number if inside.call is not None else None

        def transformed(dstream: Any, previous: Any, *_: Any) -> None:
            batches.transformed(dstream, previous, number())

        def begins(arguments: tuple[Any, ...], named: dict[str, Any]) -> Batch:
            inside.batch = batches.begins(arguments[0])
            return inside.batch

        def ends(batch: Batch, result: Any) -> None:
            inside.batch = None
            if result is not None:
                batch.last = self._recorder.by_rdd.get(result.id())

        def fails(batch: Batch, error: BaseException) -> None:
            inside.batch = None

        def made(callback: Any, *_: Any) -> None:
            batches.callback(callback, number())

        init, called = vars(TransformFunction)["__init__"], vars(TransformFunction)["call"]
        self._replace(TransformFunction, "__init__", init, _followed(init, _safe(made, self._recorder)))
        self._replace(TransformFunction, "call", called, _stand_in(called, *self._safely(begins, ends, fails)))
        joined = vars(TransformedDStream)["__init__"]
        self._replace(TransformedDStream, "__init__", joined, _followed(joined, _safe(transformed, self._recorder)))


class _Inside(threading.local):
    """The call of the user's that this thread is in, and the batch that Spark calls it back for."""

    call: Call | None = None
    batch: Batch | None = None


@dataclass(frozen=True)
class _Moving:
    """PySpark calls partitionBy for a call of the user's. It returns an RDD that is partitioned as wanted as it is."""

    within: Call
    owner: Any


def _stand_in(original: Any, before: Any, after: Any, failed: Any) -> Any:
    """A function that is called instead of another, and looks like it on the stack."""

    def stand_in(*arguments: Any, **named: Any) -> Any:
        call = before(arguments, named)
        if call is None:
            return original(*arguments, **named)
        try:
            result = original(*arguments, **named)
        except BaseException as error:
            failed(call, error)
            raise
        after(call, result)
        return result

    return _disguised(stand_in, original)


def _safe(listener: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def safe(*arguments: Any) -> Any:
        try:
            return listener(*arguments)
        except Exception as error:
            recorder.lost.append(f"firesteel could not write down what was called: {type(error).__name__}: {error}")
            return None

    return safe


def _followed(original: Any, then: Callable[..., None]) -> Any:
    """A method that tells somebody about its object and arguments afterwards."""

    def stand_in(self: Any, *arguments: Any, **named: Any) -> Any:
        result = original(self, *arguments, **named)
        then(self, *arguments)
        return result

    return _disguised(stand_in, original)


def _disguised(function: Any, original: Any) -> Any:
    code = original.__code__
    function.__code__ = function.__code__.replace(
        co_filename=code.co_filename,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_firstlineno=code.co_firstlineno,
    )
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__dict__"):
        if name == "__dict__":
            function.__dict__.update(original.__dict__)
        else:
            setattr(function, name, getattr(original, name))
    function.__signature__ = inspect.signature(original)
    return function


# A cached property is computed by the standard library.
_PASSING = frozenset({cached_property.__get__.__code__})


@cache
def _roots() -> tuple[str, str]:
    import py4j  # type: ignore[import-untyped]
    import pyspark

    return os.path.dirname(pyspark.__file__) + os.sep, os.path.dirname(py4j.__file__) + os.sep


def _is_by_library(frame: FrameType | None) -> bool:
    """Did one of Spark's own libraries for machine learning call this, for something that the user called there?"""
    spark, _ = _roots()
    libraries = (f"{spark}ml{os.sep}", f"{spark}mllib{os.sep}")
    while frame is not None and frame.f_code.co_filename.startswith(spark):
        if frame.f_code.co_filename.startswith(libraries):
            return True
        frame = frame.f_back
    return False


def _user_frame(frame: FrameType | None) -> tuple[bool, CallSite | None]:
    """Did the user call this, and where? Not, if Spark called PySpark back and no function of the user's is between."""
    spark, java = _roots()
    while frame is not None and (frame.f_code.co_filename.startswith(spark) or frame.f_code in _PASSING):
        frame = frame.f_back
    if frame is None:
        return True, None
    file = frame.f_code.co_filename
    if file.startswith(java):
        return False, None
    return True, CallSite(file, frame.f_lineno, frame.f_code.co_name)


def _moves(call: Call, result: Any) -> bool:
    """Are records of RDDs moved between partitions by this very call, and not by one that PySpark makes for it?"""
    match call.name:
        case "partitionBy":
            return result is not call.owner
        case "repartition":
            return True
        case "coalesce":
            return call.given.get("shuffle") is True
        case _:
            return False


def _flat(given: dict[str, Any], signature: inspect.Signature) -> dict[str, Any]:
    """The arguments by name; those of `**options` beside the others."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        else:
            found[name] = value
    return found
