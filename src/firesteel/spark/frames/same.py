"""Old import paths; see `firesteel.spark.frames.compare`."""

from firesteel.evidence.frames import Difference as Difference
from firesteel.evidence.frames import Odd as Odd
from firesteel.evidence.frames import Undecided as Undecided
from firesteel.spark.frames.arguments import blaming as blaming
from firesteel.spark.frames.arguments import require_frames as require_frames
from firesteel.spark.frames.columns import schema_difference as schema_difference
from firesteel.spark.frames.compare import SHOWN as SHOWN
from firesteel.spark.frames.compare import difference as difference
from firesteel.spark.frames.rows import Places as Places
from firesteel.spark.frames.rows import records as records
