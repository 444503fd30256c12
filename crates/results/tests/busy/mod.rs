//! Captures of hosts that open, use and close many connections, and all that is told of a capture.
#![allow(dead_code, reason = "each test uses some of it")]

use analysis::rows::*;
use results::json;
use results::run::{self, Findings, Request};
use results::spool::{Row, Table};
use std::fmt::{Debug, Write as _};
use std::path::PathBuf;

/// xorshift64* (Vigna 2016).
pub struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32) % n
    }
    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

/// Both ends of a connection: what they send next, and what they wait for.
#[derive(Clone, Copy, Default)]
struct Ends {
    next: [u32; 2],
    got: [u32; 2],
}

/// Hosts that open, use, close, refuse and reopen connections between few endpoints, some packets of which are lost, come
/// again, late, or are written down out of order; now and then nobody says anything for longer than a connection that
/// ended is remembered.
pub fn busy(seed: u64, packets: u32, pairs: u32) -> Vec<u8> {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut ends = vec![Ends::default(); pairs as usize];
    let mut out = [0xa1b2_3c4du32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4]].concat();
    out.extend([262_144u32.to_le_bytes(), 101u32.to_le_bytes()].concat());
    let mut now = 1_700_000_000_000_000_000u64;
    let mut last = 0;
    for n in 0..packets {
        let pair = if r.one_in(3) { last } else { r.below(pairs) };
        last = pair;
        now += u64::from(match r.below(2000) {
            0 => 4_000_000_000,
            1..20 => r.below(400_000_000),
            _ => r.below(200_000),
        });
        let at = if r.one_in(50) { now - u64::from(r.below(3_000_000)) } else { now };
        let side = r.below(2) as usize;
        let e = &mut ends[pair as usize];
        let (flags, payload) = match r.below(40) {
            0 | 1 => {
                (e.next[side], e.got[1 - side]) = (r.below(u32::MAX), 0);
                (SYN | if side == 1 { ACK } else { 0 }, 0)
            }
            2 => (RST, 0),
            3 | 4 => (FIN | ACK, r.below(2) * 300),
            5..22 => (ACK, 0),
            _ => (ACK | PSH, [1448, 1448, 700, 1][r.below(4) as usize]),
        };
        let again = flags & (SYN | RST) == 0 && r.one_in(8);
        let seq = if again { e.next[side].wrapping_sub(1448) } else { e.next[side] };
        let ack = e.got[side];
        if !again {
            e.next[side] = seq.wrapping_add(payload + u32::from(flags & (SYN | FIN) != 0));
        }
        if !r.one_in(10) {
            e.got[1 - side] = e.next[side];
        }
        let (host, port) = (pair / 4 + 1, (40_000 + pair * 7) as u16);
        let [h, l] = (host as u16).to_be_bytes();
        let (a, b) = (([10, 0, h, l], port), ([10, 9, 9, (pair % 3) as u8], 443u16));
        let (src, dst) = if side == 0 { (a, b) } else { (b, a) };
        let stamps = [(at / 1_000_000) as u32, (at / 1_000_000) as u32 - 20];
        let mut ip = vec![0x45, 0];
        ip.extend((52 + payload as u16).to_be_bytes());
        ip.extend((n as u16).to_be_bytes());
        ip.extend([0x40, 0, 64, 6, 0, 0]);
        ip.extend([src.0, dst.0].concat());
        ip.extend([src.1.to_be_bytes(), dst.1.to_be_bytes()].concat());
        ip.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
        ip.extend([0x80, flags, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 8, 10]);
        ip.extend(stamps.map(u32::to_be_bytes).concat());
        let (kept, all) = (ip.len() as u32, ip.len() as u32 + payload);
        out.extend([(at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32].map(u32::to_le_bytes).concat());
        out.extend([kept.to_le_bytes(), all.to_le_bytes()].concat());
        out.extend(ip);
    }
    out
}

fn put<R: Row + Debug>(found: &Findings, out: &mut String) {
    if found.shelf.holds(R::TABLE) {
        for row in found.shelf.rows::<R>().expect("rows") {
            writeln!(out, "{:?}", row.expect("a row")).expect("memory takes it");
        }
    }
}

/// All that is said of a capture: the JSON, the page's, and every table.
pub fn told(request: &Request) -> String {
    let found = match run::analyze(request, None, &mut |_| true) {
        Ok(found) => found,
        Err(why) => return why,
    };
    let mut out = Vec::new();
    json::write(&mut out, &found.facts, &found.shelf, json::Beside::default()).expect("memory takes it");
    out.extend(
        json::overview::write(&found.facts, &found.shelf, json::Beside::default(), 70)
            .expect("memory takes it"),
    );
    assert!(!found.has_failed(), "no flow is given up");
    let mut out = String::from_utf8(out).expect("UTF-8");
    put::<FlowRow>(&found, &mut out);
    put::<BurstRow>(&found, &mut out);
    put::<EpisodeRow>(&found, &mut out);
    put::<RetransmissionRow>(&found, &mut out);
    put::<ProbeRow>(&found, &mut out);
    put::<IdleRow>(&found, &mut out);
    put::<RoundRow>(&found, &mut out);
    put::<IntervalRow>(&found, &mut out);
    put::<RttRow>(&found, &mut out);
    put::<PacketRow>(&found, &mut out);
    for table in Table::ALL.into_iter().filter(|table| found.shelf.holds(*table)) {
        writeln!(out, "{} rows in {}", found.shelf.len(table), table.name()).expect("memory takes it");
    }
    out
}

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}
