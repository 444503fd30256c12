//! Findings as comments on packets: what Wireshark shows beside them.

mod owners;
mod places;

use crate::connections::OwnerRow;
use crate::json::lists::Item;
use crate::spool::{ByFlow, Shelf};
use analysis::rows::*;
use analysis::words;
use std::collections::HashMap;
use std::io;
use wire::Time;

/// The comments, by packet number, in ascending order. Needs the rows of retransmissions and packets.
///
/// `owners`: the rows of the table, those of one connection together, in the order of the flows.
pub fn comments(shelf: &Shelf, owners: &[OwnerRow]) -> io::Result<Vec<(u64, String)>> {
    let mut all = Vec::new();
    let mut begun = owners::Begun::of(owners);
    let mut retransmissions: ByFlow<RetransmissionRow> = ByFlow::new(shelf)?;
    let mut bursts: ByFlow<BurstRow> = ByFlow::new(shelf)?;
    let mut probes: ByFlow<ProbeRow> = ByFlow::new(shelf)?;
    let mut places = places::Places::new(shelf)?;
    for flow in shelf.rows::<FlowRow>()? {
        let row = flow?;
        let flow = row.flow;
        let mut lost = Vec::new();
        let mut repaired: HashMap<Time, BurstRow> = HashMap::new();
        while let Some(burst) = bursts.next_of(flow)? {
            lost.push(burst.clone());
            if let Some(at) = burst.first_repair {
                repaired.entry(at).and_modify(|b| heavier(b, &burst)).or_insert(burst);
            }
        }
        while let Some(row) = retransmissions.next_of(flow)? {
            let burst = repaired.remove(&row.time);
            all.push((row.packet, retransmission(&row, burst.as_ref())));
        }
        while let Some(row) = probes.next_of(flow)? {
            // A probe that repeats data is a retransmission, and has its comment.
            if row.new_data {
                let after = words::span(row.after);
                all.push((
                    row.packet,
                    format!("rexmit: tail-loss probe with new data, {after} after the last packet"),
                ));
            }
        }
        places.find(&row, lost, &mut all, |p| begun.packet(flow, p))?;
    }
    all.extend(begun.comments());
    all.sort_by_key(|(packet, _)| *packet);
    all.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 = format!("{}; {}", earlier.1, later.1);
        }
        same
    });
    Ok(all)
}

fn heavier(kept: &mut BurstRow, other: &BurstRow) {
    if other.weight() > kept.weight() {
        *kept = other.clone();
    }
}

fn retransmission(row: &RetransmissionRow, burst: Option<&BurstRow>) -> String {
    let mut text = format!("rexmit: retransmission ({}", row.cause.name());
    match row.evidence {
        Evidence::Dupack => text += ", duplicate ACKs",
        Evidence::Sack => text += ", SACK",
        Evidence::Time => text += ", time",
        Evidence::None => {}
    }
    if row.backoff > 0 {
        text += &format!(", back-off {}", row.backoff);
    }
    text += ")";
    if row.copy > 2 {
        text += &format!(", copy {}", row.copy);
    }
    if let Some(since) = row.since_previous {
        text += &format!(", {} after the copy before it", words::span(since));
    }
    match row.needless {
        Needless::Yes(proof) => text += &format!(", needless: {}", proof_words(proof)),
        Needless::No | Needless::Unknown => {}
    }
    if row.lost == Some(true) {
        text += ", lost again";
    }
    if let Some(b) = burst {
        text += &format!("; first repair of a burst of {} lost {}", b.lost_segments, plural(b.lost_segments));
        match b.trigger {
            Trigger::Ack => text += ", on an ACK",
            Trigger::TimerRto => text += ", on the retransmission timer",
            Trigger::TimerProbe => text += ", on the probe timer",
            Trigger::Unrepaired => {}
        }
        if let Some(silence) = b.silence {
            text += &format!(", after a silence of {}", words::span(silence));
        }
    }
    if let Some(episode) = row.episode {
        text += &format!("; episode {}", episode + 1);
    }
    text
}

pub(crate) fn plural(n: u32) -> &'static str {
    if n == 1 { "segment" } else { "segments" }
}

fn proof_words(proof: Proof) -> &'static str {
    match proof {
        Proof::Dsack => "DSACK",
        Proof::Timestamps => "timestamps",
        Proof::EarlyAck => "its ACK came too early",
        Proof::Seen => "seen twice",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::Spool;
    use analysis::{Sink, Wanted};
    use wire::Span;

    #[test]
    fn a_repair_tells_its_cause_its_burst_and_whether_it_was_needless() {
        let mut spool = Spool::new(Wanted { retransmissions: true, packets: true, ..Wanted::default() });
        let row = RetransmissionRow {
            packet: 90,
            time: Time(5),
            cause: Cause::Timeout,
            backoff: 1,
            copy: 3,
            since_previous: Some(Span::from_millis(430)),
            needless: Needless::Yes(Proof::Dsack),
            episode: Some(1),
            ..RetransmissionRow::default()
        };
        spool.retransmission(row.clone());
        let sacked =
            RetransmissionRow { packet: 12, time: Time(4), evidence: Evidence::Sack, ..Default::default() };
        spool.retransmission(RetransmissionRow { cause: Cause::Recovery, ..sacked });
        spool.probe(ProbeRow {
            packet: 90,
            new_data: true,
            after: Span::from_millis(20),
            ..ProbeRow::default()
        });
        spool.burst(BurstRow {
            lost_segments: 47,
            trigger: Trigger::TimerRto,
            first_repair: Some(Time(5)),
            silence: Some(Span::from_millis(430)),
            ..BurstRow::default()
        });
        spool.flow(&FlowRow::default());
        let said = comments(&spool.seal(), &[]).unwrap();
        assert_eq!(said[0], (12, "rexmit: retransmission (recovery, SACK)".into()));
        assert_eq!(
            said[1],
            (
                90,
                "rexmit: retransmission (timeout, back-off 1), copy 3, 430 ms after the copy before it, \
                 needless: DSACK; first repair of a burst of 47 lost segments, on the retransmission timer, \
                 after a silence of 430 ms; episode 2; \
                 rexmit: tail-loss probe with new data, 20 ms after the last packet"
                    .into()
            )
        );
        assert_eq!(said.len(), 2, "one comment a packet");
    }
}
