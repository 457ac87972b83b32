"""The rules, one small module for each family of them; `catalogue` has them all."""
