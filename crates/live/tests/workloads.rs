//! What applications do, over kernels, rexmit's own TCP and datagrams: the same as in the simulator.
#![cfg(target_os = "linux")]

#[macro_use]
mod support;

use instant::{Span, Time};
use live::Plan;
use live::content::Content;
use live::report::{Bin, End, Side};
use scenario::workload::Outlet;
use support::{plan, run_plan};

fn pair(flows: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"20s\"\n[chain]\nnodes = [\"pc\", \"server\"]\nrate = \"20Mbps\"\ndelay = \"5ms\"\n\
         [[chain.channel]]\nname = \"noise\"\nkind = \"random\"\nloss = 0.01\n{flows}"
    )
}

fn flow(transport: &str, count: u32, workload: &str) -> String {
    format!(
        "[[flow]]\nname = \"f\"\nfrom = \"pc\"\nto = \"server\"\n{transport}\ncount = {count}\n\
         start = \"20ms\"\nstart_within = \"50ms\"\nstop = \"1.2s\"\nworkload = {{ {workload} }}\n"
    )
}

/// Takes all, and remembers when.
#[derive(Default)]
struct Written(Vec<(Time, u64)>);

impl Outlet for Written {
    fn write(&mut self, now: Time, bytes: u64) -> u64 {
        self.0.push((now, bytes));
        bytes
    }
    fn close(&mut self, _now: Time) {}
}

/// What a connection's application writes if nothing holds it up.
fn written(plan: &Plan, k: usize) -> Vec<(Time, u64)> {
    let (mut app, mut out) = (plan.connections[k].application(), Written::default());
    let mut due = Some(plan.connections[k].start);
    while let Some(at) = due {
        due = app.act(at, &mut out);
    }
    out.0
}

fn sides(ended: &live::report::Ended) -> [&Side; 2] {
    let [Some(client), Some(server)] = &ended.sides else { panic!("{ended:?}") };
    assert_eq!(
        (client.error, server.error, server.wrong, client.wrong),
        (None, None, None, None),
        "{ended:?}"
    );
    assert!(client.closed && server.closed, "{ended:?}");
    [client, server]
}

const CONSTANT: &str = "kind = \"constant-rate\", rate = \"2Mbps\"";
const BURSTS: &str = "kind = \"on-off\", rate = \"1Mbps\", on = \"50ms\", off = \"50ms\", distribution = \"pareto\", shape = 1.2";
const DATAGRAMS: &str = "transport = \"datagram\"\npacket = \"500B\"";

#[test]
fn datagrams_leave_as_the_application_says_and_are_counted_where_they_arrive() {
    needs_a_bench!();
    for workload in [CONSTANT, BURSTS] {
        let mut plan = plan(&pair(&flow(DATAGRAMS, 3, workload))).expect("a plan");
        plan.bin = Some(Span::from_millis(100));
        let expected: Vec<Vec<(Time, u64)>> = (0..3).map(|k| written(&plan, k)).collect();
        assert!(expected.iter().all(|e| e.len() > 20) && expected[0] != expected[1]);
        let ran = run_plan(plan, &mut |_| true);
        let o = &ran.outcome;
        assert_eq!(o.end, End::Done);
        let (mut sent, mut came) = (0, 0);
        for (ended, expected) in o.ended.iter().zip(&expected) {
            let [client, server] = sides(ended);
            assert_eq!(client.sent_bytes, expected.iter().map(|(_, bytes)| bytes).sum::<u64>());
            assert_eq!(client.counts.expect("counts").data_packets, expected.len() as u64);
            let began = client.began.expect("a beginning") - expected[0].0;
            assert!((Span::ZERO..Span::from_millis(100)).contains(&began), "late by {began}");
            sent += client.counts.expect("counts").data_packets;
            came += server.counts.expect("counts").arrived_packets;
            assert_eq!(server.came_bytes, server.counts.expect("counts").arrived_packets * 500);
        }
        assert_eq!((o.quality.overload, o.packets), (0, sent));
        assert_eq!(came + o.drops.len() as u64, sent);
        let ways = &o.bins.as_ref().expect("what was asked for").ways;
        let sum = |of: fn(&Bin) -> u64| ways.iter().flatten().flatten().map(of).sum::<u64>();
        assert_eq!((sum(|b| b.sent_packets), sum(|b| b.arrived_packets)), (sent, came));
        assert_eq!((sum(|b| b.sent_bytes), sum(|b| b.arrived_bytes)), (sent * 500, came * 500));
        // A source may be silent towards its end.
        assert!(
            ways.iter().all(|[there, back]| (3..=14).contains(&there.len()) && back.is_empty()),
            "{ways:?}"
        );
    }
}

#[test]
fn datagrams_that_were_on_their_way_as_the_run_ended_are_not_lost() {
    needs_a_bench!();
    let endless = flow(DATAGRAMS, 2, CONSTANT).replace("stop = \"1.2s\"\n", "");
    let text = pair(&endless).replace("20s", "400ms").replace("delay = \"5ms\"", "delay = \"30ms\"");
    let ran = run_plan(plan(&text).expect("a plan"), &mut |_| true);
    let o = &ran.outcome;
    assert_eq!(o.end, End::Duration);
    let counts = |k: usize| {
        let counts = |side: &Option<Side>| side.as_ref().and_then(|s| s.counts).expect("counts");
        o.ended
            .iter()
            .map(|e| counts(&e.sides[k]))
            .fold((0, 0), |sum, c| (sum.0 + c.data_packets, sum.1 + c.arrived_packets))
    };
    let (sent, came) = (counts(0).0, counts(1).1);
    assert!(o.ended.iter().flat_map(|e| &e.sides).flatten().all(|s| s.error.is_none()), "{:?}", o.ended);
    // 1,000 datagrams a second for 30 ms are on their way.
    assert!(o.inside.len() >= 25, "{} inside", o.inside.len());
    assert_eq!(came + (o.drops.len() + o.inside.len()) as u64, sent);
}

/// Over kernels and over rexmit's own TCP.
const STACKS: [&str; 2] = ["linux-2.6-reno", "rfc-sack"];

fn over_each_stack(count: u32, workload: &str, check: impl Fn(&Plan, usize, [&Side; 2])) {
    for stack in STACKS {
        let text = pair(&flow(&format!("stack = \"{stack}\""), count, workload));
        // Requests end by themselves.
        let text = if workload.contains("requests") { text.replace("stop = \"1.2s\"\n", "") } else { text };
        let mut plan = plan(&text).expect("a plan");
        plan.content = Content::Pattern(5);
        let ran = run_plan(plan, &mut |_| true);
        assert_eq!(ran.outcome.end, End::Done, "{stack}: {:?}", ran.outcome.ended);
        for (k, ended) in ran.outcome.ended.iter().enumerate() {
            check(&ran.plan, k, sides(ended));
        }
        ran.assert_exact();
    }
}

#[test]
fn messages_are_written_as_the_application_says_and_all_of_them_arrive() {
    needs_tun!();
    over_each_stack(2, &format!("{BURSTS}, message = \"700B\""), |plan, k, [client, server]| {
        let expected: u64 = written(plan, k).iter().map(|(_, bytes)| bytes).sum();
        assert_eq!((client.sent_bytes, server.came_bytes), (expected, expected));
        assert_eq!((server.sent_bytes, client.came_bytes), (0, 0));
    });
}

#[test]
fn each_request_is_answered_before_the_next_is_made() {
    needs_tun!();
    let think = "kind = \"request-response\", request = \"300B\", response = \"40kB\", think = \"20ms\", distribution = \"exponential\", requests = 7";
    over_each_stack(2, think, |_, _, [client, server]| {
        assert_eq!((client.sent_bytes, server.came_bytes), (7 * 300, 7 * 300));
        assert_eq!((server.sent_bytes, client.came_bytes), (7 * 40_000, 7 * 40_000));
        // Seven round trips at the least.
        assert!(client.last.expect("answers") - client.began.expect("requests") > Span::from_millis(70));
    });
}
