//! Requests and answers of a connection: who sent when, and what each answer was waited for.
//!
//! A turn begins where a host sends new data while nothing of its own is outstanding, and either the other host has sent since, or
//! its own program paused. For how long it was waited for is seen; how much of that its program took follows from the rows of
//! `waits`, which have the time of packets under way and that of programs as sums over stretches.

use crate::container::{self, Values, pack};
use crate::packets::Packets;
use crate::text::list;
use analysis::rows::{Role, Wait};
use analysis::waits::Stretch;
use wire::Time;

/// What one host sent before the other answered. Times count from the origin of the capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// 0: the client; 1: the server.
    pub side: usize,
    pub start_ns: i64,
    /// Of its last new data.
    pub end_ns: i64,
    /// Those that this capture lacks are counted.
    pub bytes: u64,
    /// From the end of the message before, as both pass the place of the capture; None of the first one of each host that answers nothing.
    pub waited_ns: Option<i64>,
    /// The message before is the other host's; else it is one of the same host.
    pub answers: bool,
    /// The part of it that this host's program took, which is the last; packets were under way before.
    pub program_ns: i64,
}

impl Turn {
    fn go_on(&mut self, end_ns: i64, bytes: u64) {
        (self.end_ns, self.bytes) = (end_ns, self.bytes + bytes);
    }
}

/// The turns of a connection in order of their beginnings. None where there is no answer among them, or the packets are not kept.
pub fn of(packets: &Packets, connection: u32, waits: &[Stretch], origin: Time) -> Vec<Turn> {
    if waits.iter().all(|stretch| stretch.turns == [0; 2]) {
        return Vec::new();
    }
    let mut turns = spoken(packets, connection);
    if !turns.iter().any(|turn| turn.answers) {
        return Vec::new();
    }
    (0..2).for_each(|side| share(&mut turns, side, waits, origin));
    joined(turns)
}

/// A packet with data beyond all that its host had sent.
struct Said {
    side: usize,
    row: usize,
    /// Bytes from the end of what was sent before to its own.
    beyond: i64,
}

fn spoken(packets: &Packets, connection: u32) -> Vec<Turn> {
    let said = |side: usize| {
        let mut upto = None;
        packets.of(2 * connection + side as u32).filter_map(move |row| {
            let (start, len) = (packets.seq[row], i64::from(packets.len[row]));
            let beyond = start + len - upto.unwrap_or(start);
            let is_new = packets.data[row] == 1 && len > 0 && beyond > 0;
            upto = if is_new { Some(start + len) } else { upto };
            is_new.then_some(Said { side, row, beyond })
        })
    };
    let at =
        |said: Option<&Said>| said.map_or((i64::MAX, 0), |s| (packets.time_ns[s.row], packets.packet[s.row]));
    let mut hosts = [said(0).peekable(), said(1).peekable()];
    let mut turns: Vec<Turn> = Vec::new();
    // The turn of each host that may go on.
    let mut open: [Option<usize>; 2] = [None; 2];
    loop {
        let first = hosts.each_mut().map(|host| at(host.peek()));
        let Some(Said { side, row, beyond }) = hosts[usize::from(first[1] < first[0])].next() else {
            return turns;
        };
        let (at, bytes) = (packets.time_ns[row], beyond as u64);
        let [own, other] = [side, 1 - side].map(|side| open[side].map(|turn| turns[turn]));
        let idle = packets.flight[row] <= beyond;
        let answered = other.filter(|other| idle && own.is_none_or(|own| other.start_ns >= own.end_ns));
        match open[side].filter(|_| !idle) {
            Some(own) => turns[own].go_on(at, bytes),
            None => {
                open[side] = Some(turns.len());
                let waited_ns = answered.or(own).map(|before| at - before.end_ns);
                let answers = answered.is_some();
                turns.push(Turn { side, start_ns: at, end_ns: at, bytes, waited_ns, answers, program_ns: 0 });
            }
        }
    }
}

/// Rows of waits are hardly ever shorter: of a shorter pause they do not say whose it was.
const PAUSE_NS: i64 = 10_000_000;

/// What a host sent after its own message is one with it, unless its program took most of the time in between.
fn joined(turns: Vec<Turn>) -> Vec<Turn> {
    let mut kept: Vec<Turn> = Vec::with_capacity(turns.len());
    let mut last: [Option<usize>; 2] = [None; 2];
    for turn in turns {
        let paused = turn.waited_ns.is_none_or(|waited| waited >= PAUSE_NS && turn.program_ns * 2 >= waited);
        match last[turn.side].filter(|_| !turn.answers && !paused) {
            Some(before) => kept[before].go_on(turn.end_ns, turn.bytes),
            None => {
                last[turn.side] = Some(kept.len());
                kept.push(turn);
            }
        }
    }
    kept
}

/// The program's part of each wait: what is left when the packets under way have their part, which is the same for all waits
/// within the same stretches, and no more than the program took there. side: whose packets were under way.
fn share(turns: &mut [Turn], side: usize, waits: &[Stretch], origin: Time) {
    let gap = |turn: &Turn| {
        let under_way = if turn.answers { 1 - turn.side } else { turn.side };
        turn.waited_ns.filter(|_| under_way == side).map(|waited| (turn.start_ns - waited, turn.start_ns))
    };
    let mut gaps: Vec<(i64, i64)> = turns.iter().filter_map(gap).collect();
    gaps.sort_unstable();
    let mut gap_ends: Vec<i64> = gaps.iter().map(|gap| gap.1).collect();
    gap_ends.sort_unstable();
    let (starts, ends): (Vec<i64>, Vec<i64>) =
        waits.iter().map(|w| ((w.start - origin).0, (w.end - origin).0)).unzip();
    for turn in turns {
        let Some((from, to)) = gap(turn) else { continue };
        let over = ends.partition_point(|end| *end <= from)..starts.partition_point(|s| *s < to);
        let Some(stretches) = waits.get(over.clone()).filter(|some| !some.is_empty()) else { continue };
        let sum = |side: usize, wait: Wait| stretches.iter().map(|w| w.of(side, wait).0).sum::<i64>();
        let (first, last) = (starts[over.start], ends[over.end - 1]);
        let so_many =
            gaps.partition_point(|gap| gap.0 < last) - gap_ends.partition_point(|end| *end <= first);
        let trip = sum(side, Wait::Path) / (so_many as i64).max(1);
        turn.program_ns = (to - from - trip).clamp(0, sum(turn.side, Wait::Program).min(to - from));
    }
}

/// As a page reads them.
pub fn container(turns: &[Turn]) -> Vec<u8> {
    let whole = |of: &dyn Fn(&Turn) -> i64| turns.iter().map(of).collect::<Vec<i64>>();
    let micro = |ns: i64| (ns + 500) / 1000;
    let column = |name, values, delta| container::Column::of(name, values, delta);
    let columns = [
        column("time_ns", Values::real(&whole(&|t| t.start_ns)), true),
        column("end_ns", Values::real(&whole(&|t| t.end_ns)), true),
        column("host", Values::U8(turns.iter().map(|t| t.side as u8).collect()), false),
        column("bytes", Values::whole(&whole(&|t| t.bytes as i64)), false),
        column("answers", Values::U8(turns.iter().map(|t| t.answers.into()).collect()), false),
        column("waited_us", Values::whole(&whole(&|t| t.waited_ns.map_or(-1, micro))), false),
        column("program_us", Values::whole(&whole(&|t| micro(t.program_ns))), false),
    ];
    let hosts = list([0, 1].map(|side| Role::of(side).name()));
    pack("table", &columns, &format!(",\"words\":{{\"host\":{hosts}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::Reading;
    use analysis::rows::PacketRow;
    use wire::Span;

    const MS: i64 = 1_000_000;

    /// Packets of data: host, time in ms, sequence number, length, bytes in flight after it.
    fn sent(all: &[(u32, i64, u64, u32, u64)]) -> Packets {
        let mut reading = Reading::new(false).unwrap();
        for side in 0..2 {
            for (packet, &(flow, ms, seq, len, flight_bytes)) in (1..).zip(all) {
                if flow == side {
                    let time = Time(ms * MS);
                    let row = PacketRow {
                        flow,
                        packet,
                        time,
                        data: true,
                        seq,
                        len,
                        flight_bytes,
                        ..PacketRow::default()
                    };
                    reading.push(&row, Time::ZERO);
                }
            }
        }
        reading.end().unwrap()
    }

    /// Of one stretch: ms under way and of programs of the client and of the server, and turns.
    fn stretch(from: i64, to: i64, path: [i64; 2], program: [i64; 2], turns: [u32; 2]) -> Stretch {
        let mut row = Stretch { start: Time(from * MS), end: Time(to * MS), turns, ..Stretch::default() };
        for side in 0..2 {
            row.waited[side][Wait::Path as usize] = Span(path[side] * MS);
            row.waited[side][Wait::Program as usize] = Span(program[side] * MS);
        }
        row
    }

    fn told(turns: &[Turn]) -> Vec<(usize, i64, i64, u64, Option<i64>, i64)> {
        let one = |t: &Turn| {
            (
                t.side,
                t.start_ns / MS,
                t.end_ns / MS,
                t.bytes,
                t.waited_ns.map(|ns| ns / MS),
                t.program_ns / MS,
            )
        };
        turns.iter().map(one).collect()
    }

    /// Two requests; the server answers the first after 10 ms, in three segments, and the second after 200 ms.
    const ASKED: [(u32, i64, u64, u32, u64); 6] = [
        (0, 0, 1, 100, 100),
        (1, 50, 1, 1000, 1000),
        (1, 51, 1001, 1000, 2000),
        (1, 52, 2001, 500, 2500),
        (0, 55, 101, 100, 100),
        (1, 295, 2501, 300, 300),
    ];

    #[test]
    fn an_answer_has_the_time_of_its_program_and_that_of_the_path() {
        let waits = [
            stretch(0, 55, [40, 2], [3, 10], [1, 1]),
            stretch(55, 95, [40, 0], [0, 0], [0, 1]),
            stretch(95, 295, [0, 0], [0, 200], [0, 0]),
        ];
        let turns = of(&sent(&ASKED), 0, &waits, Time::ZERO);
        assert_eq!(
            told(&turns),
            [
                (0, 0, 0, 100, None, 0),
                (1, 50, 52, 2500, Some(50), 10),
                (0, 55, 55, 100, Some(3), 1),
                (1, 295, 295, 300, Some(240), 200)
            ],
            "the client's program took what is left when the server's last segments had come"
        );
    }

    #[test]
    fn answers_within_one_stretch_have_the_same_time_under_way() {
        let waits = [stretch(0, 295, [80, 0], [3, 210], [1, 2])];
        let programs: Vec<i64> =
            of(&sent(&ASKED), 0, &waits, Time::ZERO).iter().map(|t| t.program_ns / MS).collect();
        assert_eq!(programs, [0, 10, 3, 200]);
    }

    #[test]
    fn data_of_both_hosts_at_once_is_no_conversation() {
        let both: Vec<_> = (0..20)
            .map(|k| {
                (k % 2, i64::from(k), 1 + u64::from(k / 2) * 1000, 1000, 1000 * u64::from(k / 2 + 1).min(5))
            })
            .collect();
        let waits = [stretch(0, 20, [20, 0], [0, 0], [0, 1])];
        let turns = of(&sent(&both), 0, &waits, Time::ZERO);
        assert_eq!(turns.len(), 2, "{turns:?}");
        assert_eq!(turns[0].bytes + turns[1].bytes, 20_000);
    }

    #[test]
    fn an_answer_of_which_the_first_segments_were_lost_is_one() {
        let mut packets = ASKED;
        packets[5] = (1, 295, 4501, 300, 2300);
        let waits = [stretch(0, 295, [80, 0], [3, 210], [1, 2])];
        let turns = of(&sent(&packets), 0, &waits, Time::ZERO);
        assert_eq!((turns.len(), turns[3].bytes), (4, 2300));
    }

    #[test]
    fn a_host_that_goes_on_after_a_pause_of_its_program_has_a_turn_of_its_own() {
        let mut packets = ASKED.to_vec();
        packets.push((1, 1295, 2801, 300, 300));
        packets.push((1, 1340, 3101, 300, 300));
        let waits = [
            stretch(0, 295, [80, 0], [3, 210], [1, 2]),
            stretch(295, 1295, [0, 40], [0, 960], [0, 0]),
            stretch(1295, 1340, [0, 43], [0, 2], [0, 0]),
        ];
        let turns = of(&sent(&packets), 0, &waits, Time::ZERO);
        assert_eq!(
            told(&turns)[4..],
            [(1, 1295, 1340, 600, Some(1000), 960)],
            "no pause, but the wait for an ACK"
        );
        assert!(turns[3].answers && !turns[4].answers);
    }

    #[test]
    fn where_nobody_answers_there_are_no_turns() {
        let waits = [stretch(0, 295, [295, 0], [0, 0], [0, 0])];
        assert_eq!(of(&sent(&ASKED), 0, &waits, Time::ZERO), []);
        let one_way = [(0, 0, 1, 100, 100), (0, 300, 101, 100, 100)];
        let waits = [stretch(0, 295, [295, 0], [0, 0], [1, 0])];
        assert_eq!(of(&sent(&one_way), 0, &waits, Time::ZERO), []);
    }
}
