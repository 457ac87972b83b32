"""Verify: temporal rules of what Spark really did, on event logs, live applications and any other trace.

`logs` reads event logs. `table` says which propositions there are and which events they come from; `trackers` finds out
what a single event does not say. `rule` has what a rule is, `judging` runs many rules over one trace in one pass, and
`finding` looks for the events behind what was found.
"""
