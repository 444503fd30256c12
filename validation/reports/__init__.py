"""Captures that are rebuilt from public reports: a table of packets for each, and what writes it."""

from __future__ import annotations

from reports import lists, more, others, rfcs
from reports.packets import Report

ALL: list[Report] = [*rfcs.REPORTS, *lists.REPORTS, *others.REPORTS]
#: Those of thirty_more.csv.
MORE: list[Report] = more.REPORTS
