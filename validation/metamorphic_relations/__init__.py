"""Changes of a capture that must not change its answer, and the comparison of the answers."""
