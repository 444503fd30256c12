//! What this capture cannot show about a flow, and what would.

use crate::conversation::FlowRows;
use analysis::rows::{Closed, FlowRow, Role, Vantage};
use analysis::words::{bytes, count};

/// Of both directions: what is said of the larger one, and then what the other adds.
pub fn of_connection(flows: &[FlowRows<'_>; 2]) -> Vec<String> {
    let sides = flows.iter().enumerate().filter_map(|(side, f)| Some((side, f.flow?)));
    let mut flows: Vec<(usize, &FlowRow)> = sides.collect();
    flows.sort_by_key(|(_, f)| std::cmp::Reverse(f.bytes));
    let Some((&(side, main), others)) = flows.split_first() else { return Vec::new() };
    let mut said = limits(main, side);
    for &(side, flow) in others.iter().filter(|(_, f)| f.vantage == main.vantage && f.bytes > 0) {
        let more = limits(flow, side).into_iter().filter(|text| !said.contains(text)).collect::<Vec<_>>();
        said.extend(more);
    }
    said
}

/// `side`: whose data it is.
fn limits(flow: &FlowRow, side: usize) -> Vec<String> {
    let l = &flow.limits;
    let mut said = Vec::new();
    if l.one_way && !flow.is_unanswered() {
        said.push(
            "packets of one direction only: without the ACKs neither RTT nor windows nor what arrived is known"
                .into(),
        );
    }
    if l.missing_bytes > 0 {
        said.push(format!(
            "{} were acknowledged but never captured: the capture missed packets, the network did not lose them",
            bytes(l.missing_bytes)
        ));
    }
    if l.acks_missing > 0 {
        said.push(format!(
            "no ACK without data is in the capture, and {} came only with the other host's own data, too late for an answer: bare ACKs are missing from the capture, as with a filter, and round trips and when data was acknowledged do not show",
            count(l.acks_missing, "ACK")
        ));
    }
    if l.unfilled_gaps > 0 {
        said.push(format!(
            "{} in the data never filled and never acknowledged: lost for good, or missing from the capture",
            count(l.unfilled_gaps, "gap")
        ));
    }
    if l.not_followed > 0 {
        said.push(format!(
            "{} not followed to the end: more was outstanding, in more pieces, than any sender has, so what was lost is counted too low",
            count(l.not_followed, "segment")
        ));
    }
    if l.options_cut > 0 {
        said.push(format!(
            "the snap length cuts TCP options off in {}, so SACK and timestamps are partly unseen: capture 128 bytes or more",
            count(l.options_cut, "packet")
        ));
    }
    if let (true, Some(scale), Some(_)) = (l.mid_stream, flow.window_scale_fits, flow.window_max_bytes) {
        said.push(format!(
            "no SYN was captured: that the advertised window is scaled by 2^{scale} is concluded from the data in flight, which filled it; of the other options only what passes shows"
        ));
    } else if l.mid_stream {
        said.push(
            "no SYN was captured: the advertised window is not known, and of the options only what passes shows"
                .into(),
        );
    }
    if l.super_packets > 0 {
        said.push(format!(
            "{} larger than a segment (up to {}; offload): segments are counted in units of the MSS, and what happened inside such a packet cannot be seen",
            match l.super_packets {
                1 => "1 packet is".into(),
                n => format!("{n} packets are"),
            },
            bytes(u64::from(l.largest_payload))
        ));
    }
    match flow.vantage {
        Vantage::Receiver => {
            let (here, sender) = (Role::of(1 - side).in_words(), Role::of(side).in_words());
            said.push(format!(
                "taken at {here}: lost data of {sender} shows as gaps; ACKs that were lost on their way to it, and its timing, do not show"
            ));
        }
        Vantage::Middle => {
            said.push(
                "taken in the middle: copies lost before it show as gaps, ACKs lost behind it not at all"
                    .into(),
            );
        }
        Vantage::Unknown => {
            said.push("where it was taken could not be told: --at sender or --at receiver states it".into())
        }
        Vantage::Sender | Vantage::Both => {}
    }
    if l.captured_twice > 0 {
        // Within a moment of each other nothing tells these two apart.
        said.push(format!(
            "{} seen twice (captured twice, or doubled on the way): the second is left out",
            count(l.captured_twice, "packet")
        ));
    }
    if l.out_of_capture_order > 0 {
        said.push(format!(
            "{} out of order in the capture file itself",
            count(l.out_of_capture_order, "packet")
        ));
    }
    if l.bad_checksums > 0 && 2 * l.bad_checksums >= flow.packets {
        said.push(format!(
            "{} with a wrong TCP checksum, too many for damage: left to a network card, or rewritten since",
            count(l.bad_checksums, "packet")
        ));
    } else if l.bad_checksums > 0 {
        said.push(format!(
            "{} with a wrong TCP checksum, which the receiver drops",
            count(l.bad_checksums, "packet")
        ));
    }
    let unheard = flow.bytes.saturating_sub(flow.acked_bytes);
    let waits = matches!(flow.closed, Closed::Open | Closed::HalfFin) && flow.acked_bytes > 0;
    if waits && unheard > 0 && flow.vantage == Vantage::Sender && !l.mid_stream {
        said.push(format!(
            "{} were not acknowledged at the end: what of it was lost is not known, and only what was sent again counts",
            bytes(unheard)
        ));
    }
    if flow.closed == Closed::Open && !flow.is_unanswered() {
        said.push(
            "no FIN or RST ended the connection: it was open at the end, or given up without a word".into(),
        );
    }
    said
}
