//! One pass: packets out of captures, through the analysis, into the spool.

use crate::facts::Facts;
use crate::pair;
use crate::spool::{Listing, Shelf, Spool};
use crate::workers::{Takes, analyse};
use analysis::Config;
use analysis::paths::Paths;
use capture::{Datagrams, Info, Options, Patience, Progress, Reader};
use std::path::PathBuf;
use wire::{Packet, Time, Tuple};

/// Packets handed over at a time: they stay in the first-level cache between reading and analysis.
pub const BATCH: usize = 128;
/// Batches between two questions whether to go on.
const ASK_EVERY: u32 = 32;

/// What is to be analysed, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub paths: Vec<PathBuf>,
    /// Captures of the same transfer at the receiver; empty without.
    pub receiver: Vec<PathBuf>,
    pub options: Options,
    pub config: Config,
    pub listing: Listing,
    /// Bytes of memory that connections may take; what comes once they are used up is counted and not analysed.
    pub max_memory: Option<u64>,
    /// Threads that read and analyse. The answer is the same.
    pub threads: usize,
    /// Captures without any TCP are an answer, too: that of a run whose hosts spoke none.
    pub perhaps_empty: bool,
}

impl Request {
    pub fn spool(&self) -> Spool {
        Spool::listing(self.config.wanted, self.listing)
    }
}

/// Where packets come from, in batches.
pub trait Source {
    /// False at the end.
    fn read_batch(&mut self, batch: &mut Vec<Packet>, most: usize) -> bool;
    fn info(&self) -> &Info;
    fn progress(&self) -> Progress;
    /// True if the wait for more was given up: what was read is not all.
    fn stopped(&self) -> bool {
        false
    }
    /// SYNs from before what is read, since this was last asked.
    fn take_earlier(&mut self) -> Vec<Packet> {
        Vec::new()
    }
    /// UDP that passed in what was read since this was last asked.
    fn take_datagrams(&mut self) -> Vec<Datagrams> {
        Vec::new()
    }
}

impl Source for Reader {
    #[inline]
    fn read_batch(&mut self, batch: &mut Vec<Packet>, most: usize) -> bool {
        Reader::read_batch(self, batch, most)
    }
    fn info(&self) -> &Info {
        Reader::info(self)
    }
    fn progress(&self) -> Progress {
        Reader::progress(self)
    }
    fn stopped(&self) -> bool {
        Reader::stopped(self)
    }
    fn take_earlier(&mut self) -> Vec<Packet> {
        Reader::take_earlier(self)
    }
    fn take_datagrams(&mut self) -> Vec<Datagrams> {
        Reader::take_datagrams(self)
    }
}

/// What hosts send besides TCP, from the first TCP packet on, from which the analysis counts as well.
#[derive(Default)]
pub struct Beside {
    origin: Option<Time>,
    paths: Paths,
}

impl Beside {
    /// What came along with a batch.
    pub fn take(&mut self, batch: &[Packet], datagrams: Vec<Datagrams>) {
        self.origin = self.origin.or(batch.first().map(|p| p.time));
        let Some(origin) = self.origin else { return };
        let since = |t: Time| Time(t.0.saturating_sub(origin.0));
        for d in datagrams.into_iter().filter(|d| d.start >= origin) {
            self.paths.add_udp((d.from, d.to), since(d.start), since(d.end), d.bytes);
        }
    }
    /// A datagram of a run whose capture begins with it.
    pub fn note(&mut self, now: Time, ends: Tuple, bytes: u32) {
        let origin = *self.origin.get_or_insert(now);
        let at = Time((now - origin).0);
        self.paths.add_udp((ends.src.host, ends.dst.host), at, at, bytes.into());
    }
    pub fn put_into(&self, paths: &mut Paths) {
        paths.merge_udp(&self.paths);
    }
}

/// What one pass found.
pub struct Findings {
    pub shelf: Shelf,
    pub facts: Facts,
}

impl Findings {
    /// Did rexmit itself fail on anything, as far as that is known by now?
    pub fn has_failed(&self) -> bool {
        self.shelf.sums.faults > 0 || self.facts.failures.any()
    }
}

/// Asks now and then whether to go on.
pub struct Asker<'a> {
    go_on: &'a mut dyn FnMut(Progress) -> bool,
    batches: u32,
    pub stopped: bool,
}

impl<'a> Asker<'a> {
    pub fn new(go_on: &'a mut dyn FnMut(Progress) -> bool) -> Asker<'a> {
        Asker { go_on, batches: 0, stopped: false }
    }
    /// Once a source gives no more: whether that is its end.
    pub fn ended(&mut self, source: &impl Source) {
        self.stopped |= source.stopped();
    }
    #[inline]
    pub fn goes_on(&mut self, source: &impl Source) -> bool {
        self.batches += 1;
        if self.batches.is_multiple_of(ASK_EVERY) {
            self.stopped |= !(self.go_on)(source.progress());
        }
        !self.stopped
    }
}

/// Reads and analyses. `go_on` is asked every few thousand packets, `patience` where a signal comes while there is
/// nothing to read; once one says no, reading ends there, and what was read is the answer.
pub fn analyze(
    request: &Request,
    patience: Option<Patience>,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<Findings, String> {
    let mut asker = Asker::new(go_on);
    if !request.receiver.is_empty() {
        return pair::analyze(request, patience, &mut asker);
    }
    let reader =
        capture::open_with(&request.paths, &request.options, patience.clone()).map_err(|e| e.to_string())?;
    let mut found = analyze_source(request, reader, &mut asker)?;
    if !found.facts.interrupted {
        pair::tell_both_ends(request, patience, &mut found.facts.info);
    }
    Ok(found)
}

/// What is said of packets that came after the memory was used up.
pub fn used_up(packets: u64) -> Vec<String> {
    let say = |n| {
        format!(
            "the memory that is allowed (--max-memory) was used up: {n} TCP packets are counted, not analysed"
        )
    };
    (packets > 0).then(|| say(packets)).into_iter().collect()
}

/// The same of any source.
pub fn analyze_source<S: Source>(
    request: &Request,
    mut reader: S,
    asker: &mut Asker<'_>,
) -> Result<Findings, String> {
    let mut beside = Beside::default();
    let read = |takes: &mut dyn Takes| {
        let mut batch: Vec<Packet> = Vec::with_capacity(BATCH);
        while reader.read_batch(&mut batch, BATCH) {
            takes.note_earlier(&reader.take_earlier());
            beside.take(&batch, reader.take_datagrams());
            takes.push(&batch);
            if !asker.goes_on(&reader) {
                break;
            }
        }
        asker.ended(&reader);
    };
    let ((), mut analysed) = analyse(request, request.config.clone(), request.max_memory, read);
    beside.put_into(&mut analysed.shelf.paths);
    let info = reader.info().clone();
    if !asker.stopped
        && !request.perhaps_empty
        && let Some(why) = info.nothing()
    {
        return Err(why);
    }
    let facts = Facts {
        origin: info.first.unwrap_or(Time::ZERO),
        info,
        connections: analysed.connections,
        interrupted: asker.stopped,
        not_analysed: analysed.not_analysed,
        warnings: used_up(analysed.not_analysed),
        ..Facts::default()
    };
    Ok(Findings { shelf: analysed.shelf, facts })
}
