//! What a run will need, told before it starts; and whether time can pass in it at all.

use links::spec::{Limit, LinkSpec};
use scenario::model::{Flow, Link, Scenario, Transport, Workload};
use tcp::stack::{Kind, WindowPolicy};

/// A TCP connection with both endpoints, what is counted of it and its analysis: measured 17.6 kB a connection over
/// 20,000 that all send (linux-2.6-cubic and ns2-reno), 9 kB where they never get to.
const CONNECTION_BYTES: u64 = 18_000;
/// A source of datagrams has no endpoints.
const SOURCE_BYTES: u64 = 1_000;
/// A packet in flight: itself, the sender's note of it, the analysis' note of it.
const PACKET_BYTES: u64 = 400;
/// Shorter ones are ACKs, each of which stands for data.
const LEAST_PACKET_BYTES: u64 = 576;

/// One reason for memory: the key that makes it so large.
struct Need {
    bytes: u64,
    key: String,
}

/// Why a run may not start: it would need more memory than is allowed, or its time would not pass. Begins with a key.
pub fn refusal(scenario: &Scenario, at_once: usize, max_memory: Option<u64>) -> Option<String> {
    standstill(scenario).or_else(|| too_large(scenario, at_once as u64, max_memory?))
}

fn too_large(scenario: &Scenario, at_once: u64, most: u64) -> Option<String> {
    let mut needs = connections(scenario);
    needs.extend(in_flight(scenario));
    let bytes = needs.iter().map(|need| need.bytes).fold(0, u64::saturating_add).saturating_mul(at_once);
    if bytes <= most {
        return None;
    }
    let largest = needs.into_iter().max_by_key(|need| need.bytes)?;
    let each = if at_once > 1 { format!(" in {at_once} runs at once") } else { String::new() };
    Some(format!(
        "{} needs about {} of memory{each}, more than the {} that are allowed: make it smaller, or allow more with \
         --max-memory (max_memory in Python)",
        largest.key,
        size(bytes),
        size(most)
    ))
}

fn connections(scenario: &Scenario) -> Vec<Need> {
    let need = |flow: &Flow| {
        let each = match flow.transport {
            Transport::Tcp { .. } => CONNECTION_BYTES,
            Transport::Datagram { .. } => SOURCE_BYTES,
        };
        Need {
            bytes: each.saturating_mul(flow.count.into()),
            key: format!("flow.{}.count = {}", flow.name, flow.count),
        }
    };
    scenario.flows.iter().map(need).collect()
}

/// What all senders may have in flight, or all links may hold if that is less.
fn in_flight(scenario: &Scenario) -> Option<Need> {
    let windows: Vec<Need> = scenario.flows.iter().map(|flow| window(scenario, flow)).collect();
    let ways = |link: &Link| [link.forward.clone(), link.back.clone()].map(|way| holds(&way));
    let links: Vec<Need> = scenario
        .links
        .iter()
        .map(|link| Need {
            bytes: ways(link).into_iter().fold(0, u64::saturating_add).saturating_mul(PACKET_BYTES),
            key: format!("link.{} with its queue and delay", link.name),
        })
        .collect();
    let sum = |needs: &[Need]| needs.iter().map(|need| need.bytes).fold(0, u64::saturating_add);
    let (of_windows, of_links) = (sum(&windows), sum(&links));
    let less = if of_windows < of_links { windows } else { links };
    let bytes = of_windows.min(of_links);
    // Where neither has a bound the run is watched while it goes on; nothing is known before.
    let largest = less.into_iter().filter(|_| bytes < u64::MAX).max_by_key(|need| need.bytes)?;
    Some(Need { bytes, key: largest.key })
}

/// What the sources of a flow may have in flight, by what their receivers take.
fn window(scenario: &Scenario, flow: &Flow) -> Need {
    let key = format!("flow.{} with its windows", flow.name);
    let unlimited = || Need { bytes: u64::MAX, key: key.clone() };
    let Transport::Tcp { receiver, .. } = flow.transport else { return unlimited() };
    let Some(Kind::Wire(spec)) = scenario.stacks.get(receiver).map(|stack| &stack.kind) else {
        return unlimited();
    };
    let buffer = match spec.receive.window {
        WindowPolicy::Fixed { buffer_bytes } => buffer_bytes,
        WindowPolicy::AutoTuned { max_bytes, .. } => max_bytes,
        WindowPolicy::Linux26(w) => w.max_bytes,
    };
    let most = match flow.workload {
        Workload::File { bytes } => bytes.min(buffer.into()),
        _ => buffer.into(),
    };
    let packets = most / u64::from(spec.options.mss_bytes.max(1)) + 1;
    Need { bytes: packets.saturating_mul(flow.count.into()).saturating_mul(PACKET_BYTES), key }
}

/// Packets that one direction of a link may hold.
fn holds(way: &LinkSpec) -> u64 {
    let Some(rate) = way.rate_bps else {
        // What has no rate has no queue, and any number of packets may be on their way at once.
        return if way.delay.0 > 0 { u64::MAX } else { 0 };
    };
    let queued = match way.queue.limit() {
        Limit::Packets(n) => n.into(),
        Limit::Bytes(n) => n / LEAST_PACKET_BYTES,
    };
    let under_way = rate as f64 * way.delay.as_secs() / 8.0 / LEAST_PACKET_BYTES as f64;
    (under_way as u64).saturating_add(queued)
}

/// A sender that always has something to send over links that take no time.
fn standstill(scenario: &Scenario) -> Option<String> {
    let endless = |flow: &&Flow| {
        let always =
            matches!(flow.workload, Workload::Endless) && flow.stop.is_none_or(|stop| stop > flow.start.at);
        let waits = match flow.transport {
            Transport::Tcp { stack, .. } => match scenario.stacks.get(stack).map(|stack| &stack.kind) {
                // An agent may wait for a random time before it sends.
                Some(Kind::OneWay(spec)) => spec.overhead.0 > 0,
                _ => false,
            },
            Transport::Datagram { .. } => true,
        };
        always && !waits
    };
    if !scenario.links.iter().any(takes_no_time) {
        return None;
    }
    for flow in scenario.flows.iter().filter(endless) {
        let Some(links) = sim::ways(scenario, flow) else { continue };
        if !links.is_empty() && links.iter().all(|link| takes_no_time(&scenario.links[*link])) {
            let mut names: Vec<&str> = links.iter().map(|link| scenario.links[*link].name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let which = if names.len() == 1 { "link" } else { "links" };
            return Some(format!(
                "flow.{} is endless, and its way over {which} {} has neither rate nor delay, so time would not \
                 pass: give a link a rate or a delay",
                flow.name,
                names.join(", ")
            ));
        }
    }
    None
}

/// Neither direction has a rate, a delay or anything else that could hold a packet.
pub fn takes_no_time(link: &Link) -> bool {
    [&link.forward, &link.back]
        .iter()
        .all(|way| way.rate_bps.is_none() && way.delay.0 == 0 && way.channels.is_empty() && way.arq.is_none())
}

fn size(bytes: u64) -> String {
    let (value, unit) = match bytes {
        0..1_000_000 => (bytes as f64 / 1e3, "kB"),
        1_000_000..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
        _ => (bytes as f64 / 1e9, "GB"),
    };
    if value < 100.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// What the process has grown by since a run began, against what is allowed: an estimate may be wrong.
pub struct Guard {
    most: Option<u64>,
    began: u64,
}

impl Guard {
    pub fn new(most: Option<u64>) -> Guard {
        Guard { most, began: resident() }
    }
    /// What was allowed, if more than that has been taken.
    pub fn exceeded(&self) -> Option<String> {
        let most = self.most?;
        (resident().saturating_sub(self.began) > most).then(|| {
            format!("it took more than the {} of memory that are allowed (--max-memory)", size(most))
        })
    }
}

/// Bytes in memory, where the system tells: 0 where it does not.
pub fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    pages.unwrap_or(0) * 4096
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::file::Form;

    fn scenario(link: &str, flow: &str) -> Scenario {
        let text = format!(
            "name = \"x\"\nduration = \"1s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
             between = [\"a\", \"b\"]\n{link}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
        );
        let none = |_: &std::path::Path, _: Form| Err("there is none".to_owned());
        scenario::parse(&text, "t", std::path::Path::new(""), &[], &none).unwrap_or_else(|e| panic!("{e}"))
    }

    const ENDLESS: &str = "stack = \"rfc-sack\"\nworkload = { kind = \"endless\" }";
    const USUAL: &str = "rate = \"10Mbps\"\ndelay = \"10ms\"";

    #[test]
    fn a_way_that_takes_no_time_is_named() {
        let said = refusal(&scenario("", ENDLESS), 1, None).expect("refused");
        assert!(
            said.starts_with("flow.f is endless, and its way over link l has neither rate nor delay"),
            "{said}"
        );
        let agent = ENDLESS.replace("rfc-sack", "ns2-reno");
        assert!(refusal(&scenario("", &agent), 1, None).is_some());
        for link in ["rate = \"1Gbps\"", "delay = \"1ns\""] {
            assert_eq!(refusal(&scenario(link, ENDLESS), 1, None), None);
        }
        let file = ENDLESS.replace("\"endless\"", "\"file\", size = \"1GB\"");
        assert_eq!(refusal(&scenario("", &file), 1, None), None, "it ends");
    }

    #[test]
    fn what_has_no_bound_that_is_known_before_is_not_refused() {
        // Study `selfsimilar`: one link without a rate stands for each source's own.
        let voice = "transport = \"datagram\"\npacket = \"200B\"\nworkload = { kind = \"constant-rate\", rate = \"1Mbps\" }";
        assert_eq!(refusal(&scenario("delay = \"6ms\"", voice), 2, Some(1_000_000_000)), None);
    }

    #[test]
    fn what_needs_too_much_memory_names_the_key() {
        let many = scenario(USUAL, &format!("{ENDLESS}\ncount = 1000000"));
        let said = refusal(&many, 1, Some(10_000_000_000)).expect("refused");
        assert!(
            said.starts_with("flow.f.count = 1000000 needs about 18.0 GB of memory, more than the 10.0 GB"),
            "{said}"
        );
        assert_eq!(refusal(&many, 1, Some(20_000_000_000)), None);
        assert!(refusal(&many, 2, Some(20_000_000_000)).expect("two of them").contains("in 2 runs at once"));
        assert_eq!(refusal(&many, 1, None), None);

        let wide = "rate = \"1Tbps\"\ndelay = \"100s\"";
        let agent = ENDLESS.replace("rfc-sack", "ns2-reno");
        let said = refusal(&scenario(wide, &agent), 1, Some(1_000_000_000)).expect("refused");
        assert!(said.starts_with("link.l with its queue and delay needs about"), "{said}");
        assert_eq!(refusal(&scenario(wide, ENDLESS), 1, Some(1_000_000_000)), None, "a receiver takes 4 MiB");
    }
}
