"""What runs a subject: Structured Streaming, DStreams, batch jobs; how each is fed and read."""
