//! Two captures of the same transfers: compared first, then the sender's analysed with what the other one tells.

use crate::facts::{Facts, Failures, Pair};
use crate::far;
use crate::run::{self, Asker, BATCH, Findings, Request, Source};
use crate::spool::{Shelf, Spool};
use crate::workers::{Takes, analyse};
use analysis::join::{Joined, Joiner, LostAckSegments, Side, Warning};
use analysis::rows::{AckWay, BurstRow, EpisodeRow, FlowRow, Vantage};
use analysis::{Fate, Sink, fault};
use capture::{Info, Patience, Reader};
use std::collections::HashMap;
use std::path::Path;
use wire::{Notes, Packet, Time, Tuple};

/// Batches of both captures between two reviews of what comparing them takes.
const REVIEW_EVERY: u32 = 32;

/// Of the memory half is for comparing two captures, and half for the analysis.
fn half(request: &Request) -> Option<u64> {
    request.max_memory.map(|most| most / 2)
}

struct Compared {
    joined: Joined,
    receiver: Info,
    /// Packets of the sender's that were compared; all, unless the memory was used up.
    taken: u64,
    /// Connections that could not be compared, and why.
    broken: Vec<(Tuple, String)>,
    /// Why nothing was compared.
    failed: Option<String>,
}

/// After so many connections that cannot be compared nothing is.
const MOST_BROKEN: usize = 8;

/// Reads both captures, the sender's twice: the fate of a packet is known only when the other capture has passed
/// the time of its arrival.
pub fn analyze(
    request: &Request,
    patience: Option<Patience>,
    asker: &mut Asker<'_>,
) -> Result<Findings, String> {
    if request.paths.iter().chain(&request.receiver).any(|p| p == Path::new("-")) {
        return Err("standard input: can be read once, and comparing two captures takes two passes: \
                    save it to a file first"
            .into());
    }
    let open = |side| -> Result<Reader, String> {
        let paths = if side == Side::Sender { &request.paths } else { &request.receiver };
        capture::open_with(paths, &request.options, patience.clone()).map_err(|e| e.to_string())
    };
    let compared = compare(request, &open, None, asker)?;
    if !compared.joined.swapped {
        return answer(request, compared, &open, None, asker);
    }
    let other = |side: Side| open(side.other());
    let mut found = answer(request, compare(request, &other, None, asker)?, &other, None, asker)?;
    // Captures of different transfers seem to be the wrong way round either way.
    let swapped = Warning::Swapped.to_string();
    found.facts.warnings.retain(|told| *told != swapped);
    found.facts.warnings.insert(0, swapped);
    found.facts.swapped = true;
    Ok(found)
}

/// Packets of each of two files after which it is known whether they are one transfer from both ends.
const ENOUGH: u64 = 4096;

/// Two files that overlap are hardly of one rotation: where they show the same packets from two places, that is said
/// instead, with what compares them.
pub fn tell_both_ends(request: &Request, patience: Option<Patience>, info: &mut Info) {
    let [_, second] = &info.files[..] else { return };
    let overlap = second.overlap();
    let Some(place) = info.warnings.iter().position(|told| *told == overlap) else { return };
    let Some(joined) = first_packets(request, patience) else { return };
    let [one, other] = &request.paths[..] else { return };
    let receiver = if joined.swapped { one } else { other };
    info.warnings[place] = format!(
        "{} and {} show the same connections from both ends, and were read as one rotation: did you mean --receiver {}?",
        one.display(),
        other.display(),
        receiver.display()
    );
}

/// The first packets of both files compared, if most of one's are in the other and were captured at another place.
fn first_packets(request: &Request, patience: Option<Patience>) -> Option<Joined> {
    let open = |at: usize| {
        let path = &request.paths[at..=at];
        capture::open_with(path, &request.options, patience.clone()).ok().map(|r| (r, 0))
    };
    let mut joiner = Joiner::new();
    let mut files = [open(0)?, open(1)?];
    let mut batch: Vec<Packet> = Vec::with_capacity(BATCH);
    let mut ended = [false; 2];
    while !(ended[0] && ended[1]) {
        let side = if ended[joiner.wants() as usize] { joiner.wants().other() } else { joiner.wants() };
        let (reader, taken) = &mut files[side as usize];
        if *taken < ENOUGH && reader.read_batch(&mut batch, BATCH) {
            *taken += batch.len() as u64;
            joiner.push(side, &batch);
        } else {
            joiner.end(side);
            ended[side as usize] = true;
        }
    }
    let fewest = files.iter().map(|(_, taken)| *taken).min().unwrap_or_default();
    let joined = joiner.finish();
    (joined.comparable && joined.matched * 2 >= fewest).then_some(joined)
}

/// Of captures that lack nothing, on one clock: when both were on, and what was on its way as they ended, to which side.
pub struct Whole {
    pub start: Time,
    pub end: Time,
    pub under_way: Vec<(Side, Packet)>,
}

/// The same of any two sources, of which the sender's is opened twice.
pub fn analyze_sources<S: Source>(
    request: &Request,
    open: &dyn Fn(Side) -> Result<S, String>,
    whole: Option<&Whole>,
    asker: &mut Asker<'_>,
) -> Result<Findings, String> {
    answer(request, compare(request, open, whole, asker)?, open, whole, asker)
}

fn answer<S: Source>(
    request: &Request,
    compared: Compared,
    open: &dyn Fn(Side) -> Result<S, String>,
    whole: Option<&Whole>,
    asker: &mut Asker<'_>,
) -> Result<Findings, String> {
    let Compared { mut joined, receiver, mut taken, broken, failed } = compared;
    let mut warnings = if whole.is_some() { limits(&joined) } else { told(joined.warnings.iter()) };
    let failures = Failures::default();
    if let Some(why) = failed {
        failures.count();
        warnings = vec![format!(
            "the two captures could not be compared, and the sender's was analysed alone: {why}"
        )];
    }
    let pair = Pair {
        receiver,
        clock: joined.clock,
        matched: joined.matched,
        lost: [joined.sender.lost_packets(), joined.receiver.lost_packets()],
        not_captured: [joined.sender.not_captured, joined.receiver.not_captured],
        outside: [joined.sender.outside, joined.receiver.outside],
    };
    if !joined.comparable {
        let mut found = run::analyze_source(request, open(Side::Sender)?, asker)?;
        found.facts.warnings.extend(warnings);
        found.facts.pair = Some(pair);
        found.facts.failures = failures;
        return Ok(found);
    }
    let mut config = request.config.clone();
    config.vantage = config.vantage.or(Some(Vantage::Both));
    let mut reader = open(Side::Sender)?;
    let mut not_compared = 0;
    let mut beside = run::Beside::default();
    let read = |takes: &mut dyn Takes| {
        let mut batch: Vec<Packet> = Vec::with_capacity(BATCH);
        let mut fates = joined.fates(Side::Sender);
        let mut of_batch: Vec<Fate> = Vec::with_capacity(BATCH);
        while reader.read_batch(&mut batch, BATCH) {
            takes.note_earlier(&reader.take_earlier());
            beside.take(&batch, reader.take_datagrams());
            // What was not compared is not analysed.
            let most = usize::try_from(taken).unwrap_or(usize::MAX).min(batch.len());
            taken -= most as u64;
            not_compared += (batch.len() - most) as u64;
            of_batch.clear();
            of_batch.extend(batch[..most].iter().map(|packet| fates.of(packet)));
            takes.push_with_fates(&batch[..most], &of_batch);
            if !asker.goes_on(&reader) {
                break;
            }
        }
        asker.ended(&reader);
    };
    let ((), mut analysed) = analyse(request, config.clone(), half(request), read);
    beside.put_into(&mut analysed.shelf.paths);
    let not_analysed = not_compared + analysed.not_analysed;
    let info = reader.info().clone();
    // The sender's side asks for what was lost from the receiver's; of its own ACKs nothing is said.
    let asks = |way| !joined.leaves_receiver_side(way);
    let mut shelf =
        put_lost_acks(analysed.shelf, &joined.lost_ack_segments(), asks).map_err(|e| e.to_string())?;
    if !broken.is_empty() {
        failures.count();
        see_anew(&mut shelf, |row| of_broken(row, &broken)).map_err(|e| e.to_string())?;
    }
    if not_analysed == 0 && !asker.stopped {
        let request = Request { config: config.clone(), max_memory: half(request), ..request.clone() };
        let far = far::read(&request, open(Side::Receiver)?, &mut joined, &shelf, asker);
        if let Some(far) = far.map_err(|e| e.to_string())? {
            far::choose_waits(&mut shelf, &far).map_err(|e| e.to_string())?;
            shelf.far = Some(Box::new(far));
        }
    }
    let facts = Facts {
        origin: info.first.unwrap_or(Time::ZERO),
        info,
        connections: analysed.connections,
        interrupted: asker.stopped,
        not_analysed,
        warnings: [run::used_up(not_analysed), warnings].concat(),
        pair: Some(pair),
        failures,
        ..Facts::default()
    };
    Ok(Findings { shelf, facts })
}

/// What limits the comparison of whole captures. That the run began and ended with packets under way is no news, nor that
/// of a connection nothing arrived: its links say what they lost.
pub(crate) fn limits(joined: &Joined) -> Vec<String> {
    let news = |w: &&Warning| {
        !matches!(
            w,
            Warning::Outside { .. }
                | Warning::OneDirection
                | Warning::OneSided { .. }
                | Warning::OtherTransfers
                | Warning::NoCommonPackets { .. }
        )
    };
    told(joined.warnings.iter().filter(news))
}

fn told<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Vec<String> {
    warnings.map(ToString::to_string).collect()
}

/// The row of a flow that is of a connection that could not be compared: it is known from one capture alone.
fn of_broken(row: &FlowRow, broken: &[(Tuple, String)]) -> Option<FlowRow> {
    let way = Tuple { src: row.sender, dst: row.receiver };
    let (_, why) = broken.iter().find(|(of, _)| *of == way || of.reversed() == way)?;
    let fault = Some(format!("compared with the other capture, {why}").into());
    row.fault.is_none().then(|| FlowRow { fault, ..row.clone() })
}

/// Where the comparison fails on a connection it begins anew without that.
fn compare<S: Source>(
    request: &Request,
    open: &dyn Fn(Side) -> Result<S, String>,
    whole: Option<&Whole>,
    asker: &mut Asker<'_>,
) -> Result<Compared, String> {
    let mut broken: Vec<(Tuple, String)> = Vec::new();
    loop {
        match compare_but(&broken, request, open, whole, asker)? {
            Ok(compared) => return Ok(Compared { broken, ..compared }),
            Err((Some(of), why)) if broken.len() < MOST_BROKEN && !is_of(&broken, of) => {
                broken.push((of, why))
            }
            Err((_, why)) => {
                let receiver = open(Side::Receiver)?.info().clone();
                let joined = Joiner::new().finish();
                let failed = Some(why);
                return Ok(Compared { joined, receiver, taken: u64::MAX, broken: Vec::new(), failed });
            }
        }
    }
}

fn is_of(broken: &[(Tuple, String)], tuple: Tuple) -> bool {
    broken.iter().any(|(of, _)| *of == tuple || of.reversed() == tuple)
}

/// All connections but some; or which one cannot be compared, if that is known, and why.
type Attempt = Result<Compared, (Option<Tuple>, String)>;

fn compare_but<S: Source>(
    broken: &[(Tuple, String)],
    request: &Request,
    open: &dyn Fn(Side) -> Result<S, String>,
    whole: Option<&Whole>,
    asker: &mut Asker<'_>,
) -> Result<Attempt, String> {
    let mut sender = open(Side::Sender)?;
    let mut receiver = open(Side::Receiver)?;
    let joiner = whole.map_or_else(Joiner::new, |whole| Joiner::of_complete_captures(whole.start));
    let mut joiner = joiner.tripping(request.config.trip);
    let mut batch: Vec<Packet> = Vec::with_capacity(BATCH);
    let mut ended = [false; 2];
    let mut taken = 0;
    let (most, mut batches, mut is_full) = (half(request), 0u32, false);
    while !(ended[0] && ended[1]) {
        let side = match (joiner.wants(), ended) {
            (_, [true, false]) => Side::Receiver,
            (_, [false, true]) => Side::Sender,
            (wanted, _) => wanted,
        };
        let reader = if side == Side::Sender { &mut sender } else { &mut receiver };
        if reader.read_batch(&mut batch, BATCH) {
            let whole_batch = batch.len();
            // What the host drops for its checksum has not arrived.
            if reader.info().some_came_damaged() {
                batch.retain(|p| !p.notes.has(Notes::BAD_CHECKSUM));
            }
            if !broken.is_empty() {
                batch.retain(|p| !is_of(broken, p.tuple));
            }
            batches += 1;
            if batches.is_multiple_of(REVIEW_EVERY) {
                is_full |= most.is_some_and(|most| joiner.held() > most);
            }
            if !is_full {
                taken += if side == Side::Sender { whole_batch as u64 } else { 0 };
                if let Err(why) = fault::caught(|| joiner.push(side, &batch)) {
                    return Ok(Err((joiner.at_work(), why)));
                }
            }
        } else {
            asker.ended(reader);
            if let Err(why) = fault::caught(|| joiner.end(side)) {
                return Ok(Err((joiner.at_work(), why)));
            }
            ended[side as usize] = true;
        }
        if !asker.goes_on(&sender) {
            break;
        }
    }
    for reader in [&mut sender, &mut receiver] {
        if !asker.stopped
            && let Some(why) = reader.info().nothing()
        {
            return Err(why);
        }
    }
    let finish = || match whole {
        Some(whole) => joiner.finish_complete(whole.end, &whole.under_way),
        None => joiner.finish(),
    };
    let joined = match fault::caught(finish) {
        Ok(joined) => joined,
        Err(why) => return Ok(Err((None, why))),
    };
    let taken = if is_full { taken } else { u64::MAX };
    let receiver = receiver.info().clone();
    Ok(Ok(Compared { joined, receiver, taken, broken: Vec::new(), failed: None }))
}

/// Bursts leave the analysis before the flow's own row, which tells whose they are; the ACKs that were lost from a
/// burst's first copy to its first repair are counted here, once both are there. Its last copy is no end for them:
/// behind a full queue what was sent at one moment is lost seconds later, and the ACKs with it. Likewise for episodes, of
/// which some have no burst: all that was lost were ACKs.
pub(crate) fn with_lost_acks(spool: Spool, lost: &LostAckSegments) -> std::io::Result<Shelf> {
    put_lost_acks(spool.seal(), lost, |_| true)
}

/// Puts other rows in the place of flows of which it turns out where they were seen.
pub(crate) fn see_anew(shelf: &mut Shelf, anew: impl Fn(&FlowRow) -> Option<FlowRow>) -> std::io::Result<()> {
    let mut flows = Spool::new(Default::default());
    for row in shelf.rows::<FlowRow>()? {
        let row = row?;
        flows.flow(&anew(&row).unwrap_or(row));
    }
    shelf.replace::<FlowRow>(flows);
    Ok(())
}

fn put_lost_acks(
    mut shelf: Shelf,
    lost: &LostAckSegments,
    asks: impl Fn(Tuple) -> bool,
) -> std::io::Result<Shelf> {
    let mut tuples: HashMap<u32, Tuple> = HashMap::new();
    for row in shelf.rows::<FlowRow>()? {
        let row = row?;
        let way = Tuple { src: row.sender, dst: row.receiver };
        if (row.bursts > 0 || row.episodes > 0) && asks(way) {
            tuples.insert(row.flow, way);
        }
    }
    see_anew(&mut shelf, |row| {
        let way = Tuple { src: row.sender, dst: row.receiver };
        let ack_way = AckWay { lost: Some(lost.of(way).len() as u64), ..row.ack_way };
        asks(way).then(|| FlowRow { ack_way, ..row.clone() })
    })?;
    let mut bursts = Spool::new(Default::default());
    for row in shelf.rows::<BurstRow>()? {
        let mut row = row?;
        row.lost_acks = tuples.get(&row.flow).map(|t| {
            let end = row.first_repair.unwrap_or(row.last);
            lost.between(*t, row.start, end)
        });
        bursts.burst(row);
    }
    shelf.replace::<BurstRow>(bursts);
    let mut episodes = Spool::new(Default::default());
    for row in shelf.rows::<EpisodeRow>()? {
        let mut row = row?;
        row.lost_acks = tuples.get(&row.flow).map(|t| lost.between(*t, row.start, row.first_repair));
        episodes.episode(row);
    }
    shelf.replace::<EpisodeRow>(episodes);
    Ok(shelf)
}
