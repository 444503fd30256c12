//! Which format a file is in, by its first bytes; what is recognised but not read is named.

use crate::error::Error;
use crate::info::{Compression, Format};
use crate::pcap;
use crate::record;
use crate::window::Window;

pub(crate) fn format(
    window: &mut Window,
    file: &str,
    compression: Option<Compression>,
) -> Result<Format, Error> {
    window.want(64);
    if window.available().is_empty()
        && let Some(what) = record::ended(window, compression)
    {
        return Err(Error::Header {
            file: file.to_string(),
            damage: format!("{what} at its start (byte 0)"),
        });
    }
    let head = window.available();
    if pcap::magic(head).is_some() {
        return Ok(Format::Pcap);
    }
    if head.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) {
        return Ok(Format::Pcapng);
    }
    if head.starts_with(b"snoop\0\0\0") {
        return Ok(Format::Snoop);
    }
    let refused = |found, fix| Err(Error::Foreign { file: file.to_string(), found, fix });
    let foreign = |found| refused(found, Some(format!("editcap -F pcapng {file} OUT.pcapng")));
    let compressed = |found, tool: &str| refused(found, Some(format!("{tool} {file} > OUT.pcap")));
    match head {
        [] => return Err(Error::Empty { file: file.to_string() }),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => return compressed("bzip2 data", "bzip2 -dc"),
        [0x04, 0x22, 0x4d, 0x18, ..] => return compressed("LZ4 data", "lz4 -dc"),
        [b'P', b'K', 3, 4, ..] => return compressed("a ZIP archive", "unzip -p"),
        [0x0a, 0x0d, 0x0d, ..] | [0xa1, 0xb2, ..] | [_, _, 0xb2, 0xa1, ..] => {
            return Err(Error::NoCapture {
                file: file.to_string(),
                found: "a damaged or cut capture header".into(),
            });
        }
        [b'G', b'M', b'B', b'U', ..] | [b'R', b'T', b'S', b'S', ..] => {
            return foreign("a Network Monitor capture");
        }
        [b'X', b'C', b'P', 0, ..] => return foreign("a NetXRay or Windows Sniffer capture"),
        [b'T', b'R', b'S', b'N', b'I', b'F', b'F', ..] => return foreign("a Sniffer capture"),
        [0, 0, b'd', b'v', ..] => return refused("a NetMetrix capture", None),
        [0x7f, b'v', b'e', b'r', ..] => return foreign("an EtherPeek (OmniPeek) capture"),
        _ => {}
    }
    // Without a magic number more has to be looked at.
    window.want(4096);
    let head = window.available();
    if epeek(head) {
        return foreign("an EtherPeek capture");
    }
    if tsh(head) {
        return refused("an NLANR TSH capture", None);
    }
    if erf(head) {
        // Its records have a link layer each, which pcapng has for a whole interface: editcap is told which.
        let link = match head[8] & 0x7f {
            1 => Some("chdlc"),
            2 => Some("ether"),
            _ => None,
        };
        let fix = link.map(|link| format!("editcap -F pcapng -T {link} {file} OUT.pcapng"));
        return refused("an ERF (Endace) capture", fix);
    }
    let head = &head[..head.len().min(64)];
    let found = match is_text(head) {
        true => format!("text (it starts with {:?})", start_of_text(head)),
        false => format!("unknown binary data (it starts with {})", hex(head)),
    };
    Err(Error::NoCapture { file: file.to_string(), found })
}

fn is_text(head: &[u8]) -> bool {
    let whole = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(e) => e.error_len().is_none(), // only the last character is cut
    };
    whole && head.iter().all(|&b| matches!(b, 0x09..=0x0d | 0x1b | 0x20..=0x7e | 0x80..))
}

fn start_of_text(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head);
    text.lines().next().unwrap_or("").chars().take(24).collect()
}

fn hex(head: &[u8]) -> String {
    head.iter().take(8).map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}

/// AG Group's format has no magic number: version 5 to 7, a status, and a first header of 128 or so bytes
/// with times and reserved zeros.
fn epeek(head: &[u8]) -> bool {
    head.len() >= 48 && matches!(head[0], 5..=7) && head[1] == 0 && head[24..48].iter().all(|b| *b == 0)
}

/// Records of 44 bytes: seconds, interface and microseconds, then an IPv4 header without options or bytes
/// behind it.
fn tsh(head: &[u8]) -> bool {
    head.len() >= 64 && head[8] == 0x45 && head[52] == 0x45 && head[..2] == head[44..46]
}

/// Records that say their own length: a timestamp, a type of 1 to 48, flags, the length. There is no magic number,
/// so the record behind the first has to be one as well, within a day of it.
fn erf(head: &[u8]) -> bool {
    let record = |at: usize| {
        let b = head.get(at..at + 16)?;
        let length = usize::from(u16::from_be_bytes([b[10], b[11]]));
        let seconds = u32::from_le_bytes([b[4], b[5], b[6], b[7]]);
        (matches!(b[8] & 0x7f, 1..=48) && length >= 16).then_some((length, seconds))
    };
    let Some((length, seconds)) = record(0) else { return false };
    record(length).is_some_and(|(_, next)| next.abs_diff(seconds) < 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Room;

    fn refusal(bytes: &[u8]) -> String {
        let mut window = Window::new(Box::new(std::io::Cursor::new(bytes.to_vec())), &mut Room::default());
        format(&mut window, "a", None).unwrap_err().to_string()
    }

    #[test]
    fn formats_without_a_magic_number_are_recognised_by_their_records() {
        let erf = |seconds: u8, kind: u8| {
            [&[0; 4], &[seconds, 0, 0, 0x60][..], &[kind, 4, 0, 80, 0, 0, 0, 60], &[0; 64]].concat()
        };
        for (kind, fix) in [
            (1, "convert it to pcapng first, as in editcap -F pcapng -T chdlc a"),
            (2, "convert it to pcapng first, as in editcap -F pcapng -T ether a"),
            (3, "no program is known that converts it"), // ATM cells
        ] {
            let says = format!("is an ERF (Endace) capture (byte 0), which is not read: {fix}");
            assert!(refusal(&[erf(1, kind), erf(2, kind)].concat()).contains(&says));
        }
        let tsh = [&[0x3f, 0x13, 1, 2, 1, 0, 0, 0, 0x45][..], &[0; 35]].concat();
        let refused = refusal(&[tsh.clone(), tsh].concat());
        assert!(refused.contains("is an NLANR TSH capture (byte 0), which is not read: no program is known"));
        assert!(refusal(&[&[6, 0, 0, 1][..], &[9; 20], &[0; 104]].concat()).contains("an EtherPeek capture"));
    }

    #[test]
    fn other_binary_data_is_not_taken_for_a_capture() {
        let mut state = 88_172_645_463_325_252_u64;
        for _ in 0..2000 {
            let mut bytes = vec![0; 5000];
            for b in &mut bytes {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *b = state as u8;
            }
            let said = refusal(&bytes);
            assert!(said.contains("unknown binary data"), "{said}");
        }
    }
}
