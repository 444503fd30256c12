//! One capture as a source of a page: its packets and round trips, ready to be asked.

use crate::judged::judge;
use crate::limits::Limits;
use crate::lists::Lists;
use crate::packets::{self, Packets};
use crate::round_trips::{self, RoundTrips};
use crate::windows::Kept;
use analysis::rows::{BurstRow, EpisodeRow, FlowId, PacketRow, RetransmissionRow, RttRow};
use results::run::Findings;
use results::spool::{ByFlow, Row, Shelf, Table};
use std::io;
use wire::Time;

/// Rows between two questions whether to go on.
const ASK_EVERY: u64 = 16_384;

pub struct Source {
    /// Its place among the sources of a page.
    pub number: usize,
    pub limits: Limits,
    pub origin: Time,
    pub packets: Packets,
    pub trips: RoundTrips,
    pub(crate) kept: Kept,
}

/// How far the reading of a table is: rows done, and in all; false ends it.
pub type GoOn<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

impl Source {
    /// Reads the packets and round trips of a capture. An error of the kind `Interrupted`: `go_on` ended it.
    pub fn read(found: &Findings, number: usize, limits: Limits, go_on: GoOn<'_>) -> io::Result<Source> {
        let (shelf, origin) = (&found.shelf, found.facts.origin);
        let in_files = |table| shelf.len(table) > limits.in_memory as u64;
        let mut packets = packets::Reading::new(in_files(Table::Packets))?;
        each::<PacketRow, _>(shelf, go_on, &mut packets, |to, row| to.push(row, origin), |to| to.pass_on())?;
        let mut packets = packets.end()?;
        judge_all(&mut packets, shelf, origin)?;
        let mut trips = round_trips::Reading::new(in_files(Table::Rtt))?;
        each::<RttRow, _>(shelf, go_on, &mut trips, |to, row| to.push(row, origin), |to| to.pass_on())?;
        Ok(Source { number, limits, origin, packets, trips: trips.end()?, kept: Kept::default() })
    }
}

/// All rows of a table, as far as it was kept.
fn each<R: Row, T>(
    shelf: &Shelf,
    go_on: GoOn<'_>,
    to: &mut T,
    push: impl Fn(&mut T, &R),
    pass_on: impl Fn(&mut T) -> io::Result<()>,
) -> io::Result<()> {
    if !shelf.holds(R::TABLE) {
        return Ok(());
    }
    let all = shelf.len(R::TABLE);
    for (done, row) in (1..).zip(shelf.rows::<R>()?) {
        push(to, &row?);
        if done % ASK_EVERY == 0 || done == all {
            pass_on(to)?;
            if !go_on(done, all) {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }
    Ok(())
}

/// Which packets were lost, which were needless, and of which episode each is.
fn judge_all(packets: &mut Packets, shelf: &Shelf, origin: Time) -> io::Result<()> {
    let mut bursts: ByFlow<BurstRow> = ByFlow::new(shelf)?;
    let mut episodes: ByFlow<EpisodeRow> = ByFlow::new(shelf)?;
    let mut repeated: ByFlow<RetransmissionRow> = ByFlow::new(shelf)?;
    let all: Vec<_> = packets.each().collect();
    for (flow, rows) in all {
        let lists = Lists {
            bursts: rows_of(&mut bursts, flow)?,
            episodes: rows_of(&mut episodes, flow)?,
            repeated: rows_of(&mut repeated, flow)?,
            ..Lists::default()
        };
        judge(packets, rows, origin, &lists.bursts, &lists.episodes, &lists.repeated);
    }
    Ok(())
}

fn rows_of<R: Row>(rows: &mut ByFlow<R>, flow: FlowId) -> io::Result<Vec<R>> {
    let mut all = Vec::new();
    while let Some(row) = rows.next_of(flow)? {
        all.push(row);
    }
    Ok(all)
}
