"""What a check found, as data: a class for each kind of evidence, the report, the failures that carry it, the events.

`firesteel.report` turns these into text.
"""

from firesteel.evidence.failures import Failed as Failed
from firesteel.evidence.failures import Falsified as Falsified
from firesteel.evidence.failures import Inconclusive as Inconclusive
from firesteel.evidence.failures import SubjectError as SubjectError
from firesteel.evidence.failures import Vacuous as Vacuous
from firesteel.evidence.report import Report as Report
from firesteel.evidence.runs import Counterexample as Counterexample
