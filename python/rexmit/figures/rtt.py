"""Round-trip times, against time and against sequence number."""

from __future__ import annotations

from typing import Any

import numpy as np

from rexmit.captured.vantage import is_away
from rexmit.figures import thin
from rexmit.figures.style import (
    BLACK,
    GREY,
    ORANGE,
    Figure,
    legend_above,
    scale_for,
    shade_episodes,
    styled,
    title,
)
from rexmit.frame import Frame


def of_the_whole_path(samples: Frame, flow: dict[str, Any]) -> Any:
    """Round trips, s, without those that show a part of the way."""
    if not len(samples) or not is_away(flow):
        return samples["rtt_s"] if len(samples) else np.zeros(0)
    return samples["rtt_s"][samples.equals("kind", "timestamps")]


@styled
def rtt(samples: Frame, episodes: list[dict[str, Any]], flow: dict[str, Any]) -> Figure:
    """RTT in milliseconds: samples from ACKs (Karn's rule) and from echoed timestamps (RFC 7323).

    samples: the flow's `rtt` rows, times in s since the capture's first packet.  Upper panel against time,
    lower against the sequence number that the sample was taken for. The smallest is that of the whole path,
    of timestamps alone where data arrives.
    """
    from matplotlib.figure import Figure as MplFigure

    fig = MplFigure(figsize=(7.4, 5.2), layout="constrained")
    by_time, by_seq = fig.subplots(2, 1)
    scale, unit = scale_for(float(samples["seq"].max()) if len(samples) else 1.0, "B")
    acks = "this host's answers" if is_away(flow) else "from ACKs (Karn)"
    for kind, colour, label, z in (("timestamps", ORANGE, "from timestamps", 2), ("ack", BLACK, acks, 3)):
        mask = samples.equals("kind", kind)
        if not mask.any():
            continue
        ms = samples["rtt_s"][mask] * 1e3
        for ax, x in ((by_time, samples["time"][mask]), (by_seq, samples["seq"][mask] / scale)):
            keep = thin.cells(x, ms, 900, 500)
            ax.plot(
                x[keep], ms[keep], ".", ms=2.4, mew=0, color=colour, label=label, zorder=z, gid=f"rtt-{kind}"
            )
    whole = of_the_whole_path(samples, flow)
    if len(whole):
        smallest = float(np.nanmin(whole)) * 1e3
        for ax in (by_time, by_seq):
            ax.axhline(
                smallest, color=GREY, lw=0.7, ls=(0, (4, 3)), zorder=1, label=f"smallest: {smallest:.3g} ms"
            )
    for ax in (by_time, by_seq):
        ax.set_ylabel("round-trip time (ms)")
        ax.set_ylim(bottom=0)
    by_time.set_xlabel(f"time since {samples.since} (s)")
    by_seq.set_xlabel(f"sequence number ({unit})")
    if len(samples):
        shade_episodes(by_time, episodes, float(samples["time"].max()))
    else:
        by_time.annotate(
            "no round trip can be seen from here", (0.5, 0.5), xycoords="axes fraction", ha="center"
        )
    legend_above(by_time)
    title(fig, "Round-trip time", flow)
    return Figure(fig, "rtt")
