"""The compiled core. Everything in `rexmit` stands on these few names."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

Vantage = Literal["sender", "receiver", "middle"]
TableName = Literal[
    "flows",
    "bursts",
    "episodes",
    "retransmissions",
    "probes",
    "idle",
    "rounds",
    "waits",
    "intervals",
    "rtt",
    "packets",
]
#: Of answers: rows are made when they are asked for.
AnswerTableName = Literal["causes", "owners"]
RunTableName = Literal["state", "queues", "drops", "truth", "hosts", "applications", "blocked", "held"]

__version__: str
#: Its cargo profile; "release, profiled" if `make release` laid it out by what is hot.
__build__: str

class ScenarioError(ValueError):
    """A scenario or a stack that is none. A line for each mistake: file, line, key and the fix."""

class Variant(TypedDict):
    """A scenario and its overrides. Either `path`, or `text` with a name for messages and a folder; without a
    name it was made in code, and messages name no lines of it. The file and all that it names have to be
    `within`.
    """

    path: str | None
    text: str | None
    file: str | None
    folder: str | None
    set: list[tuple[str, str]]
    label: str | None
    seed: int | None
    within: Reach | None

class OutsideError(ValueError):
    """A file or folder that is outside the folders that may be read. Whether it exists is not told."""

class Reach:
    """Folders below which files may be read; links are followed as long as they stay inside."""

    def __init__(self, folders: Sequence[str | os.PathLike[str]]) -> None:
        """Raises OSError for a folder that is not there."""
    def place(self, path: str | os.PathLike[str]) -> Path:
        """Where a file or folder is, without links. Raises OutsideError, or OSError where there is none."""
    def read(self, path: str | os.PathLike[str]) -> bytes:
        """What is in a regular file. Raises OutsideError, ValueError for a pipe or a device, OSError."""

class CaptureError(Exception):
    """Nothing could be read. The message is one sentence: file, byte offset, packet number, fix."""

class Table:
    """Rows of one kind, as an Arrow stream: Polars, pandas, pyarrow and DuckDB take it without a copy.

    Times are nanosecond timestamps (UTC), lengths of time float64 seconds, sizes int64 bytes.
    """

    name: str
    columns: list[str]
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Analysis:
    """What one pass over a capture (or two of the same transfer) found."""

    def overview(self, top: int = 5) -> str:
        """JSON: `capture`, `totals` and the `top` flows that cost most, with their `answer` (docs/json.md).

        Of a flow's bursts, episodes and idle gaps the 200 heaviest stand there, in order of time. With
        `listed_only` no more flows than that kept are there.
        """
    def flow(self, number: int) -> str | None:
        """JSON: one flow as `overview` has it; None where there is none of this number."""
    def flows(self, numbers: Sequence[int]) -> list[str]:
        """The same of several flows, in this order; none where there is no such flow."""
    def worst(self, top: int) -> list[int]:
        """The numbers of the `top` flows that cost most, the worst first: the order of `overview`."""
    def audit(self, most: int) -> tuple[int, list[str]]:
        """How many answers the laws of the explanation were asked about; what breaks one, `most` at most."""

    def write_json(self, fd: int) -> None:
        """Writes the answer (docs/json.md) to a file descriptor, flow by flow. It stays open.

        It lists the worst flows only, if there are more than `flows` of `analyze`; its totals cover all.
        """
    def table(self, name: TableName | AnswerTableName | RunTableName) -> Table:
        """One table. Raises ValueError if its rows were not kept (`tables`, `listed_only` of `analyze`)."""
    def records(self, name: RunTableName) -> bool:
        """Of a simulated run: whether this table is there without asking for it."""
    def captures(self) -> list[Path]:
        """Of a run: the captures that it wrote."""
    def failure(self) -> str | None:
        """Of a simulated run: why it could not go on, if it could not."""
    def tell(
        self,
        flows: Sequence[
            tuple[
                int,
                Sequence[tuple[int, int, int | None, str, str | None, int]],
                bool,
                Sequence[tuple[int, int, int, int, bool]],
            ]
        ],
    ) -> None:
        """What the senders' own kernels know, once: it takes the place of what packets alone say.

        Of each flow: its number; its retransmissions (time in ns, segments, episode, cause by packets, by the
        kernel or None, how often the timer had fired); whether the kernel told of others; looks at the socket
        (time in ns; in us busy, limited by the receiver's window, by the send buffer; whether that window was
        closed: TCP_INFO).
        """
    def failed(self) -> bool:
        """True if rexmit itself failed on a flow, as far as known: `flows[].fault` of the JSON says where."""
    def interrupted(self) -> bool:
        """True if Ctrl-C ended the reading early: what was read until then is here."""
    def swapped(self) -> bool:
        """True if the captures were given the wrong way round: `receiver` was taken as the sender's."""

def analyze(
    paths: Sequence[str],
    *,
    receiver: Sequence[str] | None = None,
    flow: str | None = None,
    host: str | None = None,
    port: int | None = None,
    start: float | None = None,
    end: float | None = None,
    at: Vantage | None = None,
    idle: float | None = None,
    interval: float = 1.0,
    checksums: bool = False,
    tables: Sequence[TableName] = (),
    flows: int | None = 10_000,
    listed_only: bool = False,
    max_memory: int | None = None,
    threads: int | None = None,
    like: bool = False,
    within: Reach | None = None,
    progress: Callable[[int, int | None, int], bool] | None = None,
) -> Analysis:
    """Reads captures (several files: one rotation, in order of time; "-": standard input) and analyses them.

    receiver: captures of the same transfer at the receiver; `paths` are then the sender's.
    flow: "ip:port-ip:port" (either order), host: an address, port: a port; start, end: seconds from the first
    packet.  checksums: verify those of TCP.  tables: which of retransmissions, intervals, rtt, packets to
    keep (the others always are).
    flows: how many flows the JSON lists at most, the worst; None: all.  listed_only: only the JSON is wanted:
    rows of flows that it does not list are dropped as they come, and there are no tables.
    max_memory: bytes; once they are used up what comes is counted, and not analysed.
    threads: how many analyse; the answer does not depend on it. None: one a core, for small captures one.
    like: replay the transfer with the most data through every stack, for `inference.stack`.
    within: folders below which the files have to be; None: any file may be read.
    progress(bytes done, bytes in all or None, packets): called about ten times a second without the GIL held
    by the core; returning False ends the reading early and keeps what was read.
    Raises CaptureError if nothing could be read, ValueError for arguments.
    """

class ReportSource:
    """One capture or run of a page, its packets and round trips as columns: in memory, or in files without a
    name where they are many. Containers and what is said of flows stand in explorer/FORMAT.md.
    """

    def __init__(
        self,
        analysis: Analysis,
        number: int,
        label: str,
        *,
        place: str | None = None,
        run: str | None = None,
        view: str = "",
        state: tuple[object, Mapping[int, Sequence[int]]] | None = None,
        limits: Mapping[str, int] = ...,
        progress: Callable[[int, int | None, int], bool] | None = None,
    ) -> None:
        """number: its place among the sources of the page.  run: JSON.  view: the command that shows every
        packet.  state: an Arrow stream of a run's table `state`, and by its flows those that they are here.
        limits: as `report_limits` names them.

        Raises OSError where there is no room for the files, KeyboardInterrupt when `progress` says no.
        """

    @property
    def number(self) -> int: ...
    @property
    def label(self) -> str: ...
    def __len__(self) -> int:
        """Rows of packets: a SYN has one in each direction."""

    def holds(self, flow: int) -> bool:
        """Whether the flow has packets."""

    def window(self, flow: int, from_ns: int, to_ns: int, columns: int) -> bytes:
        """A container of what a page shows of a flow in a stretch of time: packets where few enough lie in
        it, else about `columns` bins or more. Raises ValueError for a stretch that is none.
        """

    def rtt(self, flow: int, from_ns: int, to_ns: int) -> bytes:
        """A container of the round trips of a stretch of time. Raises ValueError where they are too many."""

    def levels(self, flow: int, most: int) -> list[bytes]:
        """Containers of all packets of a flow in bins, the finest of `most` bins at most."""

    def warm(self, flow: int) -> None:
        """Makes what a page asks for first."""

    def load(self, flow: int) -> str | None:
        """JSON, the detail of a flow whose packets are asked for; None of one that carries no data."""

    def blob(self, name: str) -> bytes | None:
        """The container of this name, of which a detail tells; None of any other name."""

def report_file(
    sources: Sequence[ReportSource], firsts: Sequence[int]
) -> list[tuple[str, list[str], dict[str, bytes]]]:
    """Sources as a file holds them: of each JSON, sentences about what it leaves out, and by their names its
    blobs in raw deflate. firsts: of two beside each other, the flow of each that is told of first.
    """

def report_view(sources: Sequence[ReportSource], firsts: Sequence[int]) -> list[str]:
    """The same of sources whose packets are asked for: JSON of each."""

def report_meta() -> str:
    """JSON, META that tells of nothing as yet."""

def report_limits() -> dict[str, int]:
    """How much a page holds, by name."""

def report_table(table: object) -> bytes:
    """An Arrow stream of numbers (uint32, float32, float64) as a container. Raises ValueError for another."""

def lost_copies(
    time_ns: Sequence[int],
    data: Sequence[int],
    seq: Sequence[int],
    len: Sequence[int],
    bursts: Sequence[tuple[int, int, int, int, int]],
) -> bytes:
    """1 for each packet of a flow that was lost, as bursts tell. bursts: of each when its first and its last
    copy were sent, its first sequence number, the one behind its last, and how many copies it has (0: not
    known). Raises ValueError for columns that differ in length.
    """

def report_visible(json: str) -> str:
    """JSON of the core, or of `as_json`, in which what its escapes say is drawn and not obeyed."""

def report_in_html(json: str) -> str:
    """JSON as it may stand in an element of a page."""

class Traffic:
    """All frames of a capture, counted whatever they carry."""

    def overview(self) -> str:
        """JSON: files, links, packets, bytes, start_unix_s, span_s, bin_s, bins, kinds, warnings,
        interrupted.

        kinds: by outermost headers, "ipv4.tcp" and so on, each {packets, bytes}.
        """
    def bins(self) -> Table:
        """start_s, packets, bytes: a row for each bin."""

def traffic(
    paths: Sequence[str],
    *,
    bin: float,
    progress: Callable[[int, int | None, int], bool] | None = None,
) -> Traffic:
    """Counts all frames of captures in bins of so many seconds; progress as for `analyze`.

    Raises CaptureError if nothing could be read, or if there would be more than 4,194,304 bins.
    """

def replay(
    paths: Sequence[str],
    stack: str,
    *,
    flow: str | None = None,
    at: str | None = None,
    listed: int = 0,
    progress: Callable[[int, int | None, int], bool] | None = None,
) -> str:
    """JSON: what a stack would have sent where a capture's sender sent (`rexmit.replay`).

    Raises CaptureError, ScenarioError, ValueError.
    """

def rank_stacks(
    paths: Sequence[str],
    *,
    flow: str | None = None,
    at: str | None = None,
    listed: int = 0,
    progress: Callable[[int, int | None, int], bool] | None = None,
) -> str:
    """JSON: every built-in stack, by how well it explains a capture's sender (`rexmit.rank_stacks`).

    `progress` hears how many replays are done, and of how many.
    Raises CaptureError, ScenarioError, ValueError.
    """

def is_annotated(path: str) -> bool:
    """Whether `annotate` wrote this file and nobody rewrote it since."""

def annotate(analysis: Analysis, paths: Sequence[str], out: str, answer: str = "") -> int:
    """Writes the packets of `paths` to `out` as pcapng, findings as packet comments; returns how many.

    answer: a text for the comment on the whole file.

    The analysis must have been made with tables=("retransmissions",).
    """

def resolve(variant: Variant) -> str:
    """The scenario as TOML, presets, defaults, overrides and stacks written out. Raises ScenarioError."""

def simulate(
    variant: Variant,
    *,
    at: Literal["both", "sender", "receiver"] = "both",
    idle: float | None = None,
    interval: float = 1.0,
    tables: Sequence[TableName | RunTableName] = (),
    captures: str | None = None,
    flows: int | None = 10_000,
    listed_only: bool = False,
    max_memory: int | None = None,
    progress: Callable[[float, float | None, int], bool] | None = None,
) -> Analysis:
    """Runs a scenario and analyses its packets; with both ends in two passes, which go the same way.

    captures: a folder for the captures that the scenario records.  progress(s done, s in all or None,
    events). Otherwise as `analyze`. Raises ScenarioError, RuntimeError if a capture cannot be written.
    """

def own_classes(variants: Sequence[Variant]) -> list[str]:
    """The classes of rules in Python that stacks of these scenarios name. None of them is loaded."""

class Window:
    """The congestion window of a connection, bytes, as a rule of one's own (`rexmit.rules`) sees and sets
    it.
    """

    #: A whole number from 0 to 2**32 - 1; what is below one SMSS counts as one.
    cwnd: int
    #: 2**32 - 1 where there is no limit.
    ssthresh: int
    @property
    def smss(self) -> int: ...
    def __init__(self, *, cwnd: int, ssthresh: int = 4294967295, smss: int = 1448) -> None: ...

class AckFacts:
    """What an ACK told."""

    def __init__(
        self,
        *,
        now_ns: int = 0,
        acked: int = 0,
        delivered: int = 0,
        segments: int = 1,
        rtt_ns: int | None = None,
        min_rtt_ns: int | None = None,
        srtt_ns: int | None = None,
        flight: int = 0,
        una: int = 1,
        nxt: int = 1,
        limited: bool = True,
    ) -> None: ...
    @property
    def now_ns(self) -> int:
        """Since the run began, ns."""
    @property
    def acked(self) -> int:
        """Bytes newly acknowledged cumulatively; 0 for a duplicate, which only `measure` sees."""
    @property
    def delivered(self) -> int:
        """Bytes newly acknowledged cumulatively or by SACK."""
    @property
    def segments(self) -> int:
        """Segments newly acknowledged cumulatively; a part of one counts as one."""
    @property
    def rtt_ns(self) -> int | None:
        """RTT sample of this ACK, if it gave one, ns."""
    @property
    def min_rtt_ns(self) -> int | None:
        """Smallest RTT of the connection, ns."""
    @property
    def srtt_ns(self) -> int | None:
        """SRTT, ns."""
    @property
    def flight(self) -> int:
        """FlightSize before this ACK, bytes."""
    @property
    def una(self) -> int:
        """SND.UNA after this ACK: an offset in the stream, whose first byte is 1."""
    @property
    def nxt(self) -> int:
        """SND.NXT: the offset after the last byte that is out."""
    @property
    def limited(self) -> bool:
        """The congestion window was what limited sending."""

class LossFacts:
    """What was known when a loss was found."""

    def __init__(
        self, *, now_ns: int = 0, flight: int = 0, una: int = 1, nxt: int = 1, timeout: bool = False
    ) -> None: ...
    @property
    def now_ns(self) -> int:
        """Since the run began, ns."""
    @property
    def flight(self) -> int:
        """FlightSize, bytes (RFC 5681 (4))."""
    @property
    def una(self) -> int:
        """SND.UNA."""
    @property
    def nxt(self) -> int:
        """SND.NXT."""
    @property
    def timeout(self) -> bool:
        """Found by the retransmission timer, not by ACKs."""

class Progress:
    """How much was delivered so far; all 0 for stacks that take no delivery rates."""

    def __init__(
        self, *, delivered: int = 0, delivered_at_ns: int = 0, lost: int = 0, app_limited: bool = False
    ) -> None: ...
    @property
    def delivered(self) -> int:
        """Segments ever delivered."""
    @property
    def delivered_at_ns(self) -> int:
        """When the last of them was, ns."""
    @property
    def lost(self) -> int:
        """Copies ever found lost."""
    @property
    def app_limited(self) -> bool:
        """The application is what limits."""

class RateSample:
    """What one ACK says of the delivery rate. Segments."""

    def __init__(
        self,
        *,
        delivered: int | None = None,
        prior_delivered: int = 0,
        interval_ns: int | None = None,
        app_limited: bool = False,
        newly_delivered: int = 0,
        newly_lost: int = 0,
        prior_in_flight: int = 0,
        in_flight_then: int = 0,
        lost_since: int = 0,
        rtt_ns: int | None = None,
        ack_delayed: bool = False,
    ) -> None: ...
    @property
    def delivered(self) -> int | None:
        """Delivered since the newest of what is delivered now left; None where nothing is delivered now."""
    @property
    def prior_delivered(self) -> int:
        """What had been delivered as that copy left."""
    @property
    def interval_ns(self) -> int | None:
        """How long `delivered` took, ns; None also where it was less than the smallest RTT."""
    @property
    def app_limited(self) -> bool:
        """The rate may be the application's rather than the path's."""
    @property
    def newly_delivered(self) -> int:
        """By this ACK."""
    @property
    def newly_lost(self) -> int:
        """Copies that this ACK showed lost."""
    @property
    def prior_in_flight(self) -> int:
        """In flight before this ACK."""
    @property
    def in_flight_then(self) -> int:
        """In flight as the newest of what is delivered now left."""
    @property
    def lost_since(self) -> int:
        """Lost since then."""
    @property
    def rtt_ns(self) -> int | None:
        """RTT sample of this ACK, if it gave one, ns."""
    @property
    def ack_delayed(self) -> bool:
        """It acknowledges one short segment, and may have been delayed."""

class Driving:
    """Where the sender stands, for a rule that drives it, which sets two of these: `pacing_rate` and
    `limit_to_application`.
    """

    #: Bytes a second, from 1 up; 0 before it is set: no limit.
    pacing_rate: int
    #: The rule says: what is in flight now tells less than the path's bandwidth.
    limit_to_application: bool
    def __init__(
        self,
        *,
        now_ns: int = 0,
        in_flight: int = 0,
        phase: Literal["open", "recovery", "loss"] = "open",
        so_far: Progress | None = None,
        srtt_ns: int | None = None,
        min_rtt_ns: int | None = None,
        pacing_rate: int = 0,
        limited: bool = True,
        has_sack: bool = True,
        seed: int = 0,
    ) -> None: ...
    @property
    def now_ns(self) -> int:
        """Since the run began, ns."""
    @property
    def in_flight(self) -> int:
        """After the ACK, segments."""
    @property
    def phase(self) -> Literal["open", "recovery", "loss"]:
        """Nothing is believed lost; repairs what ACKs showed lost; repairs after a timeout."""
    @property
    def so_far(self) -> Progress: ...
    @property
    def srtt_ns(self) -> int | None:
        """SRTT, ns."""
    @property
    def min_rtt_ns(self) -> int | None:
        """Smallest RTT of the connection, ns."""
    @property
    def limited(self) -> bool:
        """cwnd was full as the ACK came."""
    @property
    def has_sack(self) -> bool: ...
    @property
    def lost(self) -> list[tuple[int, int, int, bool]]:
        """Copies found lost since the last ACK: which segment, from the first one on; segments in flight as
        it left, and lost since then, itself included; whether the application limited.
        """
    @property
    def seed(self) -> int:
        """For random numbers: the connection's initial sequence number, which the run's seed gave."""
    @property
    def next_ns(self) -> int:
        """When the next burst leaves, at the earliest, ns."""
    def single_below(self, bytes_per_s: int) -> None:
        """A burst may be one segment below this pacing rate; otherwise it is two at least."""
    def goal(self, smss: int) -> int:
        """Segments of about a millisecond's data at the pacing rate: what leaves as one burst."""

class RepairFacts:
    """What an ACK in recovery told. Bytes."""

    def __init__(
        self,
        *,
        acked: int = 0,
        delivered: int = 0,
        pipe: int = 0,
        flight: int = 0,
        duplicate: bool = False,
        more_lost: bool = False,
        repair_lost: bool = False,
        repair_acked: bool = False,
    ) -> None: ...
    @property
    def acked(self) -> int:
        """Newly acknowledged cumulatively."""
    @property
    def delivered(self) -> int:
        """Newly acknowledged cumulatively or by SACK (DeliveredData of RFC 9937)."""
    @property
    def pipe(self) -> int:
        """Believed to be in the network, after this ACK."""
    @property
    def flight(self) -> int:
        """SND.NXT - SND.UNA after this ACK."""
    @property
    def duplicate(self) -> bool:
        """A duplicate ACK (RFC 5681, section 2)."""
    @property
    def more_lost(self) -> bool:
        """More was found lost at this ACK."""
    @property
    def repair_lost(self) -> bool:
        """A repair among it."""
    @property
    def repair_acked(self) -> bool:
        """It acknowledged a repair cumulatively."""

class DetectFacts:
    """What a detector may look at."""

    def __init__(
        self,
        *,
        sacked: list[tuple[int, int]] = ...,
        una: int = 1,
        nxt: int = 1,
        smss: int = 1448,
        dupthresh: int = 3,
        dupacks: int = 0,
        sacked_segments: int = 0,
        sack: bool = False,
    ) -> None: ...
    @property
    def sacked(self) -> list[tuple[int, int]]:
        """What is SACKed above SND.UNA: first byte and the one after the last, from the highest down."""
    @property
    def una(self) -> int:
        """SND.UNA."""
    @property
    def nxt(self) -> int:
        """The offset after the last byte that is out."""
    @property
    def smss(self) -> int:
        """Payload of a full segment, bytes."""
    @property
    def dupthresh(self) -> int:
        """`detect.dupthresh` of the stack."""
    @property
    def dupacks(self) -> int:
        """Duplicate ACKs in a row (RFC 5681, section 2); with `counts_news`, ACKs with news (RFC 6675)."""
    @property
    def sacked_segments(self) -> int:
        """SACKed segments above SND.UNA."""
    @property
    def sack(self) -> bool:
        """SACK was negotiated."""

class Verdict:
    """What a detector makes of the facts.

    lost_below: everything below that is not SACKed is lost, from `una` (nothing) to `nxt`.  begins: enough to
    begin a recovery.
    """

    def __init__(self, *, lost_below: int, begins: bool) -> None: ...
    @property
    def lost_below(self) -> int: ...
    @property
    def begins(self) -> bool: ...

class Delivery:
    """What an ACK said about time and order, for a detector that goes by time. A copy is when it left, ns,
    and the offset after its last byte.
    """

    def __init__(
        self,
        *,
        now_ns: int = 0,
        newest: tuple[int, int] | None = None,
        measured_ns: int | None = None,
        reordered: int | None = None,
        dsack: bool = False,
        una: int = 1,
        max: int = 1,
    ) -> None: ...
    @property
    def now_ns(self) -> int:
        """Since the run began, ns."""
    @property
    def newest(self) -> tuple[int, int] | None:
        """Of what this ACK newly delivered, the copy that left last."""
    @property
    def measured_ns(self) -> int | None:
        """When the copy left whose round trip counts (Linux), ns."""
    @property
    def reordered(self) -> int | None:
        """An original was delivered behind one that left later: how far behind, segments."""
    @property
    def dsack(self) -> bool:
        """It reported a segment that was received twice, and that was no probe's."""
    @property
    def una(self) -> int:
        """SND.UNA after this ACK."""
    @property
    def max(self) -> int:
        """The highest offset sent."""

class Patience:
    """What the time that a detector waits may depend on."""

    def __init__(
        self,
        *,
        repairing: bool = False,
        sacked_segments: int = 0,
        dupthresh: int = 3,
        min_rtt_ns: int | None = None,
        srtt_ns: int | None = None,
    ) -> None: ...
    @property
    def repairing(self) -> bool:
        """In recovery, or repairing after a timeout."""
    @property
    def sacked_segments(self) -> int:
        """SACKed segments above `una`."""
    @property
    def dupthresh(self) -> int:
        """The stack's."""
    @property
    def min_rtt_ns(self) -> int | None:
        """Smallest RTT of the connection, ns."""
    @property
    def srtt_ns(self) -> int | None:
        """SRTT, ns."""

class Horizon:
    """Against what copies are held: what left before `newest` is lost once `wait_ns` have passed since it
    left.
    """

    def __init__(self, *, newest: tuple[int, int], wait_ns: int = 0) -> None: ...
    @property
    def newest(self) -> tuple[int, int]:
        """When the copy left, ns, not later than now, and the offset after its last byte."""
    @property
    def wait_ns(self) -> int:
        """From 0 to a year."""

class Batch:
    """What became of many runs.

    runs: JSON texts (`simulation` of `overview`), in the order of the plan; None for those that were stopped.
    """

    runs: list[str | None]

    def table(self, name: TableName | RunTableName) -> Table:
        """The rows of all runs, behind `run` (numbered among those that are not None), `variant` and `seed`.
        Raises ValueError if they were not kept.
        """
    def series(self) -> Table:
        """What each flow sent, received and lost, interval by interval. Raises ValueError without `bin`."""
    def warnings(self) -> list[str]:
        """Sentences about rows that could not be kept."""

class LiveError(RuntimeError):
    """The live bench cannot run here, or could not go on: one sentence with the fix."""

def live(
    variant: Variant,
    *,
    at: Literal["both", "sender", "receiver"] = "both",
    idle: float | None = None,
    interval: float = 1.0,
    captures: str | None = None,
    flows: int | None = 10_000,
    listed_only: bool = False,
    accept_late: bool = False,
    progress: Callable[[float, float | None, int], bool] | None = None,
) -> Analysis:
    """Runs a scenario on the live bench and analyses its captures. There is none outside Linux.

    captures: the folder in which they stay (default: none is kept).  accept_late: flows have an `answer` even
    if the bridge missed a bar (docs/live.md).  progress(s done, s in all or None, packets). All tables are
    kept. Raises ScenarioError, LiveError.
    """

def live_many(
    variants: Sequence[Variant],
    plan: Sequence[tuple[int, int | None]],
    *,
    at: Literal["both", "sender", "receiver"] = "both",
    idle: float | None = None,
    interval: float = 1.0,
    tables: Sequence[TableName | RunTableName] = (),
    bin: float | None = None,
    progress: Callable[[int, int | None, int], bool] | None = None,
) -> Batch:
    """Runs them on the live bench, one after the other, as `simulate_many` does in the simulator. In its
    tables times count from the beginning of each run.

    Raises ScenarioError before anything runs, and LiveError where the bench cannot run.
    """

def record(
    folder: str,
    *,
    filter: str | None = None,
    interface: str | None = None,
    command: Sequence[str] = (),
    payload: bool = False,
    ring: tuple[int, int] | None = None,
    limit: float | None = None,
    progress: Callable[[float, float | None, int], bool] | None = None,
) -> str:
    """Records into a folder: JSON, what became of it (docs/record.md). There is none outside Linux.

    ring: files, and bytes of each.  limit: s.  progress(s done, s in all or None, packets). Raises LiveError,
    and ValueError for a filter, an interface or a command that is none.
    """

def record_filter(filter: str) -> None:
    """Raises ValueError with a sentence if it is no filter. There is none outside Linux."""

def live_check() -> str:
    """JSON: what this machine can do for the live bench, a list of {what, found, fix, needed}; fix is None
    where nothing is missing.
    """

def live_clean() -> str:
    """JSON: {namespaces, cgroups, folders, processes, left}: what runs that were killed had left and is gone
    now, and what could not be removed. Raises LiveError.
    """

def simulate_many(
    variants: Sequence[Variant],
    plan: Sequence[tuple[int, int | None]],
    *,
    at: Literal["both", "sender", "receiver"] = "both",
    idle: float | None = None,
    interval: float = 1.0,
    tables: Sequence[TableName | RunTableName] = (),
    bin: float | None = None,
    at_once: int = 1,
    max_memory: int | None = None,
    progress: Callable[[int, int | None, int], bool] | None = None,
) -> Batch:
    """Runs them one after the other on the thread that calls this, counted only if no tables are asked for;
    those that had not ended when progress(done, in all, 0) or Ctrl-C stopped the rest are None. A run that
    fails keeps the others. Engines of `rexmit.sweeps` have several such calls at a time.

    plan: a variant's number and a seed (None: its own) for each run.  at_once: so many such calls share
    max_memory. Raises ScenarioError before anything runs.
    """

Happening = TypedDict(
    "Happening",
    {
        "at": float,
        "kind": Literal["write", "ack", "data", "close", "wait"],
        "from": int,
        "to": int,
        "sack": list[tuple[int, int]],
        "window": int | None,
        "echo": float | None,
    },
)

def script(
    stack: str,
    events: Sequence[Happening],
    *,
    rtt: float = 0.1,
    mss: int | None = None,
    in_bytes: bool = False,
) -> str:
    """JSON: the steps of an endpoint whose peer is a script (`rexmit.script`).

    `from`: what is written or acknowledged, or where the peer's data begins; `to`: where it ends.
    Raises ScenarioError, ValueError.
    """

def drill(text: str, stack: str) -> tuple[str, str | None, int | None, list[str]]:
    """What becomes of a packetdrill script: result (`pass`, `fail`, `unsupported`, or `malformed`),
    why, its line, and the ladder of what was expected beside what came. Raises ScenarioError.
    """

def drill_altered(text: str, stack: str) -> list[tuple[int, str, str]]:
    """What becomes of each alteration of a script: its line, what was altered, the result."""

def document(name: str) -> str:
    """Markdown of docs/: definitions, json or scenario-keys. Raises KeyError for another name."""

def closed_sets() -> str:
    """JSON: by set (`cause`, `trigger`, …) a list of {name, in_words, …}, in the order of tables.

    Causes, idle reasons and findings have `means` and `group` besides; the first two have a `colour`, causes
    have a `marker`, and those that Linux counts `linux_counter`.
    """

def one_per_timeout(kind: str, timeouts: int, lost_segments: int) -> bool:
    """Whether an episode repaired about one segment a timeout, not that two timeouts fell into one repair."""

def stacks() -> str:
    """JSON: the built-in stacks, a list of {name, about, based_on, wire, sources}."""

def stack(name: str) -> str:
    """JSON: what a stack is made of. name: of a built-in one, or a file. Raises ScenarioError."""

def channels() -> str:
    """JSON: {common, channels, queues}: the kinds that links can have, with their keys."""
