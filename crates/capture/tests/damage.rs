//! Files that are cut, flipped, absurd or no captures at all: one sentence, and what was good is kept.

mod common;

use capture::{Format, Info, LinkType, NewPacket, Options, What, Writer};
use common::{Scratch, drain, ethernet, pcap, read_all, segment, tuple};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use wire::{Packet, Time};

fn frames(n: u32) -> Vec<Vec<u8>> {
    (0..n).map(|i| ethernet(0x0800, &segment(&tuple(), i * 20, 20))).collect()
}

/// Two sections of opposite byte orders, with all kinds of blocks.
fn pcapng() -> Vec<u8> {
    let mut w = Writer::pcapng(Vec::new()).unwrap();
    w.interface(Some("eth0"), LinkType::ETHERNET, 0).unwrap();
    for (i, data) in frames(3).iter().enumerate() {
        let time = Time(1_700_000_000_000_000_000 + i as i64);
        w.packet(&NewPacket { time, data, comments: &["here"], ..NewPacket::default() }).unwrap();
    }
    w.statistics(0, Time(1_700_000_000_000_000_009), 5).unwrap();
    let mut bytes = w.finish().unwrap();
    bytes.extend(
        BigEndian::default()
            .section()
            .interface(1, &[9, 0, 1, 6])
            .packet(0, 7, &frames(1)[0])
            .simple(&frames(1)[0])
            .0,
    );
    bytes
}

/// Blocks of a big-endian section.
#[derive(Default)]
struct BigEndian(Vec<u8>);

impl BigEndian {
    fn block(mut self, kind: u32, body: &[u8]) -> BigEndian {
        let total = (12 + body.len() as u32).next_multiple_of(4);
        self.0.extend(kind.to_be_bytes());
        self.0.extend(total.to_be_bytes());
        self.0.extend(body);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(total.to_be_bytes());
        self
    }
    fn section(self) -> BigEndian {
        self.block(0x0a0d_0d0a, &[&0x1a2b_3c4d_u32.to_be_bytes()[..], &[0, 1, 0, 0], &[0xff; 8]].concat())
    }
    /// `option` is a code of one byte, and a value after its length.
    fn interface(self, link: u8, option: &[u8]) -> BigEndian {
        let [code, length @ .., value] = option else { panic!("code, length, value") };
        let option = [&[0, *code], length, &[*value, 0, 0, 0], &[0; 4]].concat();
        self.block(1, &[&[0, link, 0, 0, 0, 0, 0, 0], &option[..]].concat())
    }
    fn packet(self, interface: u32, ticks: u64, data: &[u8]) -> BigEndian {
        let length = (data.len() as u32).to_be_bytes();
        let body = [&interface.to_be_bytes()[..], &ticks.to_be_bytes(), &length, &length, data].concat();
        self.block(6, &body)
    }
    fn simple(self, data: &[u8]) -> BigEndian {
        self.block(3, &[&(data.len() as u32).to_be_bytes()[..], data].concat())
    }
}

/// Reads what can be read; a refusal must be one sentence that names the file.
fn try_read(path: PathBuf) -> Option<(Vec<Packet>, Info)> {
    match capture::open(std::slice::from_ref(&path), &Options::default()) {
        Ok(reader) => Some(drain(reader)),
        Err(e) => {
            let said = e.to_string();
            assert!(said.starts_with(&path.display().to_string()) && !said.contains('\n'), "{said}");
            None
        }
    }
}

#[test]
fn a_pcap_cut_anywhere_gives_the_packets_before_the_cut() {
    let dir = Scratch::new("pcap_cut");
    let (whole, one) = (pcap(LinkType::ETHERNET, &frames(6)), 16 + frames(1)[0].len());
    for cut in 0..=whole.len() {
        let read = try_read(dir.file("cut.pcap", &whole[..cut]));
        let Some((packets, info)) = read else {
            assert!(cut < 24, "cut at {cut} was refused");
            continue;
        };
        let (complete, rest) = ((cut - 24) / one, (cut - 24) % one);
        assert_eq!(packets.len(), complete, "cut at {cut}");
        match info.damage {
            None => assert_eq!(rest, 0, "cut at {cut}"),
            Some(damage) => {
                let wants = if rest < 16 { 16 - rest } else { one - rest } as u64;
                assert_eq!(damage.what, What::Cut { wants }, "cut at {cut}");
                assert_eq!((damage.byte, damage.packet), (cut as u64, complete as u64 + 1));
                assert_eq!(info.warnings, [damage.to_string()]);
            }
        }
    }
}

#[test]
fn a_cut_is_told_as_the_style_guide_shows() {
    let dir = Scratch::new("cut_told");
    let whole = pcap(LinkType::ETHERNET, &frames(3));
    let path = dir.file("upload.pcap", &whole[..whole.len() - 50]);
    let (_, info) = read_all(std::slice::from_ref(&path), &Options::default());
    let byte = whole.len() - 50;
    assert_eq!(
        info.damage.unwrap().to_string(),
        format!("{}: cut off in packet 3 (byte {byte} wants 50 more): 2 packets analysed", path.display())
    );
}

#[test]
fn a_pcapng_cut_anywhere_gives_the_packets_before_the_cut() {
    let dir = Scratch::new("pcapng_cut");
    let whole = pcapng();
    let mut most = 0;
    for cut in 0..=whole.len() {
        let Some((packets, info)) = try_read(dir.file("cut.pcapng", &whole[..cut])) else {
            assert!(cut < 28, "cut at {cut} was refused");
            continue;
        };
        assert!(packets.len() >= most, "cut at {cut}");
        most = packets.len();
        assert_eq!(info.files[0].format, Format::Pcapng);
        if let Some(d) = &info.damage {
            assert!(matches!(d.what, What::Cut { wants: 1.. }), "cut at {cut}: {d}");
            assert_eq!((d.byte, d.packet), (cut as u64, most as u64 + 1), "cut at {cut}");
        }
    }
    assert_eq!(most, 5);
}

#[test]
fn both_byte_orders_and_simple_packets_are_read_in_one_file() {
    let dir = Scratch::new("both_orders");
    let (packets, info) = read_all(&[dir.file("a.pcapng", &pcapng())], &Options::default());
    let f = &info.files[0];
    assert_eq!((packets.len(), f.sections, f.interfaces.len()), (5, 2, 2));
    assert_eq!(packets[3].time, Time(7_000), "if_tsresol 6");
    assert_eq!(packets[4].time, packets[3].time, "a simple packet has no time of its own");
    assert_eq!(info.dropped(), Some(5));
    assert!(
        info.warnings.iter().any(|w| w.contains("1 simple packet without a time")),
        "{:?}",
        info.warnings
    );
    assert!(info.damage.is_none());
}

fn compressed(bytes: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(bytes).unwrap();
    let zstd = zstd::encode_all(bytes, 3).unwrap();
    [("gzip", gzip.finish().unwrap()), ("zstd", zstd), ("xz", xz.finish().unwrap())]
}

#[test]
fn compressed_files_are_read_whatever_their_name() {
    let dir = Scratch::new("compressed");
    for (name, bytes) in compressed(&pcapng()) {
        let (packets, info) = read_all(&[dir.file("a.bin", &bytes)], &Options::default());
        assert_eq!(packets.len(), 5, "{name}");
        assert_eq!(info.files[0].compression.unwrap().to_string(), name);
        assert!(info.damage.is_none(), "{name}");
        // The same twice over: members, frames, streams
        let parts = [pcap(LinkType::ETHERNET, &frames(4)), Vec::new()];
        let half = parts[0].len() / 2;
        let two: Vec<u8> = [&parts[0][..half], &parts[0][half..]]
            .iter()
            .flat_map(|part| compressed(part).into_iter().find(|c| c.0 == name).unwrap().1)
            .collect();
        assert_eq!(read_all(&[dir.file("two", &two)], &Options::default()).0.len(), 4, "{name} in two parts");
    }
}

#[test]
fn a_compressed_file_cut_anywhere_keeps_what_was_decoded() {
    let dir = Scratch::new("compressed_cut");
    for (name, bytes) in compressed(&pcap(LinkType::ETHERNET, &frames(40))) {
        for cut in 0..bytes.len() {
            let Some((packets, info)) = try_read(dir.file("cut", &bytes[..cut])) else { continue };
            if packets.len() < 40 {
                let damage = info.damage.unwrap_or_else(|| panic!("{name} cut at {cut}: no damage told"));
                assert_eq!(damage.packet, packets.len() as u64 + 1);
                let said = damage.to_string();
                assert!(said.contains(&format!("{name} data cut off")), "{name} cut at {cut}: {said}");
                assert!(damage.decompressed);
            }
        }
    }
}

#[test]
fn a_long_compressed_file_that_is_cut_keeps_nearly_all_before_the_cut() {
    let dir = Scratch::new("long_cut");
    let mut noise = Noise(99);
    let mut all = frames(3000);
    for f in &mut all {
        let n = f.len();
        f[n - 20..].fill_with(|| noise.next() as u8);
    }
    for (name, bytes) in compressed(&pcap(LinkType::ETHERNET, &all)) {
        let (packets, info) = try_read(dir.file("cut", &bytes[..bytes.len() * 9 / 10])).unwrap();
        assert!(packets.len() > 2000, "{name}: only {} of 3000", packets.len());
        assert!(info.damage.is_some());
    }
}

#[test]
fn a_bomb_is_read_without_being_held() {
    let mut bytes = pcap(LinkType::ETHERNET, &frames(1));
    bytes.resize(32 << 20, 0);
    let dir = Scratch::new("bomb");
    for (name, bomb) in compressed(&bytes) {
        let (packets, info) = try_read(dir.file("a.pcap", &bomb)).unwrap();
        assert_eq!((packets.len(), info.packets), (1, 1), "{name}");
        // Zeros are no packets: what is told is where they begin, and the rest is not even decompressed.
        let said = info.damage.expect("damage").to_string();
        assert!(said.contains("at packet 2 (byte") && said.contains("nothing but zeros"), "{name}: {said}");
    }
}

#[test]
fn a_few_packets_of_no_bytes_at_time_0_are_packets() {
    let mut bytes = pcap(LinkType::ETHERNET, &frames(1));
    bytes.resize(bytes.len() + 16 * 200, 0);
    let dir = Scratch::new("empty");
    let (packets, info) = try_read(dir.file("a.pcap", &bytes)).unwrap();
    assert_eq!((packets.len(), info.packets, info.damage), (1, 201, None));
}

#[test]
fn absurd_lengths_are_damage_and_not_memory() {
    let dir = Scratch::new("absurd");
    for length in [u32::MAX, 1 << 31, 300 << 20, 262_145] {
        let mut file = pcap(LinkType::ETHERNET, &frames(3));
        let second = 24 + 16 + frames(1)[0].len();
        file[second + 8..second + 12].copy_from_slice(&length.to_le_bytes());
        let (packets, info) = try_read(dir.file("a.pcap", &file)).unwrap();
        assert_eq!(packets.len(), 1, "{length}");
        let damage = info.damage.unwrap();
        assert_eq!((damage.packet, damage.byte), (2, second as u64 + 8));
        assert!(damage.to_string().contains("was announced"), "{damage}");
    }
    for length in [0, 11, 24, u32::MAX] {
        let mut w = Writer::pcapng(Vec::new()).unwrap();
        w.interface(None, LinkType::ETHERNET, 0).unwrap();
        w.packet(&NewPacket { data: &frames(1)[0], ..NewPacket::default() }).unwrap();
        let mut file = w.finish().unwrap();
        let at = file.len();
        file.extend([6u32, length].iter().flat_map(|w| w.to_le_bytes()));
        file.extend([0; 64]);
        let (packets, info) = try_read(dir.file("a.pcapng", &file)).unwrap();
        assert_eq!(packets.len(), 1, "{length}");
        assert_eq!(info.damage.unwrap().byte, at as u64 + 4, "{length}");
    }
}

#[test]
fn blocks_that_contradict_themselves_are_damage() {
    let dir = Scratch::new("contradict");
    let good = || {
        let mut w = Writer::pcapng(Vec::new()).unwrap();
        w.interface(None, LinkType::ETHERNET, 0).unwrap();
        for data in frames(2) {
            w.packet(&NewPacket { data: &data, ..NewPacket::default() }).unwrap();
        }
        w.finish().unwrap()
    };
    let block = frames(1)[0].len().next_multiple_of(4) + 32;
    let second = good().len() - block;
    for (what, at, value) in [
        ("two lengths", good().len() - 4, 12u32),
        ("interface 9 was not described", second + 8, 9),
        ("in a block with room for", second + 20, 4096),
    ] {
        let mut file = good();
        file[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let (packets, info) = try_read(dir.file("a.pcapng", &file)).unwrap();
        assert_eq!(packets.len(), 1);
        let said = info.damage.unwrap().to_string();
        assert!(said.contains(what) && said.contains("at packet 2"), "{said}");
    }
}

#[test]
fn what_is_no_capture_is_refused_with_a_sentence() {
    let dir = Scratch::new("no_capture");
    let refusal = |path: PathBuf| match capture::open(&[path], &Options::default()) {
        Ok(_) => panic!("was read"),
        Err(e) => e.to_string(),
    };
    let told = |name: &str, bytes: &[u8], what: &str| {
        let said = refusal(dir.file(name, bytes));
        assert!(said.contains(what), "{name}: {said}");
    };
    told("empty.pcap", b"", "is empty (0 bytes)");
    told(
        "notes.txt",
        b"Dear diary,\nno packets today.\n",
        "is text (it starts with \"Dear diary,\"), no capture",
    );
    told("umlaut.txt", "größer".as_bytes(), "is text");
    told("binary.pcap", &[0, 1, 2, 3, 4, 5, 6, 7, 8], "unknown binary data (it starts with 00 01 02");
    told("old.bz2", b"BZh91AY&SY", "bzip2 -dc");
    told(
        "short.pcap",
        &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0],
        "cut off, 18 more bytes wanted in the file header (byte 6)",
    );
    told("cut.pcapng", &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0], "in the file header (byte 6)");
    told(
        "v3.pcap",
        &[&[0xd4, 0xc3, 0xb2, 0xa1, 3, 0, 0, 0], &[0; 16][..]].concat(),
        "pcap version 3.0 is not read",
    );
    told("cut.gz", &[0x1f, 0x8b, 8, 0], "gzip data cut off");
    let empty_gzip = compressed(b"")[0].1.clone();
    told("nothing.gz", &empty_gzip, "is empty");
    assert!(refusal(dir.path("missing.pcap")).ends_with("missing.pcap: no such file"));
    assert!(refusal(dir.path("")).contains("is a directory"));
    assert!(
        capture::open(&[], &Options::default()).is_err_and(|e| e.to_string().starts_with("no capture file"))
    );
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_told_with_the_mend() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Scratch::new("permission");
    let path = dir.file("a.pcap", &pcap(LinkType::ETHERNET, &frames(1)));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        println!("skipped: the superuser may read everything");
        return;
    }
    let said = capture::open(&[path], &Options::default()).map(|_| ()).unwrap_err().to_string();
    assert!(said.contains("permission denied: make it readable"), "{said}");
}

/// xorshift64 (Marsaglia 2003).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Flipped bits, overwritten words, parts cut out or doubled. A failure names the seed; `REXMIT_FUZZ_SEED=N`
/// repeats it, `REXMIT_FUZZ_ROUNDS=N` tries more.
#[test]
fn flipped_and_shuffled_files_never_break_the_reader() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let sources = [
        pcap(LinkType::ETHERNET, &frames(8)),
        pcapng(),
        tunnels(),
        compressed(&pcapng())[0].1.clone(),
        compressed(&pcapng())[2].1.clone(),
    ];
    let seeds = match number("REXMIT_FUZZ_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..number("REXMIT_FUZZ_ROUNDS").unwrap_or(3000) + 1,
    };
    let dir = Scratch::new("flipped");
    for seed in seeds {
        let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut bytes = sources[noise.below(sources.len())].clone();
        for _ in 0..=noise.below(6) {
            let at = noise.below(bytes.len());
            match noise.below(5) {
                0 => bytes[at] ^= 1 << noise.below(8),
                1 => bytes[at] = noise.next() as u8,
                2 if at + 4 <= bytes.len() => bytes[at..at + 4].fill([0, 0xff, 0x7f][noise.below(3)]),
                3 => drop(bytes.drain(at..(at + 1 + noise.below(20)).min(bytes.len()))),
                _ => bytes.splice(at..at, vec![noise.next() as u8; noise.below(9)]).for_each(drop),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let path = dir.file("flipped", &bytes);
        let (done, finished) = std::sync::mpsc::channel();
        let worker = std::thread::spawn(move || {
            let copy = path.with_extension("copy");
            let copied =
                capture::annotate(std::slice::from_ref(&path), &copy, "", [(1, "first".into())], |_| true);
            let read = try_read(path).map(|(packets, info)| (packets.len() as u64, info));
            // What can be read can be copied, and the copy is whole and holds the same.
            assert_eq!(copied.is_ok(), read.is_some(), "{copied:?}");
            if let (Ok(copied), Some((given, info))) = (copied, &read) {
                let (again, of_copy) = try_read(copy).expect("a copy is a capture");
                assert_eq!((copied.packets, again.len() as u64), (info.packets, *given));
                assert_eq!(of_copy.damage, None);
            }
            let _ = done.send(());
            read
        });
        let in_time = finished.recv_timeout(Duration::from_secs(20));
        let repeat = format!("REXMIT_FUZZ_SEED={seed} cargo test -p rexmit-capture --test damage flipped");
        assert!(!matches!(in_time, Err(std::sync::mpsc::RecvTimeoutError::Timeout)), "hangs: {repeat}");
        let read = worker.join().unwrap_or_else(|_| panic!("panicked: {repeat}"));
        if let Some((given, info)) = read {
            assert_eq!(given, info.selected, "{repeat}");
            assert!(info.tcp_packets <= info.packets, "{repeat}");
        }
    }
}

/// Frames whose every layer can break.
fn tunnels() -> Vec<u8> {
    let ip = segment(&tuple(), 1, 10);
    let inner = ethernet(0x0800, &ip);
    let over = |protocol, payload: &[u8]| ethernet(0x0800, &common::ip(&tuple(), protocol, payload));
    pcap(
        LinkType::ETHERNET,
        &[
            ethernet(0x8100, &[&[0, 1, 0x88, 0x64, 0x11, 0, 0, 9, 0, 80, 0, 0x21], &ip[..]].concat()),
            ethernet(0x8847, &[&[0, 1, 0, 64, 0, 2, 1, 64], &ip[..]].concat()),
            over(47, &[&[0x20, 0, 0x65, 0x58, 0, 0, 0, 1], &inner[..]].concat()),
            over(17, &common::udp(4789, &[&[8, 0, 0, 0, 0, 0, 1, 0], &inner[..]].concat())),
            over(17, &common::udp(6081, &[&[1, 0, 0x65, 0x58, 0, 0, 1, 0, 0, 0, 0, 0], &inner[..]].concat())),
            over(
                17,
                &common::udp(
                    2152,
                    &[&[0x34, 255, 0, 90, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0], &ip[..]].concat(),
                ),
            ),
            over(41, &segment(&common::tuple6(), 1, 10)),
        ],
    )
}

#[test]
fn a_window_that_is_refused_is_no_damage() {
    // A zstd frame whose window is 2 GiB; an xz file written with a dictionary of 256 MiB.
    let zstd = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0, 0];
    let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
    options.dict_size(256 << 20);
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&options);
    let encoder =
        liblzma::stream::Stream::new_stream_encoder(&filters, liblzma::stream::Check::Crc32).unwrap();
    let mut xz = liblzma::write::XzEncoder::new_stream(Vec::new(), encoder);
    xz.write_all(&pcap(LinkType::ETHERNET, &frames(3))).unwrap();
    let dir = Scratch::new("refused");
    for (name, bytes, window) in [("a.zst", zstd, "2,048 MiB"), ("a.xz", xz.finish().unwrap(), "256 MiB")] {
        let path = dir.file(name, &bytes);
        let said = capture::open(&[path], &Options::default()).err().expect("a refusal").to_string();
        assert!(said.contains("wants more than the 128 MiB") && !said.contains("damaged"), "{said}");
        assert!(said.contains(name) && said.contains(&format!("a window of {window}")), "{said}");
    }
}
