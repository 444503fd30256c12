"""The compiled core. Everything in `rexmit` stands on these few names."""

from collections.abc import Callable, Sequence
from typing import Literal

Vantage = Literal["sender", "receiver", "middle"]
TableName = Literal[
    "flows", "bursts", "episodes", "retransmissions", "probes", "idle", "intervals", "rtt", "packets"
]

__version__: str

class CaptureError(Exception):
    """Nothing could be read. The message is one sentence: file, byte offset, packet number, mend."""

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
    def write_json(self, fd: int) -> None:
        """Writes the answer (docs/json.md) to a file descriptor, flow by flow. It stays open.

        It lists the worst flows only, if there are more than `flows` of `analyze`; its totals cover all.
        """
    def table(self, name: TableName) -> Table:
        """One table. Raises ValueError if its rows were not kept (`tables`, `listed_only` of `analyze`)."""
    def interrupted(self) -> bool:
        """True if Ctrl-C ended the reading early: what was read until then is here."""

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
    tables: Sequence[TableName] = (),
    flows: int | None = 10_000,
    listed_only: bool = False,
    progress: Callable[[int, int | None, int], bool] | None = None,
) -> Analysis:
    """Reads captures (several files: one rotation, in order of time; "-": standard input) and analyses them.

    receiver: captures of the same transfer at the receiver; `paths` are then the sender's.
    flow: "ip:port-ip:port" (either order), host: an address, port: a port; start, end: seconds from the first
    packet.  tables: which of retransmissions, intervals, rtt, packets to keep (the others always are).
    flows: how many flows the JSON lists at most, the worst; None: all.  listed_only: only the JSON is wanted:
    rows of flows that it does not list are dropped as they come, and there are no tables.
    progress(bytes done, bytes in all or None, packets): called about ten times a second without the GIL held
    by the core; returning False ends the reading early and keeps what was read.
    Raises CaptureError if nothing could be read, ValueError for arguments.
    """

def annotate(analysis: Analysis, paths: Sequence[str], out: str) -> int:
    """Writes the packets of `paths` to `out` as pcapng, findings as packet comments; returns how many.

    The analysis must have been made with tables=("retransmissions",).
    """
