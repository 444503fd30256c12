//! Real transfers over the bridge: bytes, drops, captures and what is left behind.
#![cfg(target_os = "linux")]

#[macro_use]
mod support;

use instant::{Span, Time};
use live::report::{End, Probed};
use std::collections::BTreeSet;
use support::{run, run_until};

fn chain(link: &str, flow: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"20s\"\n[chain]\nnodes = [\"pc\", \"server\"]\n{link}\n[[flow]]\nname = \"up\"\n\
         from = \"pc\"\nto = \"server\"\nstack = \"linux-2.6-reno\"\n{flow}\n"
    )
}

const FILE: &str = "workload = { kind = \"file\", size = \"1MB\" }";

/// What runs of this process that are over have left.
fn left() -> Vec<String> {
    let ours = format!("rexmit-{}", std::process::id());
    live::clean::left_over().into_iter().filter(|name| name.starts_with(&ours)).collect()
}

#[test]
fn a_file_arrives_whole_and_every_loss_is_in_the_log() {
    needs_a_bench!();
    let outage = "rate = \"22Mbps\"\ndelay = \"10ms\"\nframing = \"ethernet\"\nqueue = { kind = \"droptail\", packets = 60 }\n\
                  [[chain.channel]]\nname = \"dark\"\nkind = \"outage\"\n\
                  schedule = { every = \"10s\", for = \"100ms\", phase = \"200ms\", anchor = \"first-syn\" }";
    let ran = run(&chain(outage, FILE));
    let o = &ran.outcome;
    assert_eq!(o.end, End::Done);
    let [client, server] = &o.ended[0].sides;
    let (client, server) = (client.as_ref().expect("a client"), server.as_ref().expect("a server"));
    assert!(client.closed && server.closed, "{client:?} {server:?}");
    assert_eq!((client.sent_bytes, server.came_bytes), (1_000_000, 1_000_000));
    assert!(!o.drops.is_empty());
    ran.assert_exact();
}

#[test]
fn an_outage_is_exact_in_virtual_time() {
    needs_a_bench!();
    let outage = "rate = \"20Mbps\"\ndelay = \"5ms\"\n[[chain.channel]]\nname = \"dark\"\nkind = \"outage\"\nat = \"ingress\"\n\
                  schedule = { every = \"300ms\", for = \"100ms\", phase = \"150ms\", anchor = \"first-syn\" }";
    let ran = run(&chain(outage, FILE));
    let syn = ran.outcome.drops.iter().map(|d| d.time).min().expect("drops");
    let all = ran.outcome.passed[0];
    assert!(all.ways[0].packets > 690, "{all:?}");
    // The first packet of all anchors the schedule; the bridge knows when it came.
    let first = ran.outcome.first.expect("a first packet");
    assert!(syn - first >= Span::from_millis(150), "{}", syn - first);
    for drop in &ran.outcome.drops {
        let phase = (drop.time - first).0.rem_euclid(300_000_000);
        assert!((150_000_000..250_000_000).contains(&phase), "{} after the first SYN", drop.time - first);
    }
    ran.assert_exact();
}

#[test]
fn captures_agree_and_nothing_is_left_behind_however_a_run_ends() {
    needs_a_bench!();
    let link = "rate = \"10Mbps\"\ndelay = \"5ms\"\n[[chain.channel]]\nname = \"noise\"\nkind = \"random\"\nloss = 0.02\n";
    let endless = chain(link, "workload = { kind = \"endless\" }");
    let ran = run_until(&endless, &mut |p| p.now < Time(300_000_000));
    assert_eq!(ran.outcome.end, End::Stopped);
    assert!(ran.outcome.packets > 100, "{}", ran.outcome.packets);
    assert!(!ran.outcome.inside.is_empty(), "an endless transfer has packets on their way");
    ran.assert_exact();
    for duration in ["500ms", "700ms", "900ms"] {
        let ran = run(&endless.replace("20s", duration));
        assert_eq!(ran.outcome.end, End::Duration);
        assert!(!ran.outcome.inside.is_empty() && !ran.outcome.drops.is_empty());
        ran.assert_exact();
    }
    let panicked = std::panic::catch_unwind(|| {
        run_until(&endless, &mut |p| p.now < Time(100_000_000) || panic!("as told"))
    });
    assert!(panicked.is_err());
    assert_eq!(left(), Vec::<String>::new());
}

#[test]
fn a_kernel_bridge_carries_the_same_transfer_without_the_links() {
    needs_a_bench!();
    // What the scenario's links would do is not done: with them, a megabyte would take eight seconds.
    let plan = support::plan(&chain("rate = \"1Mbps\"\ndelay = \"100ms\"", FILE)).expect("a plan");
    let folder = tempfile::TempDir::new().expect("a folder");
    let ran = live::bench::plain::run(&plan, folder.path()).expect("it runs");
    let [client, server] = &ran.ended[0].sides;
    let (client, server) = (client.as_ref().expect("a client"), server.as_ref().expect("a server"));
    assert_eq!((client.sent_bytes, server.came_bytes), (1_000_000, 1_000_000));
    assert!(server.last.expect("an end") - server.first.expect("a beginning") < Span::from_secs(4));
    let times = &ran.transit.times;
    assert!(times.packets > 690, "{} packets seen at both hosts", times.packets);
    assert!(times.quantile(0.5).expect("packets") > Span::ZERO);
    assert!(times.quantile(0.5).expect("packets") < Span::from_millis(50));
}

#[test]
fn every_ack_and_every_packet_tells_the_senders_state_where_the_kernel_lets_it() {
    needs_a_bench!();
    if let Some(lack) = live::check::machine().iter().find(|f| f.what == "sender state" && f.fix.is_some()) {
        support::skipped(&lack.found);
        return;
    }
    let link = "rate = \"22Mbps\"\ndelay = \"10ms\"\nqueue = { kind = \"droptail\", packets = 60 }";
    let ran = run(&(chain(link, &FILE.replace("1MB", "4MB")) + "[record]\nstate = true\n"));
    let o = &ran.outcome;
    assert_eq!((&o.end, &o.traced), (&End::Done, &Some(Ok(()))), "{:?}", o.warnings);
    assert!(o.probed.is_sorted_by_key(|p| p.time) && o.probed.is_sorted_by_key(|p| p.una));
    let (first, last) = (&o.probed[0], &o.probed[o.probed.len() - 1]);
    // The first packet finds the initial window; the last, long after the application has closed, nearly all sent.
    let initial = &first.probe;
    assert_eq!((first.una, first.nxt, initial.cwnd, initial.pipe, initial.mss), (1, 1, 10, 0, 1448));
    assert!(last.nxt > 3_900_000 && last.una > 3_500_000, "{last:?}");
    // The timer is known all the time (RFC 6298 with this kernel's minimum), and so is what is under way.
    let timer = |p: &Probed| i64::from(p.probe.rto_us) - i64::from(p.probe.srtt_us);
    assert!(o.probed.iter().all(|p| timer(p) > 150_000 && p.probe.rto_us < 2_000_000));
    assert!(o.probed.iter().all(|p| u64::from(p.probe.pipe) * 1448 <= p.nxt - p.una + 100_000));
    assert!(o.probed.iter().any(|p| p.probe.pipe > 20) && o.probed.iter().any(|p| p.probe.rttvar_us > 0));
    // What one ACK acknowledged, the next one found acknowledged.
    let told: BTreeSet<u64> = o.probed.iter().map(|p| p.una).collect();
    let offset = |ack: u32| u64::from(ack.wrapping_sub(first.probe.una)) + 1;
    let came: BTreeSet<u64> = ran.captured(0, false).keys().map(|key| offset(key.6)).collect();
    let untold = came.iter().filter(|una| **una < last.una && !told.contains(una)).count();
    // ACKs that wait while the socket is in use are put together.
    assert!(came.len() > 500 && untold * 20 < came.len(), "{untold} of {}", came.len());
    // When they came, by the clock of the bridge.
    let data = ran.outcome.passed[0].ways[0];
    let (began, ended) = (data.first.expect("data"), data.last.expect("data"));
    let (early, late) = (began - first.time, last.time - ended);
    assert!((Span::ZERO..Span::from_millis(100)).contains(&early), "{early} before the first packet came");
    assert!(late < Span::from_millis(100), "{late} after the last");
    let phases: BTreeSet<u8> = o.probed.iter().map(|p| p.probe.ca_state).collect();
    assert!(phases.contains(&0) && phases.contains(&3), "a full queue makes it recover: {phases:?}");
    assert_eq!(left(), Vec::<String>::new());
}
