//! The other end of a pair. What leaves from the receiver's side shows in full where it leaves: a SYN, a request or an ACK that
//! was lost on its way is in that capture alone. The explanation of a connection rests on its rows as well.

use crate::run::{self, Asker, BATCH, Request, Source};
use crate::spool::{ByFlow, Listing, Row, Shelf, Spool};
use crate::workers::{Takes, analyse};
use analysis::Fate;
use analysis::join::{Joined, Side};
use analysis::rows::*;
use analysis::waits::Stretch;
use capture::Datagrams;
use rustc_hash::FxHashMap;
use std::io;
use wire::{Packet, Tuple};

/// Analyses the receiver's capture, with the fate of each packet, on the clock of the sender's. The rows have the numbers that
/// `near` gives their flows.
pub fn read<S: Source>(
    request: &Request,
    mut reader: S,
    joined: &mut Joined,
    near: &Shelf,
    asker: &mut Asker<'_>,
) -> io::Result<Option<Shelf>> {
    let Some(clock) = joined.clock else { return Ok(None) };
    let request = Request { listing: Listing::default(), ..request.clone() };
    let mut beside = run::Beside::default();
    let read = |takes: &mut dyn Takes| {
        let mut batch: Vec<Packet> = Vec::with_capacity(BATCH);
        let mut fates = joined.fates(Side::Receiver);
        let mut of_batch: Vec<Fate> = Vec::with_capacity(BATCH);
        while reader.read_batch(&mut batch, BATCH) {
            takes.note_earlier(&reader.take_earlier());
            of_batch.clear();
            of_batch.extend(batch.iter().map(|packet| fates.of(packet)));
            batch.iter_mut().for_each(|packet| packet.time = clock.to_sender(packet.time));
            let of_sender = |d: Datagrams| Datagrams {
                start: clock.to_sender(d.start),
                end: clock.to_sender(d.end),
                ..d
            };
            beside.take(&batch, reader.take_datagrams().into_iter().map(of_sender).collect());
            takes.push_with_fates(&batch, &of_batch);
            if !asker.goes_on(&reader) {
                break;
            }
        }
        asker.ended(&reader);
    };
    let ((), mut analysed) = analyse(&request, request.config.clone(), request.max_memory, read);
    beside.put_into(&mut analysed.shelf.paths);
    let whole = analysed.not_analysed == 0 && !asker.stopped;
    if whole { renumbered(&analysed.shelf, near, joined).map(Some) } else { Ok(None) }
}

/// Of each connection the waits as the host knows them that saw more of them.
pub fn choose_waits(near: &mut Shelf, far: &Shelf) -> io::Result<()> {
    let mut chosen = Spool::new(Default::default());
    let (mut of_near, mut of_far) = (ByFlow::<WaitRow>::new(near)?, ByFlow::<WaitRow>::new(far)?);
    let mut last = None;
    for row in near.rows::<FlowRow>()? {
        let connection = row?.flow / 2;
        if last.replace(connection) == Some(connection) {
            continue;
        }
        let near = of_connection(&mut of_near, connection)?;
        let far = of_connection(&mut of_far, connection)?;
        let more = explain::waits::shows_more(&Stretch::gather(&near), &Stretch::gather(&far));
        let rows = if more { far } else { near };
        rows.iter().for_each(|row| chosen.keep(row));
    }
    near.replace::<WaitRow>(chosen);
    Ok(())
}

fn of_connection(waits: &mut ByFlow<WaitRow>, connection: u32) -> io::Result<Vec<WaitRow>> {
    let mut rows = Vec::new();
    for flow in [2 * connection, 2 * connection + 1] {
        while let Some(row) = waits.next_of(flow)? {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// A flow of this capture in the other one.
#[derive(Clone, Copy)]
struct Same {
    number: FlowId,
    leaves_here: bool,
}

/// Under the numbers of the sender's capture: the rows of what leaves here, and the waits of all.
fn renumbered(far: &Shelf, near: &Shelf, joined: &Joined) -> io::Result<Shelf> {
    let same = same(far, near, joined)?;
    let mut spool = Spool::new(Default::default());
    let leaving = |s: &Same| s.leaves_here;
    put::<FlowRow>(far, &same, leaving, &mut spool)?;
    put::<BurstRow>(far, &same, leaving, &mut spool)?;
    put::<EpisodeRow>(far, &same, leaving, &mut spool)?;
    put::<IdleRow>(far, &same, leaving, &mut spool)?;
    put::<RoundRow>(far, &same, leaving, &mut spool)?;
    put::<WaitRow>(far, &same, |_| true, &mut spool)?;
    let mut shelf = spool.seal();
    shelf.paths = far.paths.clone();
    Ok(shelf)
}

fn put<R: Row>(
    far: &Shelf,
    same: &FxHashMap<FlowId, Same>,
    wanted: impl Fn(&Same) -> bool,
    spool: &mut Spool,
) -> io::Result<()> {
    for row in far.rows::<R>()? {
        let mut row = row?;
        if let Some(same) = same.get(&row.flow()).filter(|s| wanted(s)) {
            row.set_flow(same.number);
            spool.keep(&row);
        }
    }
    Ok(())
}

/// Between the same two addresses one connection may follow another: they are the same in the order in which they came, where
/// both captures show as many, and the analysis failed on none.
fn same(far: &Shelf, near: &Shelf, joined: &Joined) -> io::Result<FxHashMap<FlowId, Same>> {
    let mut of_near: FxHashMap<Tuple, Vec<FlowId>> = FxHashMap::default();
    let mut of_far: FxHashMap<Tuple, Vec<FlowId>> = FxHashMap::default();
    for (shelf, of) in [(near, &mut of_near), (far, &mut of_far)] {
        for row in shelf.rows::<FlowRow>()? {
            let row = row?;
            if row.fault.is_none() {
                of.entry(Tuple { src: row.sender, dst: row.receiver }).or_default().push(row.flow);
            }
        }
    }
    let mut same = FxHashMap::default();
    for (way, flows) in of_far {
        let Some(numbers) = of_near.get(&way).filter(|n| n.len() == flows.len()) else { continue };
        let leaves_here = joined.leaves_receiver_side(way);
        let pairs = flows.into_iter().zip(numbers);
        same.extend(pairs.map(|(flow, number)| (flow, Same { number: *number, leaves_here })));
    }
    Ok(same)
}
