"""What a user called, written down as it is called: operations, actions, and the RDDs that PySpark makes on the way.

PySpark makes one RDD in the JVM of several Python operations that follow each other. A `Node` stands for one Python
object of class RDD, and knows which others are computed together with it. Nothing here asks the JVM for what it would
not have been asked for anyway, but for the ids of RDDs that exist.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from firesteel.spark.capture.data_sets import (
    LOOKED_AT,
    Reader,
    api_of,
    batch_function,
    functions_in,
    id_of,
    is_builder,
    is_data,
    reading,
)
from firesteel.spark.capture.dstreams import WIDE, Batch, Batches
from firesteel.spark.capture.surface import KEEPING, LAZY, Role
from firesteel.values.programs import Api, CallSite, Function, Ref


@dataclass(eq=False)
class Node:
    """One Python object of class RDD."""

    call: int | None
    """The call within which it was made."""
    operation: int | None = None
    """The operation that it is the result of."""
    rdd: int | None = None
    """The id of its RDD in the JVM, once there is one."""
    is_new: bool = True
    """Was it made within the block?"""
    fused: list[Node] = field(default_factory=list)
    """Those that are computed together with it, on top of it."""

    def holders(self) -> set[int]:
        """The RDDs in the JVM that compute it."""
        found, waiting = set[int](), [self]
        while waiting:
            node = waiting.pop()
            if node.rdd is not None:
                found.add(node.rdd)
            waiting.extend(node.fused)
        return found


@dataclass
class Made:
    """An operation, as far as it is known when it is called."""

    id: int
    name: str
    api: Api
    parents: tuple[int, ...]
    functions: tuple[Function, ...]
    call_site: CallSite | None
    arguments: Mapping[str, Any]
    call: int | None = None
    wide: bool = False
    cached: bool = False
    checkpointed: bool = False
    earlier: bool = False
    node: Node | None = None
    frame: Any = None
    """The DataFrame in the JVM."""
    reader: Reader | None = None
    is_batch: bool = False
    """Is it a batch that `foreachBatch` handed to a function of the user's?"""
    handed_by: int | None = None
    """The call of a DStream's method that was given the function which was handed this RDD."""


@dataclass
class Acted:
    """An action, as far as it is known when it has ended."""

    id: int
    name: str
    api: Api
    operations: tuple[int, ...]
    functions: tuple[Function, ...]
    call_site: CallSite | None
    arguments: Mapping[str, Any]
    call: int
    result: type | None = None
    error: str | None = None
    query: str | None = None
    """The id of the streaming query that it started."""
    run: str | None = None
    """The id of that query's run."""
    by_library: bool = False


@dataclass
class Builder:
    """What was said to an object between two data sets, such as a `GroupedData` or a writer."""

    name: str
    parents: tuple[int, ...] = ()
    functions: tuple[Function, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Call:
    """A call of the user's that runs now."""

    number: int
    name: str
    role: Role
    api: Api
    owner: Any
    given: dict[str, Any]
    call_site: CallSite | None
    started: float
    by_library: bool = False
    """Did a library of Spark's own call it?"""
    again: Reader | None = None
    """Makes the same source once more."""
    wide: bool = False
    ended: float = 0
    previous: str | None = None
    """What the local property was before."""
    tagged: bool = False


class Recorder:
    """Everything that was called so far."""

    def __init__(self) -> None:
        self.operations: list[Made] = []
        self.actions: list[Acted] = []
        self.calls: list[Call] = []
        self.lost: list[str] = []
        """What could not be written down."""
        self.nodes: WeakKeyDictionary[Any, Node] = WeakKeyDictionary()
        self.by_rdd: dict[int, Node] = {}
        self._frames: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._builders: WeakKeyDictionary[Any, Builder] = WeakKeyDictionary()
        self.batches = Batches()
        self._lock = threading.RLock()

    # --- calls ---

    def called(self, name: str, role: Role, api: Api, owner: Any, given: dict[str, Any], site: CallSite | None) -> Call:
        """The user calls something."""
        with self._lock:
            call = Call(len(self.calls), name, role, api, owner, given, site, time.time())
            self.calls.append(call)
            return call

    def returned(self, call: Call, result: Any) -> None:
        """What the user called gave a result."""
        with self._lock:
            call.ended = time.time()
            self._keep(call)
            results = result if isinstance(result, list) and result and all(map(is_data, result)) else [result]
            if is_data(results[0]):
                if call.owner is not result:
                    for one in results:
                        self._made(call, one)
            elif is_builder(result):
                self._build(call, result)
            elif call.name not in KEEPING and call.name != "unpersist":
                self._acted(call, result)
            call.owner, call.given = None, {}

    def failed(self, call: Call, error: BaseException) -> None:
        """What the user called raised an exception."""
        with self._lock:
            call.ended = time.time()
            if call.name not in LAZY:
                self._acted(call, None, type(error).__name__)
            call.owner, call.given = None, {}

    def _keep(self, call: Call) -> None:
        if call.name in KEEPING and call.role is Role.DATA:
            made = self.operations[self.operation_of(call.owner)]
            made.cached = True
            made.checkpointed = made.checkpointed or call.name == "checkpoint"

    def _described(self, call: Call) -> Builder:
        """The whole name of a call, with what was said before it."""
        before = self._builders.get(call.owner) if call.role is Role.BUILDER else None
        own = [self.operation_of(call.owner)] if call.role is Role.DATA else []
        parents = [*(before.parents if before else ()), *own]
        arguments = dict(before.arguments) if before else {}
        functions = list(before.functions) if before else []
        for parameter, value in call.given.items():
            arguments[parameter], others = self._argument(value)
            parents += others
            functions += [Function(parameter, one) for one in functions_in(value)]
        name = f"{before.name}.{call.name}" if before else call.name
        return Builder(name, tuple(parents), tuple(functions), arguments)

    def _argument(self, value: Any) -> tuple[Any, list[int]]:
        """An argument with references for the data sets in it, and these."""
        if is_data(value):
            operation = self.operation_of(value)
            return Ref(operation), [operation]
        if is_builder(value) and value in self._builders:
            return self._builders[value], list(self._builders[value].parents)
        if isinstance(value, list | tuple) and value and any(is_data(each) for each in value[:LOOKED_AT]):
            both = [self._argument(each) for each in value]
            return tuple(each for each, _ in both), [one for _, several in both for one in several]
        return value, []

    # --- what calls make ---

    def _made(self, call: Call, result: Any) -> None:
        if self._known(result) is not None:
            return  # the user asked for something that exists, as a second `df.rdd` does
        said = self._described(call)
        made = self._new(said.name, api_of(result), said.parents, said.functions, call.call_site, said.arguments)
        made.call = call.number
        made.wide = call.wide if made.api is not Api.DSTREAM else call.name in WIDE
        made.cached = call.name in KEEPING
        self._bind(made, result)
        if not said.parents:
            made.reader = call.again if made.api is Api.RDD and call.again else reading(result)

    def _new(
        self,
        name: str,
        api: Api,
        parents: tuple[int, ...],
        functions: tuple[Function, ...] = (),
        call_site: CallSite | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> Made:
        made = Made(len(self.operations), name, api, parents, functions, call_site, arguments or {})
        self.operations.append(made)
        return made

    def _bind(self, made: Made, result: Any) -> None:
        if made.api is Api.RDD:
            made.node = self.node_of(result)
            made.node.operation = made.id
        else:
            self._frames[result] = made.id
            made.frame = getattr(result, "_jdf", None)

    def _build(self, call: Call, result: Any) -> None:
        if call.name == "option" and "key" in call.given:
            call.given = {str(call.given["key"]): call.given.get("value")}
        said = self._described(call)
        if result is call.owner:
            self._builders[result] = Builder(said.name.rpartition(".")[0], said.parents, said.functions, said.arguments)
            return
        is_property = call.name in ("write", "writeStream", "read", "readStream", "na", "stat")
        name = said.name if is_property else f"{said.name}()"
        self._builders[result] = Builder(name, said.parents, said.functions, said.arguments)

    def _acted(self, call: Call, result: Any, error: str | None = None) -> None:
        said = self._described(call)
        kind = None if error else type(result)
        is_query = kind is not None and kind.__name__ == "StreamingQuery"
        self.actions.append(
            Acted(
                len(self.actions),
                said.name,
                call.api,
                said.parents,
                said.functions,
                call.call_site,
                said.arguments,
                call.number,
                kind,
                error,
                str(result.id) if is_query else None,
                str(result.runId) if is_query else None,
                call.by_library,
            )
        )

    # --- data sets ---

    def operation_of(self, data: Any) -> int:
        """The operation that made a data set; one that was made before the block gets an operation of its own."""
        known = self._known(data)
        if known is not None:
            return known
        api = api_of(data)
        batch = batch_function(data)
        if batch is not None:
            parents = tuple(self._streams_of(batch))
            made = self._new("foreachBatch()", api, parents)
            made.is_batch = True
        else:
            made = self._new(api.value, api, ())
            node = self.nodes.get(data) if api is Api.RDD else None
            made.earlier = node is None or not node.is_new
            if not made.earlier:
                made.name = "batch"  # PySpark made it, to hand it to a function of the user's
                made.handed_by = next((one.calls[0] for one in reversed(self.batches.all) if node in one.inputs), None)
        self._bind(made, data)
        return made.id

    def _streams_of(self, function: Any) -> Iterator[int]:
        """The operations whose records go to a function that `foreachBatch` was given."""
        for builder in list(self._builders.values()):
            if any(one.object is function for one in builder.functions):
                yield from builder.parents
                return
        for action in self.actions:
            if any(one.object is function for one in action.functions):
                yield from action.operations
                return

    def _known(self, data: Any) -> int | None:
        if api_of(data) is Api.RDD:
            node = self.nodes.get(data)
            return node.operation if node is not None else None
        return self._frames.get(data)

    def node_of(self, rdd: Any) -> Node:
        """The node of an RDD; a new one for an RDD from before the block."""
        node = self.nodes.get(rdd)
        if node is None:
            node = self.nodes[rdd] = Node(None, is_new=False)
            self.named(node, id_of(rdd))
        return node

    def initialised(self, rdd: Any, call: int | None, batch: Batch | None) -> None:
        """PySpark made an RDD, for the user or for itself."""
        with self._lock:
            node = self.nodes[rdd] = Node(call)
            if batch is not None and call is None and not batch.busy and not hasattr(rdd, "prev"):
                batch.inputs.append(node)
            self.named(node, id_of(rdd))
            previous = getattr(rdd, "prev", None)
            if previous is not None and rdd._prev_jrdd is getattr(previous, "_prev_jrdd", None):
                self.node_of(previous).fused.append(node)
            elif previous is not None:
                self.materialised(previous)  # it was asked for its RDD in the JVM

    def materialised(self, rdd: Any) -> None:
        """PySpark made the RDD in the JVM of a Python object."""
        with self._lock:
            node = self.node_of(rdd)
            if node.rdd is None and getattr(rdd, "_jrdd_val", None) is not None:
                self.named(node, rdd._jrdd_val.id())

    def resulted(self, batch: Batch, result: Any) -> None:
        """A method that PySpark called for a batch gave something."""
        if is_data(result) and api_of(result) is Api.RDD:
            batch.results.append(self.node_of(result))

    def named(self, node: Node, id_: int | None) -> None:
        """The RDD in the JVM behind a node is known."""
        if id_ is not None:
            node.rdd = id_
            self.by_rdd[id_] = node
