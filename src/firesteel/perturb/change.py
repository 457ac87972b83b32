"""`Change`: one change to how Spark runs a case, and what a kind of change may say of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Literal, TypeAlias

from firesteel.values.cases import Case
from firesteel.values.dependence import Dependence

Order: TypeAlias = Literal["reversed"] | int
"""Another order: back to front, or shuffled by a seed."""


class Need(Enum):
    """What a change cannot do without. An engine says which of these it does not have, and why."""

    SEVERAL_BATCHES = "several batches"
    SETTINGS_FOR_FRAMES = "settings that Spark reads for DataFrames"
    CHECKPOINT = "a checkpoint to start again from"
    COMMITS = "commits of batches"


@dataclass(frozen=True)
class Stop:
    """The query is stopped after a batch, and started again from its checkpoint."""

    batch: int
    committed: bool
    """If not, the batch is run again: as after a crash between its output and its commit."""


@dataclass(frozen=True)
class Given:
    """What the user wrote for a kind of change."""

    counts: tuple[int, ...] = ()
    keeping: Dependence | None = None
    """The order that the source keeps; None where the user did not say."""

    def __str__(self) -> str:
        return ", ".join([*map(str, self.counts), *([] if self.keeping is None else [f"keeping={self.keeping!r}"])])


NOTHING = Given()


@dataclass(frozen=True)
class Change:
    """One change to how Spark runs a case. A kind of change overrides what it does; the rest stays as it is."""

    name: ClassVar[str]
    """The function of `firesteel.perturb` that makes it."""
    needs: ClassVar[Need | None] = None
    regroups: ClassVar[bool] = False
    """Are there other batches? Then outputs cannot be compared batch by batch."""
    goes_by_partitions: ClassVar[bool] = False
    """Does what it does to the input depend on the partitions? Then it comes after what changes these."""
    alone: ClassVar[bool] = False
    """Does a case need a query of its own? What happens to the query of a bulk run happens to all cases at once."""

    @classmethod
    def tried(cls, length: int, given: Given) -> Sequence[Change]:
        """The few changes of this kind that are tried on a run of `length` batches, always the same ones."""
        raise NotImplementedError

    def applied(self, case: Case) -> Case:
        """The case as it is fed."""
        return case

    @property
    def settings(self) -> Mapping[str, str]:
        """Spark's settings."""
        return {}

    @property
    def shuffle_order(self) -> Order | None:
        """The order in which the outputs of map tasks arrive at every task that reads them."""
        return None

    @property
    def stop(self) -> Stop | None:
        """Where the query is stopped."""
        return None
