"""Kinds of transfer whose cause is known, the oracle that states it, and its test by removal."""
