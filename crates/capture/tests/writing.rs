//! What is written reads back, here and elsewhere.

mod common;

use capture::{LinkType, NewPacket, Options, Writer, annotate};
use common::{Scratch, ethernet, read_all, segment, tuple};
use wire::{Notes, Time};

fn two_interfaces() -> Vec<u8> {
    let mut w = Writer::pcapng(Vec::new()).unwrap();
    let a = w.interface(Some("eth0"), LinkType::ETHERNET, 0).unwrap();
    let b = w.interface(Some("any"), LinkType::LINUX_SLL, 96).unwrap();
    for i in 0..10u32 {
        let ip = segment(&tuple(), 1000 * i, 1000);
        let (interface, data) = match i % 2 {
            0 => (a, ethernet(0x0800, &ip)),
            _ => (b, [&[0, 4, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0], ip.as_slice()].concat()),
        };
        let p = NewPacket {
            interface,
            time: Time(1_700_000_000_000_000_001 + i64::from(i) * 1_000),
            data: &data[..96],
            wire_len: data.len() as u32,
            notes: if i == 4 { Notes::INBOUND } else { Notes(0) },
            comments: if i == 2 { &["first", "segunda: ñ"] } else { &[] },
        };
        w.packet(&p).unwrap();
    }
    w.statistics(b, Time(1_700_000_001_000_000_000), 7).unwrap();
    w.finish().unwrap()
}

#[test]
fn pcapng_reads_back_with_interfaces_directions_and_drops() {
    let dir = Scratch::new("pcapng_reads_back");
    let path = dir.file("a.pcapng", &two_interfaces());
    let (packets, info) = read_all(&[path], &Options::default());
    assert_eq!(packets.len(), 10);
    assert_eq!(packets[3].time, Time(1_700_000_000_000_003_001));
    assert!(packets.iter().all(|p| p.seg.payload == 1000));
    assert_eq!(packets[4].notes, Notes::INBOUND);
    assert_eq!(packets[5].notes, Notes::OUTBOUND); // of the cooked header
    let names: Vec<_> = info.files[0].interfaces.iter().map(|i| i.name.as_deref()).collect();
    assert_eq!(names, [Some("eth0"), Some("any")]);
    assert_eq!((info.dropped(), info.snap()), (Some(7), None));
}

#[test]
fn pcap_reads_back_to_the_nanosecond() {
    let dir = Scratch::new("pcap_reads_back");
    let mut w = Writer::pcap(Vec::new(), LinkType::RAW, 0).unwrap();
    let data = segment(&tuple(), 1, 10);
    let time = Time(1_700_000_000_123_456_789);
    w.packet(&NewPacket { time, data: &data, ..NewPacket::default() }).unwrap();
    let (packets, info) = read_all(&[dir.file("a.pcap", &w.finish().unwrap())], &Options::default());
    assert_eq!((packets[0].time, packets[0].wire_len), (time, data.len() as u32));
    assert_eq!(info.files[0].interfaces[0].resolution.to_string(), "1 ns");
}

/// Every comment with the number of its packet, by an independent walk over the blocks.
fn comments(bytes: &[u8]) -> Vec<(u64, String)> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut number, mut found) = (0, 0, Vec::new());
    while at < bytes.len() {
        let total = word(at + 4);
        assert_eq!(word(at + total - 4), total, "both lengths of a block agree");
        assert_eq!(total % 4, 0);
        if word(at) == 6 {
            number += 1;
            let mut o = at + 28 + word(at + 20).next_multiple_of(4);
            while o + 4 < at + total - 4 {
                let (code, len) = (word(o) & 0xffff, word(o) >> 16);
                if code == 1 {
                    found.push((number, String::from_utf8(bytes[o + 4..o + 4 + len].to_vec()).unwrap()));
                }
                o += 4 + len.next_multiple_of(4);
            }
        }
        at += total;
    }
    assert_eq!(at, bytes.len());
    found
}

#[test]
fn annotating_keeps_everything_and_adds_comments() {
    let dir = Scratch::new("annotating");
    let path = dir.file("a.pcapng", &two_interfaces());
    let out = dir.path("out.pcapng");
    let new = [(1, "burst 1".to_string()), (3, "lost".into()), (3, "twice".into()), (99, "beyond".into())];
    let done = annotate(std::slice::from_ref(&path), &out, "", new, |_| true).unwrap();
    assert_eq!((done.packets, done.comments, done.damage), (10, 3, None));
    let (before, old_info) = read_all(&[path], &Options::default());
    let (after, info) = read_all(std::slice::from_ref(&out), &Options::default());
    assert_eq!(before, after);
    assert_eq!(info.files[0].interfaces.len(), old_info.files[0].interfaces.len());
    assert_eq!(info.dropped(), Some(7));
    let said = comments(&std::fs::read(&out).unwrap());
    let said: Vec<(u64, &str)> = said.iter().map(|(n, t)| (*n, t.as_str())).collect();
    assert_eq!(said, [(1, "burst 1"), (3, "first"), (3, "segunda: ñ"), (3, "lost"), (3, "twice")]);
}

#[test]
fn annotating_that_is_stopped_leaves_nothing_behind() {
    let dir = Scratch::new("stopped");
    let mut w = Writer::pcap(Vec::new(), LinkType::RAW, 0).unwrap();
    for _ in 0..1 << 14 {
        w.packet(&NewPacket { data: &[0x45], ..NewPacket::default() }).unwrap();
    }
    let path = dir.file("a.pcap", &w.finish().unwrap());
    let out = dir.file("out.pcapng", b"what was there");
    let stopped = annotate(&[path], &out, "", [], |_| false).unwrap_err();
    assert!(stopped.to_string().contains("nothing was written"), "{stopped}");
    assert_eq!(std::fs::read(&out).unwrap(), b"what was there");
    assert_eq!(dir.names(), ["a.pcap", "out.pcapng"]);
}

#[test]
fn a_capture_can_be_annotated_in_place() {
    let dir = Scratch::new("in_place");
    let path = dir.file("a.pcapng", &two_interfaces());
    annotate(std::slice::from_ref(&path), &path, "", [(2, "here".to_string())], |_| true).unwrap();
    assert!(comments(&std::fs::read(&path).unwrap()).contains(&(2, "here".to_string())));
    assert_eq!(read_all(&[path], &Options::default()).0.len(), 10);
}

#[test]
fn an_answer_replaces_the_one_before_it_and_no_other_comment() {
    let dir = Scratch::new("again");
    let path = dir.file("a.pcapng", &two_interfaces());
    for text in ["rexmit: lost", "rexmit: lost after all"] {
        annotate(std::slice::from_ref(&path), &path, "", [(3, text.to_string())], |_| true).unwrap();
    }
    let said = comments(&std::fs::read(&path).unwrap());
    let said: Vec<(u64, &str)> = said.iter().map(|(n, t)| (*n, t.as_str())).collect();
    assert_eq!(said, [(3, "first"), (3, "segunda: ñ"), (3, "rexmit: lost after all")]);
}

#[test]
fn a_comment_longer_than_an_option_is_cut_at_a_character() {
    let long = "ñ".repeat(40_000);
    let mut w = Writer::pcapng(Vec::new()).unwrap();
    w.interface(None, LinkType::RAW, 0).unwrap();
    w.packet(&NewPacket { data: &[1, 2, 3], comments: &[&long], ..NewPacket::default() }).unwrap();
    assert_eq!(comments(&w.finish().unwrap())[0].1.len(), 65_532);
}

#[test]
fn a_copy_with_findings_is_known_as_such() {
    let dir = Scratch::new("known");
    let (plain, noted) = (dir.file("a.pcapng", &two_interfaces()), dir.path("noted.pcapng"));
    annotate(std::slice::from_ref(&plain), &noted, "", [(2, "rexmit: here".to_string())], |_| true).unwrap();
    assert!(capture::is_annotated(&noted).unwrap());
    // A capture that rexmit took is nobody's copy.
    let taken = dir.file("taken.pcapng", &Writer::pcapng(Vec::new()).unwrap().finish().unwrap());
    let cut = dir.file("cut.pcapng", &std::fs::read(&noted).unwrap()[..40]);
    let empty = dir.file("empty.pcapng", b"");
    for other in [plain, taken, cut, empty] {
        assert!(!capture::is_annotated(&other).unwrap(), "{}", other.display());
    }
}

#[cfg(unix)]
#[test]
fn a_copy_is_not_written_through_a_link() {
    let dir = Scratch::new("copy_through_link");
    let (plain, link) = (dir.file("a.pcapng", &two_interfaces()), dir.path("link"));
    for target in [dir.file("theirs", b"theirs"), dir.path("dangling"), dir.path(".")] {
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let refused = annotate(std::slice::from_ref(&plain), &link, "", [], |_| true).unwrap_err();
        assert!(refused.to_string().contains("nothing is written through links"), "{refused}");
        std::fs::remove_file(&link).unwrap();
    }
    assert_eq!(std::fs::read(dir.path("theirs")).unwrap(), b"theirs");
    assert!(!dir.path("dangling").exists());
}

#[cfg(unix)]
#[test]
fn a_new_file_is_not_written_through_links() {
    let dir = Scratch::new("not_through_links");
    let (theirs, link, other) = (dir.path("theirs"), dir.path("link"), dir.path("other"));
    std::fs::write(&theirs, "theirs").unwrap();
    std::os::unix::fs::symlink(&theirs, &link).unwrap();
    std::fs::hard_link(&theirs, &other).unwrap();
    assert!(capture::create(&link).unwrap_err().to_string().contains("symbolic link"));
    std::io::Write::write_all(&mut capture::create(&other).unwrap(), b"ours").unwrap();
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "ours");
}
