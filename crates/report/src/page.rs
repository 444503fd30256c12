//! META, and the blobs that it speaks of.

use crate::about::About;
use crate::detail;
use crate::flows::{self, MOST_CAUSES};
use crate::held::{self, Held, Whole};
use crate::limits::Limits;
use crate::lists::{self, ByFlow, Lists};
use crate::members::Members;
use crate::owners::{self, Owners};
use crate::text::{grouped, in_html, string, visible};
use crate::turns::{self, Turn};
use analysis::rows::FlowId;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use results::json::{Beside, overview};
use results::names::closed_sets;
use results::run::Findings;
use results::spool::Table;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

/// Of the format that explorer/FORMAT.md describes.
const FORMAT: u32 = 2;
/// Details in a blob.
const IN_A_BLOB: usize = 256;
/// Flows that a page tells everything of: where all packets are there, and where not.
const MOST_DETAILED: usize = 50_000;
const MOST_OF_MANY: usize = 500;

/// Blobs by their names, in raw deflate.
#[derive(Default)]
pub struct Blobs(BTreeMap<String, Vec<u8>>);

impl Blobs {
    pub fn add(&mut self, name: String, content: &[u8]) {
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
        // Memory takes all of it.
        let _ = packer.write_all(content);
        self.0.insert(name, packer.finish().unwrap_or_default());
    }
}

/// A source of a page with all that a file holds of it.
pub struct Written {
    /// JSON.
    pub text: String,
    /// Sentences about what the file does not hold.
    pub notes: Vec<String>,
    /// Deflated, by their names.
    pub blobs: BTreeMap<String, Vec<u8>>,
}

/// A page before it is written.
pub struct Page {
    /// JSON that may stand in an element of a page.
    pub meta: String,
    /// Deflated, by their names.
    pub blobs: BTreeMap<String, Vec<u8>>,
}

/// The page of one capture, or of both ends of the same transfers. title: how it is called. command: what makes it anew.
pub fn page(ends: &[About<'_>], title: &str, command: &str) -> io::Result<Page> {
    let (mut notes, mut sources, mut blobs) = (Vec::new(), Vec::new(), BTreeMap::new());
    for written in written(ends, &[])? {
        notes.extend(written.notes);
        sources.push(written.text);
        blobs.extend(written.blobs);
    }
    let meta = meta("capture", title, command, &notes, &sources)?;
    Ok(Page { meta: in_html(&visible(&meta)), blobs })
}

/// META. sources: each as JSON.
pub fn meta(
    kind: &str,
    title: &str,
    command: &str,
    notes: &[String],
    sources: &[String],
) -> io::Result<String> {
    let (words, looks) = words()?;
    let notes: Vec<String> = notes.iter().map(|note| string(note)).collect();
    Ok(format!(
        "{{\"format\":{FORMAT},\"kind\":{},\"title\":{},\"version\":{},\"command\":{},\"anonymized\":false,\
         \"notes\":[{}],\"words\":{words},\"looks\":{looks},\"sources\":[{}],\"comparison\":null,\"study\":null,\"sweep\":null}}",
        string(kind),
        string(title),
        string(concat!("rexmit ", env!("CARGO_PKG_VERSION"))),
        string(command),
        notes.join(","),
        sources.join(",")
    ))
}

/// By closed set each value's name with its words; and of the sets that have colours how a value is drawn.
fn words() -> io::Result<(String, String)> {
    let sets = Members::of(&closed_sets())?;
    let (mut words, mut looks) = (Vec::new(), Vec::new());
    for set in sets.names() {
        let values = sets.each(set)?;
        let told: Vec<String> =
            values.iter().map(|v| format!("{}:{}", v.get("name"), v.get("in_words"))).collect();
        words.push(format!("{}:{{{}}}", string(set), told.join(",")));
        if values.iter().all(|v| v.has("colour")) {
            let look = |v: &Members| {
                let keys = ["colour", "marker", "group"].into_iter().filter(|key| v.has(key));
                let told: Vec<String> = keys.map(|key| format!("\"{key}\":{}", v.get(key))).collect();
                format!("{}:{{{}}}", v.get("name"), told.join(","))
            };
            looks.push(format!(
                "{}:{{{}}}",
                string(set),
                values.iter().map(look).collect::<Vec<_>>().join(",")
            ));
        }
    }
    Ok((format!("{{{}}}", words.join(",")), format!("{{{}}}", looks.join(","))))
}

/// Whether all packets of so many together stand in a file. Of longer runs a page has one end.
pub fn all_fit(packets: u64, limits: &Limits) -> bool {
    packets <= limits.raw as u64
}

/// What makes times of the second capture those of the first: `rate * t + shift_ns`, as JSON.
fn clock(first: &Findings, second: &Findings) -> io::Result<String> {
    let facts = &first.facts;
    let text = overview::write(facts, &first.shelf, Beside::default(), 0)?;
    let told = Members::of(&text)?.within("capture")?.within("pair")?.within("clock")?;
    let numbers = [told.number("drift_ppm"), told.number("at_s"), told.number("offset_s")];
    let [Some(drift), Some(at), Some(offset)] = numbers else { return Ok("null".into()) };
    // Where the offset holds, both show the same instant; from there the second's seconds have another length.
    let rate = 1.0 / (1.0 + drift * 1e-6);
    let [at, offset] = [at, offset].map(|s| (s * 1e9).round_ties_even() as i64);
    // Whole numbers first: their difference is small, and they are not.
    let apart = (second.facts.origin.0 - facts.origin.0 - offset - at) as f64;
    let shift = detail::number(apart * rate + at as f64);
    Ok(format!("{{\"rate\":{},\"shift_ns\":{shift}}}", detail::number(rate)))
}

/// Of each source its clock. firsts: where two captures lie beside each other, which have no common clock.
fn clocks(ends: &[About<'_>], firsts: &[FlowId]) -> io::Result<Vec<String>> {
    let mut clocks = vec!["null".to_owned(); ends.len()];
    if let ([first, second], []) = (ends, firsts) {
        clocks[1] = clock(first.found, second.found)?;
    }
    Ok(clocks)
}

/// Sources as a file holds them: one, both ends of the same transfers, or, with a flow of each that is told of before the
/// others, two captures beside each other.
pub fn written(ends: &[About<'_>], firsts: &[FlowId]) -> io::Result<Vec<Written>> {
    let packets: u64 = ends.iter().map(|end| end.found.facts.info.packets).sum();
    let clocks = clocks(ends, firsts)?;
    let one = |(number, (end, clock)): (usize, (&About<'_>, &String))| {
        let limits = &end.source.limits;
        // A SYN has a row in each direction: there are more rows than packets.
        let all = firsts.is_empty() && all_fit(packets, limits);
        let room = if all { usize::MAX } else { limits.raw / ends.len() };
        file(end, room, firsts.get(number).copied(), clock)
    };
    ends.iter().zip(&clocks).enumerate().map(one).collect()
}

/// Sources whose packets are asked for, as JSON; `ends` and `firsts` as above.
pub fn served(ends: &[About<'_>], firsts: &[FlowId]) -> io::Result<Vec<String>> {
    let clocks = clocks(ends, firsts)?;
    let one = |(number, (end, clock)): (usize, (&About<'_>, &String))| {
        let ranked = overview::worst(&end.found.shelf, flows::MOST)?;
        let mut some = ranked[..ranked.len().min(MOST_CAUSES)].to_vec();
        let causes = end.told(&some)?;
        ahead(&mut some, firsts.get(number).copied());
        some.truncate(end.source.limits.at_once);
        let details = some.iter().map(|flow| loaded(end, *flow)).collect::<io::Result<Vec<_>>>()?;
        let details: Vec<String> = details.into_iter().flatten().collect();
        let listed = flows::listed(&end.found.shelf, &ranked, &causes)?;
        Ok(visible(&source(end, clock, &listed, &format!("[{}]", details.join(",")), &[])?))
    };
    ends.iter().zip(&clocks).enumerate().map(one).collect()
}

/// The detail of a flow whose packets are asked for; None of one that carries no data.
fn loaded(end: &About<'_>, flow: FlowId) -> io::Result<Option<String>> {
    let told = end.told(&[flow])?;
    let Some(told) = told.get(&flow) else { return Ok(None) };
    let lists = lists::read(&end.found.shelf, &[flow])?;
    let owners = owners::read(end.found, end.beside, &[flow])?;
    let held = Held::elsewhere(end.source.packets.of(flow).len());
    detail(end, flow, told, (&lists, Some(&owners)), &held, &mut |_, _| ()).map(Some)
}

/// The same, as it leaves.
pub fn load(end: &About<'_>, flow: FlowId) -> io::Result<Option<String>> {
    Ok(loaded(end, flow)?.map(|text| visible(&text)))
}

/// The one that is told of before the others.
fn ahead(flows: &mut [FlowId], first: Option<FlowId>) {
    if let Some(at) = flows.iter().position(|flow| Some(*flow) == first) {
        flows[..=at].rotate_right(1);
    }
}

/// What META says of a source. listed, details: as JSON. more: further details.
fn source(end: &About<'_>, clock: &str, listed: &str, details: &str, more: &[String]) -> io::Result<String> {
    let seen = Members::of(&overview::write(&end.found.facts, &end.found.shelf, end.beside, 0)?)?;
    let capture = seen.within("capture")?;
    let place = end.place.map_or_else(|| capture.get("vantage").to_owned(), string);
    Ok(format!(
        "{{\"id\":{},\"label\":{},\"place\":{place},\"origin\":{},\"span_s\":{},\"capture\":{},\"totals\":{},\
         \"warnings\":{},\"run\":{},\"clock\":{clock},\"flows\":{listed},\"details\":{details},\"more\":[{}]}}",
        end.source.number,
        string(end.label),
        capture.get("start"),
        capture.get("span_s"),
        seen.get("capture"),
        seen.get("totals"),
        capture.get("warnings"),
        end.run.unwrap_or("null"),
        more.join(",")
    ))
}

/// A source as a file holds it. room: for packets. first: a flow that is told of before the others.
fn file(end: &About<'_>, room: usize, first: Option<FlowId>, clock: &str) -> io::Result<Written> {
    let (shelf, packets) = (&end.found.shelf, &end.source.packets);
    let (number, limits) = (end.source.number, end.source.limits);
    let mut blobs = Blobs::default();
    let ranked = overview::worst(shelf, flows::MOST)?;
    let fits = shelf.len(Table::Packets) <= room as u64;
    let most = if fits { MOST_DETAILED } else { MOST_OF_MANY };
    let mut worst = ranked[..ranked.len().min(most)].to_vec();
    let causes = end.told(&worst[..worst.len().min(MOST_CAUSES)])?;
    let listed = flows::listed(shelf, &ranked, &causes)?;
    drop(causes);
    ahead(&mut worst, first);
    let lists = lists::read(shelf, &worst)?;
    let full: HashSet<FlowId> = worst.iter().take(limits.full).copied().collect();
    let owners = owners::read(end.found, end.beside, &worst[..full.len()])?;
    let mut whole = Whole::new(number);
    let mut some: HashMap<FlowId, Held> = HashMap::new();
    if !fits {
        some = held::some(end.source, &lists, &worst, room, &mut blobs);
    }
    let mut details = |flows: &[FlowId], blobs: &mut Blobs| -> io::Result<String> {
        let told = end.told(flows)?;
        let none = Members::default();
        let one = |flow: &FlowId| {
            let told = told.get(flow).unwrap_or(&none);
            let held = match fits {
                true => whole.take(packets, *flow, blobs),
                false => some.remove(flow).unwrap_or_else(|| Held::none(0)),
            };
            let owners = full.contains(flow).then_some(&owners);
            detail(end, *flow, told, (&lists, owners), &held, &mut |name, made| blobs.add(name, &made))
        };
        Ok(format!("[{}]", flows.iter().map(one).collect::<io::Result<Vec<_>>>()?.join(",")))
    };
    let at_once = limits.at_once.min(worst.len());
    let at_first = details(&worst[..at_once], &mut blobs)?;
    let mut more = Vec::new();
    // In the order in which the core has them: it passes over those that are not asked for.
    let mut others = worst[at_once..].to_vec();
    others.sort_unstable();
    for (k, part) in others.chunks(IN_A_BLOB).enumerate() {
        let name = format!("{number}/details/{}", limits.at_once + k * IN_A_BLOB);
        let text = details(part, &mut blobs)?;
        blobs.add(name.clone(), visible(&text).as_bytes());
        let flows: Vec<String> = part.iter().map(FlowId::to_string).collect();
        more.push(format!("{{\"blob\":{},\"flows\":[{}]}}", string(&name), flows.join(",")));
    }
    whole.end(packets, &mut blobs);
    let text = visible(&source(end, clock, &listed, &at_first, &more)?);
    let shown = fits && worst.len() as u64 == shelf.len(Table::Flows);
    Ok(Written { text, notes: notes(end, shown), blobs: blobs.0 })
}

/// Sentences about what a file does not hold. shown: it holds every packet.
fn notes(end: &About<'_>, shown: bool) -> Vec<String> {
    let About { found, label, view, .. } = end;
    let packets = grouped(found.facts.info.packets);
    let mut notes = Vec::new();
    if found.facts.interrupted {
        notes.push(format!("{label}: reading was stopped; what was read until then is here"));
    }
    if !found.shelf.holds(Table::Packets) {
        notes.push(format!(
            "{label}: its {packets} packets are more than this page could keep; {view} shows every one"
        ));
    } else if !shown {
        notes.push(format!(
            "{label}: of {packets} packets this file holds what happened in each moment, and the packets of \
             the worst episodes; {view} shows every one"
        ));
    }
    notes
}

/// Everything of a flow. told: as docs/json.md has it. owners: of its connection; None: it is told of without these, its
/// round trips, and what only large flows show. put: takes the blobs that it names.
fn detail(
    end: &About<'_>,
    flow: FlowId,
    told: &Members,
    (lists, owners): (&ByFlow, Option<&Owners>),
    held: &Held,
    put: &mut dyn FnMut(String, Vec<u8>),
) -> io::Result<String> {
    let none = Lists::default();
    let lists = lists.get(&flow).unwrap_or(&none);
    let brief = owners.is_none();
    let turns = owners.map_or(Vec::new(), |owners| turns_of(end, flow, owners));
    let owners = owners.map_or("null".into(), |owners| owners::json(owners, flow, end.source.origin));
    let key = format!("{}/{flow}", end.source.number);
    let members = detail::members(told, lists, end.source.origin, brief, end.beside.outages)?;
    let mut named = |what: Beyond, rows: usize, made: &dyn Fn() -> Vec<u8>| {
        if !(1..=end.source.limits.rows).contains(&rows) {
            return "null".to_owned();
        }
        let name = what.blob(end.source.number, flow);
        let told = string(&name);
        put(name, made());
        told
    };
    let trips = if brief { 0..0 } else { end.source.trips.of(flow) };
    let rtt = named(Beyond::Rtt, trips.len(), &|| end.source.trips.container(trips.clone()));
    let repeated = &lists.repeated;
    let resent = named(Beyond::Retransmissions, repeated.len(), &|| crate::repeated::container(repeated));
    let turns = named(Beyond::Turns, turns.len(), &|| turns::container(&turns));
    let state = named(Beyond::State, end.states.rows(flow), &|| end.states.container(flow));
    Ok(format!(
        "{{\"flow\":{flow},\"key\":{},{members},\"owners\":{owners},{},\"rtt\":{rtt},\"retransmissions\":{resent},\"state\":{state},\"turns\":{turns}}}",
        string(&key),
        held.members()
    ))
}

/// The turns of a flow's connection.
fn turns_of(end: &About<'_>, flow: FlowId, owners: &Owners) -> Vec<Turn> {
    let waits = owners.get(&(flow / 2)).map_or(&[][..], |told| &told.waits);
    turns::of(&end.source.packets, flow / 2, waits, end.source.origin)
}

/// What a page reads of a flow when it needs it.
#[derive(Clone, Copy)]
enum Beyond {
    Rtt,
    Retransmissions,
    State,
    Turns,
}

impl Beyond {
    fn name(self) -> &'static str {
        match self {
            Beyond::Rtt => "rtt",
            Beyond::Retransmissions => "retransmissions",
            Beyond::State => "state",
            Beyond::Turns => "turns",
        }
    }

    /// Turns are those of the connection: both of its flows have the same.
    fn blob(self, source: usize, flow: FlowId) -> String {
        let of = if matches!(self, Beyond::Turns) { flow & !1 } else { flow };
        format!("{source}/{of}/{}", self.name())
    }
}

/// The blob of a name that a detail of a served source names; None of any other.
pub fn blob(end: &About<'_>, name: &str) -> io::Result<Option<Vec<u8>>> {
    let Some((flow, what)) =
        name.strip_prefix(&format!("{}/", end.source.number)).and_then(|n| n.split_once('/'))
    else {
        return Ok(None);
    };
    let kinds = [Beyond::Rtt, Beyond::Retransmissions, Beyond::State, Beyond::Turns];
    let what = kinds.into_iter().find(|kind| kind.name() == what);
    let (Ok(flow), Some(what)) = (flow.parse::<FlowId>(), what) else { return Ok(None) };
    if name != what.blob(end.source.number, flow) {
        return Ok(None);
    }
    let known = 1..=end.source.limits.rows;
    let (rows, made) = match what {
        Beyond::Rtt => {
            let rows = end.source.trips.of(flow);
            (rows.len(), known.contains(&rows.len()).then(|| end.source.trips.container(rows)))
        }
        Beyond::Retransmissions => {
            let lists = lists::read(&end.found.shelf, &[flow])?;
            let rows = lists.get(&flow).map_or(&[][..], |lists| &lists.repeated);
            (rows.len(), Some(crate::repeated::container(rows)))
        }
        Beyond::State => (end.states.rows(flow), Some(end.states.container(flow))),
        Beyond::Turns => {
            let turns = turns_of(end, flow, &owners::read(end.found, end.beside, &[flow])?);
            (turns.len(), Some(turns::container(&turns)))
        }
    };
    Ok(made.filter(|_| known.contains(&rows)))
}
