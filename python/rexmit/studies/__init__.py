"""The papers' experiments: each run again, its figures compared, its claims judged."""
