//! Runs on this machine, and what their captures and logs say.
#![allow(dead_code)] // each test file uses its part

use capture::Options;
use live::report::Outcome;
use live::{Error, Plan};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;
use wire::Packet;

/// A run that is over, with its captures.
pub struct Ran {
    pub plan: Plan,
    pub outcome: Outcome,
    _folder: TempDir,
}

/// Why live runs are not possible here, said once a test; `None` if they are.
pub fn missing() -> Option<String> {
    live::check::missing()
}

/// Says so even where the test passes: what the test's own printing says is shown of failed ones only.
pub fn skipped(why: &str) {
    use std::io::Write;
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
}

/// Ends a test that cannot be, saying why.
#[macro_export]
macro_rules! needs_a_bench {
    () => {
        if let Some(why) = support::missing() {
            support::skipped(&why);
            return;
        }
    };
}

/// The same where rexmit's own TCP is to run.
#[macro_export]
macro_rules! needs_tun {
    () => {
        needs_a_bench!();
        if !std::path::Path::new("/dev/net/tun").exists() {
            support::skipped("there is no /dev/net/tun (modprobe tun)");
            return;
        }
    };
}

pub fn plan(text: &str) -> Result<Plan, Error> {
    let nothing = |_: &Path, _: scenario::file::Form| Err("no files here".to_owned());
    let scenario = scenario::parse(text, "test.toml", Path::new(""), &[], &nothing)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    Plan::new(&scenario)
}

pub fn run(text: &str) -> Ran {
    run_until(text, &mut |_| true)
}

pub fn run_until(text: &str, go_on: &mut dyn FnMut(live::Progress) -> bool) -> Ran {
    run_plan(plan(text).expect("the scenario can run live"), go_on)
}

pub fn run_plan(plan: Plan, go_on: &mut dyn FnMut(live::Progress) -> bool) -> Ran {
    let folder = TempDir::new().expect("a folder");
    let outcome = live::run(&plan, folder.path(), go_on).expect("it runs");
    Ran { plan, outcome, _folder: folder }
}

/// What tells one transmission from another: addresses, ports, IP identification, numbers, payload.
pub type Key = (u32, u16, u32, u16, u16, u32, u32, u32);
pub type Count = BTreeMap<Key, i64>;

impl Ran {
    /// The TCP packets of a host's capture that it sent, or that came.
    pub fn captured(&self, node: usize, sent: bool) -> Count {
        let taken = self.outcome.captures.iter().find(|t| t.node == node).expect("a capture");
        let mut reader = capture::open(std::slice::from_ref(&taken.path), &Options::default())
            .expect("a capture that opens");
        let own = u32::from(self.plan.address(node));
        let mut count = Count::new();
        let mut batch: Vec<Packet> = Vec::new();
        while reader.read_batch(&mut batch, 128) {
            for p in &batch {
                let key = key(p);
                if (key.0 == own) == sent {
                    *count.entry(key).or_default() += 1;
                }
            }
        }
        count
    }
    /// All that hosts sent, less all that came to hosts.
    pub fn difference(&self) -> Count {
        let mut count = Count::new();
        for node in self.plan.hosts.clone() {
            self.captured(node, true).into_iter().for_each(|(k, n)| *count.entry(k).or_default() += n);
            self.captured(node, false).into_iter().for_each(|(k, n)| *count.entry(k).or_default() -= n);
        }
        count.retain(|_, n| *n != 0);
        count
    }
    /// The same, as the bridge has it: its log of drops, and what was inside at the end.
    pub fn logged(&self) -> Count {
        let mut count = Count::new();
        let dropped = self.outcome.drops.iter().map(|d| &d.which);
        for which in dropped.chain(self.outcome.inside.iter().map(|i| &i.which)) {
            let h = &which.headers;
            let key = (h.from, h.ports.0, h.to, h.ports.1, h.ip_id, h.seq, h.ack, h.payload);
            *count.entry(key).or_default() += 1;
        }
        count
    }
    /// The drop log and what was inside at the end are the difference of the captures, packet by packet.
    pub fn assert_exact(&self) {
        let o = &self.outcome;
        assert_eq!(o.quality.overload, 0, "{:?}", o.quality);
        assert!(o.captures.iter().all(|c| c.dropped == 0 && c.error.is_none()), "{:?}", o.captures);
        assert_eq!(self.difference(), self.logged());
    }
}

fn key(p: &Packet) -> Key {
    let address = |host: wire::Host| host.to_string().parse::<std::net::Ipv4Addr>().map_or(0, u32::from);
    (
        address(p.tuple.src.host),
        p.tuple.src.port,
        address(p.tuple.dst.host),
        p.tuple.dst.port,
        p.ip_id,
        p.seg.seq.0,
        p.seg.ack.0,
        p.seg.payload,
    )
}
