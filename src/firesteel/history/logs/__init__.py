"""Event logs: where they are, how they are packed, their lines, and the events in these."""
