"""What the runs of study `rto` gave, as arrays with one value a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rexmit_studies.rto.setting import LOSSY, PAPERS, TESTS, readings, stack, variants

if TYPE_CHECKING:
    from rexmit.running.many_runs import Runs
    from rexmit_studies.study import Results

Values = NDArray[np.float64]
Columns = dict[str, Any]


class Sample(dict[str, Values]):
    """One variant's runs: column -> values, in the order of the seeds; and its idle gaps.

    gap_run, gap_s: the run (counted from 0) and the length of each idle gap, s.
    """

    gap_run: NDArray[np.int64]
    gap_s: Values

    def idle(self, threshold: float) -> tuple[Values, Values]:
        """Total and largest idle time of each run, of the gaps longer than `threshold`, s."""
        length = np.where(self.gap_s > threshold, self.gap_s, 0.0)
        n = len(self["throughput_mbps"])
        total, largest = np.zeros(n), np.zeros(n)
        np.add.at(total, self.gap_run, length)
        np.maximum.at(largest, self.gap_run, length)
        return total, largest


def samples(runs: Runs) -> list[Sample]:
    """The runs of a batch that kept the tables `flows` and `idle`, variant by variant."""
    summary, flows, gaps = _columns(runs.summary), _columns(runs.table("flows")), _columns(runs.table("idle"))
    links = _columns(runs.links)
    # The way of the data; the other one carries the ACKs.
    links = _where(links, links["direction"] == "forward")
    # A host that only closes the connection, twice where that was lost, has a flow too.
    flows = _where(flows, flows["bytes"] > 0)
    gaps = _where(gaps, np.isin(_place(gaps), _place(flows)))
    return [
        _sample(*(_where(table, table["variant"] == variant) for table in (summary, links, flows, gaps)))
        for variant in range(int(summary["variant"].max()) + 1)
    ]


def _sample(summary: Columns, links: Columns, flows: Columns, gaps: Columns) -> Sample:
    first, runs = int(summary["run"].min()), len(summary["run"])
    sample = Sample(_transfer(summary) | _frames(links))
    for name, values in _recovery(flows).items():
        sample[name] = np.full(runs, np.nan)
        sample[name][flows["run"].astype(np.int64) - first] = values
    sample.gap_run = gaps["run"].astype(np.int64) - first
    sample.gap_s = gaps["length_s"]
    return sample


def _where(table: Columns, mask: Any) -> Columns:
    return {name: values[mask] for name, values in table.items()}


def _place(table: Columns) -> NDArray[np.int64]:
    """One number for run and flow."""
    place: NDArray[np.int64] = table["run"].astype(np.int64) * 1000 + table["flow"].astype(np.int64)
    return place


def _transfer(counted: Columns) -> dict[str, Values]:
    """Throughput as the paper has it: the size of the file over the time that it took. A connection that gave
    up has delivered a part, and took until it gave up.
    """
    complete = counted["failed"] == 0
    took = np.where(complete, counted["duration_s"], counted["run_s"])
    return {
        "throughput_mbps": 8e-6 * counted["delivered_bytes"] / took,
        "took_s": took,
        "complete": complete.astype(float),
        "timeouts": counted["timeouts"].astype(float),
    }


def _frames(links: Columns) -> dict[str, Values]:
    """Errors of frames, each try being one."""
    lost, bursts = links["frames_lost"].astype(float), links["frame_bursts"].astype(float)
    return {
        "fer": lost / links["frames_sent"],
        "avg_error_frame_burst": np.divide(lost, bursts, out=np.full(len(lost), np.nan), where=bursts > 0),
        "max_error_frame_burst": links["longest_frame_burst"].astype(float),
    }


def _recovery(flows: Columns) -> dict[str, Values]:
    burst = flows["mean_burst"].astype(float)
    return {
        "ip_loss_percent": 100 * flows["lost_copies"] / flows["segments"],
        # Without a loss there is no mean burst.
        "avg_lost_packet_burst": np.where(burst > 0, burst, np.nan),
        "max_lost_packet_burst": flows["largest_burst"].astype(float),
        "retransmissions": flows["retransmitted_segments"].astype(float),
        "max_retransmissions_one_segment": flows["most_copies_of_one_segment"] - 1.0,
        "rtt_mean_ms": 1e3 * flows["rtt_ack_mean_s"],
        "rtt_stddev_ms": 1e3 * flows["rtt_ack_stddev_s"],
        "rtt_timestamps_mean_ms": 1e3 * flows["rtt_timestamps_mean_s"].astype(float),
        "rtt_timestamps_stddev_ms": 1e3 * flows["rtt_timestamps_stddev_s"].astype(float),
    }


def _columns(table: Any) -> Columns:
    """A table's columns as arrays; empty cells are NaN where numbers are."""
    arrow = table.to_arrow(unit="ns")
    return {name: arrow.column(name).to_numpy(zero_copy_only=False) for name in arrow.column_names}


def tests(results: Results) -> dict[int, Sample]:
    """The five tests, each once computed."""
    if "samples" not in results:
        results["samples"] = dict(zip(TESTS, samples(results["tests"]), strict=True))
    found: dict[int, Sample] = results["samples"]
    return found


def of_papers_stack(results: Results) -> dict[int, Sample]:
    """The five tests with the paper's stack, whatever the user's is."""
    if stack() == PAPERS:
        return tests(results)
    if "samples, paper's stack" not in results:
        found = dict(zip(TESTS, samples(results["tests, paper's stack"]), strict=True))
        results["samples, paper's stack"] = found
    kept: dict[int, Sample] = results["samples, paper's stack"]
    return kept


def others(results: Results) -> dict[tuple[int, str], Sample]:
    """The variants by test and name."""
    if "variants" not in results:
        names = [(test, name) for test in LOSSY for name in variants(test)]
        results["variants"] = dict(zip(names, samples(results["others"]), strict=True))
    found: dict[tuple[int, str], Sample] = results["variants"]
    return found


def reread(results: Results, by: str = PAPERS) -> dict[int, dict[str, Sample]]:
    """Tests 1, 2 and 4 with their channel read in other ways, by test and reading."""
    batch = "readings" if by == PAPERS else "readings, cured"
    if f"{batch}: samples" not in results:
        found = iter(samples(results[batch]))
        results[f"{batch}: samples"] = {
            test: {name: next(found) for name in readings(test, by)} for test in LOSSY
        }
    kept: dict[int, dict[str, Sample]] = results[f"{batch}: samples"]
    return kept
