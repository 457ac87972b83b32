"""The temporal logic: formulas, verdicts, monitors. Pure Python; an instant may be any value."""

from firesteel.logic.explain import Reason as Reason
from firesteel.logic.formulas import FALSE as FALSE
from firesteel.logic.formulas import TRUE as TRUE
from firesteel.logic.formulas import Formula as Formula
from firesteel.logic.formulas import FormulaLike as FormulaLike
from firesteel.logic.formulas import always as always
from firesteel.logic.formulas import consume as consume
from firesteel.logic.formulas import eventually as eventually
from firesteel.logic.formulas import historically as historically
from firesteel.logic.formulas import implies as implies
from firesteel.logic.formulas import let as let
from firesteel.logic.formulas import next_ as next_
from firesteel.logic.formulas import now as now
from firesteel.logic.formulas import once as once
from firesteel.logic.formulas import previously as previously
from firesteel.logic.formulas import release as release
from firesteel.logic.formulas import since as since
from firesteel.logic.formulas import until as until
from firesteel.logic.monitor import Monitor as Monitor
from firesteel.logic.next_form import END as END
from firesteel.logic.next_form import explicit_next_form as explicit_next_form
from firesteel.logic.next_form import lazy_next_form as lazy_next_form
from firesteel.logic.next_form import simplify as simplify
from firesteel.logic.verdicts import Verdict as Verdict
