"""The temporal logic: formulas, verdicts, monitors. Pure Python; an instant may be any value."""

from firesteel.logic.ltl.explain import Reason as Reason
from firesteel.logic.ltl.formulas import FALSE as FALSE
from firesteel.logic.ltl.formulas import TRUE as TRUE
from firesteel.logic.ltl.formulas import Formula as Formula
from firesteel.logic.ltl.formulas import FormulaLike as FormulaLike
from firesteel.logic.ltl.formulas import always as always
from firesteel.logic.ltl.formulas import consume as consume
from firesteel.logic.ltl.formulas import eventually as eventually
from firesteel.logic.ltl.formulas import historically as historically
from firesteel.logic.ltl.formulas import implies as implies
from firesteel.logic.ltl.formulas import let as let
from firesteel.logic.ltl.formulas import next_ as next_
from firesteel.logic.ltl.formulas import now as now
from firesteel.logic.ltl.formulas import once as once
from firesteel.logic.ltl.formulas import previously as previously
from firesteel.logic.ltl.formulas import release as release
from firesteel.logic.ltl.formulas import since as since
from firesteel.logic.ltl.formulas import until as until
from firesteel.logic.ltl.monitor import Monitor as Monitor
from firesteel.logic.verdicts import Verdict as Verdict
