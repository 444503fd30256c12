"""One transfer against another, and a capture's sender against the stacks."""
