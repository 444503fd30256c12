//! What BBR is for: the bottleneck is full, its queue is not, and losses that are no congestion do not slow it down.

mod support;

use instant::Span;
use sim::{Rows, Summary};
use support::{run, scenario};

/// 22 Mbps, 50 ms there and back, a queue of 600 packets (330 ms).
fn over(stack: &str, channel: &str) -> (Summary, Rows) {
    let text = format!(
        "name = \"t\"\nduration = \"30s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\nrate = \"22Mbps\"\ndelay = \"25ms\"\nqueue = {{ kind = \"droptail\", packets = 600 }}\n\
         {channel}\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"{stack}\"\nreceiver = \"linux-6-cubic\"\n\
         workload = {{ kind = \"endless\" }}\n[record]\nqueues = true\n"
    );
    run(&scenario(&text), 1)
}

fn mbps(summary: &Summary) -> f64 {
    summary.connections[0].ways[0].delivered_bytes as f64 * 8.0 / 30e6
}

/// Of data packets from 5 s on, which waited longer than half of them, and than 95%.
fn waits(rows: &Rows) -> (Span, Span) {
    let sent = rows.queues.iter().filter(|q| q.packet.payload_bytes > 1000 && q.time.as_secs() > 5.0);
    let mut waited: Vec<Span> = sent.filter_map(|q| q.waited).collect();
    waited.sort_unstable();
    (waited[waited.len() / 2], waited[waited.len() * 95 / 100])
}

const ONE_PERCENT: &str =
    "[[link.channel]]\nname = \"c\"\nkind = \"random\"\nloss = 0.01\ndirection = \"forward\"";
/// Payload's part of the rate: 1448 of 1500 bytes.
const CARRIES: f64 = 22.0 * 1448.0 / 1500.0;

#[test]
fn bbr_fills_the_bottleneck_and_leaves_its_queue_empty() {
    let (summary, rows) = over("linux-6-bbr", "");
    assert!(mbps(&summary) > 0.95 * CARRIES, "{} Mbps", mbps(&summary));
    let (half, most) = waits(&rows);
    assert!(half < Span::from_millis(3) && most < Span::from_millis(16), "{half} {most}");
    // CUBIC on the same path fills the queue.
    let (_, rows) = over("linux-6-cubic", "");
    assert!(waits(&rows).0 > Span::from_millis(50));
}

#[test]
fn a_percent_of_random_loss_does_not_reduce_it() {
    let lossy = mbps(&over("linux-6-bbr", ONE_PERCENT).0);
    assert!(lossy > 0.93 * CARRIES, "{lossy} Mbps");
    let cubic = mbps(&over("linux-6-cubic", ONE_PERCENT).0);
    assert!(cubic < 0.4 * CARRIES, "{cubic} Mbps");
}

#[test]
fn paced_slow_start_leaves_the_queue_alone_while_the_path_has_room() {
    // tcp_update_pacing_rate: twice cwnd in an SRTT, where bursts of ACKs would send it at once; three round trips, 40
    // segments of the 90 that the path holds.
    let longest = |stack: &str, more: &str| {
        let (summary, rows) = over(stack, more);
        let most = rows.queues.iter().filter(|q| q.time.as_secs() < 0.2).map(|q| q.packets).max();
        (mbps(&summary), most.unwrap_or(0))
    };
    let paced = "[[stack]]\nname = \"paced\"\nbased_on = \"linux-6-cubic\"\n[stack.send]\npacing = true\n";
    let (carried, queue) = longest("paced", paced);
    let (unpaced, at_once) = longest("linux-6-cubic", "");
    assert!(carried > 0.97 * unpaced, "{carried} {unpaced}");
    assert!(queue <= 10 && at_once >= 2 * queue, "{queue} {at_once}");
}
