//! What ships is read: every built-in stack, every scenario, and the example of the documentation.

use instant::{Span, Time};
use scenario::model::*;
use scenario::{Errors, Override, load, load_stack, parse};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(dir: &str) -> Vec<PathBuf> {
    let dir = root().join(dir);
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

fn read(text: &str) -> Result<Scenario, Errors> {
    let no_files = |_: &Path, _: scenario::file::Form| Err("there is no such file".to_owned());
    parse(text, "example.toml", Path::new(""), &[], &no_files)
}

#[test]
fn every_built_in_stack_is_read() {
    let mut wrong = Vec::new();
    let all = files("stacks");
    assert!(all.len() >= 20, "only {} stacks", all.len());
    for path in all {
        match load_stack(&path) {
            Ok(stack) => assert_eq!(Some(&*stack.name), path.file_stem().unwrap().to_str()),
            Err(errors) => wrong.push(errors.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_scenario_is_read() {
    let mut wrong = Vec::new();
    for path in files("scenarios").into_iter().chain(files("benches/simulators")) {
        match load(&path, &[]) {
            Ok(scenario) => assert_eq!(Some(&*scenario.name), path.file_stem().unwrap().to_str()),
            Err(errors) => wrong.push(errors.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const EXAMPLE: &str = r#"
name = "interruption-reno"
duration = "60s"
seed = 1

[[node]]
name = "pc"
[[node]]
name = "bridge"
[[node]]
name = "server"

[[link]]
name = "air"
between = ["pc", "bridge"]
rate = "5.2Mbps"
delay = "2ms"
queue = { kind = "droptail", packets = 1000 }

[[link]]
name = "wire"
between = ["bridge", "server"]
rate = "1Gbps"
delay = "100us"
framing = "ethernet"
[[link.channel]]
name = "interruption"
kind = "outage"
schedule = { every = "5s", for = "200ms", phase = "3.1s", anchor = "first-syn" }
direction = "both"

[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "linux-2.6-reno"
receiver = "linux-2.6"
workload = { kind = "file", size = "10MiB" }

[record]
capture = ["pc", "server"]
"#;

#[test]
fn the_example_says_what_it_seems_to_say() {
    use links::queue::droptail;
    use links::spec::*;
    let s = read(EXAMPLE).unwrap();
    assert_eq!(s.name, "interruption-reno");
    assert_eq!(s.duration, Some(Span::from_secs(60)));
    let names: Vec<&str> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["pc", "bridge", "server"]);
    let air = &s.links[0];
    assert_eq!(
        (air.between, air.forward.rate_bps, air.forward.delay),
        ((0, 1), Some(5_200_000), Span::from_millis(2))
    );
    assert_eq!(air.forward, air.back);
    assert_eq!(air.forward.queue, QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(1000) }));
    let wire = &s.links[1];
    assert_eq!(wire.forward.framing_bytes, 38);
    let outage = Outage {
        schedule: Schedule::Periodic {
            every: Span::from_secs(5),
            length: Span::from_millis(200),
            phase: Span::from_millis(3_100),
        },
        anchor: Anchor::FirstSyn,
        hold: false,
        flush: Flush::Nothing,
    };
    let channel = ChannelSpec {
        name: "interruption".to_owned(),
        at: Place::Wire,
        only: Only::All,
        flows: Vec::new(),
        kind: ChannelKind::Outage(outage),
    };
    assert_eq!(wire.forward.channels, std::slice::from_ref(&channel));
    assert_eq!(wire.back.channels, [channel]);
    let flow = &s.flows[0];
    assert_eq!((flow.from, flow.to, flow.count), (0, 2, 1));
    assert_eq!(flow.start, Start { at: Time::ZERO, spread: StartSpread::Together });
    assert_eq!(flow.transport, Transport::Tcp { stack: 0, receiver: 1 });
    assert_eq!(flow.workload, Workload::File { bytes: 10 << 20 });
    assert_eq!(s.stacks[0].name, "linux-2.6-reno");
    assert_eq!(s.record.capture, [0, 2]);
    assert_eq!(s.record.snap_bytes, None);
}

#[test]
fn a_sweep_sets_keys_by_name() {
    let set = |argument: &str| Override::from_argument(argument).unwrap();
    let overrides = [
        set("link.wire.channel.interruption.schedule.for=400ms"),
        set("flow.upload.stack=linux-2.6-cubic"),
        set("seed=3"),
        set("stack.linux-2.6-cubic.rto.min=1s"),
        set("link.air.queue.kind=red"),
    ];
    let no_files = |_: &Path, _: scenario::file::Form| Err("there is no such file".to_owned());
    let s = parse(EXAMPLE, "example.toml", Path::new(""), &overrides, &no_files)
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(s.seed, 3);
    let links::spec::ChannelKind::Outage(outage) = &s.links[1].back.channels[0].kind else { panic!() };
    let links::spec::Schedule::Periodic { length, .. } = outage.schedule else { panic!() };
    assert_eq!(length, Span::from_millis(400));
    assert_eq!(s.stacks[0].name, "linux-2.6-cubic");
    let tcp::stack::Kind::Wire(stack) = &s.stacks[0].kind else { panic!() };
    assert_eq!(stack.rto.min, Span::from_secs(1));
    let tcp::stack::WindowRuleKind::CubicLinux26(_) = stack.congestion.rule else {
        panic!("the rest is inherited")
    };
    assert!(matches!(
        s.links[0].forward.queue,
        links::spec::QueueSpec::Red(links::queue::red::Params { .. })
    ));
}

#[test]
fn an_override_of_another_form_replaces_the_form_before() {
    use links::spec::{Anchor, ChannelKind, Limit, QueueSpec, Schedule};
    let at = "link.wire.channel.interruption.schedule";
    let file = |_: &Path, _: scenario::file::Form| Ok("# begin length\n2 0.5\n".to_owned());
    let resolved = |overrides: &[String]| {
        let overrides: Vec<Override> =
            overrides.iter().map(|o| Override::from_argument(o).unwrap()).collect();
        parse(EXAMPLE, "example.toml", Path::new(""), &overrides, &file).unwrap_or_else(|e| panic!("{e}"))
    };
    // A file in place of every, for and the phase that goes with them; what time zero is stays.
    let s = resolved(&[format!("{at}.file=seen.txt"), "link.air.queue.bytes=64KiB".to_owned()]);
    let ChannelKind::Outage(outage) = &s.links[1].back.channels[0].kind else { panic!() };
    let half_a_second = (instant::Time::ZERO + Span::from_secs(2), Span::from_millis(500));
    assert_eq!(outage.schedule, Schedule::Intervals(vec![half_a_second]));
    assert_eq!(outage.anchor, Anchor::FirstSyn);
    let queue = QueueSpec::DropTail(links::queue::droptail::Params { limit: Limit::Bytes(65_536) });
    assert_eq!(s.links[0].forward.queue, queue);
    // The later of two wins, key by key of one form.
    let s = resolved(&[format!("{at}.file=seen.txt"), format!("{at}.up=3s"), format!("{at}.down=300ms")]);
    let ChannelKind::Outage(outage) = &s.links[1].back.channels[0].kind else { panic!() };
    let (up_mean, down_mean) = (Span::from_secs(3), Span::from_millis(300));
    assert_eq!(outage.schedule, Schedule::Exponential { up_mean, down_mean });
    // Half of a form is told as what it lacks.
    let half = [Override::from_argument(&format!("{at}.up=3s")).unwrap()];
    let told = parse(EXAMPLE, "example.toml", Path::new(""), &half, &file).unwrap_err().to_string();
    assert!(told.contains("schedule.down is missing: it goes with up"), "{told}");
}
