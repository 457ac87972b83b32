"""The execution model: programs of the modelling language MSVL, and whether all their runs obey a temporal rule.

`msvl` has the language; `verifying` is the check. Spark is not needed for either.
"""
