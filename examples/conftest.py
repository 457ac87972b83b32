"""The examples draw the same cases in every run, so that what they say about a failure stays true."""

import os

from hypothesis import settings

# A test run is no place to build a class-data archive in the background; one that is there is used.
os.environ.setdefault("FIRESTEEL_ARCHIVE", "use")

settings.register_profile("firesteel-examples", derandomize=True, deadline=None)
settings.load_profile("firesteel-examples")
