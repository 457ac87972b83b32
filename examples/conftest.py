"""The examples draw the same cases in every run, so that what they say about a failure stays true."""

import os

from hypothesis import settings

from firesteel.hypothesis_internals import leave_out_constants_of_the_project

# Use a class-data archive that exists, but do not build one in the background of a test run.
os.environ.setdefault("FIRESTEEL_ARCHIVE", "use")

leave_out_constants_of_the_project()
settings.register_profile("firesteel-examples", derandomize=True, deadline=None)
settings.load_profile("firesteel-examples")
