"""One capture or run as a source of a page: the core makes what META says of it, and its blobs."""

from __future__ import annotations

from pathlib import PurePath
from shlex import join
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.captured.flows import ON_DEMAND
from rexmit.files.not_written import NotWrittenError
from rexmit.report import runs
from rexmit.report.plain import plain
from rexmit.running.one_run import Run
from rexmit.screen import say
from rexmit.screen.say import as_json, visible

if TYPE_CHECKING:
    from rexmit.api import Capture, Progress

Row = dict[str, Any]

#: How much a page holds, by name (`crates/report/src/limits.rs`).
LIMITS: dict[str, int] = _core.report_limits()


class Source:
    """A capture with its packets as columns, which are read here.

    number: its place among the sources of a page.  place: where it was taken, if it is one of a pair.
    progress(rows done, rows in all, 0): answers no to end it, as Ctrl-C does.

    Raises NotWrittenError where there is no room for them.
    """

    def __init__(
        self,
        capture: Capture,
        number: int,
        label: str,
        place: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.capture = capture
        self.number = number
        # All that a page shows in one pass, not each table in one of its own.
        capture._keep(*ON_DEMAND)
        #: What is known of the run; None of a capture.
        self.run: Row | None = runs.told(capture)
        try:
            self.core = _core.ReportSource(
                capture.analysis,
                number,
                visible(label),
                place=place,
                run=None if self.run is None else as_json(plain(self.run), compact=True),
                view=visible(view_of(capture)),
                state=runs.state(capture),
                limits=LIMITS,
                progress=progress,
            )
        except OSError as error:
            raise NotWrittenError(str(error)) from None


def without_folders(capture: Capture, name: str) -> str:
    """A capture's name as a page has it, whose reader has not its folders. What was run is named as it is."""
    files = [] if isinstance(capture, Run) else [*capture.paths, *(capture.receiver or ())]
    return say.without_folders(name, [*files, str(getattr(capture, "folder", ""))])


def view_of(capture: Capture) -> str:
    """The command that shows every packet of a capture or a run, as far as it can be named."""
    from rexmit.running.folder import LiveFolder

    if isinstance(capture, LiveFolder):
        named = [str(capture.folder)]
    elif capture.receiver:
        named = ["--sender", *capture.paths, "--receiver", *capture.receiver]
    else:
        # Of a rotation, which file is asked for is not known here.
        named = capture.paths if len(capture.paths) == 1 else []
    return join(["rexmit", "view", *named])


def sources(capture: Capture, progress: Progress | None = None) -> list[Source]:
    """A capture or a run as sources: where both ends were seen, the receiver's end as well."""
    ends, labels = [capture], [without_folders(capture, capture.name)]
    if capture.receiver:
        from rexmit.api import capture as read
        from rexmit.running.folder import LiveFolder

        ways = [capture.paths, capture.receiver]
        sent, came = reversed(ways) if capture.analysis.swapped() else ways
        ends.append(read(*came, at="receiver", tables=ON_DEMAND))
        if not isinstance(capture, LiveFolder):
            labels = [PurePath(paths[0]).name for paths in (sent, came)]
    elif isinstance(capture, Run) and _has_room_for_both(capture):
        ends.append(capture.at_receiver(ON_DEMAND))
    if len(labels) < len(ends):
        labels.append(labels[0] + ", receiver's end")
    places = ["sender", "receiver"] if len(ends) > 1 else [None]
    return [
        Source(end, k, labels[k], place, progress)
        for k, (end, place) in enumerate(zip(ends, places, strict=True))
    ]


def _has_room_for_both(run: Run) -> bool:
    """A simulated run whose packets at both ends can all be in the page; of a longer one the sender's are."""
    return run.bench == "sim" and run.at_both and 2 * int(run.info["packets"]) <= LIMITS["raw"]
