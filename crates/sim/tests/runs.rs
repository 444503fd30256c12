//! Whole runs: scenarios from text, figures out.

mod support;

use instant::Time;
use sim::End;
use support::{run, scenario};

fn one_link(flow: &str, more: &str) -> String {
    format!(
        "name = \"t\"\n{more}\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"10ms\"\n\
         queue = {{ kind = \"droptail\", packets = 100 }}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

#[test]
fn a_file_arrives_whole_and_the_connection_closes() {
    let text = one_link("stack = \"rfc-sack\"\nworkload = { kind = \"file\", size = \"1MB\" }", "");
    let (summary, _) = run(&scenario(&text), 1);
    assert_eq!(summary.end, End::Done);
    let way = &summary.connections[0].ways[0];
    assert_eq!(way.delivered_bytes, 1_000_000);
    // 1 MB at 10 Mbps takes 0.8 s, headers and slow start some more.
    let took = way.last_delivered.unwrap() - Time::ZERO;
    assert!((0.8..1.3).contains(&took.as_secs()), "{took}");
}

#[test]
fn requests_are_answered() {
    let workload = "{ kind = \"request-response\", request = \"300B\", response = \"30kB\", think = \"10ms\", \
                    requests = 5 }";
    let text = one_link(&format!("stack = \"rfc-sack\"\nworkload = {workload}"), "");
    let (summary, _) = run(&scenario(&text), 1);
    assert_eq!(summary.end, End::Done);
    let [there, back] = &summary.connections[0].ways;
    assert_eq!((there.delivered_bytes, back.delivered_bytes), (1500, 150_000));
}

#[test]
fn datagrams_come_at_their_rate() {
    let flow = "transport = \"datagram\"\npacket = \"1000B\"\nworkload = { kind = \"constant-rate\", rate = \"1Mbps\" }";
    let (summary, _) = run(&scenario(&one_link(flow, "duration = \"10s\"")), 1);
    assert_eq!(summary.end, End::Duration);
    // One every 8 ms from 0 on; those sent in the last 10.8 ms are still under way.
    assert_eq!(summary.connections[0].ways[0].arrived_packets, 1249);
}

#[test]
fn ns2_agents_run_beside_endpoints() {
    let text = one_link(
        "stack = \"ns2-reno\"\nworkload = { kind = \"file\", size = \"100kB\" }",
        "duration = \"60s\"",
    );
    let (summary, _) = run(&scenario(&text), 1);
    let way = &summary.connections[0].ways[0];
    assert!(way.delivered_bytes >= 100_000, "{way:?}");
    assert_eq!(way.resent_packets, 0);
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let more = "duration = \"5s\"";
    let channel = "[[link.channel]]\nname = \"c\"\nkind = \"random\"\nloss = 0.02\n[[flow]]";
    let text = one_link("stack = \"rfc-sack\"\nworkload = { kind = \"endless\" }", more)
        .replacen("[[flow]]", channel, 1)
        + "[record]\ncapture = true\nstate = true\nqueues = true\ndrops = true\nretransmissions = true\n";
    let rows = |seed| {
        let (summary, rows) = run(&scenario(&text), seed);
        assert!(!rows.drops.is_empty());
        format!("{summary:?} {rows:?}")
    };
    assert_eq!(rows(7), rows(7));
    assert_ne!(rows(7), rows(8));
}

/// ns-2's `overhead_`: each send waits a random time, so that flows do not lock in phase.
#[test]
fn a_one_way_senders_overhead_spreads_its_packets() {
    let agent = "[[stack]]\nname = \"agent\"\nbased_on = \"ns2-reno\"\n[stack.oneway]\noverhead = \"10ms\"\n";
    let text =
        one_link("stack = \"agent\"\nworkload = { kind = \"file\", size = \"100kB\" }", "duration = \"60s\"");
    let sends = |seed| {
        let (_, rows) = run(&scenario(&format!("{text}[record]\npackets = true\n{agent}")), seed);
        rows.hosts.iter().filter(|r| r.sent && r.node == 0).map(|r| r.time).collect::<Vec<Time>>()
    };
    let waited = |time: &Time| *time - Time::ZERO;
    let first = sends(1);
    assert!((0..10_000_000).contains(&waited(&first[0]).0) && waited(&first[0]).0 > 0, "{}", first[0]);
    assert_eq!(first, sends(1));
    assert_ne!(first, sends(2));
}
