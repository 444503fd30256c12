//! The report's page: its data, as the page takes them.

use analysis::rows::Vantage;
use analysis::{Config, Wanted};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use capture::Progress;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use report::{End, Page};
use results::run::{self, Request};
use results::spool::Listing;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use wasm_bindgen::prelude::*;

/// A row for each packet, ACK and repair is kept of captures of up to so many packets: the rows of one flow take 140 bytes
/// each while the page is made.
const MOST_PACKETS: u64 = 500_000;

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

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
    // Memory takes all of it.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// The captures of `of` again, with the rows that a report shows. packets: how many there are.
pub fn make(of: &Request, packets: u64, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<Report, String> {
    let all = packets <= MOST_PACKETS;
    let wanted =
        Wanted { retransmissions: true, intervals: true, rtts: all, packets: all, ..Wanted::default() };
    let request = |paths: &[PathBuf], receiver: &[PathBuf], vantage| Request {
        paths: paths.to_vec(),
        receiver: receiver.to_vec(),
        config: Config { vantage, wanted, ..Config::default() },
        listing: Listing::default(),
        ..of.clone()
    };
    let found = run::analyze(&request(&of.paths, &of.receiver, None), None, go_on)?;
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
        let end = |found, paths: &[PathBuf], place| End {
            found,
            label: names(paths)[0].clone(),
            place: Some(place),
            view: format!("rexmit view {both}"),
        };
        let ends = [end(&found, sent, "sender"), end(&other, came, "receiver")];
        report::page(&ends, &title, &format!("rexmit analyze {both}"), deflate)
    } else {
        // Of a rotation, which file is asked for is not known here.
        let view = if let [only] = &files[..] { format!("rexmit view {only}") } else { "rexmit view".into() };
        let ends = [End { found: &found, label: title.clone(), place: None, view }];
        report::page(&ends, &title, &format!("rexmit analyze {}", files.join(" ")), deflate)
    };
    let Page { title, meta, blobs } = page.map_err(|e| e.to_string())?;
    Ok(Report { title, meta, blobs })
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\"'\"'"))
}
