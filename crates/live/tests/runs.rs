//! Real transfers over the bridge: bytes, drops, captures and what is left behind.
#![cfg(target_os = "linux")]

#[macro_use]
mod support;

use live::report::End;
use support::{run, run_until};
use time::{Span, Time};

fn chain(link: &str, flow: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"20s\"\n[chain]\nnodes = [\"pc\", \"server\"]\n{link}\n[[flow]]\nname = \"up\"\n\
         from = \"pc\"\nto = \"server\"\nstack = \"linux-2.6-reno\"\n{flow}\n"
    )
}

const FILE: &str = "workload = { kind = \"file\", size = \"1MB\" }";

/// Namespaces of this process that are still there.
fn left() -> Vec<String> {
    let ours = format!("rexmit-{}", std::process::id());
    let names = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    names.filter_map(|e| e.file_name().into_string().ok()).filter(|n| n.starts_with(&ours)).collect()
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
fn nothing_is_left_behind_however_a_run_ends() {
    needs_a_bench!();
    let link = "rate = \"10Mbps\"\ndelay = \"5ms\"";
    let endless = chain(link, "workload = { kind = \"endless\" }");
    let ran = run_until(&endless, &mut |p| p.now < Time(300_000_000));
    assert_eq!(ran.outcome.end, End::Stopped);
    assert!(ran.outcome.packets > 100, "{}", ran.outcome.packets);
    let ran = run(&endless.replace("20s", "500ms"));
    assert_eq!(ran.outcome.end, End::Duration);
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
