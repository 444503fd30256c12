"""What an assistant can ask for. Answers are data of bounded size, with the figures that `--json` gives."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rexmit.assistant.answers import answer
from rexmit.assistant.folders import Folders, RefusedError
from rexmit.assistant.opened import RANKED, Opened, answer_of, flow_of
from rexmit.screen.say import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from rexmit.api import Capture

Answer = dict[str, Any]

#: Files that one listing names.
LISTED = 200
CAPTURES = (".pcap", ".pcapng", ".cap", ".snoop", ".gz", ".zst", ".xz", ".lz4", ".bz2")
#: What a list of flows says of each, from docs/json.md.
BRIEF = (
    "flow", "sender", "receiver", "vantage", "bytes", "duration_s", "throughput_bps", "retransmissions",
    "lost", "episode_count", "timeouts", "cost_s", "idle_total_s", "closed",
)  # fmt: skip
#: A simulation is stopped after so long, s, and what was seen until then is the answer.
LONGEST_S = 120.0


class Tools:
    """The tools' functions: their names, arguments and docstrings are what the assistant sees."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._opened = Opened()

    def list_files(self, folder: str = ".") -> Answer:
        """Captures, folders of runs and scenarios below a folder that may be read."""
        base = self._folders.to_read(folder)
        if not base.is_dir():
            raise RefusedError(f"{folder} is no folder")
        found: list[dict[str, Any]] = []
        more = 0
        for path in sorted(base.rglob("*")):
            kind = _kind(path)
            if kind is None or not self._may_read(path):
                continue
            name = self._folders.shown(path.resolve())
            # A name that is not shown as it is cannot be given back.
            if len(found) == LISTED or one_line(name) != name:
                more += 1
                continue
            found.append(
                {"path": name, "kind": kind, "bytes": path.stat().st_size if path.is_file() else None}
            )
        return answer({"files": found, "not_listed": more})

    def open_capture(self, path: str, receiver: str | None = None) -> Answer:
        """The first screen of a capture, a folder of `rexmit run` or `rexmit record`, or a scenario (which is
        simulated): what limited the worst transfer, what was lost, how it came back.

        receiver: the capture of the same transfer at the receiver; `path` is then the sender's, and every
        loss is known.
        """
        opened = self._open(path, receiver)
        seen = opened.overview(1)
        return answer(
            {
                "page": opened.page(top=5, hints=False).splitlines(),
                "capture": seen["capture"],
                "totals": seen["totals"],
            }
        )

    def list_flows(self, path: str, receiver: str | None = None, top: int = 10, skip: int = 0) -> Answer:
        """Flows by what they lost, the worst first: `top` of them after the first `skip`.

        Each with its verdict; `flow` or `sender-receiver` names one to the other tools.
        """
        top, skip = max(1, min(top, 50)), max(0, skip)
        seen = self._open(path, receiver).overview(min(RANKED, skip + top))
        flows = [
            {key: flow[key] for key in BRIEF if key in flow}
            | {
                "verdict": (flow["answer"] or {}).get("verdict"),
                "look_at": (flow["answer"] or {}).get("look_at"),
            }
            for flow in seen["flows"][skip:]
        ]
        return answer({"flows": flows, "flows_in_all": seen["totals"]["flows"]})

    def flow_answer(self, path: str, flow: str | None = None, receiver: str | None = None) -> Answer:
        """Everything that is known of one flow (default: the worst): what limited it and for how long, the
        answer in sentences with how sure each is and what it rests on, round-trip times, windows, losses.
        """
        found = answer_of(self._open(path, receiver), flow)
        return answer({"flow": found, "not_listed": _not_listed(found)})

    def list_episodes(self, path: str, flow: str | None = None, receiver: str | None = None) -> Answer:
        """Loss episodes of one flow (default: the worst), the costliest first, numbered from 1 in order of
        time: what was lost, what set the repair off, timeouts, cost, how sure that is and on what evidence.
        """
        found = answer_of(self._open(path, receiver), flow)
        numbered = [episode | {"number": episode["number"] + 1} for episode in found["episodes"]]
        episodes = sorted(numbered, key=lambda episode: -(episode["cost_s"] or 0.0))
        of = {key: found[key] for key in ("flow", "sender", "receiver", "vantage", "episode_count")}
        return answer({"of": of, "episodes": episodes, "not_listed": _not_listed(found)})

    def ladder(self, path: str, episode: int, flow: str | None = None, receiver: str | None = None) -> Answer:
        """The packet exchange of one episode, from 1, as text: data to the right, ACKs to the left."""
        from rexmit.captured.ladder import text

        rows = flow_of(self._open(path, receiver), flow)
        return answer({"ladder": text(rows.exchange(episode))})

    def compare(self, first: str, second: str) -> Answer:
        """Two runs or captures side by side: where time was lost or won, and their episodes matched."""
        from rexmit.compared import episode_match

        opened = [self._open(name, None) for name in (first, second)]
        found = episode_match.compare(*opened)
        return answer({"page": found.page().splitlines(), **found.as_json()})

    def simulate(
        self,
        scenario: str,
        set: dict[str, str] | None = None,
        seed: int | None = None,
        out: str | None = None,
    ) -> Answer:
        """Simulates a scenario, a file or one of rexmit's own by its name, and gives its first screen.

        set: keys to override, {"link.air.rate": "5Mbps", "flow.upload.stack": "linux-6-cubic"}; the resource
        rexmit://scenario-keys lists them.  out: a new folder for tables and
        figures, below the one for results.
        """
        from rexmit.running.one_run import run

        path, overrides = self._scenario(scenario), dict(set or {})
        self._folders.check_scenario(path.read_text("utf-8", "replace"), path.parent, overrides)
        into = self._folders.to_write(out) if out is not None else None
        ends = time.monotonic() + LONGEST_S
        done = run(path, seed=seed, set=overrides, progress=lambda *_: time.monotonic() < ends)
        written = self._write(done, into) if into else None
        seen = done.overview(3)
        return answer(
            {
                "page": done.page(top=5, hints=False).splitlines(),
                "simulation": seen.get("simulation"),
                "flows": [{key: f[key] for key in BRIEF if key in f} for f in seen["flows"]],
                "failure": done.failure,
                "written": written,
            }
        )

    def study(self, name: str) -> Answer:
        """Repeats a study with the fewest runs: the paper's rows beside rexmit's, with grades, and its claims
        judged. Takes up to a minute.
        """
        from rexmit import studies
        from rexmit.studies.answer import one
        from rexmit.studies.run import run

        if name not in studies.names():
            raise RefusedError(f"{name} is none of {', '.join(studies.names())}")
        outcome = next(iter(run([studies.load(name)], quick=True)))
        return answer(one(outcome))

    def _open(self, path: str, receiver: str | None) -> Capture:
        place = self._folders.to_read(path)
        scenario = place if place.suffix == ".toml" else place / "scenario.toml"
        if scenario.suffix == ".toml" and scenario.is_file():
            inside = self._folders.to_read(str(scenario))
            self._folders.check_scenario(inside.read_text("utf-8", "replace"), inside.parent, {})
        other = self._folders.to_read(receiver) if receiver is not None else None
        return self._opened.capture(place, other)

    def _scenario(self, name: str) -> Path:
        from rexmit.assistant.resources import own_scenarios

        own = own_scenarios()
        return own[name] if name in own else self._folders.to_read(name)

    def _write(self, done: Any, into: Path) -> str:
        from rexmit.files import output
        from rexmit.files.destination import opened

        with opened(str(into), output.planned(), False) as folder:
            assert folder is not None
            output.write(done, folder, forms=("parquet",), figures="png")
            folder.finish()
        return self._folders.shown(into)

    def _may_read(self, path: Path) -> bool:
        try:
            self._folders.to_read(str(path))
        except RefusedError:
            return False
        return True


def _not_listed(flow: Answer) -> dict[str, int]:
    """How many bursts, episodes and idle gaps the lists lack, which hold the heaviest (docs/json.md)."""
    lists = {"bursts": "burst_count", "episodes": "episode_count", "idle": "idle_count"}
    return {name: max(0, flow[count] - len(flow[name])) for name, count in lists.items()}


def _kind(path: Path) -> str | None:
    if path.is_dir():
        return "run" if (path / "summary.json").is_file() else None
    if path.suffix == ".toml":
        return "scenario"
    return "capture" if path.suffix in CAPTURES else None
