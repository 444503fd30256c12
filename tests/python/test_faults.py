"""Where rexmit fails on one flow the page says so, everything else is shown, and the exit code is 1.

That the core goes on with the other flows is tested in crates/results/tests/faults.rs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rexmit import _core
from rexmit.api import Capture
from rexmit.cli import main
from rexmit.screen.page import page
from test_page import CAPTURE, FLOW

DEMO = str(Path(__file__).parents[1] / "data" / "interruption.snd.pcap.gz")
FAULT = "rexmit failed at crates/analysis/src/x.rs:7 (why): a fault of rexmit, please report it"


def broken(port: int, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"flow": port * 2, "sender": f"10.0.0.1:{port}", "receiver": "10.0.0.2:80"}
    return row | {"bytes": 0, "fault": FAULT} | more


def told(*flows: dict[str, Any]) -> str:
    overview = {
        "capture": CAPTURE,
        "totals": {"connections": len(flows), "flows": len(flows)},
        "flows": flows,
    }
    return " ".join(" ".join(page(overview, "upload.pcap")).split())


def test_a_flow_that_failed_has_a_sentence_and_the_others_their_sections() -> None:
    said = told(broken(1), FLOW)
    assert f"10.0.0.1:1 and 10.0.0.2:80: {FAULT}" in said
    assert said.index("10.8.0.2:41822") < said.index(FAULT)
    assert FAULT in told(broken(1)), "with no other flow"
    assert FAULT not in told(FLOW)


def test_a_flow_with_figures_and_a_fault_has_both() -> None:
    said = told(FLOW | {"fault": FAULT})
    assert FAULT in said
    assert "10.0 MB in 7.31 s" in said


def test_of_many_that_failed_a_few_are_named() -> None:
    said = told(*(broken(port) for port in range(1, 31)), FLOW)
    assert said.count(FAULT) == 6
    assert "and 24 more flows" in said


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_failure_ends_with_exit_code_1_after_everything_else(
    form: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", DEMO, *form]) == 0
    whole = capfd.readouterr()
    analyze = _core.analyze

    class Failed:
        """The core's answer, and that something failed."""

        def __init__(self, found: _core.Analysis) -> None:
            self.found = found

        def __getattr__(self, name: str) -> Any:
            return (lambda: True) if name == "failed" else getattr(self.found, name)

    monkeypatch.setattr(_core, "analyze", lambda *a, **k: Failed(analyze(*a, **k)))
    monkeypatch.setattr(Capture, "failed", property(lambda _: True))
    assert main(["analyze", DEMO, *form]) == 1
    assert capfd.readouterr() == whole
    if form:
        assert all("fault" not in flow for flow in json.loads(whole.out)["flows"])
