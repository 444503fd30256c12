"""The LAN-capture half: `rexmit traffic` on a capture of our own, since the paper's is not published."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from rexmit.captured.frame_counts import Traffic, traffic
from rexmit.figures import Figure
from rexmit_studies import rows
from rexmit_studies.selfsimilar.hurst import papers_way as estimate
from rexmit_studies.selfsimilar.runs import NAME
from rexmit_studies.study import Drawing, Part, Results, Row, Study

FILE = Path(__file__).with_name("lan.pcap.gz")
WHY = "another network: the paper's capture is not published"


def read(path: Path = FILE) -> Traffic:
    """Counted, with Hurst parameters."""
    found = traffic(path)
    _ = found.hurst
    return found


def table(results: Results) -> Iterator[Row]:
    yield from counted(results["capture"], "of our own capture, five minutes of a LAN of six hosts", WHY)


def counted(found: Traffic, ours: str, why: str) -> Iterator[Row]:
    """What the paper says of its capture, of this one."""
    key, shares = f"{NAME}.capture.", found.shares()
    percent = defaultdict(float, {name: 100 * row["packets_share"] for name, row in shares.items()})
    yield rows.exact(key + "packets", found.summary["packets"], ours, why=why)
    yield rows.exact(key + "bytes", found.summary["bytes"], ours, why=why)
    share = "share of all packets, percent"
    yield rows.exact(key + "percent.arp", percent["ARP"], share, why=why)
    yield rows.exact(key + "percent.ip", percent["IPv4"] + percent["IPv6"], share, why=why)
    yield rows.exact(key + "percent.llc", percent["LLC"], share, why=why)
    yield rows.exact(key + "percent_of_all.tcp", percent["TCP"], share, why=why)
    yield rows.exact(key + "percent_of_all.udp", percent["UDP"], share, why=why)
    hurst = found.hurst["packets"]
    others = [] if isinstance(hurst, str) else [f"{e.method} {e.value:.2f}" for e in hurst.estimates]
    said = "packets a bin, by the paper's own estimator, Kettani and Gubner's optimisation over 50 lags"
    yield rows.exact(key + "hurst", papers_way(found), f"{said}; by others: {', '.join(others)}", why=why)


def papers_way(found: Traffic) -> float:
    """H of the packets a bin as the paper estimates it."""
    return float(estimate(found.series()[np.newaxis, :])[0])


def draws(results: Results) -> Iterator[Drawing]:
    found: Traffic = results["capture"]
    captions = {
        "packets-by-time-scale": "Fig. 3: the capture's packets at several time scales; the shaded part is "
        "what the panel below shows.",
        "packets-scaling": "The two plots that its Hurst parameter is read from.",
    }
    for name, figure in found.figures():
        if name in captions:
            yield Drawing(f"capture-{name}", captions[name], partial(_same, figure))


def _same(figure: Figure) -> Figure:
    return figure


def text(results: Results) -> str:
    found: Traffic = results["capture"]
    return f"""\
The paper captured five minutes of its faculty's network: 4,880 packets, 90.7% of them TCP, H = 0.88 by one
estimator. 90.7% and 5.84% are shares of all packets, not of IP, as its text has it: they add up to its IP
share. The paper's capture is not published, so its figures cannot be reproduced. Beside them stand those of
a capture of our own (`validation/lan.py`): six hosts on a switch that speaks spanning tree, ten users with
heavy-tailed ON and OFF times. The paper takes f(t) out of tcpdump's output with SQL; `rexmit traffic lan.pcap
--out lan/` writes it as a table that SQL reads (DuckDB: `select start_s, bytes from 'lan/bins.parquet'`).
This is what `rexmit traffic` prints of it:

```
{found.page()}
```"""


def captured(paths: Sequence[Path], whole: Study) -> Study:
    """Shares and Hurst parameters of a capture that somebody else took."""
    (path,) = paths
    part = Part(
        "Fig. 3: your capture",
        rows=lambda r: counted(r["capture"], "of your capture", "another network than the paper's"),
        drawings=draws,
        text=lambda r: f"What `rexmit traffic` prints of it:\n\n```\n{r['capture'].page()}\n```",
    )
    return replace(
        whole,
        plan=lambda plan: plan.call("capture", lambda: read(path), worth=1.0),
        parts=[part],
        claims=lambda r: [],
        introduction="",
    )
