//! What can be wrong with a file, each as one sentence that names the place and the fix.

use std::fmt;
use std::io;
use std::path::Path;

/// `12404` as `12,404`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// `1 packet`, `12,404 packets`.
pub(crate) fn counted(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// How a capture in a format that is not read can be converted.
fn conversion(fix: Option<&str>) -> String {
    match fix {
        Some(fix) => format!("convert it to pcapng first, as in {fix}"),
        None => "no program is known that converts it".into(),
    }
}

/// An input/output error without the operating system's error number.
pub(crate) fn io_reason(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "is a directory".into(),
        _ => sentence(e),
    }
}

/// What the system says of an error, without its number, as it goes on behind a colon.
pub fn sentence(e: &io::Error) -> String {
    let text = e.to_string();
    let text = text.split(" (os error").next().unwrap_or("").trim();
    let mut chars = text.chars();
    // Lower-case the first word, unless it is an acronym.
    match (chars.next(), chars.clone().next()) {
        (Some(a), Some(b)) if b.is_lowercase() => a.to_lowercase().chain(chars).collect(),
        _ => text.to_string(),
    }
}

/// A file's name for people: bytes that are not UTF-8 as `\xNN`.
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Why nothing could be read, or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{file}: no such file")]
    Missing { file: String },
    #[error("{file}: is a directory: name the capture files in it, as in {}/*", .file.trim_end_matches('/'))]
    Directory { file: String },
    #[error("{file}: permission denied: make it readable (chmod +r), or capture to a place of your own")]
    Permission { file: String },
    #[error("{file}: cannot be read: {}", io_reason(.reason))]
    Unreadable { file: String, reason: io::Error },
    /// Not within the reach.
    #[error("{file}: is {why}")]
    Refused { file: String, why: String },
    #[error("{file}: is empty (0 bytes): has the capture been started, or its disk been full?")]
    Empty { file: String },
    #[error(
        "{file}: is {found}, no capture (byte 0): pcap, pcapng and snoop are read, plain or in gzip, zstd or xz"
    )]
    NoCapture { file: String, found: String },
    /// Another kind of capture, recognised but not read.
    #[error("{file}: is {found} (byte 0), which is not read: {}", conversion(fix.as_deref()))]
    Foreign { file: String, found: &'static str, fix: Option<String> },
    #[error("{file}: {damage}")]
    Header { file: String, damage: String },
    /// A selection that cannot be meant.
    #[error("{0}")]
    Selection(String),
    #[error("no capture file given: name at least one, or - for standard input")]
    NoFiles,
    #[error("{file}: cannot be written: {}", io_reason(.reason))]
    Write { file: String, reason: io::Error },
    #[error(
        "the packets lie {seconds:.0} s apart, more than {} bins of {width} s: choose a longer bin", grouped(*most)
    )]
    TooManyBins { seconds: f64, width: f64, most: u64 },
    #[error("{file}: nothing came until it was stopped: nothing was read")]
    Silent { file: String },
    #[error("stopped before {file} was complete: nothing was written")]
    Stopped { file: String },
}

impl Error {
    pub(crate) fn opening(file: &str, reason: io::Error) -> Error {
        let file = file.to_string();
        match reason.kind() {
            io::ErrorKind::NotFound => Error::Missing { file },
            io::ErrorKind::PermissionDenied => Error::Permission { file },
            io::ErrorKind::IsADirectory => Error::Directory { file },
            _ => Error::Unreadable { file, reason },
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn refused(file: &str, refusal: reach::Refusal) -> Error {
        match refusal {
            reach::Refusal::Io(reason) => Error::opening(file, reason),
            refusal => Error::Refused { file: file.to_string(), why: refusal.to_string() },
        }
    }
}

/// What was found where a file went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The file ends inside a packet: so many bytes more were announced.
    Cut { wants: u64 },
    /// A length, a number or a structure that cannot be.
    Nonsense(String),
    /// The compressed stream ended or broke.
    Compression(String),
    /// Reading failed.
    Input(String),
}

/// Without the place.
impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Cut { wants } => write!(f, "cut off, {} wanted", counted(*wants, "more byte")),
            What::Nonsense(why) => write!(f, "damaged: {why}"),
            What::Compression(why) => f.write_str(why),
            What::Input(why) => write!(f, "reading failed: {why}"),
        }
    }
}

/// Where a file went wrong; what came before it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub file: String,
    /// Where in the file; for a compressed one, in what it decompresses to.
    pub byte: u64,
    /// The packet that could not be read, counting from 1 in this file.
    pub packet: u64,
    pub what: What,
    /// The byte offset is one of the decompressed data.
    pub decompressed: bool,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (packet, byte) = (grouped(self.packet), grouped(self.byte));
        let of = if self.decompressed { " decompressed" } else { "" };
        write!(f, "{}: ", self.file)?;
        match &self.what {
            What::Cut { wants } => {
                write!(f, "cut off in packet {packet} (byte {byte}{of} wants {} more)", grouped(*wants))?;
            }
            What::Nonsense(why) => write!(f, "damaged at packet {packet} (byte {byte}{of}): {why}")?,
            What::Compression(why) => write!(f, "{why} at packet {packet} (byte {byte}{of})")?,
            What::Input(why) => write!(f, "reading failed at packet {packet} (byte {byte}{of}): {why}")?,
        }
        write!(f, ": {} analysed", counted(self.packet - 1, "packet"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_file_is_told_in_one_sentence() {
        let damage = Damage {
            file: "upload.pcap".into(),
            byte: 1_048_560,
            packet: 10_412,
            what: What::Cut { wants: 96 },
            decompressed: false,
        };
        let said =
            "upload.pcap: cut off in packet 10,412 (byte 1,048,560 wants 96 more): 10,411 packets analysed";
        assert_eq!(damage.to_string(), said);
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let all = [0, 999, 1000, 12_404, 1_048_560].map(grouped);
        assert_eq!(all, ["0", "999", "1,000", "12,404", "1,048,560"]);
    }
}
