"""What an assistant can ask for. Answers are data of bounded size, with the figures that `--json` gives."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from rexmit import extras
from rexmit.assistant.answers import answer
from rexmit.assistant.folders import Folders, RefusedError
from rexmit.assistant.limits import Limit, TimeUpError, Turn
from rexmit.assistant.opened import RANKED, Opened, answer_of, flow_of
from rexmit.captured.flows import ON_DEMAND
from rexmit.files.reach import within
from rexmit.rules.loading import refusing
from rexmit.screen.say import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from rexmit.api import Capture
    from rexmit.running.one_run import Run
    from rexmit.scenario import Scenario

Answer = dict[str, Any]
Asked = ParamSpec("Asked")

#: Files that one listing names.
LISTED = 200
CAPTURES = (".pcap", ".pcapng", ".cap", ".snoop", ".gz", ".zst", ".xz", ".lz4", ".bz2")
#: What a list of flows says of each, from docs/json.md.
BRIEF = (
    "flow", "sender", "receiver", "vantage", "bytes", "duration_s", "throughput_bps", "retransmissions",
    "lost", "episode_count", "timeouts", "cost_s", "idle_total_s", "closed",
)  # fmt: skip
#: And of the answer about its connection.
BRIEF_ANSWER = ("connection", "cause", "by", "certainty", "seconds", "share", "text")
#: A call is stopped after so long, s, and the answer is what was done until then.
LONGEST_S = 120.0
#: Reading or simulating may take this part of the time; in the rest the answer is made. Packets of an episode
#: are read once more, and writing takes longer.
OPENING, AGAIN, WRITTEN = 0.7, 0.5, 0.5
#: A rule of one's own is a program, which whoever asks an assistant has not started.
NO_CODE = "is not run by rexmit mcp, which runs no rules in Python: rexmit run does"


def _tool(ask: Callable[Concatenate[Tools, Asked], Answer]) -> Callable[Concatenate[Tools, Asked], Answer]:
    """A tool: it reads below the folders, runs nobody's code, and ends in time; its answer is bounded."""

    @functools.wraps(ask)
    def asked(self: Tools, /, *given: Asked.args, **named: Asked.kwargs) -> Answer:
        with self._turn.taken(self.longest_s) as limit, within(self._folders.reach), refusing(NO_CODE):
            found = ask(self, *given, **named)
            if limit.cut:
                said = (
                    f"a call may take {round(limit.seconds, 1):g} s: the answer covers what was done by then"
                )
                found = {"cut_short": said, **found}
            return answer(found)

    return asked


class Tools:
    """The tools' functions: their names, arguments and docstrings are what the assistant sees."""

    def __init__(self, folders: Folders, max_memory: int | str | None = None) -> None:
        """max_memory: bytes, or text such as "2GB", that one answer may take."""
        self._folders = folders
        self._max_memory = max_memory
        #: What a call may take, s.
        self.longest_s = LONGEST_S
        self._turn = Turn()
        self._opened = Opened(self._turn, max_memory)

    @_tool
    def list_files(self, folder: str = ".") -> Answer:
        """Captures, folders of runs and scenarios below a folder that may be read."""
        base = self._folders.to_read(folder)
        if not base.is_dir():
            raise RefusedError(f"{folder} is no folder")
        found: list[dict[str, Any]] = []
        more = 0
        for path in _below(base, self._turn.limit):
            kind = self._kind(path)
            if kind is None:
                continue
            name = self._folders.shown(path.resolve())
            # A name that is not shown as it is cannot be given back.
            if len(found) == LISTED or one_line(name) != name:
                more += 1
                continue
            found.append(
                {"path": name, "kind": kind, "bytes": path.stat().st_size if path.is_file() else None}
            )
        return {"files": found, "not_listed": more}

    @_tool
    def open_capture(self, path: str, receiver: str | None = None) -> Answer:
        """The first screen of a capture, a folder of `rexmit run` or `rexmit record`, or a scenario (which is
        simulated): where the time of the worst connection went, what was lost, how it came back.

        receiver: the capture of the same transfer at the receiver; `path` is then the sender's, and every
        loss is known.
        """
        opened = self._open(path, receiver)
        seen = opened.overview(1)
        return {
            "page": opened.page(top=5, hints=False).splitlines(),
            "answer": _brief(seen["flows"][0])["answer"] if seen["flows"] else None,
            "capture": seen["capture"],
            "totals": seen["totals"],
        }

    @_tool
    def list_flows(self, path: str, receiver: str | None = None, top: int = 10, skip: int = 0) -> Answer:
        """Flows by what they lost, the worst first: `top` of them after the first `skip`.

        Each with the answer about its connection: the cause that took most of the time, who is responsible,
        how sure that is. `flow` or `sender-receiver` names one to the other tools.
        """
        top, skip = max(1, min(top, 50)), max(0, skip)
        seen = self._open(path, receiver).overview(min(RANKED, skip + top))
        flows = [_brief(flow) for flow in seen["flows"][skip:]]
        return {"flows": flows, "flows_in_all": seen["totals"]["flows"]}

    @_tool
    def flow_answer(self, path: str, flow: str | None = None, receiver: str | None = None) -> Answer:
        """Everything that is known of one flow (default: the worst): the answer about its connection (each
        cause with its seconds, how sure it is and on what grounds, what helps and what does not), round-trip
        times, windows, losses.
        """
        found = answer_of(self._open(path, receiver), flow)
        return {"flow": found, "not_listed": _not_listed(found)}

    @_tool
    def list_episodes(self, path: str, flow: str | None = None, receiver: str | None = None) -> Answer:
        """Loss episodes of one flow (default: the worst), the costliest first, numbered from 1 in order of
        time: what was lost, what set the repair off, timeouts, cost, how sure that is and on what evidence.
        """
        found = answer_of(self._open(path, receiver), flow)
        numbered = [episode | {"number": episode["number"] + 1} for episode in found["episodes"]]
        episodes = sorted(numbered, key=lambda episode: -(episode["cost_s"] or 0.0))
        of = {key: found[key] for key in ("flow", "sender", "receiver", "vantage", "episode_count")}
        return {"of": of, "episodes": episodes, "not_listed": _not_listed(found)}

    @_tool
    def ladder(self, path: str, episode: int, flow: str | None = None, receiver: str | None = None) -> Answer:
        """The packet exchange of one episode, from 1, as text: data to the right, ACKs to the left; and by
        their numbers in the capture (`frame.number` in Wireshark) the first and last packet of it, those that
        were lost and those that were sent again.
        """
        from rexmit.captured.ladder import text

        opened, limit = self._open(path, receiver), self._turn.limit
        whole = not limit.cut
        # The packets are read once more, for which the time may be too short.
        try:
            with limit.share(AGAIN):
                exchange = flow_of(opened, flow).exchange(episode)
            numbers = sorted(exchange.packets)
            packets: Answer = {"first": numbers[0], "last": numbers[-1]}
            packets |= {"lost": list(exchange.lost), "resent": list(exchange.resent)}
            return {"ladder": text(exchange), "packets": packets}
        except (ValueError, LookupError, StopIteration) as error:
            if not limit.cut:
                raise
            raise TimeUpError("there was no time to read the packets of this episode") from error
        finally:
            if whole and limit.cut:
                self._opened.forget(opened)

    @_tool
    def compare(self, first: str, second: str) -> Answer:
        """Two runs or captures side by side: where time was lost or won, and their episodes matched."""
        from rexmit.compared import episode_match

        with self._turn.limit.share(0.5):
            one = self._open(first, None)
        found = episode_match.compare(one, self._open(second, None))
        return {"page": found.page().splitlines(), **found.as_json()}

    @_tool
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

        base, limit = self._scenario(scenario), self._turn.limit
        into = self._folders.to_write(out) if out is not None else None
        with limit.share(WRITTEN if into else OPENING):
            done = run(
                base,
                seed=seed,
                set=dict(set or {}),
                tables=ON_DEMAND if into else (),
                max_memory=self._max_memory,
                progress=self._turn.goes_on,
            )
        done.hurried = limit.cut = done.interrupted
        with limit.share(WRITTEN):
            written = self._write(done, into) if into else None
        seen = done.overview(3)
        return {
            "page": done.page(top=5, hints=False).splitlines(),
            "simulation": seen.get("simulation"),
            "flows": [_brief(flow) for flow in seen["flows"]],
            "failure": done.failure,
            "written": written,
        }

    @_tool
    def study(self, name: str) -> Answer:
        """Repeats a study with the fewest runs: the paper's rows beside rexmit's, with grades, and its claims
        judged. Takes up to a minute.
        """
        from rexmit import studies

        found = studies.need("a study")
        if name not in found.names():
            raise RefusedError(f"{name} is none of {', '.join(found.names())}")
        # It reads files of rexmit's own, and only those.
        with within(None), self._turn.limit.share(OPENING):
            answer = found.answer(name, self._turn.limit.goes_on)
        # `left_out` of an answer says what was cut to bound it.
        unfinished = answer.pop("left_out")
        return {**answer, "unfinished": unfinished}

    def _open(self, path: str, receiver: str | None) -> Capture:
        other = self._folders.to_read(receiver) if receiver is not None else None
        with self._turn.limit.share(OPENING):
            return self._opened.capture(self._folders.to_read(path), other)

    def _scenario(self, name: str) -> Scenario:
        from rexmit.assistant.resources import own_scenarios
        from rexmit.scenario import Scenario

        own = own_scenarios()
        if name in own:
            # Its own file is not below the folders; files that overrides name are.
            return Scenario.parse(own[name].read_text("utf-8"), own[name].name, self._folders.read[0])
        return Scenario.load(self._folders.to_read(name))

    def _write(self, done: Run, into: Path) -> str:
        from rexmit.files import output
        from rexmit.files.destination import opened

        with opened(str(into), output.planned(), False) as folder:
            assert folder is not None
            forms = ("parquet",) if extras.has("tables") else ("csv",)
            figures = "png" if extras.has("figures") and not done.hurried else None
            output.write(done, folder, forms=forms, figures=figures, goes_on=self._turn.goes_on)
            folder.finish()
        return self._folders.shown(into)

    def _kind(self, path: Path) -> str | None:
        """What a file or folder is to an assistant; None for what is nothing, or may not be read."""
        if not self._may_read(path):
            return None
        if path.is_dir():
            summary = path / "summary.json"
            return "run" if self._may_read(summary) and summary.is_file() else None
        if path.suffix == ".toml":
            return "scenario"
        return "capture" if path.suffix in CAPTURES else None

    def _may_read(self, path: Path) -> bool:
        try:
            self._folders.to_read(str(path))
        except RefusedError:
            return False
        return True


def _below(folder: Path, limit: Limit) -> Iterator[Path]:
    """All that is below a folder, in the order of the names, until the time is over. No link is followed."""
    todo = [folder]
    while todo and limit.goes_on():
        path = todo.pop()
        if path != folder:
            yield path
        if path.is_symlink() or not path.is_dir():
            continue
        try:
            names = sorted(os.listdir(path), reverse=True)
        except OSError:
            continue
        todo += [path / name for name in names]


def _brief(flow: Answer) -> Answer:
    """What a list says of a flow, with the answer about its connection."""
    answer = flow.get("answer")
    told = {key: answer[key] for key in BRIEF_ANSWER} if answer else None
    return {key: flow[key] for key in BRIEF if key in flow} | {"answer": told}


def _not_listed(flow: Answer) -> dict[str, int]:
    """How many bursts, episodes and idle gaps the lists lack, which hold the heaviest (docs/json.md)."""
    lists = {"bursts": "burst_count", "episodes": "episode_count", "idle": "idle_count"}
    return {name: max(0, flow[count] - len(flow[name])) for name, count in lists.items()}
