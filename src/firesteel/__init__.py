"""firesteel finds the bugs in PySpark pipelines that example tests miss: bugs of time, order and parallelism.

    import firesteel as fs
    from firesteel import strategies as ss

This module re-exports what a test file needs. Importing it starts no JVM and imports neither PySpark nor Hypothesis.
"""

from firesteel.checks import Check as Check
from firesteel.errors import InvalidArgument as InvalidArgument
from firesteel.errors import PredicateError as PredicateError
from firesteel.logic import FALSE as FALSE
from firesteel.logic import TRUE as TRUE
from firesteel.logic import Formula as Formula
from firesteel.logic import FormulaLike as FormulaLike
from firesteel.logic import Monitor as Monitor
from firesteel.logic import Reason as Reason
from firesteel.logic import Verdict as Verdict
from firesteel.logic import always as always
from firesteel.logic import consume as consume
from firesteel.logic import eventually as eventually
from firesteel.logic import historically as historically
from firesteel.logic import implies as implies
from firesteel.logic import let as let
from firesteel.logic import next_ as next_
from firesteel.logic import now as now
from firesteel.logic import once as once
from firesteel.logic import previously as previously
from firesteel.logic import release as release
from firesteel.logic import since as since
from firesteel.logic import until as until
from firesteel.records import Record as Record
from firesteel.streams import Batch as Batch
from firesteel.streams import Instant as Instant
from firesteel.streams import Stream as Stream
from firesteel.streams import Trace as Trace

__version__ = "0.1.0.dev0"
