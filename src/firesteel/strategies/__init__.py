"""Hypothesis strategies for records, batches and streams. Import it as `from firesteel import strategies as ss`."""

from firesteel.strategies.combinators import Batches as Batches
from firesteel.strategies.combinators import Streams as Streams
from firesteel.strategies.combinators import always as always
from firesteel.strategies.combinators import any_of as any_of
from firesteel.strategies.combinators import concat as concat
from firesteel.strategies.combinators import empty as empty
from firesteel.strategies.combinators import eventually as eventually
from firesteel.strategies.combinators import next_ as next_
from firesteel.strategies.combinators import overlay as overlay
from firesteel.strategies.combinators import release as release
from firesteel.strategies.combinators import repeat as repeat
from firesteel.strategies.combinators import then as then
from firesteel.strategies.combinators import until as until
from firesteel.strategies.event_time import timed as timed
from firesteel.strategies.formulas import from_formula as from_formula
from firesteel.strategies.formulas import holding as holding
from firesteel.strategies.patterns import pattern as pattern
from firesteel.strategies.recordings import replay as replay
from firesteel.strategies.records import batches as batches
from firesteel.strategies.records import partitioned as partitioned
from firesteel.strategies.records import records as records
from firesteel.strategies.reordering import reordered as reordered
