"""The command line: `firesteel doctor`, `firesteel demo`. A surface: nothing imports it."""
