"""The axes of the study: the outages, the air, and the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rexmit_studies.axes import Axis, one_key, wire_stacks
from rexmit_studies.interruption import setups
from rexmit_studies.interruption.setups import AIR, FILE_BYTES, OUTAGE_S, PERIOD_S, QUEUE, SCHEDULE

SIZE = "flow.upload.workload.size"
RECOVERS = "interruption.claim.windows_recovers"
#: What follows from many transfers; and what some values leave as it is, since it is all or nothing.
CLAIMS = (
    "interruption.claim.linux_alike",
    "interruption.claim.lag_needs_small_window",
    RECOVERS,
)
EPISODES = ("interruption.episode.reno_1.*", "interruption.episode.reno_4.*", "interruption.episode.osx_2.*")
MAY = (
    "interruption.claim.windows_limited",
    "interruption.claim.other_lengths",
    "interruption.sections.*",
    "interruption.episode.*",
    "interruption.statement.*",
    "interruption.claim.osx_intermittent",
    "interruption.advertised_window_bytes.*",
)

#: What is of Reno, in whose place another stack stands.
OF_RENO = (
    "interruption.sections.reno.*",
    "interruption.claim.linux_alike",
    "interruption.equipment.pc_linux",
)
MAY_OF_RENO = (
    "interruption.episode.reno_*",
    "interruption.advertised_window_bytes.linux",
    "interruption.statement.fig[279]*",
    "interruption.statement.fig3_*",
    "interruption.statement.fig10_*",
    "interruption.claim.lag_needs_small_window",
    "interruption.claim.other_lengths",
    "interruption.setup.mss",
)

AXES = (
    Axis(
        "stack",
        "stack that stands in the place of Reno",
        setups.STACKS["reno"],
        OF_RENO,
        names=wire_stacks,
        may=MAY_OF_RENO,
    ),
    Axis(
        "outage",
        "length of an outage",
        1e3 * OUTAGE_S,
        ("interruption.setup.interruption_ms", "interruption.sections.*", *EPISODES, *CLAIMS),
        low=10,
        high=10_000,
        unit="ms",
        sets=setups.regular,
        key=f"{SCHEDULE}.for",
        may=(*MAY, "interruption.setup.period_s"),
    ),
    Axis(
        "period",
        "time from one outage to the next",
        PERIOD_S,
        ("interruption.setup.period_s", "interruption.sections.*", *CLAIMS),
        low=0.5,
        high=60,
        unit="s",
        sets=setups.regular,
        key=f"{SCHEDULE}.every",
        may=MAY,
    ),
    Axis(
        "rate",
        "rate of the air, where the study draws 4.2 to 5.2",
        4.7,
        ("interruption.setup.wireless", "interruption.sections.*", *EPISODES, *CLAIMS),
        # A faster air has carried the file before the first outage.
        low=0.5,
        high=20,
        **one_key(AIR, "Mbps"),
        # The slowest air does not carry all of the file while a run lasts.
        may=(*MAY, "interruption.setup.file"),
        drawn=True,
    ),
    Axis(
        "queue",
        "packets that can wait before the air",
        1000,
        ("interruption.sections.*", *(claim for claim in CLAIMS if claim != RECOVERS)),
        low=1,
        high=10_000,
        **one_key(QUEUE),
        counts="packets",
        whole=True,
        # Windows never has more than its send buffer of 64 KiB under way, which a short queue holds.
        may=(*MAY, RECOVERS, "interruption.setup.wireless"),
    ),
    Axis(
        "size",
        "size of the file",
        FILE_BYTES / 2**20,
        ("interruption.setup.file", "interruption.sections.*", *CLAIMS),
        # A smaller file has arrived before the first outage.
        low=2,
        high=50,
        **one_key(SIZE, "MiB"),
        may=MAY,
    ),
)


def checked(values: Mapping[str, Any]) -> None:
    """Raises ValueError where outages leave nothing of their period."""
    length = values.get("outage", 1e3 * OUTAGE_S)
    if "period" in values and length >= 1e3 * values["period"]:
        raise ValueError(
            f"--set period={values['period']:g}s: outages of {length:g} ms leave nothing of it; "
            "give a longer period, or shorter outages"
        )
