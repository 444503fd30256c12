//! Programs that read slowly, in pauses, or stop reading: the receive window follows, and every byte arrives.

mod support;

use instant::Time;
use sim::rows::{AppEvent, Block, HostRow};
use sim::{Reason, Release, Rows, Summary};
use support::{run, scenario};

fn reads(reader: &str, stack: &str, size: &str) -> (Summary, Rows) {
    let text = format!(
        "name = \"x\"\nduration = \"120s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"50Mbps\"\ndelay = \"5ms\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"{stack}\"\n\
         workload = {{ kind = \"file\", size = \"{size}\" }}\nreader = {reader}\n\
         [record]\npackets = true\napplications = true\nblocked = true\ncapture = [\"a\"]\n"
    );
    run(&scenario(&text), 1)
}

/// One stack for each kind of receive window.
const STACKS: [&str; 5] = ["rfc-sack", "linux-6-cubic", "linux-2.6-cubic", "windows-11", "freebsd-14"];

#[test]
fn a_slow_reader_sets_the_pace_and_every_byte_arrives() {
    for stack in STACKS {
        let (summary, rows) = reads("{ kind = \"rate\", rate = \"4Mbps\" }", stack, "12MB");
        let way = summary.connections[0].ways[0];
        assert_eq!(way.delivered_bytes, 12_000_000, "{stack}");
        let took = (way.last_delivered.unwrap() - way.first_sent.unwrap()).as_secs();
        assert!((23.5..24.6).contains(&took), "{stack}: 12 MB at 4 Mbps took {took} s");
        assert!(summary.connections[0].ended.is_some(), "{stack}");
        let by_window = rows.blocked.iter().any(|r| r.forward && r.by == Block::ReceiveWindow);
        assert!(by_window, "{stack}: the receive window blocks the sender");
        let closed = rows.packets.iter().any(|(_, p)| p.seg.payload == 0 && p.seg.window < 30);
        assert!(closed, "{stack}: the window holds less than a segment");
        let updates = rows.hosts.iter().filter(|r| r.node == 1 && r.packet.release == Some(Release::Reader));
        assert!(updates.count() > 10, "{stack}: window updates");
        assert!(way.resent_packets == 0, "{stack}: nothing was lost");
    }
}

#[test]
fn a_reader_that_pauses_reads_all_at_its_times() {
    for stack in STACKS {
        let (summary, rows) = reads("{ kind = \"pauses\", every = \"700ms\" }", stack, "12MB");
        assert_eq!(summary.connections[0].ways[0].delivered_bytes, 12_000_000, "{stack}");
        let reads: Vec<_> = rows.applications.iter().filter(|r| r.event == AppEvent::Read).collect();
        assert!(reads.len() > 2, "{stack}");
        for read in &reads {
            assert_eq!(read.time.0 % 700_000_000, 0, "{stack}: {read:?}");
            assert_eq!(read.left_bytes, 0, "{stack}");
        }
    }
}

/// Least window, in bytes, that the capture at `a` shows of the receiver's ACKs while the program does not read.
fn least_window(rows: &Rows) -> u32 {
    let of_receiver = || rows.packets.iter().map(|(_, p)| p).filter(|p| p.tuple.src.port == 5001);
    let shift = of_receiver().find_map(|p| p.seg.window_scale).unwrap_or(0);
    let meanwhile = of_receiver().filter(|p| (FIRST_STOP..LAST_STOP).contains(&p.time.0));
    meanwhile.map(|p| u32::from(p.seg.window) << shift).min().unwrap()
}

#[test]
fn a_capture_shows_the_window_that_a_reader_closes() {
    let reader = "{ kind = \"stops\", after = \"0s\", for = \"10s\" }";
    let (summary, rows) = reads(reader, "linux-6-cubic", "30MB");
    assert_eq!(least_window(&rows), 0);
    assert_eq!(summary.connections[0].ways[0].delivered_bytes, 30_000_000);
    let (_, rows) = reads("{ kind = \"at-once\" }", "linux-6-cubic", "30MB");
    assert!(least_window(&rows) > 30_000, "{}", least_window(&rows));
}

/// The reader does not read between these times, in nanoseconds.
const FIRST_STOP: i64 = 300_000_000;
const LAST_STOP: i64 = 10_300_000_000;

#[test]
fn a_reader_that_stops_closes_the_window_which_is_probed_until_it_reads_again() {
    for stack in STACKS {
        let reader = "{ kind = \"stops\", after = \"300ms\", for = \"10s\" }";
        let (summary, rows) = reads(reader, stack, "30MB");
        assert_eq!(summary.connections[0].ways[0].delivered_bytes, 30_000_000, "{stack}");
        let reads: Vec<Time> =
            rows.applications.iter().filter(|r| r.event == AppEvent::Read).map(|r| r.time).collect();
        let meanwhile = |t: &&Time| (FIRST_STOP..LAST_STOP).contains(&t.0);
        assert_eq!(reads.iter().filter(meanwhile).count(), 0, "{stack}");
        assert!(reads.contains(&Time(LAST_STOP)), "{stack}");
        let stopped = |r: &&HostRow| r.sent && (FIRST_STOP..LAST_STOP).contains(&r.time.0);
        let probes: Vec<_> =
            rows.hosts.iter().filter(stopped).filter(|r| r.packet.reason == Reason::Persist).collect();
        // No more than one in each shortest RTO (200 ms).
        assert!((3..=50).contains(&probes.len()), "{stack}: {} probes", probes.len());
        let answers: Vec<_> =
            rows.hosts.iter().filter(stopped).filter(|r| r.node == 1 && r.time > probes[0].time).collect();
        assert!(answers.len() >= probes.len() - 1, "{stack}: {} answers", answers.len());
        // Where the window holds less than a segment, the byte of a probe still fits, and its ACK may be delayed.
        let fits = |r: &&&HostRow| r.packet.release == Some(Release::Delayed);
        let delayed = answers.iter().filter(fits).count();
        let at_once = answers.iter().filter(|r| r.packet.release == Some(Release::Probe)).count();
        assert_eq!(delayed + at_once, answers.len(), "{stack}");
        let least = least_window(&rows);
        assert!(least < 1448, "{stack}: the window holds {least} bytes, a segment or more");
        let opened = rows.hosts.iter().find(|r| r.sent && r.packet.release == Some(Release::Reader)).unwrap();
        assert_eq!(opened.time, Time(LAST_STOP), "{stack}: a window update");
        let new = |r: &&HostRow| r.sent && r.time > opened.time && r.packet.reason == Reason::New;
        let first = rows.hosts.iter().find(new).unwrap();
        assert_eq!(first.packet.release, Some(Release::Window), "{stack}");
    }
}

#[test]
fn a_reader_that_stops_for_good_is_probed_to_the_end() {
    let (summary, rows) = reads("{ kind = \"stops\", after = \"300ms\" }", "linux-6-cubic", "30MB");
    assert!(summary.connections[0].ended.is_none());
    let last = rows.hosts.iter().rfind(|r| r.sent && r.packet.reason == Reason::Persist).unwrap();
    assert!(last.time > Time(60_000_000_000), "{}", last.time);
}
