//! snoop files (RFC 1761), as Solaris writes them: big-endian.

use crate::error::grouped;
use crate::info::{FileInfo, Interface, Resolution};
use crate::link::LinkType;
use crate::record::{Fault, Framing, MAX_SNAP, Record, bring};
use crate::window::Window;
use wire::{Notes, Time};

const RECORD_HEADER: usize = 24;

pub(crate) struct Snoop {
    link: u16,
}

fn be32(b: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

impl Snoop {
    pub fn start(window: &mut Window, file: &mut FileInfo) -> Result<Snoop, Fault> {
        bring(window, 16)?;
        let h = window.available();
        let (version, datalink) = (be32(h, 8), be32(h, 12));
        if version != 2 {
            return Err(Fault::Nonsense {
                at: 8,
                why: format!("snoop version {version} is not read, only 2"),
            });
        }
        // RFC 1761's numbers for data links as pcap's link types; an unknown one is named as what it is.
        let link = match datalink {
            0 | 4 => LinkType::ETHERNET,
            2 => LinkType::TOKEN_RING,
            8 => LinkType::FDDI,
            other => LinkType(0x8000 | other as u16),
        };
        let resolution = Resolution::Decimal(6);
        file.interfaces.push(Interface { name: None, link, snap: None, resolution, dropped: None });
        window.consume(16);
        Ok(Snoop { link: link.0 })
    }
}

impl Framing for Snoop {
    fn next(&mut self, window: &mut Window, file: &mut FileInfo) -> Result<Option<Record>, Fault> {
        match window.want(RECORD_HEADER) {
            0 => return Ok(None),
            have if have < RECORD_HEADER => return Err(Fault::Short { needs: RECORD_HEADER as u64 }),
            _ => {}
        }
        let h = window.available();
        let (wire_len, captured, total) = (be32(h, 0), be32(h, 4), be32(h, 8));
        if captured > MAX_SNAP || total > MAX_SNAP + 64 || u64::from(total) < u64::from(captured) + 24 {
            let why = format!(
                "a record of {} bytes cannot hold a packet of {}",
                grouped(total.into()),
                grouped(captured.into())
            );
            return Err(Fault::Nonsense { at: 4, why });
        }
        // Drops are cumulative (RFC 1761, "Cumulative Drops").
        let drops = u64::from(be32(h, 12));
        if let Some(interface) = file.interfaces.first_mut() {
            interface.dropped = Some(interface.dropped.unwrap_or(0).max(drops));
        }
        let time = Time(i64::from(be32(h, 16)) * 1_000_000_000 + i64::from(be32(h, 20)) * 1000);
        bring(window, total.into())?;
        Ok(Some(Record {
            time,
            link: self.link,
            fcs: 0,
            wire_len,
            captured,
            head: RECORD_HEADER,
            total: total.into(),
            notes: Notes(0),
            interface: 0,
            options: (0, 0),
        }))
    }
}
