"""Temporal properties of a subject, checked on generated streams."""
