"""Sweeps on a real Dask cluster of several processes: the same rows, whoever is killed."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="needs Dask: pip install 'rexmit[cluster]'")

import rexmit as rx
from dask_cluster import Cluster, cluster, until
from rexmit import extras
from rexmit.sweeps import making
from rexmit.sweeps.block import Files, Watch, run_block
from rexmit.sweeps.cluster import connected
from rexmit.sweeps.cluster_engine import AHEAD, LostError
from rexmit.sweeps.engine import Threads
from rexmit.sweeps.store import Store
from test_sweep import LOSS, SCENARIO

pytestmark = pytest.mark.slow

GIVEN: dict[str, Any] = {"vary": {LOSS: ["1%", "5%"]}, "runs": 320, "tables": ("flows", "episodes")}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers."""
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What threads make of the plan."""
    folder = tmp_path_factory.mktemp("alone")
    rx.sweep(SCENARIO, into=folder, **GIVEN)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """All that lies there."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*.*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if "lock" not in name}


def small(runs: int = 64) -> str:
    """A plan of blocks of one run."""
    return making.make(SCENARIO, {}, runs=runs).to_json()


def test_a_cluster_writes_the_files_of_threads_byte_for_byte(
    two: Cluster, alone: Path, tmp_path: Path
) -> None:
    done = rx.sweep(SCENARIO, into=tmp_path, cluster=two.address, **GIVEN)
    assert done.outcome is not None
    assert done.outcome.made == 640
    assert files(tmp_path) == files(alone)


def test_a_worker_that_is_killed_in_the_middle_costs_no_row(
    two: Cluster, alone: Path, tmp_path: Path
) -> None:
    from distributed import Client

    with Client(two.address, set_as_default=False) as client:
        workers = client.run(os.getpid)
        killed: list[int] = []

        def kill(done: int, of: int | None, _: int) -> bool:
            if done and not killed:
                killed.append(next(iter(workers.values())))
                os.kill(killed[0], signal.SIGKILL)
            return True

        # A client that somebody has already is taken as it is, and stays open.
        done = rx.sweep(SCENARIO, into=tmp_path, cluster=client, progress=kill, **GIVEN)
        assert client.status == "running"
        assert killed
        assert done.outcome is not None
        assert not done.outcome.stopped
        assert files(tmp_path) == files(alone)
        # Its nanny has another one there again, for whatever comes next.
        until(lambda: len(client.nthreads()) == 2, "the worker's successor")


def test_without_its_scheduler_a_sweep_keeps_what_is_done_and_threads_go_on(
    alone: Path, tmp_path: Path
) -> None:
    into = tmp_path / "into"
    with cluster(tmp_path, 1) as one:

        def kill(done: int, of: int | None, _: int) -> bool:
            if done >= 60:
                one.scheduler.kill()
            return True

        with pytest.raises(
            LostError, match=r"the scheduler is gone; what is done is kept, and the same"
        ) as told:
            rx.sweep(SCENARIO, into=into, cluster=str(one.file), progress=kill, **GIVEN)
        assert "\n" not in str(told.value)
    kept = len(Store(into).done())
    assert kept > 0
    again = rx.sweep(SCENARIO, into=into, **GIVEN)
    assert again.outcome is not None
    assert 0 < again.outcome.made < 640
    assert files(into) == files(alone)


def dies_at_three(plan_json: str, number: int, watch: Watch | None, most: int | None) -> Files:
    """A block that no worker survives."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_block(plan_json, number, watch, most)


def test_a_block_that_ends_every_worker_is_named_after_all_others_are_made(two: Cluster) -> None:
    with connected(two.address) as engine:
        made = engine.made(small(), range(6), lambda _: True, dies_at_three)
        assert sorted(next(made)[0] for _ in range(5)) == [0, 1, 2, 4, 5]
        with pytest.raises(LostError, match=r"block 3 ended every worker that made it, the last one tcp://"):
            next(made)


def test_a_run_that_takes_too_much_memory_is_told_in_the_words_of_a_run(two: Cluster) -> None:
    found = []
    for engine_of in (lambda: connected(two.address, 1000), lambda: _threads(1000)):
        with engine_of() as engine, pytest.raises(rx.ScenarioError) as told:
            list(engine.made(small(), range(4), lambda _: True))
        found.append(str(told.value))
    assert found[0] == found[1]


def _threads(most: int) -> Any:
    from contextlib import nullcontext

    return nullcontext(Threads(1, most))


def test_blocks_are_read_as_there_is_room(two: Cluster) -> None:
    taken: list[int] = []

    def blocks() -> Iterator[int]:
        for number in range(40):
            taken.append(number)
            yield number

    with connected(two.address) as engine:
        until(lambda: _two_threads(engine), "two workers")
        done = 0
        for _ in engine.made(small(), blocks(), lambda _: True):
            done += 1
            assert len(taken) <= done + AHEAD * 2
        assert done == 40


def _two_threads(engine: Any) -> bool:
    engine._count()
    return bool(engine.threads == 2)


def slow(plan_json: str, number: int, watch: Watch | None, most: int | None) -> Files:
    """A block that takes minutes, if nobody stops it."""
    for _ in range(6000):
        time.sleep(0.01)
        if watch is not None and not watch(0):
            break
    return {}


def test_what_is_stopped_leaves_the_workers_free(two: Cluster) -> None:
    from distributed import Client

    with Client(two.address, set_as_default=False) as client:

        def executing() -> int:
            found = client.run(lambda dask_worker: len(dask_worker.state.executing))
            return sum(found.values())

        asked: list[int] = []

        def ask(_: int) -> bool:
            asked.append(executing())
            return asked[-1] == 0

        with connected(client) as engine:
            assert list(engine.made(small(), range(20), ask, slow)) == []
        assert asked[-1] > 0
        until(lambda: executing() == 0, "the end of the blocks under way")
        until(lambda: not any(client.run(_busy).values()), "the end of their threads")


def _busy(dask_worker: Any) -> int:
    """Threads that make a block."""
    return len(dask_worker.active_threads)


@pytest.mark.parametrize(
    ("preload", "told"),
    [
        ("import rexmit._core; rexmit._core.__version__ = '0.0.9'", r"has rexmit 0\.0\.9, and here is "),
        ("import sys; sys.modules['rexmit'] = None", r"has no rexmit \("),
    ],
)
def test_a_worker_with_another_rexmit_or_none_is_named_before_anything_runs(
    two: Cluster, tmp_path: Path, preload: str, told: str
) -> None:
    from distributed import Client

    other = two.worker("--no-nanny", "--name", "other", "--preload", preload)
    try:
        with Client(two.address, set_as_default=False) as client:
            until(lambda: "other" in {w["name"] for w in _workers(client)}, "the worker")
            address = next(w["address"] for w in _workers(client) if w["name"] == "other")
        with pytest.raises(ValueError, match=rf"the worker {address} {told}.*install {rx.__version__} there"):
            rx.sweep(SCENARIO, into=tmp_path / "none", cluster=two.address, runs=4)
        assert not (tmp_path / "none").exists()
    finally:
        two.end(other)


def _workers(client: Any) -> Iterable[dict[str, Any]]:
    return [w | {"address": a} for a, w in client.scheduler_info(n_workers=-1)["workers"].items()]


def test_a_worker_that_comes_later_with_another_rexmit_is_named_too(tmp_path: Path) -> None:
    with cluster(tmp_path, 1) as one, connected(one.address) as engine:
        engine._client.run(_another_version)
        with pytest.raises(ValueError, match=r"the worker tcp://\S+ has rexmit 0\.0\.9, and here is"):
            list(engine.made(small(), range(2), lambda _: True))


def _another_version() -> None:
    from rexmit import _core

    _core.__version__ = "0.0.9"  # type: ignore[misc]


def test_where_no_scheduler_answers_a_sentence_says_so_soon(tmp_path: Path) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        taken = mute.getsockname()[1]
        for listens in (False, True):
            if listens:
                mute.listen()
            began = time.monotonic()
            with pytest.raises(ValueError, match=rf"127\.0\.0\.1:{taken}: no Dask scheduler answers there"):
                rx.sweep(SCENARIO, into=tmp_path / "none", cluster=f"tcp://127.0.0.1:{taken}", runs=4)
            assert time.monotonic() - began < 12
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("cluster", "told"),
    [
        ("head:8786", "names no cluster"),
        ("local:0", "from local:1 to local:1024"),
        ("foo://head:8786", "no Dask scheduler answers there .*unknown address scheme"),
        ("nowhere/scheduler.json", "there is no such file"),
        (4, "int is no name of a cluster"),
    ],
)
def test_what_names_no_cluster_is_refused(cluster: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        rx.sweep(SCENARIO, cluster=cluster, runs=4)


@pytest.mark.parametrize("package", ["distributed", "cryptography"])
def test_without_a_package_the_fix_is_named(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from rexmit.cli import main; sys.exit(main())"
    command = ["sweep", "scenarios/wifi-bursts.toml", "--cluster", "local:2"]
    found = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True)
    assert found.returncode == 2
    assert found.stderr == f"rexmit: --cluster needs {package}: {extras.command('cluster')}\n"


def test_worker_processes_of_this_machine_talk_only_to_who_has_their_key() -> None:
    import psutil

    me = psutil.Process()

    def listening() -> set[Any]:
        processes = (me, *me.children(recursive=True))
        lines = [line for process in processes for line in process.net_connections("tcp")]
        return {line.laddr for line in lines if line.status == psutil.CONN_LISTEN}

    before = listening()
    with connected("local:1"):
        opened = listening() - before
        assert {address.ip for address in opened} == {"127.0.0.1"}
        answers = sorted(_answer_to_a_stranger(address.port) for address in opened)
        # The scheduler, the worker and the worker's nanny, and two ports of Dask's for pages.
        assert answers == ["404"] * 2 + ["certificate required"] * 3


def _answer_to_a_stranger(port: int) -> str:
    """What a port answers to a process that has no key: statuses of HTTP, or why TLS ended."""
    statuses = set()
    try:
        for page in (
            "/health",
            "/json/identity.json",
            "/info/main/workers.html",
            "/metrics",
        ):
            http = HTTPConnection("127.0.0.1", port, timeout=20)
            http.request("GET", page)
            statuses.add(str(http.getresponse().status))
            http.close()
        return ", ".join(sorted(statuses))
    except TimeoutError:
        return "waits for more"
    except (HTTPException, OSError):
        pass
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    line = socket.create_connection(("127.0.0.1", port), timeout=20)
    with line, pytest.raises(ssl.SSLError) as ended, context.wrap_socket(line) as known:
        known.recv(1)
    return "certificate required" if "certificate required" in str(ended.value) else str(ended.value)


def test_ctrl_c_on_worker_processes_of_this_machine_keeps_what_is_done_and_says_one_sentence(
    tmp_path: Path,
) -> None:
    scenario, into = tmp_path / "small.toml", tmp_path / "into"
    scenario.write_text(SCENARIO)
    command = [sys.executable, "-m", "rexmit", "sweep", str(scenario), "--runs", "200000"]
    command += ["--table", "episodes", "--out", str(into), "--cluster", "local:2", "--json"]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until(lambda: len(Store(into).done()) >= 2, "two blocks")
    # As a terminal does: to all of them.
    os.killpg(child.pid, signal.SIGINT)
    began = time.monotonic()
    out, said = child.communicate(timeout=30)
    assert time.monotonic() - began < 20
    assert child.returncode == 1
    assert said == "rexmit: stopped before all runs were done\n"
    assert out.startswith("{")
    until(lambda: not _alive(child.pid), "the end of all its processes")


def _alive(leader: int) -> list[Any]:
    """Processes that it began, without those that nobody has asked how they ended."""
    import psutil

    found = []
    for process in psutil.process_iter(["status"]):
        with suppress(OSError):
            if os.getsid(process.pid) == leader and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
