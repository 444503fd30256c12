//! What holds in every run, over thousands of random scenarios. A failure names the seed that repeats it.

#[path = "support/random.rs"]
mod random;
mod support;

use links::LinkId;
use random::{ASSUMED, BETWEEN, Choice, Draw, ONE_WAY, TODAY, WIRE};
use sim::rows::{AppEvent, Block, Phase, State};
use sim::{End, Rows, Simulation, Summary};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{run, scenario};
use tcp::endpoint::Failure;

/// Runs `check` for each seed; says which failed. `SEED=n` runs just that one, and prints its scenario.
fn each_seed(seeds: std::ops::Range<u64>, choice: Choice, check: impl Fn(&str, &Summary, &Rows)) {
    each_text(seeds, |seed| random::text(seed, choice), check);
}

fn each_text(
    seeds: std::ops::Range<u64>,
    text_of: impl Fn(u64) -> String,
    check: impl Fn(&str, &Summary, &Rows),
) {
    let chosen: Option<u64> = std::env::var("SEED").ok().and_then(|s| s.parse().ok());
    let mut failed = Vec::new();
    for seed in seeds.filter(|s| chosen.is_none_or(|c| *s == c)) {
        let text = text_of(seed);
        if chosen.is_some() {
            println!("{text}");
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            let (summary, rows) = run(&scenario(&text), seed);
            if chosen.is_some() {
                for (node, p) in &rows.packets {
                    let (seg, time) = (&p.seg, p.time.as_secs());
                    println!("{time:.6} node {} {} > {} {seg:?}", node.0, p.tuple.src, p.tuple.dst);
                }
            }
            check(&text, &summary, &rows);
        }));
        if result.is_err() {
            failed.push(seed);
        }
    }
    assert!(failed.is_empty(), "failed with SEED = {failed:?}");
}

fn all_hold(text: &str, summary: &Summary, rows: &Rows) {
    all_hold_but_for(text, summary, rows, 2);
}

/// A receiver whose buffer fills up offers what is left, rounded down to the unit of its window scale: the right edge of
/// the window may move left by less than that unit (RFC 7323 §2.4).
fn all_hold_with_readers(text: &str, summary: &Summary, rows: &Rows) {
    let shifts = rows.packets.iter().filter_map(|(_, p)| p.seg.window_scale);
    all_hold_but_for(text, summary, rows, (1u64 << shifts.max().unwrap_or(0)) + 1);
}

fn all_hold_but_for(text: &str, summary: &Summary, rows: &Rows, beyond_the_window: u64) {
    ends_with_every_byte(text, summary);
    every_packet_is_accounted_for(summary, rows);
    windows_hold(rows, beyond_the_window);
    something_blocks(rows);
    programs_get_what_was_delivered(summary, rows);
}

/// After each event a sender sends until something keeps it from sending more.
fn something_blocks(rows: &Rows) {
    assert!(rows.blocked.iter().all(|row| row.by != Block::Nothing), "a sender that may send does not");
}

fn programs_get_what_was_delivered(summary: &Summary, rows: &Rows) {
    for (k, outcome) in summary.connections.iter().enumerate() {
        for (way, client) in [(0, false), (1, true)] {
            let reads = rows.applications.iter().filter(|row| {
                row.connection == k as u32 && row.client == client && row.event == AppEvent::Read
            });
            assert_eq!(reads.map(|row| row.bytes).sum::<u64>(), outcome.ways[way].delivered_bytes);
        }
    }
}

/// A transfer over a path that is up infinitely often ends, and each byte was delivered once and in order.
fn ends_with_every_byte(text: &str, summary: &Summary) {
    assert_eq!(summary.end, End::Done, "{summary:?}");
    let sizes =
        text.lines().filter_map(|l| l.split("size = \"").nth(1)?.split('B').next()?.parse::<u64>().ok());
    for (k, (size, outcome)) in sizes.zip(&summary.connections).enumerate() {
        let got = outcome.ways[0].delivered_bytes;
        // One-way agents send whole packets.
        let unit = if text.contains("stack = \"ns2") { 1024 } else { 1 };
        // A FIN that is lost for longer than TIME-WAIT lasts meets a RST; all has been said by then.
        assert!(
            matches!(outcome.failure, None | Some(Failure::Reset)),
            "connection {k}: {:?}",
            outcome.failure
        );
        assert!(got >= size && got < size + unit, "connection {k} got {got} of {size} bytes");
    }
}

/// Sent = delivered + dropped + in flight: what leaves a host comes into its link, what leaves a link comes into the
/// next or to the other host, and each link's losses are those that it told of, one by one.
fn every_packet_is_accounted_for(summary: &Summary, rows: &Rows) {
    let last = summary.links.len();
    for (way, host) in [(0, 0), (1, last as u32)] {
        let at =
            |node: u32, sent| rows.hosts.iter().filter(|r| r.node == node && r.sent == sent).count() as u64;
        let mut coming = at(host, true);
        for hop in 0..last {
            let (pair, link) = match way {
                0 => (hop, LinkId::forward(hop)),
                _ => (last - 1 - hop, LinkId::back(last - 1 - hop)),
            };
            let c = &summary.links[pair][way];
            assert_eq!(c.offered, coming, "into {link:?}: {c:?}");
            let told = rows.drops.iter().filter(|d| d.link == link).count() as u64;
            assert_eq!(c.dropped(), told, "lost by {link:?}: {c:?}");
            coming = c.delivered;
        }
        assert_eq!(at(last as u32 - host, false), coming, "arrived, way {way}");
    }
}

/// cwnd is never below one segment. New data leaves only where cwnd, and what recovery and limited transmit add, lets
/// it; no more is in flight than the peer's window allows (one byte of a probe apart).
fn windows_hold(rows: &Rows, beyond_the_window: u64) {
    let mut before: HashMap<(u32, bool), (State, u64)> = HashMap::new();
    for row in &rows.states {
        let s = &row.state;
        assert!(s.passing || s.cwnd_bytes >= f64::from(s.smss_bytes), "{row:?}");
        assert!(s.una <= s.nxt || s.flight_bytes > 0, "{row:?}");
        if row.time.0 > 0 && s.peer_window_bytes > 0 {
            assert!(
                s.nxt.saturating_sub(s.una) <= s.peer_window_bytes.saturating_add(beyond_the_window),
                "{row:?}"
            );
        }
        if let Some((last, sent)) = before.get(&(row.connection, row.forward))
            && s.nxt > *sent
        {
            let most = s.cwnd_bytes.max(last.cwnd_bytes) + f64::from((2 + s.dupacks) * s.smss_bytes);
            // F-RTO asks with two new segments whether what was sent before the timeout is lost (RFC 5682 §2.1).
            let asks = s.phase == Phase::Loss && s.nxt - sent <= 2 * u64::from(s.smss_bytes);
            assert!(asks || s.flight_bytes.min(s.pipe_bytes) as f64 <= most, "{row:?} after {last:?}");
        }
        let sent = before.get(&(row.connection, row.forward)).map_or(0, |(_, sent)| *sent).max(s.nxt);
        before.insert((row.connection, row.forward), (*s, sent));
    }
    for pair in rows.states.windows(2) {
        assert!(pair[0].time <= pair[1].time, "time went back: {pair:?}");
    }
}

/// A random scenario in which the programs that receive files read slowly, in pauses, or stop for a while.
fn with_readers(seed: u64, choice: Choice) -> String {
    let mut d = Draw::new(seed, "readers");
    let text = random::text(seed, choice);
    let line = |line: &str| match line.starts_with("workload") {
        true => format!("{line}\nreader = {}\n", reader(&mut d)),
        false => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn reader(d: &mut Draw) -> String {
    match d.below(3) {
        0 => {
            let (rate, piece) = (d.scale(0.1e6, 50e6) as u64, d.scale(1.0, 100_000.0) as u64);
            // A program that reads single bytes of a large file makes millions of reads.
            format!("{{ kind = \"rate\", rate = \"{rate}bps\", piece = \"{}B\" }}", piece.max(100))
        }
        1 => format!("{{ kind = \"pauses\", every = \"{}us\" }}", d.scale(100.0, 5e6) as u64),
        _ => {
            let (after, length) = (d.below(5000), d.scale(1.0, 30_000.0) as u64);
            format!("{{ kind = \"stops\", after = \"{after}ms\", for = \"{length}ms\" }}")
        }
    }
}

const PLAIN: Choice = Choice { stacks: WIRE, least_bytes: 1, most_bytes: 300_000, disorder: false };

#[test]
fn endpoints_over_lossy_paths() {
    each_seed(0..1500, PLAIN, all_hold);
}

#[test]
fn endpoints_over_paths_that_reorder_and_duplicate() {
    each_seed(10_000..11_500, Choice { disorder: true, ..PLAIN }, all_hold);
}

#[test]
fn todays_stacks() {
    each_seed(60_000..60_800, Choice { stacks: TODAY, disorder: true, ..PLAIN }, all_hold);
    each_seed(70_000..70_400, Choice { stacks: TODAY, most_bytes: 4000, disorder: true, ..PLAIN }, all_hold);
}

#[test]
fn stacks_of_which_something_is_assumed() {
    each_seed(80_000..80_300, Choice { stacks: ASSUMED, disorder: true, ..PLAIN }, all_hold);
}

#[test]
fn stacks_between_fack_and_rack_keep_them() {
    each_seed(90_000..90_400, Choice { stacks: BETWEEN, disorder: true, ..PLAIN }, all_hold);
}

#[test]
fn one_way_agents() {
    each_seed(20_000..20_800, Choice { stacks: ONE_WAY, disorder: true, ..PLAIN }, all_hold);
}

#[test]
fn tiny_transfers() {
    each_seed(30_000..31_200, Choice { most_bytes: 4000, disorder: true, ..PLAIN }, all_hold);
}

#[test]
fn programs_that_do_not_read_at_once() {
    let choice = Choice { disorder: true, ..PLAIN };
    each_text(100_000..100_600, |seed| with_readers(seed, choice), all_hold_with_readers);
    each_text(
        110_000..110_300,
        |seed| with_readers(seed, Choice { stacks: TODAY, ..choice }),
        all_hold_with_readers,
    );
    each_text(
        120_000..120_200,
        |seed| with_readers(seed, Choice { stacks: ASSUMED, ..choice }),
        all_hold_with_readers,
    );
}

fn runs_again(text: &str, summary: &Summary, rows: &Rows) {
    let (again, again_rows) = run(&scenario(text), summary.seed);
    assert_eq!(*summary, again);
    assert_eq!(format!("{rows:?}"), format!("{again_rows:?}"));
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let choice = Choice { disorder: true, ..PLAIN };
    each_seed(40_000..40_060, choice, runs_again);
    each_text(40_000..40_060, |seed| with_readers(seed, choice), runs_again);
}

/// Recording changes nothing.
#[test]
fn a_run_without_a_recorder_is_the_same_run() {
    let choice = Choice { disorder: true, ..PLAIN };
    let bare = |text: &str, summary: &Summary, _: &Rows| {
        let mut bare = Simulation::new(&scenario(text), summary.seed).expect("a net can be built");
        assert_eq!(*summary, bare.run(&mut |_| true));
    };
    each_seed(50_000..50_060, choice, bare);
    each_text(50_000..50_060, |seed| with_readers(seed, choice), bare);
}
