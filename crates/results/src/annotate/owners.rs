//! Who owns each moment of a connection, told at the first packet of either direction that stands in it.

use crate::connections::OwnerRow;
use analysis::rows::{FlowId, PacketRow};
use std::collections::HashMap;
use std::ops::Range;

pub(super) struct Begun<'a> {
    rows: &'a [OwnerRow],
    /// By its number where the rows of each connection are.
    of: HashMap<u32, Range<usize>>,
    /// Of each row its first packet, if it has one.
    first: Vec<Option<u64>>,
    /// By its number the last packet of each connection.
    last: HashMap<u32, u64>,
    /// The flow whose packets come, and how many rows its packets have come to.
    at: (FlowId, usize),
}

impl Begun<'_> {
    pub fn of(rows: &[OwnerRow]) -> Begun<'_> {
        let mut of: HashMap<u32, Range<usize>> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            of.entry(row.flow / 2).and_modify(|range| range.end = place + 1).or_insert(place..place + 1);
        }
        Begun { rows, of, first: vec![None; rows.len()], last: HashMap::new(), at: (FlowId::MAX, 0) }
    }

    /// The next packet of a flow.
    pub fn packet(&mut self, flow: FlowId, p: &PacketRow) {
        let Some(range) = self.of.get(&(flow / 2)) else { return };
        if self.at.0 != flow {
            self.at = (flow, range.start);
        }
        let behind = range.end;
        self.last.entry(flow / 2).and_modify(|last| *last = p.packet.max(*last)).or_insert(p.packet);
        // Of several rows that begin no later than this packet it stands in the last.
        let mut stands = None;
        while self.at.1 < behind && self.rows[self.at.1].start <= p.time {
            stands = Some(self.at.1);
            self.at.1 += 1;
        }
        if let Some(row) = stands {
            let first = &mut self.first[row];
            *first = Some(first.map_or(p.packet, |packet| packet.min(p.packet)));
        }
    }

    /// Each row that has a packet, at the first of them; and where the packets of a connection end.
    pub fn comments(self) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        for (number, range) in self.of {
            // Of rows that come to the same packet in different directions it stands in the last.
            let mut next = u64::MAX;
            for place in range.rev() {
                if let Some(first) = self.first[place].filter(|first| *first < next) {
                    all.push((first, text(&self.rows[place])));
                    next = first;
                }
            }
            all.extend(self.last.get(&number).map(|last| (*last, "rexmit: no owner after this".to_owned())));
        }
        all
    }
}

fn text(row: &OwnerRow) -> String {
    let by = row.by.map_or(String::new(), |by| format!(" of the {}", by.name()));
    format!("rexmit: owner {}{by} ({})", row.cause.name(), row.certainty.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::rows::Role;
    use analysis::sure::Certainty;
    use explain::cause::Cause;
    use wire::Time;

    fn row(flow: FlowId, start: i64, cause: Cause, by: Option<Role>) -> OwnerRow {
        let (start, end) = (Time(start), Time(start + 10));
        OwnerRow { flow, start, end, cause, by, certainty: Certainty::Likely }
    }

    #[test]
    fn an_owner_is_told_at_the_first_packet_of_either_direction() {
        let rows = [
            row(2, 0, Cause::Handshake, None),
            row(2, 10, Cause::Outage, None),
            row(2, 20, Cause::Bottleneck, None),
            row(4, 0, Cause::SenderIdle, Some(Role::Client)),
        ];
        let mut begun = Begun::of(&rows);
        let packets = [(2, 1, 0), (2, 4, 25), (3, 2, 5), (3, 3, 20), (4, 9, 3), (6, 10, 0)];
        for (flow, packet, time) in packets {
            begun.packet(flow, &PacketRow { packet, time: Time(time), ..PacketRow::default() });
        }
        let mut told = begun.comments();
        told.sort();
        assert_eq!(
            told,
            [
                (1, "rexmit: owner handshake (likely)".into()),
                (3, "rexmit: owner bottleneck (likely)".into()),
                (4, "rexmit: no owner after this".into()),
                (9, "rexmit: no owner after this".into()),
                (9, "rexmit: owner sender-idle of the client (likely)".into()),
            ],
            "no packet stands in the outage"
        );
    }
}
