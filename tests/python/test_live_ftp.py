"""Paper interruption's upload by real programs: curl and vsftpd on the live bench."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import rexmit as rx
from live_bench import no_bench

SCENARIO = Path(__file__).parent.parent.parent / "scenarios" / "live-interruption-ftp.toml"
SIZE = 10 * 1024 * 1024
OUTAGE_S, EVERY_S, PHASE_S = 0.2, 5.0, 1.0
#: 10 MiB take seven seconds, which have two interruptions in them.
QUICKER = {"link.air.rate": "12Mbps", "link.wire.channel.interruption.schedule.phase": f"{PHASE_S}s"}


def why_not() -> str:
    """Why there can be no upload here; empty if there can."""
    if why := no_bench():
        return f"the live bench cannot run here: {why}"
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])
    missing = [program for program in ("vsftpd", "curl") if not shutil.which(program, path=path)]
    return f"no {' and no '.join(missing)}: apt-get install {' '.join(missing)}" if missing else ""


WHY = why_not()


@pytest.mark.skipif(bool(WHY), reason=WHY)
def test_an_ftp_upload_meets_its_interruptions_and_arrives_byte_for_byte(tmp_path: Path) -> None:
    run = rx.run(SCENARIO, bench="live", set=QUICKER, duration="40s", captures=tmp_path)
    said = (tmp_path / "upload.client.log").read_text()
    assert said == "10 MiB arrived, byte for byte\n"
    assert run.failure is None
    assert not list(Path("/tmp").glob(f"rexmit-ftp-{os.getpid()}*"))

    # Of the connections between the two, the data connection is the one with the file in it; FTP's control
    # connection went before it, and its first SYN began the clock of the interruptions.
    flows = run.flows.to_pandas()
    data = flows[flows["bytes"] == SIZE]
    assert len(data) == 1, flows[["sender", "receiver", "bytes"]]
    upload = data.iloc[0]
    assert upload["acked_bytes"] == SIZE
    assert upload["sender"].startswith("10.0.0.1:")
    assert not upload["receiver"].endswith(":21")
    control = flows[flows["receiver"] == "10.0.0.4:21"].iloc[0]
    first_syn = flows["start"].min()
    assert control["start"] == first_syn < upload["start"]

    drops = run.drops.to_pandas()
    dark = drops[drops["cause"] == "channel"]
    assert set(dark["channel"]) == {"interruption"}
    # The SYN is stamped where it leaves its host, and begins the clock at the bridge: 30 ms for the way are
    # plenty, and 1 ms for what two clocks may differ by.
    into = (dark["time"].astype("int64") - int(first_syn.value)) / 1e9 - PHASE_S + 0.001
    assert (into % EVERY_S).between(0, OUTAGE_S + 0.031).all(), into
    met = set((into // EVERY_S).astype(int))
    assert met == {0, 1}

    # Each of them is the beginning of an episode, or within one that is not over yet.
    episodes = run.episodes.to_pandas()
    episodes = episodes[episodes["flow"] == upload["flow"]]
    lost = drops[drops["payload_bytes"] > 0]
    assert len(episodes) >= 1
    assert episodes["lost_copies"].sum() == len(lost) == upload["lost_copies"]
    for number in met:
        first = dark["time"][into // EVERY_S == number].min()
        assert ((episodes["start"] <= first) & (episodes["end"] >= first)).any(), (first, episodes)
