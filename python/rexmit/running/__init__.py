"""Scenarios run: simulated and live, one and many, and a script that drives an endpoint."""
