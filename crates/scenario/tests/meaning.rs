//! What files mean: presets, directions, channels by mean loss, traces, stacks that are based on others.

use instant::{Span, Time};
use links::channel::{random, rate_trace};
use links::queue::{codel, droptail, red};
use links::spec::*;
use scenario::model::*;
use scenario::{Override, parse, parse_stack};
use std::path::Path;
use tcp::congestion::cubic;

fn files(path: &Path, _: scenario::file::Form) -> Result<String, String> {
    match path.to_str() {
        Some("dir/outages.txt") => Ok("# begin length\n3.1 0.2\n8.1 0.5\n".to_owned()),
        Some("dir/rate.txt") => Ok("0\n5\n5\n12\n".to_owned()),
        Some("dir/mine.toml") => Ok("name = \"mine\"\nbased_on = \"sub/base.toml\"\n[rto]\nmin = \"50ms\"\n".to_owned()),
        Some("dir/sub/base.toml") => Ok("name = \"base\"\nbased_on = \"rfc-sack\"\n[congestion]\nrule = \"cubic\"\nc = 0.2\n[rto]\nmax = \"30s\"\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    }
}

fn read(text: &str) -> Scenario {
    parse(text, "x.toml", Path::new("dir"), &[], &files).unwrap_or_else(|e| panic!("{e}"))
}

const FLOW: &str = "[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"rfc-sack\"\nworkload = { kind = \"file\", size = \"1MB\" }\n";

/// A chain of two nodes with this channel on its link, forward.
fn channel(text: &str) -> ChannelKind {
    let text = format!(
        "name = \"x\"\n[chain]\nnodes = [\"a\", \"b\"]\ndelay = \"10ms\"\n[[chain.channel]]\nname = \"c\"\ndirection = \"forward\"\n{text}\n{FLOW}"
    );
    let s = read(&text);
    assert!(s.links[0].back.channels.is_empty());
    s.links[0].forward.channels[0].kind.clone()
}

#[test]
fn a_chain_is_nodes_and_links_in_a_row() {
    let s = read(&format!(
        "name = \"x\"\n[chain]\nnodes = [\"a\", \"r\", \"b\"]\nrate = \"1Mbps\"\n[[chain.channel]]\nname = \"c\"\nkind = \"random\"\nloss = \"2%\"\n{FLOW}"
    ));
    let links: Vec<(&str, (usize, usize), usize)> =
        s.links.iter().map(|l| (l.name.as_str(), l.between, l.forward.channels.len())).collect();
    assert_eq!(links, [("a-r", (0, 1), 0), ("r-b", (1, 2), 1)]);
    assert_eq!(s.links[1].back.channels[0].kind, ChannelKind::Random(random::Params { loss: 0.02 }));
}

#[test]
fn a_dumbbell_spreads_a_flow_over_its_pairs() {
    let s = read(
        "name = \"x\"\n[dumbbell]\npairs = 3\nbottleneck = { rate = \"10Mbps\", delay = \"5ms\" }\naccess = { rate = \"1Gbps\" }\n\
         [[flow]]\nname = \"f\"\nfrom = \"left\"\nto = \"right\"\ncount = 7\nstart = \"1s\"\nstart_spacing = \"10ms\"\n\
         stack = \"rfc-sack\"\nworkload = { kind = \"file\", size = \"1MB\" }\n",
    );
    assert_eq!((s.nodes.len(), s.links.len()), (8, 7));
    let node = |at: usize| s.nodes[at].name.as_str();
    let flows: Vec<(&str, &str, &str, u32)> =
        s.flows.iter().map(|f| (f.name.as_str(), node(f.from), node(f.to), f.count)).collect();
    assert_eq!(
        flows,
        [("f-1", "left-1", "right-1", 3), ("f-2", "left-2", "right-2", 2), ("f-3", "left-3", "right-3", 2)]
    );
    // Source k of the seven begins at 1 s + k * 10 ms, wherever it is.
    let starts: Vec<Start> = s.flows.iter().map(|f| f.start).collect();
    let spread = StartSpread::Spaced { by: Span::from_millis(30) };
    let at = |ms: i64| Start { at: Time(ms * 1_000_000), spread };
    assert_eq!(starts, [at(1000), at(1010), at(1020)]);
}

#[test]
fn a_dumbbell_of_one_pair_has_plain_names() {
    let s = read(
        "name = \"x\"\nduration = \"1s\"\n[dumbbell]\nbottleneck = { rate = \"10Mbps\" }\n\
         [[flow]]\nname = \"f\"\nfrom = \"left\"\nto = \"right\"\ncount = 5\ntransport = \"datagram\"\npacket = \"100B\"\n\
         workload = { kind = \"constant-rate\", rate = \"1Mbps\" }\n",
    );
    assert_eq!(s.flows.len(), 1);
    assert_eq!(s.flows[0].workload, Workload::ConstantRate { rate_bps: 1_000_000, message_bytes: 100 });
    let links: Vec<&str> = s.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(links, ["bottleneck", "left", "right"]);
}

#[test]
fn one_direction_says_what_differs() {
    let s = read(&format!(
        "name = \"x\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"1ms\"\n\
         queue = {{ kind = \"droptail\", bytes = \"10kB\" }}\n[link.back]\nrate = \"1Mbps\"\nqueue = {{ kind = \"codel\", packets = 7 }}\n{FLOW}"
    ));
    let (forward, back) = (&s.links[0].forward, &s.links[0].back);
    assert_eq!((forward.rate_bps, back.rate_bps), (Some(10_000_000), Some(1_000_000)));
    assert_eq!((forward.delay, back.delay), (Span::from_millis(1), Span::from_millis(1)));
    assert_eq!(forward.queue, QueueSpec::DropTail(droptail::Params { limit: Limit::Bytes(10_000) }));
    assert!(matches!(back.queue, QueueSpec::CoDel(codel::Params { limit: Limit::Packets(7), .. })));
}

#[test]
fn mean_loss_and_mean_burst_give_the_chain() {
    let text = "kind = \"gilbert-elliott\"\nmean_loss = \"20%\"\nmean_burst = \"4 packets\"";
    let ChannelKind::GilbertElliott(ge) = channel(text) else { panic!() };
    let Dwell::Packets { good_to_bad, bad_to_good } = ge.dwell else { panic!() };
    assert_eq!(bad_to_good, 0.25);
    let share = good_to_bad / (good_to_bad + bad_to_good);
    assert!((share - 0.2).abs() < 1e-12, "a fifth of packets is in the bad state, {share}");

    let text = "kind = \"gilbert-elliott\"\nmean_loss = 0.1\nmean_burst = \"30ms\"\nloss_bad = 0.5";
    let ChannelKind::GilbertElliott(ge) = channel(text) else { panic!() };
    // A fifth of the time is bad, and half is lost there.
    assert_eq!(ge.dwell, Dwell::Time { good_mean: Span::from_millis(120), bad_mean: Span::from_millis(30) });
}

#[test]
fn ns_2s_lengths_stay_lengths() {
    let text = "kind = \"gilbert-elliott\"\ngood = \"100 packets\"\nbad = \"0.08 packets\"";
    let ChannelKind::GilbertElliott(ge) = channel(text) else { panic!() };
    assert_eq!(ge.dwell, Dwell::PacketLengths { good_mean: 100.0, bad_mean: 0.08 });
}

#[test]
fn traces_are_read_from_beside_the_scenario() {
    let ChannelKind::Outage(outage) = channel("kind = \"outage\"\nschedule = { file = \"outages.txt\" }")
    else {
        panic!()
    };
    let expected =
        vec![(Time(3_100_000_000), Span::from_millis(200)), (Time(8_100_000_000), Span::from_millis(500))];
    assert_eq!(outage.schedule, Schedule::Intervals(expected));
    let trace = channel("kind = \"rate-trace\"\nfile = \"rate.txt\"");
    assert_eq!(trace, ChannelKind::RateTrace(rate_trace::Params { opportunities_ms: vec![0, 5, 5, 12] }));
}

#[test]
fn a_stack_file_says_only_what_differs() {
    let s = read(&format!(
        "name = \"x\"\n[chain]\nnodes = [\"a\", \"b\"]\n{}",
        FLOW.replace("rfc-sack", "mine.toml")
    ));
    let tcp::stack::Kind::Wire(mine) = &s.stacks[0].kind else { panic!() };
    assert_eq!(s.stacks[0].name, "mine");
    assert_eq!((mine.rto.min, mine.rto.max), (Span::from_millis(50), Span::from_secs(30)));
    // The rule of the base is gone with its keys; the rest of the section is inherited.
    let rule = tcp::stack::WindowRuleKind::Cubic(cubic::Params {
        c: 0.2,
        beta: 0.7,
        fast_convergence: true,
        tcp_friendly: true,
    });
    assert_eq!(mine.congestion.rule, rule);
    let plain = parse_stack("name = \"p\"\nbased_on = \"rfc-sack\"\n", "p.toml", Path::new("dir"), &files);
    let tcp::stack::Kind::Wire(plain) = plain.unwrap_or_else(|e| panic!("{e}")).kind else { panic!() };
    assert_eq!(mine.detect, plain.detect);
    assert_eq!(mine.congestion.initial_window, plain.congestion.initial_window);
}

#[test]
fn a_scenarios_own_stack_may_have_a_built_in_name() {
    let s = read(&format!(
        "name = \"x\"\n[chain]\nnodes = [\"a\", \"b\"]\n{FLOW}[[stack]]\nname = \"rfc-sack\"\nbased_on = \"rfc-sack\"\n[stack.detect]\ndupthresh = 7\n"
    ));
    let tcp::stack::Kind::Wire(own) = &s.stacks[0].kind else { panic!() };
    assert_eq!(own.detect.dupthresh, 7);
    assert_eq!(own.detect.rule, tcp::stack::DetectRule::Rfc6675);
}

#[test]
fn a_scenarios_own_stack_says_only_what_differs() {
    let own = |more: &str| {
        format!(
            "name = \"x\"\nduration = \"1s\"\n[chain]\nnodes = [\"a\", \"b\"]\n[[flow]]\nname = \"f\"\nfrom = \"a\"\n\
             to = \"b\"\nstack = \"agent\"\nworkload = {{ kind = \"endless\" }}\n[[stack]]\nname = \"agent\"\n\
             based_on = \"ns2-sack\"\n[stack.oneway]\n{more}\n"
        )
    };
    let s = read(&own("tick_phase = 0.5"));
    let tcp::stack::Kind::OneWay(agent) = &s.stacks[0].kind else { panic!() };
    assert_eq!((agent.variant, agent.tick_phase), (tcp::stack::OneWayVariant::Sack1, 0.5));
    assert!(!agent.syn);
    // What is wrong is still said, once.
    let e = parse(&own("tick_phase = 2"), "x.toml", Path::new("dir"), &[], &files).unwrap_err();
    assert_eq!(e.0.len(), 1, "{e}");
    assert!(e.to_string().starts_with("x.toml:15: stack.agent.oneway.tick_phase"), "{e}");
}

#[test]
fn an_override_makes_what_is_not_there_and_replaces_what_is() {
    let text = format!("name = \"x\"\n[chain]\nnodes = [\"a\", \"b\"]\n{FLOW}");
    let set = |list: &[&str]| {
        let list: Vec<Override> = list.iter().map(|a| Override::from_argument(a).unwrap()).collect();
        parse(&text, "x.toml", Path::new("dir"), &list, &files).unwrap_or_else(|e| panic!("{e}"))
    };
    let s = set(&["chain.queue.kind=droptail", "chain.queue.packets=9", "record.state=true", "name=7"]);
    assert_eq!(s.links[0].forward.queue, QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(9) }));
    assert_eq!((s.record.state, s.name.as_str()), (vec![0], "7"));
    // A queue's limit is the same key in each; the beta of another window rule is not.
    let s = set(&[
        "chain.queue={ kind = \"droptail\", packets = 5 }",
        "chain.queue.kind=red",
        "stack.rfc-sack.congestion.rule=cubic",
    ]);
    assert!(matches!(s.links[0].forward.queue, QueueSpec::Red(red::Params { limit: Limit::Packets(5), .. })));
    let tcp::stack::Kind::Wire(stack) = &s.stacks[0].kind else { panic!() };
    assert!(matches!(
        stack.congestion.rule,
        tcp::stack::WindowRuleKind::Cubic(cubic::Params { beta: 0.7, .. })
    ));
    let s = set(&["chain.queue={ kind = \"codel\", target = \"9ms\" }", "flow.f.workload.size=5kB"]);
    assert!(
        matches!(s.links[0].back.queue, QueueSpec::CoDel(codel::Params { target, .. }) if target == Span::from_millis(9))
    );
    assert_eq!(s.flows[0].workload, Workload::File { bytes: 5000 });
}
