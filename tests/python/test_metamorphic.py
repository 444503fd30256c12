"""Changes of a capture that must not change its answer: what each does to packets, and answers that are kept.

`python validation/metamorphic.py --draws 207 --seed S` measures them over many captures.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import rexmit as rx

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation"))
import metamorphic
from metamorphic_relations import answers
from metamorphic_relations.capture import Capture, read, write
from metamorphic_relations.listed import RELATIONS
from metamorphic_relations.packet import SYN, Packet, option_places, with_tcp, words
from metamorphic_relations.relation import Changed, Given, Relation
from situation.kinds import kind_of

DATA = Path(__file__).resolve().parents[1] / "data"
BY_NAME = {relation.name: relation for relation in RELATIONS}
SEED = 1
#: Captures, and the relations that keep the answer about them or make it less certain; without names, all.
KEPT: dict[str, tuple[str, ...]] = {
    "cases/acks_with_padding.pcap.gz": (),
    "cases/push_with_a_missing_id.pcap.gz": (),
    "cases/four_copies_some_late.pcap.gz": (),
    "cases/real_four_copies_cut.pcap.gz": (),
    "cases/device_with_one_id_row.pcap.gz": ("gro",),
    "tsoloss.snd.pcap.gz": (),
    "tsoloss.rcv.pcap.gz": (),
    "A1_reno_22M_deep_200ms.snd.pcap.gz": ("tso",),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Capture]:
    """A simulated upload with losses, at both ends, with its payload."""
    folder = tmp_path_factory.mktemp("whole")
    scenario = kind_of("upload-random-loss").drawn(1).scenario("upload", 1, {"capture": ["client", "server"]})
    rx.run(scenario, captures=folder)
    found = {}
    for node in ("client", "server"):
        capture = read(folder / f"{node}.pcapng", node)
        packets = [p if p.tcp < 0 else filled(p) for p in capture.packets[:1000]]
        found[node] = capture.having(packets)
    return found


def filled(p: Packet) -> Packet:
    """The packet with a payload that follows from its sequence number."""
    return with_tcp(p, p.header, Random(p.seq).randbytes(p.payload)) if p.payload else p


def changed(name: str, capture: Capture, flows: list[answers.Json] | None = None) -> Changed:
    return BY_NAME[name].apply(Given(capture, flows or [], Random(SEED)))


def only(result: Changed) -> list[Packet]:
    """The packets of the one file that there is."""
    [capture] = result.parts
    return capture.packets


def kinds(p: Packet) -> set[int]:
    return {kind for kind, _, _ in option_places(p.options)}


def stream(packets: list[Packet]) -> dict[object, tuple[int, bytes]]:
    """How much payload each direction sent, copies included, and the payload in order."""
    found: dict[object, bytearray] = {}
    sizes: dict[object, int] = {}
    first: dict[object, int] = {}
    for p in packets:
        data = found.setdefault(p.ends, bytearray())
        at = (p.seq - first.setdefault(p.ends, p.seq) + 10) % 2**32
        data.extend(bytes(max(0, at + p.payload - len(data))))
        data[at : at + p.payload] = p.body
        sizes[p.ends] = sizes.get(p.ends, 0) + p.payload
    return {ends: (sizes[ends], bytes(data).strip(b"\0")) for ends, data in found.items()}


def said_of(capture: Capture, folder: Path) -> answers.Said:
    return answers.asked([write(capture, folder / "asked.pcap")])


def bad_checksums(capture: Capture, folder: Path) -> int:
    """How many rexmit finds wrong; all are there."""
    checksums = rx.capture(write(capture, folder / "checked.pcap"), checksums=True).info["checksums"]
    assert checksums["verified"] == len(capture.packets)
    bad: int = checksums["bad"]
    return bad


def test_a_capture_is_written_as_it_was_read(whole: dict[str, Capture], tmp_path: Path) -> None:
    for capture in whole.values():
        again = read(write(capture, tmp_path / "again.pcap"), capture.name)
        assert again.packets == capture.packets
        assert again.link == capture.link
        assert bad_checksums(capture, tmp_path) == 0


def test_without_its_handshake_a_capture_has_no_syn_and_all_of_the_data(whole: dict[str, Capture]) -> None:
    capture = whole["client"]
    packets = only(changed("handshake", capture))
    assert not any(p.flags & SYN for p in packets)
    assert len(packets) == len(capture.packets) - 2
    assert stream(packets) == stream(capture.packets)


def test_cut_packets_keep_their_length_and_their_first_bytes(whole: dict[str, Capture]) -> None:
    capture = whole["client"]
    fixed, options = (only(changed(name, capture)) for name in ("snap-fixed", "snap-options"))
    for p, short, longer in zip(capture.packets, fixed, options, strict=True):
        assert short.data == p.data[: p.tcp + 20]
        assert longer.data == p.data[: p.tcp + p.header]
        assert short.length == longer.length == p.length


@pytest.mark.parametrize(("name", "gone"), [("timestamps", {8}), ("sack", {4, 5})])
def test_options_give_way_to_no_operations(
    whole: dict[str, Capture], tmp_path: Path, name: str, gone: set[int]
) -> None:
    capture = whole["client"]
    result = changed(name, capture)
    before, after = (set[int]().union(*map(kinds, c.packets)) for c in (capture, *result.parts))
    assert gone <= before
    assert after == (before | {1}) - gone
    assert bad_checksums(result.parts[0], tmp_path) == 0
    for p, q in zip(capture.packets, only(result), strict=True):
        assert q.data[: q.tcp + 16] == p.data[: p.tcp + 16]
        assert q.body == p.body


def test_doubled_each_packet_comes_twice_within_60_ms(whole: dict[str, Capture]) -> None:
    capture = whole["client"]
    packets = only(changed("doubled", capture))
    end = capture.packets[-1].time
    assert [p.time for p in packets] == sorted(p.time for p in packets)
    assert packets[-1].time <= end
    copies: dict[int, list[int]] = {}
    for p in packets:
        copies.setdefault(id(p.data), []).append(p.time)
    twice = [times for times in copies.values() if len(times) == 2]
    assert all(b - a <= 60_000_000 for a, b in twice)
    early = sum(p.time < end - 60_000_000 for p in capture.packets)
    assert len(twice) >= early > 500


def test_another_flow_leaves_all_packets_where_they_were(whole: dict[str, Capture], tmp_path: Path) -> None:
    capture = whole["client"]
    result = changed("other-flow", capture)
    known = set(map(id, capture.packets))
    assert [p for p in only(result) if id(p) in known] == capture.packets
    others = [p for p in only(result) if id(p) not in known]
    assert {words(end) for p in others for end in p.ends} == {"192.0.2.77:50077", "198.51.100.9:443"}
    assert others[-1].time <= capture.packets[-1].time
    assert bad_checksums(result.parts[0], tmp_path) == 0
    assert len(said_of(result.parts[0], tmp_path).answers) == 2


def ids(packets: list[Packet], ends: object) -> list[int]:
    return [int.from_bytes(p.data[p.ip + 4 : p.ip + 6], "big") for p in packets if p.ends == ends]


def test_identifications_are_zero_drawn_or_counted(whole: dict[str, Capture], tmp_path: Path) -> None:
    capture = whole["client"]
    flows = said_of(capture, tmp_path).flows
    results = {name: changed(name, capture, flows) for name in ("id-zero", "id-random", "id-counter")}
    packets = {name: only(result) for name, result in results.items()}
    [local] = {sender for sender, _ in Given(capture, flows, Random(SEED)).directions("sender")}
    for direction in {p.ends for p in capture.packets}:
        zero, drawn, counted = (ids(packets[name], direction) for name in packets)
        assert set(zero) == {0}
        assert len(set(drawn)) > 0.9 * len(drawn)
        if direction[0] == local:
            assert {(b - a) % 0x10000 for a, b in pairwise(counted)} == {1}
        else:
            assert counted == ids(capture.packets, direction)
    for result in results.values():
        assert bad_checksums(result.parts[0], tmp_path) == 0
        assert {ip_sum(p) for p in only(result)} == {0xFFFF}


def ip_sum(p: Packet) -> int:
    """The ones' complement sum of an IPv4 header, computed in another way than the relations do."""
    total = int.from_bytes(p.data[p.ip : p.tcp], "big") % 0xFFFF
    return total or 0xFFFF


@pytest.mark.parametrize(("name", "node", "place"), [("tso", "client", 0), ("gro", "server", -1)])
def test_merged_segments_hold_the_same_bytes(
    whole: dict[str, Capture], tmp_path: Path, name: str, node: str, place: int
) -> None:
    capture = whole[node]
    if name == "gro":
        # The receiver acknowledges each segment, and the slowest link keeps them apart: nothing to merge.
        assert only(changed(name, capture, said_of(capture, tmp_path).flows)) == capture.packets
        capture = capture.having([p.at(p.time // 50) for p in capture.packets if p.payload])
    packets = only(changed(name, capture, said_of(whole[node], tmp_path).flows))
    assert len(packets) < 0.9 * len(capture.packets)
    assert stream(packets) == stream(capture.packets)
    assert [p.time for p in packets] == sorted(p.time for p in packets)
    times = {(p.ends, p.seq + p.payload): p.time for p in reversed(capture.packets)}
    for p in packets:
        assert ip_sum(p) == 0xFFFF
        assert p.length == len(p.data) == p.tcp + p.header + p.payload
        assert int.from_bytes(p.data[p.ip + 2 : p.ip + 4], "big") == len(p.data) - p.ip
        if place == 0:
            assert p in capture.packets or p.time <= times[p.ends, p.seq + p.payload]


def test_a_shifted_clock_keeps_distances_to_200_ppm(whole: dict[str, Capture]) -> None:
    capture = whole["client"]
    packets = only(changed("clock", capture))
    shift = packets[0].time - capture.packets[0].time
    span = capture.packets[-1].time - capture.packets[0].time
    assert shift
    assert 0 < abs(packets[-1].time - capture.packets[-1].time - shift) <= 200e-6 * span
    assert [p.data for p in packets] == [p.data for p in capture.packets]


def test_the_parts_of_a_rotation_are_the_capture(whole: dict[str, Capture]) -> None:
    capture = whole["client"]
    parts = changed("rotation", capture).parts
    assert len(parts) > 1
    assert [p for part in parts for p in part.packets] == capture.packets


def test_anonymised_nothing_has_its_old_name(whole: dict[str, Capture], tmp_path: Path) -> None:
    capture = whole["client"]
    result = changed("anonymised", capture)
    assert bad_checksums(result.parts[0], tmp_path) == 0
    names: dict[object, object] = {}
    for p, q in zip(capture.packets, only(result), strict=True):
        assert result.renamed[p.connection] == q.connection
        for old, new in zip(p.ends, q.ends, strict=True):
            assert old[0] != new[0]
            assert old[1] != new[1]
            assert names.setdefault(old, new) == new
        assert p.data[p.tcp + 4 : p.tcp + 16] == q.data[q.tcp + 4 : q.tcp + 16]
        assert p.body == q.body


def test_a_capture_that_is_cut_off_is_the_beginning_of_itself(whole: dict[str, Capture]) -> None:
    capture = whole["client"]
    result = changed("cut", capture)
    packets = only(result)
    assert packets == capture.packets[: len(packets)]
    assert result.cut is not None
    assert packets[-1].time <= result.cut < capture.packets[len(packets)].time


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[metamorphic.Outcome]:
    tasks = [
        metamorphic.Task(DATA / name, name, relations or tuple(BY_NAME), SEED, None)
        for name, relations in KEPT.items()
    ]
    return [outcome for task in tasks for outcome in metamorphic.worked(task).outcomes]


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.name)
def test_answers_are_kept(outcomes: list[metamorphic.Outcome], relation: Relation) -> None:
    each = [o for o in outcomes if o.relation == relation.name]
    assert each, "the relation changes none of these captures"
    assert [o for o in each if o.outcome == answers.CHANGED] == []
    if not relation.may_weaken:
        assert [o for o in each if o.outcome != answers.KEPT] == []


def an_answer(cause: str, certainty: str, seconds: float) -> answers.Answer:
    return answers.Answer(cause, certainty, seconds, "", 0, 0, 0.1, [])


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        (an_answer("outage", "likely", 10.4), "kept"),
        (an_answer("outage", "known", 9.6), "kept"),
        (an_answer("outage", "open", 10.0), "less certain"),
        (an_answer("loss-queue", "open", 4.0), "less certain"),
        (an_answer("cannot-tell", "likely", 3.0), "less certain"),
        (an_answer("outage", "likely", 10.6), "changed"),
        (an_answer("loss-queue", "likely", 10.0), "changed"),
        (None, "changed"),
    ],
)
def test_an_answer_is_kept_less_certain_or_changed(after: answers.Answer | None, outcome: str) -> None:
    assert answers.compared(an_answer("outage", "likely", 10.0), after) == outcome


def test_an_answer_that_could_not_tell_before_is_kept() -> None:
    before = an_answer("cannot-tell", "open", 10.0)
    assert answers.compared(before, an_answer("cannot-tell", "open", 10.1)) == "kept"
    assert answers.compared(before, an_answer("outage", "likely", 10.0)) == "changed"


def test_of_a_capture_cut_off_each_moment_waits_for_the_same() -> None:
    def seen(*waits: tuple[int, int, str]) -> answers.Answer:
        answer = an_answer("outage", "likely", 1.0)
        seconds = 1_000_000_000
        answer.waits = [(a * seconds, b * seconds, {("client", what): float(b - a)}) for a, b, what in waits]
        return answer

    before = seen((0, 4, "ack"), (4, 10, "program"))
    cut = 9_000_000_000
    assert answers.compared_until(cut, before, seen((0, 4, "ack"), (4, 9, "timer"))) == "kept"
    assert answers.compared_until(cut, before, seen((0, 4, "unknown"), (4, 9, "program"))) == "less certain"
    assert answers.compared_until(cut, before, seen((0, 4, "timer"), (4, 9, "program"))) == "changed"


def test_every_relation_says_what_it_does() -> None:
    assert all(relation.apply.__doc__ for relation in RELATIONS)
    assert len(BY_NAME) == len(RELATIONS)


def test_the_same_capture_counts_once(tmp_path: Path) -> None:
    for name in ("one.pcap", "two.pcap", "notes.txt"):
        (tmp_path / name).write_bytes(b"same")
    assert [name for _, name in metamorphic.captures([tmp_path])] == ["one.pcap"]
