"""Paper `rto`: García, Agüero and Muñoz, a TCP timer over an 802.11b hop whose errors come in bursts."""

from rexmit_studies.rto.page import STUDY

__all__ = ["STUDY"]
