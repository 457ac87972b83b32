"""Evidence as text: for a failure's message, and for the terminal."""
