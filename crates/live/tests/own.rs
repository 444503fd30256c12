//! rexmit's own TCP against the kernel's, over the bridge: every byte, whatever is lost.
#![cfg(target_os = "linux")]

#[macro_use]
mod support;

use instant::Span;
use live::content::Content;
use live::report::{End, Outcome};
use support::{plan, run, run_plan};
use tcp::endpoint::Why;

const LINK: &str = "rate = \"16Mbps\"\ndelay = \"5ms\"\nframing = \"ethernet\"\nqueue = { kind = \"droptail\", packets = 60 }";
const LOSSES: &str = "[[link.channel]]\nname = \"noise\"\nkind = \"random\"\nloss = 0.003\n";

/// A stack based on another is no kernel's: it runs as rexmit's own. `more` are sections that differ.
fn own(name: &str, base: &str, more: &str) -> String {
    format!("[[stack]]\nname = \"{name}\"\nbased_on = \"{base}\"\n{more}\n")
}

/// A pair of hosts and a link of its own for each flow: its sender's and its receiver's stack, bytes.
fn pairs(stacks: &str, flows: &[(String, String, u64)]) -> String {
    let mut text = format!("name = \"t\"\nduration = \"60s\"\n{stacks}");
    for (k, (sender, receiver, bytes)) in flows.iter().enumerate() {
        text += &format!(
            "[[node]]\nname = \"a{k}\"\n[[node]]\nname = \"b{k}\"\n[[link]]\nname = \"l{k}\"\nbetween = [\"a{k}\", \"b{k}\"]\n\
             {LINK}\n{LOSSES}[[flow]]\nname = \"f{k}\"\nfrom = \"a{k}\"\nto = \"b{k}\"\nstack = \"{sender}\"\n\
             receiver = \"{receiver}\"\nworkload = {{ kind = \"file\", size = \"{bytes}B\" }}\n"
        );
    }
    text
}

fn exact(o: &Outcome, flows: &[(String, String, u64)]) {
    assert_eq!(o.end, End::Done, "{:?}", o.ended);
    for ((sender, receiver, bytes), ended) in flows.iter().zip(&o.ended) {
        let [Some(client), Some(server)] = &ended.sides else { panic!("{sender} to {receiver}: {ended:?}") };
        assert_eq!((client.error, server.error), (None, None), "{sender} to {receiver}: {ended:?}");
        assert_eq!((client.sent_bytes, server.came_bytes), (*bytes, *bytes), "{sender} to {receiver}");
        assert_eq!(server.wrong, None, "{sender} to {receiver}: the first byte that differs");
        assert!(client.closed && server.closed, "{sender} to {receiver}: {ended:?}");
    }
}

/// Every real endpoint there is, each as rexmit's own: the stacks and their names.
fn own_stacks() -> (String, Vec<String>) {
    let all = scenario::describe::stacks().expect("the built-in stacks");
    let wire: Vec<String> = all.into_iter().filter(|s| s.wire).map(|s| s.name).collect();
    let stacks = wire.iter().map(|s| own(&format!("own-{s}"), s, "")).collect();
    (stacks, wire.iter().map(|s| format!("own-{s}")).collect())
}

fn transfer(stacks: &str, flows: &[(String, String, u64)]) {
    let mut plan = plan(&pairs(stacks, flows)).expect("the scenario can run live");
    plan.content = Content::Pattern(11);
    let ran = run_plan(plan, &mut |_| true);
    exact(&ran.outcome, flows);
    assert!(ran.outcome.drops.len() > flows.len(), "nothing was lost");
    ran.assert_exact();
}

const KERNEL: &str = "linux-2.6-reno";
const TEN_MB: u64 = 10_000_000;
/// So many transfers side by side end well within a run's time on two busy cores, too.
const AT_ONCE: usize = 6;

/// Ten megabytes each, some stacks at a time.
fn every_stack(flow: fn(String) -> (String, String, u64)) {
    let (stacks, names) = own_stacks();
    let flows: Vec<_> = names.into_iter().map(flow).collect();
    for some in flows.chunks(AT_ONCE) {
        transfer(&stacks, some);
    }
}

#[test]
#[ignore = "a minute: make validate"]
fn every_stack_sends_ten_megabytes_to_the_kernel() {
    needs_tun!();
    every_stack(|own| (own, KERNEL.to_owned(), TEN_MB));
}

#[test]
#[ignore = "a minute: make validate"]
fn every_stack_receives_ten_megabytes_from_the_kernel() {
    needs_tun!();
    every_stack(|own| (KERNEL.to_owned(), own, TEN_MB));
}

#[test]
fn window_scale_sack_and_timestamps_can_each_be_missing() {
    needs_tun!();
    let (mut stacks, mut flows) = (String::new(), Vec::new());
    for bits in 0..8 {
        let on = |bit: u32| bits & (1 << bit) != 0;
        let name = format!("own-{bits}");
        let options =
            format!("[stack.options]\nwindow_scale = {}\nsack = {}\ntimestamps = {}", on(0), on(1), on(2));
        stacks += &own(&name, "linux-2.4", &options);
        flows.push((name.clone(), KERNEL.to_owned(), 2_000_000));
        flows.push((KERNEL.to_owned(), name, 2_000_000));
    }
    transfer(&stacks, &flows);
}

/// One file through an outage that its timer has to end, by a stack that no kernel has.
fn through_an_outage(stack: &str, record: &str) -> support::Ran {
    let text = pairs("", &[(stack.to_owned(), KERNEL.to_owned(), 600_000)]);
    let dark = "[[link.channel]]\nname = \"dark\"\nkind = \"outage\"\n\
                schedule = { every = \"20s\", for = \"400ms\", phase = \"200ms\", anchor = \"first-syn\" }\n";
    run(&(text.replace(LOSSES, dark) + record))
}

#[test]
fn rexmits_own_tcp_counts_what_the_captures_show() {
    needs_tun!();
    let ran = through_an_outage("rfc-sack", "");
    ran.assert_exact();
    let [Some(client), Some(server)] = &ran.outcome.ended[0].sides else { panic!("{:?}", ran.outcome.ended) };
    let (sent, came) = (client.counts.expect("counts"), server.counts.expect("counts"));
    let data =
        |seen: support::Count| seen.iter().filter(|(key, _)| key.7 > 0).map(|(_, n)| *n as u64).sum::<u64>();
    assert_eq!(sent.data_packets, data(ran.captured(0, true)));
    assert_eq!(came.arrived_packets, data(ran.captured(1, false)), "the kernel's count");
    let passed = ran.outcome.passed[0].ways[0];
    assert_eq!((sent.data_bytes, sent.resent_packets), (passed.payload_bytes, passed.resent_packets));
    assert_eq!(sent.data_bytes - sent.resent_bytes, 600_000);
    assert!(sent.timeouts >= 1 && sent.resent_packets > sent.timeouts, "{sent:?}");
    assert!(ran.outcome.viewed.is_empty(), "nobody asked for it");
}

#[test]
fn rexmits_own_tcp_says_why_it_sent_what_was_lost() {
    needs_tun!();
    let ran = through_an_outage("osx-10.7", "");
    let explained = &ran.outcome.explained;
    let resent = |e: &&live::report::Explained| !matches!(e.left.why, Why::Handshake | Why::Fin | Why::Rst);
    let counts = ran.outcome.ended[0].sides[0].as_ref().and_then(|side| side.counts).expect("counts");
    assert_eq!(explained.iter().filter(resent).count() as u64, counts.resent_packets);
    // Of what the outage took, the timer's own retransmissions are known among all others.
    let lost: Vec<_> = ran.outcome.drops.iter().filter(|d| d.which.again).collect();
    let why = |drop: &live::report::Drop| {
        let h = &drop.which.headers;
        let same = |e: &&live::report::Explained| (e.left.ip_id, e.left.seq) == (h.ip_id, h.seq);
        let found = explained.iter().find(same).unwrap_or_else(|| panic!("{drop:?} is explained"));
        assert!((Span::ZERO..Span::from_millis(50)).contains(&(drop.which.came - found.time)), "{found:?}");
        found.left.why
    };
    let timers = lost.iter().filter(|d| matches!(why(d), Why::Timeout { .. })).count();
    assert!(timers >= 1, "{} were lost when sent again", lost.len());
}

#[test]
fn rexmits_own_tcp_tells_its_state_at_every_change() {
    needs_tun!();
    let ran = through_an_outage("rfc-sack", "[record]\nstate = true\n");
    let rows = &ran.outcome.viewed;
    assert!(rows.iter().all(|r| r.connection == 0 && r.forward), "the receiver's end is the kernel's");
    assert!(rows.is_sorted_by_key(|r| r.time));
    let last = rows.last().expect("rows").view;
    // The SYN is 0, the FIN the last.
    assert_eq!((last.una, last.nxt, last.flight), (600_002, 600_002, 0));
    // A row for each ACK that took it further, at the time when it came.
    let (first, end) = (ran.outcome.first.expect("a packet"), ran.outcome.time);
    let mut unas: Vec<u64> = rows.iter().map(|r| r.view.una).collect();
    assert!(unas.is_sorted());
    unas.dedup();
    assert!(unas.len() > 100, "{}", unas.len());
    assert!(rows.iter().all(|r| (first - Span::from_millis(50)..end).contains(&r.time)));
    // In the dark the timer fired, and cwnd fell to a segment.
    let dark = first + Span::from_millis(200);
    let timed_out = rows.iter().find(|r| r.view.backoff > 0).expect("a timeout");
    assert!(timed_out.time > dark && timed_out.view.cwnd == timed_out.view.smss, "{timed_out:?}");
}
