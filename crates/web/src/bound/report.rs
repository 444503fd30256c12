//! The report's page: its data, as the page takes them.

use analysis::rows::Vantage;
use analysis::{Config, Wanted};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use capture::Progress;
use report::{About, Limits, Page, Source, States};
use results::json::Beside;
use results::run::{self, Findings, Request};
use results::spool::Listing;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use wasm_bindgen::prelude::*;

/// A row for each packet, ACK and repair is kept of captures of up to so many packets: the rows of one flow take 140 bytes
/// each while the page is made.
pub const MOST_PACKETS: u64 = 500_000;

/// The data of a report, which a page takes piece by piece.
#[wasm_bindgen]
pub struct Report {
    title: String,
    meta: String,
    blobs: BTreeMap<String, Vec<u8>>,
}

#[wasm_bindgen]
impl Report {
    pub fn title(&self) -> String {
        self.title.clone()
    }
    pub fn meta(&mut self) -> String {
        std::mem::take(&mut self.meta)
    }
    pub fn names(&self) -> Vec<String> {
        self.blobs.keys().cloned().collect()
    }
    /// A blob as base64; it is gone then.
    pub fn take(&mut self, name: &str) -> String {
        BASE64_STANDARD.encode(self.blobs.remove(name).unwrap_or_default())
    }
}

/// The rows that a report shows. all: those of each packet and ACK, too.
pub fn wanted(all: bool) -> Wanted {
    Wanted { retransmissions: true, intervals: true, rtts: all, packets: all }
}

/// The report on the captures of `of`, which have so many packets. found: what they tell, with the rows that a report
/// shows; None: they are read again.
pub fn make(
    of: &Request,
    found: Option<Findings>,
    packets: u64,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<Report, String> {
    let wanted = wanted(packets <= MOST_PACKETS);
    let request = |paths: &[PathBuf], receiver: &[PathBuf], vantage| Request {
        paths: paths.to_vec(),
        receiver: receiver.to_vec(),
        config: Config { vantage, wanted, ..Config::default() },
        listing: Listing::default(),
        ..of.clone()
    };
    let found = match found {
        Some(found) => found,
        None => run::analyze(&request(&of.paths, &of.receiver, None), None, go_on)?,
    };
    let names =
        |paths: &[PathBuf]| -> Vec<String> { paths.iter().map(|p| p.display().to_string()).collect() };
    let first = names(&of.paths);
    let mut title = first[0].clone();
    if first.len() > 1 {
        title += &format!(" and {} more", first.len() - 1);
    }
    let files: Vec<String> = first.iter().map(|name| quoted(name)).collect();
    let page = if let Some(receiver) = names(&of.receiver).first() {
        title += &format!(" with {receiver}");
        let (sent, came) =
            if found.facts.swapped { (&of.receiver, &of.paths) } else { (&of.paths, &of.receiver) };
        let other = run::analyze(&request(came, &[], Some(Vantage::Receiver)), None, go_on)?;
        let both = format!("--sender {} --receiver {}", files.join(" "), quoted(receiver));
        let ends = [
            (found, names(sent).swap_remove(0), Some("sender")),
            (other, names(came).swap_remove(0), Some("receiver")),
        ];
        page(&ends, &title, &both, &both)
    } else {
        // Of a rotation, which file is asked for is not known here.
        let view = if let [only] = &files[..] { only } else { "" };
        page(&[(found, title.clone(), None)], &title, &files.join(" "), view)
    };
    let Page { meta, blobs } = page.map_err(|e| e.to_string())?;
    Ok(Report { title, meta, blobs })
}

/// The page of one capture or both ends of the same transfers, each with its label and its place. named: what the command
/// line calls them. viewed: what `rexmit view` is told.
fn page(
    ends: &[(Findings, String, Option<&str>)],
    title: &str,
    named: &str,
    viewed: &str,
) -> io::Result<Page> {
    let read = |(number, (found, ..)): (usize, &(Findings, String, Option<&str>))| {
        Source::read(found, number, Limits::default(), &mut |_, _| true)
    };
    let sources = ends.iter().enumerate().map(read).collect::<io::Result<Vec<_>>>()?;
    let view = format!("rexmit view {viewed}");
    let states = States::default();
    let abouts: Vec<About<'_>> = sources
        .iter()
        .zip(ends)
        .map(|(source, (found, label, place))| About {
            found,
            beside: Beside::default(),
            source,
            states: &states,
            label,
            place: *place,
            run: None,
            view: view.trim_end(),
        })
        .collect();
    report::page(&abouts, title, &format!("rexmit analyze {named}"))
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\"'\"'"))
}
