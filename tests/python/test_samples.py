"""`rexmit sample`: captures that somebody without one can begin with, and documents that do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import rexmit as rx
from rexmit import cli, samples
from rexmit.running import shipped

ROOT = Path(__file__).resolve().parents[2]
#: A first capture is read at once.
MOST_BYTES = 5_000_000


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_list_has_every_sample(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sample"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert [s.name for s in samples.ALL if f" {s.name} {s.about} ({s.source})" not in page] == []
    assert cli.main(["sample", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(s["name"], s["file"]) for s in listed] == [(s.name, s.file) for s in samples.ALL]


@pytest.mark.parametrize("name", [s.name for s in samples.ALL])
def test_each_is_small_and_has_losses_to_explain(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = samples.named(name)
    assert cli.main(["sample", name]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {sample.file}: ")
    assert [path.name for path in here.iterdir()] == [sample.file]
    assert (here / sample.file).stat().st_size < MOST_BYTES
    assert sum(rx.capture(sample.file).flows.to_arrow()["lost_segments"].to_pylist()) > 0


def test_a_simulated_sample_is_the_same_each_time() -> None:
    slow = samples.named("slow")
    assert slow.content() == slow.content()
    assert slow.scenario in shipped.names()


def test_the_first_sample_has_an_outage_and_a_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sample", "slow"]) == 0
    capsys.readouterr()
    assert cli.main(["slow.pcapng"]) == 0
    page = capsys.readouterr().out
    # README shows this page.
    assert page.strip() in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"outage: .*The retransmission timer fired once\.", page, re.S)


def test_both_ends_of_one_transfer_belong_together() -> None:
    assert cli.main(["sample", "slow", "--out", "a.pcapng"]) == 0
    assert cli.main(["sample", "slow-receiver", "--out", "b.pcapng"]) == 0
    both = rx.capture("a.pcapng", receiver="b.pcapng")
    assert both.flows[0]["lost_segments"] == 66


def test_a_file_of_somebody_else_stays(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sample", "offload"]) == 0
    assert cli.main(["sample", "offload"]) == 0, "it is the same again"
    (here / "offload.pcap").write_text("mine")
    assert cli.main(["sample", "offload"]) == 2
    assert "rexmit did not write this file" in capsys.readouterr().err
    assert (here / "offload.pcap").read_text() == "mine"
    assert cli.main(["sample", "offload", "--overwrite"]) == 0
    assert (here / "offload.pcap").read_bytes() == samples.named("offload").content()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("slw", "'slw' is no sample; did you mean slow? (slow, slow-receiver, "),
        ("--out x.pcap", "--out writes one sample: name it"),
        ("slow --json", "--json lists all samples: leave the name out"),
        ("slow --out none/x.pcap", "--out none/x.pcap: there is no folder none"),
    ],
)
def test_what_is_no_sample_is_refused(
    words: str, sentence: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sample", *words.split()]) == 2
    assert capsys.readouterr().err.startswith(f"rexmit: {sentence}")
    assert list(here.iterdir()) == []


def test_documents_write_the_sample_that_they_read_first() -> None:
    pages = ["README.md", "docs/tutorials/slow-download.md"]
    pages += [f"docs/questions/{path.name}" for path in (ROOT / "docs" / "questions").glob("*.md")]
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        if ".pcap" not in text:
            # It simulates.
            assert "rexmit sweep examples/" in text, page
            continue
        first = re.search(r"^(?:\$ )?rexmit sample ([\w-]+)$", text, re.M)
        assert first, page
        used = re.search(r"\b" + re.escape(samples.named(first[1]).file), text[first.end() :])
        assert used, page
        assert not re.search(r"^(?:\$ )?rexmit (?:analyze|report|replay)", text[: first.start()], re.M), page
