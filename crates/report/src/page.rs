//! META, and the blobs that it speaks of.

use crate::detail;
use crate::flows::{self, MOST_CAUSES};
use crate::held::{self, Held, Whole};
use crate::members::Members;
use crate::packets::Packets;
use crate::source::Source;
use crate::text::{in_html, string, visible};
use analysis::rows::FlowId;
use results::json::{Beside, overview};
use results::names::closed_sets;
use results::run::Findings;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

/// Of the format that explorer/FORMAT.md describes.
const FORMAT: u32 = 2;
/// Flows that a page tells everything of at once; of further ones in blobs of so many.
const AT_ONCE: usize = 16;
const IN_A_BLOB: usize = 256;
/// Flows that it tells everything of: where all packets are there, and where not.
const MOST_DETAILED: usize = 50_000;
const MOST_OF_MANY: usize = 500;
/// Of further flows the round trips are left out: there are very many of them, and none is large.
const FULL: usize = 400;
/// Up to so many packets stand in a file.
const RAW: usize = 200_000;
/// Rows of a table of one flow that a page reads at once.
const MOST_ROWS: usize = 200_000;

/// One capture of a page: the sender's end first, where there are two.
pub struct End<'a> {
    pub found: &'a Findings,
    pub label: String,
    /// Where it was taken, if it is one of a pair.
    pub place: Option<&'static str>,
    /// The command that shows every packet.
    pub view: String,
}

/// What makes a blob smaller: raw deflate.
pub type Deflate = fn(&[u8]) -> Vec<u8>;

pub struct Blobs {
    deflate: Deflate,
    all: BTreeMap<String, Vec<u8>>,
}

impl Blobs {
    pub fn add(&mut self, name: String, content: &[u8]) {
        self.all.insert(name, (self.deflate)(content));
    }
}

/// A page before it is written.
pub struct Page {
    pub title: String,
    /// JSON that may stand in an element of a page.
    pub meta: String,
    /// Deflated, by their names.
    pub blobs: BTreeMap<String, Vec<u8>>,
}

/// The page of one capture, or of both ends of the same transfers. title: how it is called. command: what makes it anew.
pub fn page(ends: &[End<'_>], title: &str, command: &str, deflate: Deflate) -> io::Result<Page> {
    let mut blobs = Blobs { deflate, all: BTreeMap::new() };
    let packets: u64 = ends.iter().map(|end| end.found.facts.info.packets).sum();
    let mut notes = Vec::new();
    let mut sources = Vec::new();
    for (number, end) in ends.iter().enumerate() {
        let room = if packets <= RAW as u64 { usize::MAX } else { RAW / ends.len() };
        let clock = if number == 1 { clock(ends)? } else { "null".into() };
        sources.push(source(end, number, room, &clock, &mut blobs, &mut notes)?);
    }
    let (words, looks) = words()?;
    let notes: Vec<String> = notes.iter().map(|note| string(note)).collect();
    let meta = format!(
        "{{\"format\":{FORMAT},\"kind\":\"capture\",\"title\":{},\"version\":{},\"command\":{},\"anonymized\":false,\
         \"notes\":[{}],\"words\":{words},\"looks\":{looks},\"sources\":[{}],\"comparison\":null,\"study\":null,\"sweep\":null}}",
        string(title),
        string(concat!("rexmit ", env!("CARGO_PKG_VERSION"))),
        string(command),
        notes.join(","),
        sources.join(",")
    );
    Ok(Page { title: title.to_owned(), meta: in_html(&visible(&meta)), blobs: blobs.all })
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

/// What makes times of the second end those of the first: `rate * t + shift_ns`.
fn clock(ends: &[End<'_>]) -> io::Result<String> {
    let [first, second] = ends else { return Ok("null".into()) };
    let facts = &first.found.facts;
    let text = overview::write(facts, &first.found.shelf, Beside::default(), 0)?;
    let told = Members::of(&text)?.within("capture")?.within("pair")?.within("clock")?;
    let numbers = [told.number("drift_ppm"), told.number("at_s"), told.number("offset_s")];
    let [Some(drift), Some(at), Some(offset)] = numbers else { return Ok("null".into()) };
    // Where the offset holds, both show the same instant; from there the second's seconds have another length.
    let rate = 1.0 / (1.0 + drift * 1e-6);
    let [at, offset] = [at, offset].map(|s| (s * 1e9).round_ties_even() as i64);
    // Whole numbers first: their difference is small, and they are not.
    let apart = (second.found.facts.origin.0 - facts.origin.0 - offset - at) as f64;
    let shift = detail::number(apart * rate + at as f64);
    Ok(format!("{{\"rate\":{},\"shift_ns\":{shift}}}", detail::number(rate)))
}

fn source(
    end: &End<'_>,
    number: usize,
    room: usize,
    clock: &str,
    blobs: &mut Blobs,
    notes: &mut Vec<String>,
) -> io::Result<String> {
    let (facts, shelf) = (&end.found.facts, &end.found.shelf);
    let ranked = overview::worst(shelf, flows::MOST)?;
    let fits = shelf.len(results::spool::Table::Packets) <= room as u64;
    let most = if fits { MOST_DETAILED } else { MOST_OF_MANY };
    let worst = &ranked[..ranked.len().min(most)];
    let source = Source::of(end.found, number, worst)?;
    let causes = source.told(&worst[..worst.len().min(MOST_CAUSES)])?;
    let seen = Members::of(&overview::write(facts, shelf, Beside::default(), 0)?)?;
    let capture = seen.within("capture")?;
    let place = end.place.map_or_else(|| capture.get("vantage").to_owned(), string);
    let listed = flows::listed(shelf, &ranked, &causes)?;
    let mut held = Packing::of(&source, worst, fits, room, blobs)?;
    let full: HashSet<FlowId> = worst.iter().take(FULL).copied().collect();
    let mut details = |flows: &[FlowId], blobs: &mut Blobs| -> io::Result<String> {
        let told = source.told(flows)?;
        let one = |flow: &FlowId| {
            let none = Members::default();
            let brief = !full.contains(flow);
            let held = held.take(*flow, blobs);
            detail(&source, *flow, told.get(flow).unwrap_or(&none), &held, brief, blobs)
        };
        Ok(format!("[{}]", flows.iter().map(one).collect::<io::Result<Vec<_>>>()?.join(",")))
    };
    let first = details(&worst[..worst.len().min(AT_ONCE)], blobs)?;
    let mut more = Vec::new();
    // In the order in which the core has them: it passes over those that are not asked for.
    let mut others = worst.get(AT_ONCE..).unwrap_or_default().to_vec();
    others.sort_unstable();
    for (k, part) in others.chunks(IN_A_BLOB).enumerate() {
        let name = format!("{number}/details/{}", AT_ONCE + k * IN_A_BLOB);
        let text = details(part, blobs)?;
        blobs.add(name.clone(), visible(&text).as_bytes());
        let flows: Vec<String> = part.iter().map(FlowId::to_string).collect();
        more.push(format!("{{\"blob\":{},\"flows\":[{}]}}", string(&name), flows.join(",")));
    }
    held.end(blobs);
    if !shelf.holds(results::spool::Table::Packets) {
        notes.push(format!(
            "{}: its {} packets are more than this page could keep; {} shows every one",
            end.label,
            grouped(facts.info.packets),
            end.view
        ));
    } else if !fits || (worst.len() as u64) < shelf.len(results::spool::Table::Flows) {
        notes.push(format!(
            "{}: of {} packets this file holds what happened in each moment, and the packets of the worst episodes; \
             {} shows every one",
            end.label,
            grouped(facts.info.packets),
            end.view
        ));
    }
    Ok(format!(
        "{{\"id\":{number},\"label\":{},\"place\":{place},\"origin\":{},\"span_s\":{},\"capture\":{},\"totals\":{},\
         \"warnings\":{},\"run\":null,\"clock\":{clock},\"flows\":{listed},\"details\":{first},\"more\":[{}]}}",
        string(&end.label),
        capture.get("start"),
        capture.get("span_s"),
        seen.get("capture"),
        seen.get("totals"),
        capture.get("warnings"),
        more.join(",")
    ))
}

/// 1,234,567
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Where the packets of each flow go.
enum Packing {
    /// All are there.
    Whole(Box<(Whole, Packets)>, HashMap<FlowId, std::ops::Range<usize>>),
    Some(HashMap<FlowId, Held>),
}

impl Packing {
    fn of(
        source: &Source<'_>,
        flows: &[FlowId],
        fits: bool,
        room: usize,
        blobs: &mut Blobs,
    ) -> io::Result<Packing> {
        if !fits {
            return Ok(Packing::Some(held::some(source, flows, room, blobs)?));
        }
        let (mut all, mut places) = (Packets::default(), HashMap::new());
        source.each(flows, |flow, packets| {
            let first = all.size();
            all.take(&packets, 0..packets.size());
            places.insert(flow, first..all.size());
            Ok(())
        })?;
        Ok(Packing::Whole(Box::new((Whole::new(source.number), all)), places))
    }
    fn take(&mut self, flow: FlowId, blobs: &mut Blobs) -> Held {
        match self {
            Packing::Whole(both, places) => {
                let (whole, all) = &mut **both;
                whole.take(flow, all, places.remove(&flow).unwrap_or(0..0), blobs)
            }
            Packing::Some(held) => held.remove(&flow).unwrap_or_else(|| Held::none(0)),
        }
    }
    fn end(&mut self, blobs: &mut Blobs) {
        if let Packing::Whole(both, _) = self {
            both.0.end(blobs);
        }
    }
}

/// Everything of a flow. told: as docs/json.md has it. brief: without its round trips, and what only large flows show.
fn detail(
    source: &Source<'_>,
    flow: FlowId,
    told: &Members,
    held: &Held,
    brief: bool,
    blobs: &mut Blobs,
) -> io::Result<String> {
    let key = format!("{}/{flow}", source.number);
    let members = detail::members(told, source.lists_of(flow), source.origin, brief)?;
    let trips = if brief { 0..0 } else { source.trips_of(flow) };
    let mut named = |name: &str, rows: usize, made: &dyn Fn() -> Vec<u8>| {
        if !(1..=MOST_ROWS).contains(&rows) {
            return "null".to_owned();
        }
        let name = format!("{key}/{name}");
        let told = string(&name);
        blobs.add(name, &made());
        told
    };
    let rtt = named("rtt", trips.len(), &|| source.trips.container(trips.clone()));
    let repeated = source.repeated_of(flow);
    let resent = named("retransmissions", repeated.len(), &|| crate::repeated::container(repeated));
    Ok(format!(
        "{{\"flow\":{flow},\"key\":{},{members},{},\"rtt\":{rtt},\"retransmissions\":{resent},\"state\":null}}",
        string(&key),
        held.members()
    ))
}
