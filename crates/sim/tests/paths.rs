//! What links can do to transfers: policers, black holes of a size, and paths of their own for flows.

mod support;

use links::Cause;
use sim::rows::DropRow;
use sim::{Rows, Summary};
use support::{run, scenario};

/// Two hosts, 20 Mbps and 10 ms apart; flow `f` takes a file from `a` to `b`, and `more` says what else there is.
fn between(channels: &str, size: &str, more: &str) -> (Summary, Rows) {
    let text = format!(
        "name = \"x\"\nduration = \"20s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"20Mbps\"\ndelay = \"10ms\"\n{channels}\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"linux-6-cubic\"\n\
         workload = {{ kind = \"file\", size = \"{size}\" }}\n{more}\n\
         [record]\ndrops = true\nheld = true\npackets = true\n"
    );
    run(&scenario(&text), 1)
}

fn delivered(s: &Summary, connection: usize) -> u64 {
    s.connections[connection].ways[0].delivered_bytes
}

#[test]
fn a_policer_holds_a_transfer_to_its_rate_without_a_queue() {
    let policer = "[[link.channel]]\nname = \"p\"\nkind = \"policer\"\nrate = \"5Mbps\"\nburst = \"30kB\"\n\
                   direction = \"forward\"\nat = \"ingress\"";
    let (summary, rows) = between(policer, "100MB", "");
    let mbps = delivered(&summary, 0) as f64 * 8.0 / 20e6;
    assert!((3.5..5.0).contains(&mbps), "{mbps}");
    assert!(rows.drops.len() > 20 && rows.drops.iter().all(|d| d.cause == Cause::Policer(0)));
    assert!(rows.drops.iter().all(|d| d.link.is_forward()));
}

#[test]
fn what_is_too_large_vanishes_and_small_packets_pass() {
    let hole = "[[link.channel]]\nname = \"hole\"\nkind = \"mtu\"\nmost = \"1400B\"";
    let (summary, rows) = between(hole, "100kB", "");
    assert_eq!(delivered(&summary, 0), 0, "the handshake passes and no full segment does");
    let is_mtu = |d: &DropRow| d.cause == Cause::Mtu(0) && d.packet.payload_bytes > 1300;
    assert!(rows.drops.len() > 5 && rows.drops.iter().all(is_mtu));
    let (summary, rows) = between(hole, "1000B", "");
    assert_eq!((delivered(&summary, 0), rows.drops.len()), (1000, 0));
}

/// A second flow between the same hosts, in the same link.
const SECOND: &str = "[[flow]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\nstack = \"linux-6-cubic\"\n\
                      workload = { kind = \"file\", size = \"2MB\" }";

#[test]
fn the_way_of_one_flow_may_die_while_the_other_goes_on() {
    let dies = "[[link.channel]]\nname = \"dead\"\nkind = \"outage\"\nflows = [\"f\"]\n\
                schedule = { intervals = [[\"500ms\", \"60s\"]] }";
    let (summary, rows) = between(dies, "2MB", SECOND);
    assert_eq!(summary.connections[1].ways[0].delivered_bytes, 2_000_000);
    assert!((1..2_000_000).contains(&delivered(&summary, 0)), "{}", delivered(&summary, 0));
    let channel = rows.drops.iter().filter(|d| d.cause == Cause::Channel(0));
    assert!(channel.clone().count() > 5 && channel.clone().all(|d| d.packet.connection == 0));
}

#[test]
fn a_longer_way_of_one_flow_delays_nobody_else_and_keeps_its_order() {
    let longer = "[[link.channel]]\nname = \"far\"\nkind = \"delay-step\"\nflows = [\"f\"]\n\
                  steps = [[\"0s\", \"40ms\"], [\"300ms\", \"0s\"]]";
    let (_, with) = between(longer, "500kB", SECOND);
    let (summary, alone) = between("", "500kB", SECOND);
    assert_eq!(delivered(&summary, 0), 500_000);
    let took = |rows: &Rows, connection: u32| -> Vec<i64> {
        let one = rows.hosts.iter().filter(|r| r.packet.connection == connection && r.packet.forward);
        let sent: std::collections::HashMap<u64, instant::Time> =
            one.clone().filter(|r| r.sent).map(|r| (r.packet.copy, r.time)).collect();
        one.filter(|r| !r.sent).map(|r| (r.time - sent[&r.packet.copy]).0).collect()
    };
    // The handshake and what follows it, before queues differ.
    assert_eq!(took(&with, 0)[0], took(&alone, 0)[0] + 40_000_000);
    assert!(took(&with, 1)[..3].iter().all(|ns| *ns < 12_000_000), "nor does it wait for the other");
    let arrived = with.hosts.iter().filter(|r| !r.sent && r.packet.connection == 0 && r.packet.forward);
    let copies: Vec<u64> = arrived.map(|r| r.packet.copy).collect();
    assert!(copies.is_sorted(), "they do not overtake each other as the way gets shorter");
    assert!(with.held.iter().all(|r| !r.held.kept && r.packet.connection == 0));
}

#[test]
fn packets_of_one_flow_are_held_while_the_others_pass() {
    let holds = "[[link.channel]]\nname = \"holds\"\nkind = \"outage\"\nflows = [\"f\"]\nhold = true\n\
                 schedule = { intervals = [[\"200ms\", \"300ms\"]] }";
    let (_, rows) = between(holds, "2MB", SECOND);
    assert!(rows.held.len() > 5 && rows.held.iter().all(|r| r.held.kept && r.packet.connection == 0));
    let during = |connection: u32| {
        let ms = |t: instant::Time| t.0 / 1_000_000;
        let meanwhile = |t: instant::Time| (220..500).contains(&ms(t));
        rows.hosts
            .iter()
            .filter(|r| !r.sent && r.packet.connection == connection && meanwhile(r.time))
            .count()
    };
    assert_eq!(during(0), 0);
    assert!(during(1) > 50);
}

#[test]
fn acks_are_lost_and_every_data_packet_arrives() {
    let lossy = "[[link.channel]]\nname = \"acks\"\nkind = \"random\"\nonly = \"acks\"\nloss = \"30%\"\n\
                 direction = \"back\"";
    let (summary, rows) = between(lossy, "2MB", "");
    assert_eq!(delivered(&summary, 0), 2_000_000);
    assert!(rows.drops.iter().all(|d| d.packet.payload_bytes == 0 && !d.link.is_forward()));
    let asked = rows.hosts.iter().filter(|r| r.node == 1 && r.sent).count() as f64;
    let (lost, expected) = (rows.drops.len() as f64, 0.3 * asked);
    assert!((lost - expected).abs() < 5.0 * (expected * 0.7).sqrt(), "{lost} of {asked} ACKs");
    let (sent, arrived) = (rows.hosts.iter(), rows.hosts.iter());
    let data = |r: &&sim::rows::HostRow| r.packet.payload_bytes > 0;
    assert_eq!(
        sent.filter(data).filter(|r| r.node == 0 && r.sent).count(),
        arrived.filter(data).filter(|r| r.node == 1 && !r.sent).count(),
        "no data packet is lost"
    );
}

/// The shape of a link layer that sleeps and sends what it has when it wakes.
#[test]
fn packets_are_held_and_released_together() {
    let sleeps = "[[link.channel]]\nname = \"sleep\"\nkind = \"outage\"\nhold = true\nat = \"egress\"\n\
                  direction = \"forward\"\nschedule = { every = \"50ms\", for = \"40ms\" }";
    let (summary, rows) = between(sleeps, "2MB", "");
    assert_eq!((delivered(&summary, 0), rows.drops.len()), (2_000_000, 0));
    let arrived = rows.hosts.iter().filter(|r| r.node == 1 && !r.sent);
    let times: Vec<i64> = arrived.map(|r| r.time.0).collect();
    assert!(times.iter().all(|ns| ns % 50_000_000 >= 40_000_000), "nothing arrives while packets are held");
    let together = times.iter().filter(|ns| *ns % 50_000_000 == 40_000_000).count();
    assert!(together > 500, "{together} of {} arrive at the moment of a release", times.len());
    assert!(rows.held.iter().all(|r| r.held.kept && r.held.until.0 % 50_000_000 == 40_000_000));
}
