"""A real Dask cluster on loopback: a scheduler and worker processes, each of which can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
#: Starting a process of Dask's, on a machine that has other things to do.
PATIENCE_S = 60.0


def until(there: Callable[[], bool], what: str) -> None:
    """Waits for it."""
    ends = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < ends, f"{what}: not within {PATIENCE_S:g} s"
        time.sleep(0.02)


class Cluster:
    """A scheduler, and what joins it."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.file = folder / "scheduler.json"
        self._log = open(folder / "log", "ab")  # noqa: SIM115
        self._environment = os.environ | {
            "PYTHONPATH": str(HERE),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            "DASK_TEMPORARY_DIRECTORY": str(folder),
        }
        self._all: list[subprocess.Popen[bytes]] = []
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.scheduler = self._begin("scheduler", "--scheduler-file", str(self.file), *options)
        # It is there before all of it is written.
        until(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"), "the scheduler")
        import json

        self.address = str(json.loads(self.file.read_text())["address"])
        for _ in range(workers):
            self.worker()

    def worker(self, *options: str) -> subprocess.Popen[bytes]:
        """One more worker process of one thread under a nanny; options: of `dask worker`."""
        return self._begin("worker", self.address, "--nthreads", "1", "--no-dashboard", *options)

    def _begin(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        child = subprocess.Popen(command, env=self._environment, stdout=self._log, stderr=self._log)
        self._all.append(child)
        return child

    def end(self, child: subprocess.Popen[bytes]) -> None:
        """A process that goes as it does when asked to."""
        child.send_signal(signal.SIGTERM)
        child.wait(PATIENCE_S)
        self._all.remove(child)

    def close(self) -> None:
        """Ends whatever is left."""
        for child in reversed(self._all):
            child.terminate()
        for child in self._all:
            try:
                child.wait(3)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._log.close()


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster whose workers are all there."""
    from distributed import Client

    made = Cluster(folder, workers)
    try:
        with Client(made.address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=PATIENCE_S)
        yield made
    finally:
        made.close()
