"""How cases are run, as one value: what the engines, bulk runs and perturbations all go by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument, described
from firesteel.perturb.changes import UNCHANGED, Variant
from firesteel.values.traces import BATCH, WINDOW

if TYPE_CHECKING:
    from firesteel.values.windows import Window


@dataclass(frozen=True)
class Running:
    """How cases are run."""

    output_mode: str | Mapping[str, str] = "append"
    large: int = 10_000
    """A batch of more records than this stays a Spark DataFrame."""
    seconds: float = 120.0
    """A micro-batch that takes longer than this counts as hanging."""
    batch_interval: timedelta = timedelta(seconds=1)
    """Processing time from one batch to the next."""
    over: Window | None = None
    """Windows of event time that are the instants, instead of the batches."""
    close: bool = True
    """Does event time end with the stream, so that the last windows come out?"""
    state: bool = False
    """Is the state read after every instant?"""
    engine: str = "structured"
    """What runs the cases: "structured", "dstream" or "batch"."""
    under: Variant = UNCHANGED
    """What is changed in how Spark runs them (`firesteel.spark.perturb.perturbed`)."""

    @property
    def unit(self) -> str:
        """What an instant is: a "batch", or a "window" of event time."""
        return BATCH if self.over is None else WINDOW

    def mode_of(self, output: str) -> str:
        """The output mode of one output.

        >>> Running(output_mode={"counts": "update"}).mode_of("counts"), Running().mode_of("output")
        ('update', 'append')
        """
        return self.output_mode if isinstance(self.output_mode, str) else self.output_mode.get(output, "append")

    def refuse_unknown_modes(self, outputs: Iterable[str]) -> None:
        """Refuse an output mode for an output that the subject does not have: else it would mean nothing.

        >>> Running(output_mode={"count": "update"}).refuse_unknown_modes(["counts"])
        Traceback (most recent call last):
            ...
        firesteel.errors.InvalidArgument: output_mode={'count': 'update'} (dict) names the output 'count', which the \
subject does not have: it has 'counts'
        """
        known = list(outputs)
        for name in () if isinstance(self.output_mode, str) else self.output_mode:
            if name not in known:
                raise InvalidArgument(
                    f"{described('output_mode', self.output_mode)} names the output {name!r}, which the subject does "
                    f"not have: it has {', '.join(map(repr, known))}"
                )
