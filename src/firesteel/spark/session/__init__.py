"""Spark sessions for tests: starting one quickly, resetting it, its Java, its checkpoints."""
