"""firesteel finds the bugs in PySpark pipelines that example tests miss: bugs of time, order and parallelism.

    import firesteel as fs
    from firesteel import strategies as ss

This module re-exports what a test file needs. Importing it starts no JVM and imports neither PySpark nor Hypothesis.
"""

from firesteel import operators as operators
from firesteel import perturb as perturb
from firesteel import rules as rules
from firesteel.api import assert_same as assert_same
from firesteel.api import equivalent as equivalent
from firesteel.api import for_all as for_all
from firesteel.api import run as run
from firesteel.api import session as session
from firesteel.api import stable as stable
from firesteel.dags import Dag as Dag
from firesteel.dags import capture as capture
from firesteel.dags import dag_of as dag_of
from firesteel.equivalence import Dependence as Dependence
from firesteel.equivalence import Matcher as Matcher
from firesteel.equivalence import barrier as barrier
from firesteel.equivalence import depends as depends
from firesteel.equivalence import ordered as ordered
from firesteel.equivalence import same_key as same_key
from firesteel.equivalence import unordered as unordered
from firesteel.errors import InvalidArgument as InvalidArgument
from firesteel.errors import PredicateError as PredicateError
from firesteel.evidence import Counterexample as Counterexample
from firesteel.evidence import Failed as Failed
from firesteel.evidence import Falsified as Falsified
from firesteel.evidence import Inconclusive as Inconclusive
from firesteel.evidence import Report as Report
from firesteel.evidence import SubjectError as SubjectError
from firesteel.evidence import Vacuous as Vacuous
from firesteel.evidence.operators import Finding as Finding
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
from firesteel.logic.ltl.intervals import pptl as pptl
from firesteel.options import CheckOptions as CheckOptions
from firesteel.options import Engine as Engine
from firesteel.options import OutputMode as OutputMode
from firesteel.options import RunOptions as RunOptions
from firesteel.options import Streams as Streams
from firesteel.options import Subject as Subject
from firesteel.promises import analyze as analyze
from firesteel.promises import check_declared as check_declared
from firesteel.promises import declared as declared
from firesteel.promises import declares as declares
from firesteel.promises import holds as holds
from firesteel.report.analysis import Analysis as Analysis
from firesteel.values.batches import Batch as Batch
from firesteel.values.cases import Case as Case
from firesteel.values.checks import Check as Check
from firesteel.values.equality import Equality as Equality
from firesteel.values.equality import equality as equality
from firesteel.values.records import Record as Record
from firesteel.values.streams import Stream as Stream
from firesteel.values.traces import Instant as Instant
from firesteel.values.traces import Trace as Trace
from firesteel.values.windows import Window as Window
from firesteel.values.windows import session_window as session_window
from firesteel.values.windows import sliding as sliding
from firesteel.values.windows import tumbling as tumbling
from firesteel.verification import event_log as event_log
from firesteel.verification import events as events
from firesteel.verification import verify as verify
from firesteel.verification import watch as watch

__version__ = "0.1.0.dev0"
