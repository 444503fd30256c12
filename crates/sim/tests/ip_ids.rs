//! How hosts number their packets in captures.

mod support;

use support::{run, scenario};
use wire::Packet;

/// Two flows from `a` to `b`, captured at both; `node` says what there is of host `a`.
fn sent_by_a(node: &str) -> Vec<Packet> {
    let text = format!(
        "name = \"x\"\n[[node]]\nname = \"a\"\n{node}\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"5ms\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ncount = 2\nstack = \"rfc-sack\"\n\
         workload = {{ kind = \"file\", size = \"200kB\" }}\n[record]\ncapture = [\"a\", \"b\"]\n"
    );
    let (_, rows) = run(&scenario(&text), 3);
    let from_a = |p: &Packet| p.tuple.src.to_string().starts_with("10.0.0.1:");
    let at = |node: u32| rows.packets.iter().filter(move |(n, p)| n.0 == node && from_a(p)).map(|(_, p)| *p);
    let (here, there): (Vec<Packet>, Vec<Packet>) = (at(0).collect(), at(1).collect());
    assert!(here.iter().map(|p| p.ip_id).eq(there.iter().map(|p| p.ip_id)), "the same at both ends");
    here
}

fn steps(packets: &[Packet]) -> Vec<u16> {
    packets.windows(2).map(|pair| pair[1].ip_id.wrapping_sub(pair[0].ip_id)).collect()
}

fn of_one_connection(packets: &[Packet]) -> Vec<Packet> {
    packets.iter().filter(|p| p.tuple.src.port == packets[0].tuple.src.port).copied().collect()
}

#[test]
fn each_connection_is_counted_by_itself_unless_told() {
    let packets = sent_by_a("");
    assert!(steps(&of_one_connection(&packets)).iter().all(|step| *step == 1));
    assert!(steps(&packets).iter().any(|step| *step != 1), "two connections, two counters");
}

#[test]
fn a_host_may_count_all_its_packets() {
    let packets = sent_by_a("ip_id = \"per-host\"");
    assert!(steps(&packets).iter().all(|step| *step == 1));
    assert!(steps(&of_one_connection(&packets)).iter().any(|step| *step > 1), "the other flow's lie between");
}

#[test]
fn what_a_host_sends_elsewhere_takes_numbers_too() {
    let packets = sent_by_a("ip_id = \"per-host\"\nunseen_packets_per_s = 500");
    let steps: Vec<u16> = steps(&packets);
    let unseen: u64 = steps.iter().map(|step| u64::from(*step) - 1).sum();
    let took = (packets[packets.len() - 1].time - packets[0].time).as_secs();
    assert!((unseen as f64 - 500.0 * took).abs() < 4.0 * (500.0 * took).sqrt(), "{unseen} in {took} s");
}

#[test]
fn numbers_may_be_random_or_none() {
    assert!(sent_by_a("ip_id = \"zero\"").iter().all(|p| p.ip_id == 0));
    let random = steps(&sent_by_a("ip_id = \"random\""));
    assert!(random.iter().filter(|step| **step < 16).count() < random.len() / 100);
}

#[test]
fn bytes_of_a_number_may_be_swapped() {
    let packets = sent_by_a("ip_id_swapped = true");
    let swapped: Vec<Packet> = packets.iter().map(|p| Packet { ip_id: p.ip_id.swap_bytes(), ..*p }).collect();
    assert!(steps(&of_one_connection(&swapped)).iter().all(|step| *step == 1));
    assert!(steps(&of_one_connection(&packets)).iter().filter(|step| **step == 256).count() > 100);
}
