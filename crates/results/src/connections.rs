//! The connections of a capture, one after the other, each with all its rows and with its answer.

use crate::facts::Facts;
use crate::json::heaviest::Heaviest;
use crate::json::lists::Item;
use crate::spool::{ByFlow, Row, Shelf};
use crate::told::Told;
use analysis::fault;
use analysis::paths::{SharedEnd, Sums};
use analysis::rows::*;
use analysis::waits::Stretch;
use explain::answer::Answer;
use explain::cause::Cause;
use explain::certainty::Certainty;
use explain::conversation::{FlowRows, Rows};
use std::io;
use wire::{Span, Time};

/// The rows that an answer rests on: the heaviest, where there are more than a page could speak of.
const CONSIDERED: usize = 4096;

pub fn considered<R: Item>() -> Heaviest<R> {
    Heaviest::of(CONSIDERED)
}

/// The rows of one direction.
pub struct Direction {
    flow: FlowRow,
    pub bursts: Vec<BurstRow>,
    pub episodes: Vec<EpisodeRow>,
    pub idle: Vec<IdleRow>,
    /// These three are all that the analysis wrote of the flow, as it wrote them.
    all: bool,
    rounds: Vec<RoundRow>,
    path: Vec<PathRow>,
    /// All flows of its sending host and of its receiving host, where a capture was taken there and has several paths.
    hosts: [Vec<PathRow>; 2],
}

impl Direction {
    fn rows(&self) -> FlowRows<'_> {
        FlowRows {
            flow: Some(&self.flow),
            bursts: &self.bursts,
            episodes: &self.episodes,
            idle: &self.idle,
            rounds: &self.rounds,
            path: &self.path,
            hosts: self.hosts.each_ref().map(Vec::as_slice),
        }
    }
}

/// A connection with its rows: the client's data, the server's.
pub struct Connection {
    pub number: u32,
    directions: [Option<Direction>; 2],
    /// Of a connection with data of one host alone: what all flows delivered in the other direction.
    reverse: Vec<PathRow>,
    waits: Vec<Stretch>,
    origin: Time,
}

impl Connection {
    pub fn rows(&self) -> Rows<'_> {
        let without_data = FlowRows { path: &self.reverse, ..FlowRows::default() };
        Rows {
            flows: self.directions.each_ref().map(|d| d.as_ref().map_or(without_data, Direction::rows)),
            waits: &self.waits,
            origin: self.origin,
        }
    }
    /// The rows of a flow, where they are all that the analysis wrote of it.
    pub fn all_of(&self, flow: FlowId) -> Option<&Direction> {
        self.directions[(flow % 2) as usize].as_ref().filter(|d| d.all)
    }
    /// The flow of the client's data; of the server's where the client sent none.
    fn first(&self) -> Option<FlowId> {
        self.directions.iter().flatten().map(|d| d.flow.flow).next()
    }
    /// The answer; or where the analysis failed.
    pub fn answer(&self, facts: &Facts) -> Result<Answer, String> {
        let mut answer =
            fault::caught(|| explain::explain(&self.rows())).inspect_err(|_| facts.failures.count())?;
        if let Some(why) = &facts.cut {
            until_cut(&mut answer, why);
        }
        Ok(answer)
    }
}

/// Reads the rows of connection after connection, in order of their numbers.
pub struct Connections<'a> {
    shelf: &'a Shelf,
    origin: Time,
    told: Option<&'a Told>,
    flows: ByFlow<FlowRow>,
    bursts: ByFlow<BurstRow>,
    episodes: ByFlow<EpisodeRow>,
    idle: ByFlow<IdleRow>,
    rounds: ByFlow<RoundRow>,
    waits: ByFlow<WaitRow>,
    sums: Sums,
    /// The other capture of a pair.
    far: Option<Box<Connections<'a>>>,
}

impl<'a> Connections<'a> {
    pub fn of(shelf: &'a Shelf, origin: Time, told: Option<&'a Told>) -> io::Result<Connections<'a>> {
        Ok(Connections {
            shelf,
            origin,
            told,
            flows: ByFlow::new(shelf)?,
            bursts: ByFlow::new(shelf)?,
            episodes: ByFlow::new(shelf)?,
            idle: ByFlow::new(shelf)?,
            rounds: ByFlow::new(shelf)?,
            waits: ByFlow::new(shelf)?,
            sums: shelf.paths.sums(),
            far: match &shelf.far {
                Some(far) => Some(Box::new(Connections::of(far, origin, None)?)),
                None => None,
            },
        })
    }

    /// The connection of this number. Numbers are asked for in their order.
    pub fn read(&mut self, number: u32) -> io::Result<Connection> {
        let far = self.far.as_mut().map(|far| far.read_alone(number)).transpose()?;
        let mut near = self.read_alone(number)?;
        let mut leaves_far = [false; 2];
        if let Some(far) = far {
            // Each direction as it leaves.
            leaves_far = far.directions.each_ref().map(Option::is_some);
            for (near, far) in near.directions.iter_mut().zip(far.directions) {
                *near = far.or(near.take()).map(|d| Direction { all: false, ..d });
            }
        }
        if let [Some(one), None] | [None, Some(one)] = &near.directions {
            near.reverse = self.shelf.paths.rows(one.flow.receiver.host, one.flow.sender.host);
        }
        for (direction, leaves_far) in near.directions.iter_mut().zip(leaves_far) {
            if let Some(direction) = direction {
                direction.hosts = self.hosts(&direction.flow, leaves_far);
            }
        }
        Ok(near)
    }

    fn read_alone(&mut self, number: u32) -> io::Result<Connection> {
        let mut waits = Vec::new();
        let client = self.direction(2 * number, &mut waits)?;
        let server = self.direction(2 * number + 1, &mut waits)?;
        let waits = Stretch::gather(&waits);
        Ok(Connection {
            number,
            directions: [client, server],
            reverse: Vec::new(),
            waits,
            origin: self.origin,
        })
    }

    fn direction(&mut self, flow: FlowId, waits: &mut Vec<WaitRow>) -> io::Result<Option<Direction>> {
        while let Some(wait) = self.waits.next_of(flow)? {
            waits.push(wait);
        }
        let Some(mut row) = self.flows.next_of(flow)? else { return Ok(None) };
        if let Some(told) = self.told.and_then(|told| told.of(flow)) {
            told.flow(&mut row);
        }
        let mut rounds = Vec::new();
        while let Some(round) = self.rounds.next_of(flow)? {
            rounds.push(round);
        }
        let (bursts, all_bursts) = heaviest(&mut self.bursts, flow, self.told)?;
        let (episodes, all_episodes) = heaviest(&mut self.episodes, flow, self.told)?;
        let (idle, all_idle) = heaviest(&mut self.idle, flow, self.told)?;
        Ok(Some(Direction {
            bursts,
            episodes,
            idle,
            all: all_bursts && all_episodes && all_idle && self.told.is_none(),
            rounds,
            path: self.shelf.paths.rows(row.sender.host, row.receiver.host),
            hosts: Default::default(),
            flow: row,
        }))
    }
}

impl Connections<'_> {
    /// Where a capture was taken at one end of a flow, it shows all flows of that host.
    fn hosts(&self, flow: &FlowRow, leaves_far: bool) -> [Vec<PathRow>; 2] {
        let (near, far) = (Some(&self.sums), self.far.as_ref().map(|far| &far.sums));
        let of = |sums: Option<&Sums>, host, end| sums.map_or(Vec::new(), |s| s.of(host, end).to_vec());
        let (sender, receiver) = (flow.sender.host, flow.receiver.host);
        let (first, second) = match flow.vantage {
            Vantage::Sender => (near, None),
            Vantage::Receiver => (None, near),
            Vantage::Both if leaves_far => (far, near),
            Vantage::Both => (near, far),
            Vantage::Middle | Vantage::Unknown => (None, None),
        };
        [of(first, sender, SharedEnd::Sender), of(second, receiver, SharedEnd::Receiver)]
    }
}

fn heaviest<R: Row + Item>(
    rows: &mut ByFlow<R>,
    flow: FlowId,
    told: Option<&Told>,
) -> io::Result<(Vec<R>, bool)> {
    let told = told.and_then(|told| told.of(flow));
    let mut considered = considered();
    while let Some(mut row) = rows.next_of(flow)? {
        if let Some(told) = told {
            row.tell(told, &mut Vec::new());
        }
        considered.offer(row);
    }
    Ok(considered.rows_and_all())
}

/// What holds until the captures end is no word on the rest of the run.
fn until_cut(a: &mut Answer, why: &str) {
    a.limits.insert(0, why.to_owned());
    if a.cause == Cause::Nothing {
        (a.cause, a.certainty) = (Cause::CannotTell, Certainty::Open);
        a.text = format!("Until the captures end nothing took time worth telling: {why}.");
    }
}

/// Time of a connection that one cause owns; a row of the `causes` table.
#[derive(Clone, Debug)]
pub struct CauseRow {
    /// The flow of the client's data; of the server's where the client sent none.
    pub flow: FlowId,
    pub cause: Cause,
    pub by: Option<Role>,
    pub time: Span,
    pub share: f64,
    pub certainty: Certainty,
    /// It is the answer about the connection.
    pub is_answer: bool,
    /// Payload of both directions, in the row of the answer; 0 in others, so that sums count it once.
    pub bytes: u64,
}

/// The rows of the `causes` table: for each connection its answer, and every other cause that owns time.
pub fn causes(facts: &Facts, shelf: &Shelf, told: Option<&Told>) -> io::Result<Vec<CauseRow>> {
    let mut rows = Vec::new();
    if !facts.withheld {
        each(facts, shelf, told, |connection, answer| put_causes(&mut rows, connection, answer))?;
    }
    Ok(rows)
}

/// Who owns a part of a connection's time; a row of the `owners` table.
#[derive(Clone, Debug)]
pub struct OwnerRow {
    /// As in [`CauseRow`].
    pub flow: FlowId,
    pub start: Time,
    pub end: Time,
    pub cause: Cause,
    pub by: Option<Role>,
    pub certainty: Certainty,
}

/// The rows of the `owners` table: of each connection its parts in order of time. A row holds until the next begins.
pub fn owners(facts: &Facts, shelf: &Shelf, told: Option<&Told>) -> io::Result<Vec<OwnerRow>> {
    let mut rows = Vec::new();
    if !facts.withheld {
        each_connection(facts, shelf, told, |connection| {
            let Some(flow) = connection.first() else { return };
            let moments = fault::caught(|| explain::moments(&connection.rows())).unwrap_or_default();
            rows.extend(moments.into_iter().map(|m| OwnerRow {
                flow,
                start: m.start,
                end: m.end,
                cause: m.cause,
                by: m.by,
                certainty: m.certainty,
            }));
        })?;
    }
    Ok(rows)
}

/// Every connection with its answer, in order of their numbers; none on which the analysis failed.
fn each(
    facts: &Facts,
    shelf: &Shelf,
    told: Option<&Told>,
    mut visit: impl FnMut(&Connection, &Answer),
) -> io::Result<()> {
    each_connection(facts, shelf, told, |connection| {
        if let Ok(answer) = connection.answer(facts) {
            visit(connection, &answer);
        }
    })
}

fn each_connection(
    facts: &Facts,
    shelf: &Shelf,
    told: Option<&Told>,
    mut visit: impl FnMut(&Connection),
) -> io::Result<()> {
    let mut connections = Connections::of(shelf, facts.origin, told)?;
    let mut last = None;
    for flow in shelf.rows::<FlowRow>()? {
        let flow = flow?;
        let number = flow.flow / 2;
        if flow.fault.is_some() || last.replace(number) == Some(number) {
            continue;
        }
        visit(&connections.read(number)?);
    }
    Ok(())
}

fn put_causes(rows: &mut Vec<CauseRow>, connection: &Connection, answer: &Answer) {
    let flows: Vec<&FlowRow> = connection.directions.iter().flatten().map(|d| &d.flow).collect();
    let Some(flow) = flows.first().map(|f| f.flow) else { return };
    let bytes = flows.iter().map(|f| f.bytes).sum();
    let row = |cause, by, time, share, certainty| {
        let is_answer = (cause, by) == (answer.cause, answer.by);
        CauseRow {
            flow,
            cause,
            by,
            time,
            share,
            certainty,
            is_answer,
            bytes: if is_answer { bytes } else { 0 },
        }
    };
    if !answer.causes.iter().any(|s| (s.cause, s.by) == (answer.cause, answer.by)) {
        rows.push(row(answer.cause, answer.by, Span::ZERO, 0.0, answer.certainty));
    }
    rows.extend(answer.causes.iter().map(|s| row(s.cause, s.by, s.time, s.share, s.certainty)));
}

/// How many answers were held against the laws of the explanation, and the laws that were broken: a sentence each with the ends of the connection, `most`
/// at most.
pub fn audit(
    facts: &Facts,
    shelf: &Shelf,
    told: Option<&Told>,
    most: usize,
) -> io::Result<(u64, Vec<String>)> {
    let (mut answers, mut broken) = (0, Vec::new());
    each(facts, shelf, told, |connection, answer| {
        answers += 1;
        let flow = connection.directions.iter().flatten().map(|d| &d.flow).next();
        let ends = flow.map(|f| format!("{} and {}", f.sender, f.receiver)).unwrap_or_default();
        let of_it = explain::audit::violations(&connection.rows(), answer);
        broken.extend(of_it.into_iter().map(|what| format!("{ends}: {what}")));
        broken.truncate(most);
    })?;
    Ok((answers, broken))
}
