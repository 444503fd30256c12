//! What is selected, and several files read as one.

mod common;

use capture::{Error, LinkType, NewPacket, Options, Writer, parse_flow, parse_host, parse_span};
use common::{Scratch, pcap, read_all, segment, tuple, tuple6};
use std::path::PathBuf;
use wire::{Packet, Time, Tuple};

fn other_port() -> Tuple {
    let mut t = tuple();
    t.src.port = 50_000;
    t
}

/// A packet each of one connection's two directions, of a second one, and of IPv6: at 0, 1, 2 and 3 ms.
fn four() -> Vec<Vec<u8>> {
    [tuple(), tuple().reversed(), other_port(), tuple6()].iter().map(|t| segment(t, 1, 10)).collect()
}

fn selected(name: &str, options: &Options) -> (Vec<u64>, capture::Info) {
    let dir = Scratch::new(name);
    let (packets, info) = read_all(&[dir.file("a.pcap", &pcap(LinkType::RAW, &four()))], options);
    (packets.iter().map(|p| p.number).collect(), info)
}

#[test]
fn a_flow_is_both_directions_whichever_end_is_named_first() {
    for text in ["10.0.0.1:40000-10.0.0.2:80", "10.0.0.2:80-10.0.0.1:40000"] {
        let options = Options { flow: Some(parse_flow(text).unwrap()), ..Options::default() };
        let (numbers, info) = selected("flow", &options);
        assert_eq!(numbers, [1, 2]);
        assert_eq!((info.tcp_packets, info.selected, info.packets), (4, 2, 4));
    }
}

#[test]
fn a_host_or_a_port_is_matched_at_either_end() {
    let host = Options { host: Some(parse_host("2001::2").unwrap()), ..Options::default() };
    assert_eq!(selected("host", &host).0, [4]);
    let port = Options { port: Some(50_000), ..Options::default() };
    assert_eq!(selected("port", &port).0, [3]);
    let both =
        Options { host: Some(parse_host("10.0.0.1").unwrap()), port: Some(40_000), ..Options::default() };
    assert_eq!(selected("both", &both).0, [1, 2]);
}

#[test]
fn times_count_from_the_first_packet() {
    let span = |t| Some(parse_span("--from", t).unwrap());
    let options = Options { from: span("1ms"), to: span("2ms"), ..Options::default() };
    let (numbers, info) = selected("times", &options);
    assert_eq!(numbers, [2, 3]);
    assert_eq!((info.packets, info.outside, info.tcp_packets), (4, 2, 2));
}

#[test]
fn a_selection_of_nothing_says_so() {
    let none = Options { port: Some(1), ..Options::default() };
    let said = selected("nothing", &none).1.nothing().unwrap();
    assert!(
        said.ends_with("none of its 4 TCP packets is selected: widen --flow, --host or --port"),
        "{said}"
    );
    let late = Options { from: Some(parse_span("--from", "1h").unwrap()), ..Options::default() };
    let said = selected("late", &late).1.nothing().unwrap();
    assert!(said.contains("all of its 4 packets lie outside --from and --to"), "{said}");
}

#[test]
fn a_capture_without_tcp_says_what_it_holds() {
    let dir = Scratch::new("without_tcp");
    let datagram = common::ip(&tuple(), 17, &common::udp(53, &[0; 10]));
    let (_, info) = read_all(&[dir.file("a.pcap", &pcap(LinkType::RAW, &[datagram]))], &Options::default());
    assert!(info.nothing().unwrap().ends_with("a.pcap: no TCP in its 1 packet (1 UDP)"));
    // RFC 9000 §17.2: a long header, version 1.
    let initial = common::ip(&tuple(), 17, &common::udp(443, &[0xc3, 0, 0, 0, 1, 8, 1, 2, 3, 4]));
    let (_, info) = read_all(&[dir.file("quic.pcap", &pcap(LinkType::RAW, &[initial]))], &Options::default());
    let said = info.nothing().unwrap();
    assert!(said.contains("no TCP in its 1 packet (1 UDP): it holds QUIC (RFC 9000)"), "{said}");
    let (_, info) = read_all(&[dir.file("b.pcap", &pcap(LinkType::RAW, &[]))], &Options::default());
    assert!(info.nothing().unwrap().contains("holds no packets"));
}

/// A file of three packets from `second` on, in the format that `kind` says.
fn part(second: i64, kind: usize) -> Vec<u8> {
    let mut w = match kind {
        0 => Writer::pcap(Vec::new(), LinkType::RAW, 0).unwrap(),
        _ => Writer::pcapng(Vec::new()).unwrap(),
    };
    w.interface(None, LinkType::RAW, 0).unwrap();
    for i in 0..3 {
        let data = segment(&tuple(), (second * 3 + i) as u32, 0);
        let time = Time((1_700_000_000 + second) * 1_000_000_000 + i);
        w.packet(&NewPacket { time, data: &data, ..NewPacket::default() }).unwrap();
    }
    w.finish().unwrap()
}

#[test]
fn the_files_of_a_rotation_are_read_in_the_order_of_their_times() {
    let dir = Scratch::new("rotation");
    let zipped = zstd::encode_all(&part(1, 0)[..], 1).unwrap();
    let files = [
        dir.file("c", &part(2, 1)),
        dir.file("a", &part(0, 0)),
        dir.file("empty", &pcap(LinkType::RAW, &[])),
        dir.file("b", &zipped),
    ];
    let (packets, info) = read_all(&files, &Options::default());
    let seen: Vec<(u64, u32)> = packets.iter().map(|p: &Packet| (p.number, p.seg.seq.0)).collect();
    assert_eq!(seen, (1..=9).map(|n| (n, n as u32 - 1)).collect::<Vec<_>>());
    let order: Vec<&str> = info.files.iter().map(|f| f.name.rsplit('/').next().unwrap()).collect();
    assert_eq!(order, ["a", "b", "c", "empty"]);
    assert_eq!(
        info.files.iter().map(|f| (f.before, f.packets)).collect::<Vec<_>>(),
        [(0, 3), (3, 3), (6, 3), (9, 0)]
    );
    assert_eq!((info.first, info.last), (Some(packets[0].time), Some(packets[8].time)));
    assert_eq!(info.files[1].first, Some(packets[3].time));
    assert!(info.warnings.is_empty(), "{:?}", info.warnings);
}

#[test]
fn a_damaged_file_of_a_rotation_does_not_stop_the_next() {
    let dir = Scratch::new("damaged_rotation");
    let cut = part(0, 0);
    let files = [
        dir.file("a", &cut[..cut.len() - 1]),
        dir.file("b", &part(1, 0)),
        dir.file("notes.txt", b"not a capture"),
        dir.path("missing"),
    ];
    let (packets, info) = read_all(&files, &Options::default());
    assert_eq!(packets.iter().map(|p| p.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(info.damage.as_ref().unwrap().packet, 3);
    assert_eq!(info.warnings.len(), 3, "{:?}", info.warnings);
    let none: Vec<PathBuf> = files[2..].to_vec();
    assert!(matches!(capture::open(&none, &Options::default()), Err(Error::NoCapture { .. })));
}

#[test]
fn files_that_overlap_are_told() {
    let dir = Scratch::new("overlap");
    let files = [dir.file("a", &part(0, 0)), dir.file("b", &part(0, 1))];
    let (packets, info) = read_all(&files, &Options::default());
    assert_eq!((packets.len(), info.backwards), (6, 1));
    assert!(info.warnings[0].ends_with("are they of one rotation?"), "{:?}", info.warnings);
}

#[test]
fn progress_counts_the_bytes_of_the_files() {
    let dir = Scratch::new("progress");
    let files = [dir.file("a", &part(0, 0)), dir.file("b", &part(1, 1))];
    let length = files.iter().map(|f| f.metadata().unwrap().len()).sum();
    let mut reader = capture::open(&files, &Options::default()).unwrap();
    let mut batch = Vec::new();
    while reader.read_batch(&mut batch, 2) {}
    let p = reader.progress();
    assert_eq!((p.done_bytes, p.total_bytes, p.packets), (length, Some(length), 6));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_like_a_file() {
    let dir = Scratch::new("pipe");
    let pipe = dir.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|s| s.success()) {
        println!("skipped: there is no mkfifo");
        return;
    }
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, part(0, 1)).unwrap()
    });
    // Beside a file, the pipe has to be looked into and then read on.
    let (packets, _) = read_all(&[dir.file("later", &part(1, 0)), pipe], &Options::default());
    writer.join().unwrap();
    assert_eq!(packets.iter().map(|p| p.seg.seq.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn below_a_folder_nothing_outside_is_opened() {
    let dir = Scratch::new("reach");
    let (inside, outside) = (dir.file("a", &part(0, 0)), dir.file("b", &part(0, 1)));
    std::fs::create_dir(dir.path("below")).unwrap();
    let copied = dir.path("below/a");
    std::fs::copy(&inside, &copied).unwrap();
    let reach = reach::Reach::Below(reach::Folders::new([dir.path("below")]).unwrap());
    let options = Options { reach, ..Options::default() };
    assert_eq!(read_all(std::slice::from_ref(&copied), &options).0.len(), 3);
    let refused = |path: PathBuf| capture::open(&[path], &options).err().expect("a refusal").to_string();
    for path in [outside.clone(), dir.path("missing"), dir.path("below/../b"), PathBuf::from("/dev/zero")] {
        let said = refused(path.clone());
        assert!(said.contains(": is outside the folders that may be read: "), "{said}");
        assert!(said.starts_with(path.to_str().unwrap()), "{said}");
    }
    assert!(refused(PathBuf::from("-")).contains("-: is outside"), "not standard input");
    assert!(refused(dir.path("below/none")).ends_with("none: no such file"));
    assert!(refused(dir.path("below")).ends_with("below: is a folder, not a regular file"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, dir.path("below/link")).unwrap();
        assert!(refused(dir.path("below/link")).contains(": is outside"));
    }
    // Of a rotation it is left out and told.
    let (packets, info) = read_all(&[copied, outside], &options);
    assert_eq!((packets.len(), info.warnings.len()), (3, 1));
}
