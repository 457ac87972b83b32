"""The levels of a program's operations, computed anew with what Spark does not know."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from firesteel.evidence.lint import Judged
from firesteel.model.lint.flows import Flow, Help, Reason, Reasons, together
from firesteel.model.lint.plans import Plans, taken_by_luck
from firesteel.model.lint.rdds import Records
from firesteel.spark.plans.tree import Node
from firesteel.values.programs import Action, Api, Operation, Program

_COUNTING = frozenset({"count", "isEmpty"})
_TAKING = frozenset({"first", "head", "take", "tail"})


class Facts:
    """A program, and what was found out about it. Rules read it."""

    def __init__(self, program: Program, help: Help) -> None:
        self.program = program
        self.help = help
        self._records = Records(program, help)
        self._flows: dict[int, Flow] = {}
        self.nodes: tuple[Node, ...]
        """The nodes of all plans, each once: those of an operation after those of earlier ones."""
        self.owners: dict[int, int]
        """The operations that added them, by the nodes' identities: the first whose plan has a node."""
        self.nodes, self.owners = self._all_nodes()
        self.plans = Plans(self.owners, help, self._leaf)
        for operation in program.operations:
            self._flows[operation.id] = self._flow(operation)

    def _all_nodes(self) -> tuple[tuple[Node, ...], dict[int, int]]:
        nodes: list[Node] = []
        owners: dict[int, int] = {}
        for operation in self.program.operations:
            new = list(self._new_nodes(operation, owners))
            nodes += new
            owners.update({id(node): operation.id for node in new})
        return tuple(nodes), owners

    @staticmethod
    def _new_nodes(operation: Operation, known: dict[int, int]) -> Iterator[Node]:
        """The nodes of a plan that earlier plans do not have. What is below a known one is known too."""
        waiting = deque([operation.plan] if isinstance(operation.plan, Node) else [])
        seen: set[int] = set()
        while waiting:
            node = waiting.popleft()
            if id(node) not in known and id(node) not in seen:
                seen.add(id(node))
                yield node
                waiting.extend((*node.children, *node.subqueries))

    @property
    def untested(self) -> tuple[str, ...]:
        """What is not known of reducers so far, in words."""
        return tuple(self._records.untested)

    def flow(self, operation: int) -> Flow:
        """What flows out of an operation."""
        return self._flows[operation]

    def _flow(self, operation: Operation) -> Flow:
        parents = [self._flows[one] for one in operation.parents]
        if operation.api is Api.FRAME and isinstance(operation.plan, Node):
            return self.plans.flow(operation.plan)
        if not parents:
            return Flow()
        return self._records.flow(operation, parents)

    def _leaf(self, node: Node) -> Flow | None:
        """What flows out of a source that was made of an RDD."""
        owner = self.owners.get(id(node))
        if owner is None:
            return None
        parents = [one for one in self.program.operations[owner].parents if self.program.operations[one].api is Api.RDD]
        return self._flows[parents[0]] if len(parents) == 1 else None

    # --- actions ---

    def reasons(self, action: Action) -> Reasons:
        """Why the result of an action hangs on luck."""
        flows = [self._flows[one] for one in action.operations]
        if action.name in _COUNTING:
            return together(*(flow.rows for flow in flows))
        found = together(*(flow.reasons for flow in flows))
        if action.by_library:  # it looks at a record to know its shape, not to give it away
            return found
        if action.api is not Api.FRAME:
            own = self._records.acted(action, flows[0]) if flows else ()
        elif action.name in _TAKING and flows:
            own = taken_by_luck(flows[0], action.name, action.operations[0])
        else:
            own = ()
        return together(found, (replace(one, at_action=True) for one in own))

    @cached_property
    def surviving(self) -> tuple[tuple[Reason, Action | None], ...]:
        """The reasons that reach a result of the program, each once, with an action that they reach."""
        found: dict[Reason, Action | None] = {}
        for action in self.program.actions:
            for reason in self.reasons(action):
                found.setdefault(reason, action)
        for end in self.ends:
            for reason in self._flows[end].reasons:
                found.setdefault(reason, None)
        return tuple(found.items())

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The operations that nothing reads from, and no action: what a program without an action has."""
        used = {one for action in self.program.actions for one in action.operations}
        return tuple(
            one.id for one in self.program.operations if not self.program.children[one.id] and one.id not in used
        )

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """The level of every operation, and why."""
        return tuple(
            Judged(
                one.id,
                self._flows[one.id].level,
                tuple(dict.fromkeys(reason.text for reason in self._flows[one.id].reasons)),
                one.level,
            )
            for one in self.program.operations
        )
