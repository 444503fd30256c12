//! Who owns which part of the time of a flow's connection: a strip along the time axis.

use crate::text::list;
use analysis::fault;
use analysis::rows::FlowId;
use analysis::waits::Stretch;
use explain::waits::Moment;
use results::connections::Connections;
use results::json::Beside;
use results::run::Findings;
use std::collections::{BTreeSet, HashMap};
use std::io;
use wire::{Span, Time};

/// Parts of a connection's time; of more, each of so many equal stretches has the owner of most of it.
const MOST: usize = 4096;

/// What a connection's time went to.
pub struct Told {
    pub moments: Vec<Moment>,
    pub waits: Vec<Stretch>,
}

/// By connection, whose flows have the numbers `2 n` and `2 n + 1`.
pub type Owners = HashMap<u32, Told>;

/// Of the connections of some flows.
pub fn read(found: &Findings, beside: Beside<'_>, flows: &[FlowId]) -> io::Result<Owners> {
    let mut owners = Owners::new();
    if found.facts.withheld {
        return Ok(owners);
    }
    let numbers: BTreeSet<u32> = flows.iter().map(|flow| flow / 2).collect();
    let mut connections = Connections::of(&found.shelf, found.facts.origin, beside.told)?;
    for number in numbers {
        let connection = connections.read(number)?;
        let moments = fault::caught(|| explain::moments(&connection.rows())).unwrap_or_default();
        let moments = fewer(moments, MOST);
        owners.insert(number, Told { moments, waits: connection.rows().waits.to_vec() });
    }
    Ok(owners)
}

/// As columns in JSON; null where there is none.
pub fn json(owners: &Owners, flow: FlowId, origin: Time) -> String {
    let moments = owners.get(&(flow / 2)).map(|told| &told.moments);
    let Some(moments) = moments.filter(|moments| !moments.is_empty()) else {
        return "null".into();
    };
    let numbers = |of: &dyn Fn(&Moment) -> Time| {
        moments.iter().map(|m| (of(m).0 - origin.0).to_string()).collect::<Vec<_>>().join(",")
    };
    let by: Vec<String> =
        moments.iter().map(|m| m.by.map_or("null".into(), |by| crate::text::string(by.name()))).collect();
    format!(
        "{{\"start_ns\":[{}],\"end_ns\":[{}],\"cause\":{},\"by\":[{}],\"certainty\":{}}}",
        numbers(&|m| m.start),
        numbers(&|m| m.end),
        list(moments.iter().map(|m| m.cause.name())),
        by.join(","),
        list(moments.iter().map(|m| m.certainty.name()))
    )
}

fn fewer(moments: Vec<Moment>, most: usize) -> Vec<Moment> {
    let [Some(first), Some(last)] = [moments.first(), moments.last()] else { return moments };
    if moments.len() <= most {
        return moments;
    }
    let (start, length) = (first.start, (last.end - first.start).0.max(1));
    let bound = |k: usize| start + Span((i128::from(length) * k as i128 / most as i128) as i64);
    let mut made: Vec<Moment> = Vec::new();
    let mut from = 0;
    for k in 0..most {
        let (begin, end) = (bound(k), bound(k + 1));
        while moments[from].end <= begin && from + 1 < moments.len() {
            from += 1;
        }
        let inside = moments[from..].iter().take_while(|m| m.start < end);
        let mut owned: Vec<(Moment, i64)> = Vec::new();
        for moment in inside {
            let time = (moment.end.min(end) - moment.start.max(begin)).0;
            match owned.iter_mut().find(|(of, _)| alike(of, moment)) {
                Some((_, sum)) => *sum += time,
                None => owned.push((*moment, time)),
            }
        }
        let Some((owner, _)) = owned.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a }) else {
            continue;
        };
        match made.last_mut() {
            Some(before) if alike(before, &owner) && before.end == begin => before.end = end,
            _ => made.push(Moment { start: begin, end, ..owner }),
        }
    }
    made
}

fn alike(a: &Moment, b: &Moment) -> bool {
    (a.cause, a.by, a.certainty) == (b.cause, b.by, b.certainty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::cause::Cause;
    use explain::certainty::Certainty;

    fn moment(start: i64, end: i64, cause: Cause) -> Moment {
        Moment { start: Time(start), end: Time(end), cause, by: None, certainty: Certainty::Known }
    }

    #[test]
    fn of_too_many_parts_each_stretch_has_the_owner_of_most_of_it() {
        let parts = [(0, 30, Cause::Handshake), (30, 40, Cause::Nothing), (40, 90, Cause::Handshake)];
        let parts = parts.map(|(start, end, cause)| moment(start, end, cause));
        let tail = moment(90, 100, Cause::Nothing);
        let all = [parts.as_slice(), &[tail]].concat();
        assert_eq!(fewer(all.clone(), 4), all);
        assert_eq!(
            fewer(all.clone(), 2),
            [moment(0, 100, Cause::Handshake)],
            "30 of the first 50, and 40 of the others"
        );
        let dense: Vec<Moment> = (0..1000)
            .map(|k| moment(k, k + 1, if k % 10 < 3 { Cause::Nothing } else { Cause::Handshake }))
            .collect();
        assert_eq!(fewer(dense, 100), [moment(0, 1000, Cause::Handshake)]);
    }
}
