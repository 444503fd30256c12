//! What the simulator says let each packet go, what blocks a sender, what programs did, and what a link was busy with.

mod support;

use instant::{Span, Time};
use sim::rows::{AppEvent, Block, HostRow, QueueEvent};
use sim::{Reason, Release, Rows, Summary};
use support::{run, scenario};

/// Two hosts, 10 Mbps and 10 ms apart; `link` and `flow` say what else there is, `stack` what differs from rfc-sack.
fn between(link: &str, flow: &str, stack: &str) -> (Summary, Rows) {
    let text = format!(
        "name = \"x\"\nduration = \"20s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"10ms\"\n{link}\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"own\"\n{flow}\n\
         [[stack]]\nname = \"own\"\nbased_on = \"rfc-sack\"\n{stack}\n\
         [record]\nqueues = true\npackets = true\napplications = true\nblocked = true\nheld = true\ndrops = true\n"
    );
    run(&scenario(&text), 1)
}

fn file(size: &str) -> String {
    format!("workload = {{ kind = \"file\", size = \"{size}\" }}")
}

/// What left host `node`, and satisfies.
fn sent(rows: &Rows, node: u32, is: impl Fn(&HostRow) -> bool) -> Vec<HostRow> {
    rows.hosts.iter().filter(|r| r.node == node && r.sent && is(r)).copied().collect()
}

fn releases(rows: &[HostRow]) -> Vec<Release> {
    rows.iter().map(|r| r.packet.release.expect("it is recorded")).collect()
}

fn data(rows: &Rows, node: u32) -> Vec<HostRow> {
    sent(rows, node, |r| r.packet.payload_bytes > 0)
}

fn bare_acks(rows: &Rows, node: u32) -> Vec<Release> {
    releases(&sent(rows, node, |r| r.packet.reason == Reason::Ack))
}

/// What blocks the client's sender, one after the other, and from when on.
fn blocked(rows: &Rows) -> Vec<(Block, Time)> {
    rows.blocked.iter().filter(|r| r.forward).map(|r| (r.by, r.time)).collect()
}

fn blocks(rows: &Rows) -> Vec<Block> {
    blocked(rows).into_iter().map(|(by, _)| by).collect()
}

#[test]
fn acks_release_what_cwnd_holds() {
    let (_, rows) = between("", &file("60kB"), "");
    assert!(releases(&data(&rows, 0)).iter().all(|r| *r == Release::Ack));
    assert_eq!(blocks(&rows), [Block::Handshake, Block::Cwnd, Block::Closed]);
    let control = releases(&sent(&rows, 0, |r| r.packet.reason == Reason::Control));
    assert_eq!(control, [Release::Write], "the SYN");
    let answers = releases(&sent(&rows, 1, |r| r.packet.reason == Reason::Control));
    assert_eq!(answers, [Release::Message; 2], "SYN-ACK and FIN");
}

#[test]
fn a_small_receive_window_releases_what_it_holds() {
    let stack = "[stack.receive]\nwindow = { kind = \"fixed\", buffer = \"8000B\" }";
    let (_, rows) = between("", &file("300kB"), stack);
    let told = releases(&data(&rows, 0));
    let of = |release| told.iter().filter(|r| **r == release).count();
    assert!(of(Release::Window) > 150 && of(Release::Window) + of(Release::Ack) == told.len(), "{told:?}");
    assert!(blocks(&rows).contains(&Block::ReceiveWindow));
}

#[test]
fn a_small_send_buffer_blocks_and_acks_release() {
    let (_, rows) = between("", &file("300kB"), "[stack.send]\nbuffer = \"6000B\"");
    assert!(releases(&data(&rows, 0)).iter().all(|r| *r == Release::Ack));
    assert!(blocks(&rows).contains(&Block::SendBuffer), "{:?}", blocks(&rows));
    let writes: Vec<_> = rows.applications.iter().filter(|r| r.event == AppEvent::Wrote).collect();
    assert_eq!(writes[0].bytes, 6000);
    assert_eq!(writes[0].left_bytes, 294_000);
    assert_eq!(writes.iter().map(|r| r.bytes).sum::<u64>(), 300_000);
}

#[test]
fn an_answer_at_once_is_released_by_the_message_and_one_after_a_pause_by_the_write() {
    let turns = |think: &str| {
        let flow = format!(
            "workload = {{ kind = \"request-response\", request = \"100B\", response = \"400B\", think = \"{think}\", \
             requests = 4 }}"
        );
        between("", &flow, "").1
    };
    let prompt = turns("0s");
    let (asks, answers) = (releases(&data(&prompt, 0)), releases(&data(&prompt, 1)));
    assert_eq!(asks, [Release::Ack, Release::Message, Release::Message, Release::Message]);
    assert_eq!(answers, [Release::Message; 4]);
    assert!(blocks(&prompt).contains(&Block::Application));
    let slow = turns("300ms");
    assert_eq!(releases(&data(&slow, 0))[1..], [Release::Write; 3]);
    assert_eq!(releases(&data(&slow, 1)), [Release::Message; 4]);
    assert_eq!(
        bare_acks(&slow, 0).iter().filter(|r| **r == Release::Delayed).count(),
        3,
        "all but the last answer's"
    );
    let reads: Vec<_> = slow.applications.iter().filter(|r| r.client && r.event == AppEvent::Read).collect();
    let asks: Vec<_> = slow.applications.iter().filter(|r| r.client && r.event == AppEvent::Wrote).collect();
    assert!(reads.len() == 4 && asks.len() == 4);
    for (read, ask) in reads.iter().zip(&asks[1..]) {
        assert_eq!(ask.time - read.time, Span::from_millis(300));
    }
}

#[test]
fn a_paced_sender_is_released_by_its_pace() {
    let (_, rows) = between("", &file("300kB"), "[stack.send]\npacing = true");
    let told = releases(&data(&rows, 0));
    // At a fifth more than cwnd in an SRTT: of the packets of one ACK some leave at once.
    assert!(told.iter().filter(|r| **r == Release::Pace).count() > 60, "{told:?}");
    assert!(blocks(&rows).contains(&Block::Pacing));
}

#[test]
fn timers_release_repairs_of_what_an_outage_took() {
    let outage = "[[link.channel]]\nname = \"o\"\nkind = \"outage\"\nschedule = { intervals = [[\"100ms\", \"500ms\"]] }";
    let (_, rows) = between(outage, &file("300kB"), "");
    let by_timer = sent(&rows, 0, |r| r.packet.release == Some(Release::Timer));
    assert!(!by_timer.is_empty());
    assert!(by_timer.iter().all(|r| matches!(r.packet.reason, Reason::Timeout { .. })), "{by_timer:?}");
    let resent = sent(&rows, 0, |r| r.packet.reason == Reason::LossState);
    assert!(releases(&resent).iter().all(|r| *r == Release::Ack) && !resent.is_empty());
}

#[test]
fn small_writes_meet_nagle_and_delayed_acks() {
    let flow =
        "stop = \"2s\"\nworkload = { kind = \"constant-rate\", rate = \"40kbps\", message = \"100B\" }";
    let (_, rows) = between("", flow, "");
    assert!(blocks(&rows).contains(&Block::Nagle));
    let told = releases(&data(&rows, 0));
    assert!(told.iter().filter(|r| **r == Release::Ack).count() > 3, "{told:?}");
    assert!(bare_acks(&rows, 1).iter().filter(|r| **r == Release::Delayed).count() > 3);
}

#[test]
fn probes_of_a_closed_window_are_answered_and_say_so() {
    // The segment that the outage takes fills the window; its repair arrives, and its ACK does not.
    let stack = "[stack.receive]\nwindow = { kind = \"fixed\", buffer = \"2000B\" }\n\
                 [stack.send]\nkeepalive_idle = \"1s\"\nkeepalive_interval = \"1s\"";
    let flow = "workload = { kind = \"on-off\", rate = \"1Mbps\", message = \"1000B\", on = \"8ms\", off = \"5s\", \
                distribution = \"constant\" }";
    let (_, rows) = between("", flow, stack);
    let probes = sent(&rows, 0, |r| r.packet.reason == Reason::KeepAlive);
    assert!(probes.len() > 5 && releases(&probes).iter().all(|r| *r == Release::Timer));
    let answers = bare_acks(&rows, 1).iter().filter(|r| **r == Release::Probe).count();
    assert!(answers + 1 >= probes.len(), "{answers} of {}", probes.len());
}

#[test]
fn a_link_is_busy_with_a_packet_until_it_has_been_sent() {
    let (_, rows) = between("", &file("300kB"), "");
    let mut free = Time::ZERO;
    let forward: Vec<_> = rows.queues.iter().filter(|r| r.link.is_forward()).collect();
    let sending: Vec<_> = forward.iter().filter(|r| r.event == QueueEvent::Dequeued).collect();
    assert_eq!(sending.len() * 2, forward.len());
    for row in sending {
        let until = row.until.expect("it is being sent");
        assert!(row.time >= free, "two at once");
        free = until;
        if row.packet.payload_bytes == 1448 {
            assert_eq!(until - row.time, Span::from_micros(1200), "1500 bytes at 10 Mbps");
        }
    }
    assert!(forward.iter().all(|r| (r.event == QueueEvent::Enqueued) == r.until.is_none()));
}

#[test]
fn each_try_of_a_link_layer_is_told() {
    let link = "arq = { tries = 8 }\n[[link.channel]]\nname = \"r\"\nkind = \"random\"\nloss = 0.3";
    let (_, rows) = between(link, &file("100kB"), "");
    let repeated = rows.queues.iter().filter(|r| r.event == QueueEvent::Repeated);
    assert!(repeated.clone().count() > 20 && repeated.clone().all(|r| r.until > Some(r.time)));
}

/// A periodic outage that keeps packets: each is told with when it goes on, the end of the outage in which it came.
#[test]
fn packets_that_a_periodic_outage_keeps_are_told_as_held() {
    let outage = "[[link.channel]]\nname = \"o\"\nkind = \"outage\"\nhold = true\n\
                  schedule = { every = \"200ms\", for = \"50ms\", phase = \"100ms\" }";
    let (_, rows) = between(outage, &file("500kB"), "");
    assert!(rows.drops.is_empty() && rows.held.len() > 20, "{}", rows.held.len());
    for row in &rows.held {
        let (from, until) = (row.held.from - Time::ZERO, row.held.until - Time::ZERO);
        let begin = (from.0 - 100_000_000) / 200_000_000 * 200_000_000 + 100_000_000;
        assert!(row.held.kept && from.0 >= begin && from.0 < begin + 50_000_000, "{row:?}");
        assert_eq!(until.0, begin + 50_000_000, "{row:?}");
        let arrived = rows.hosts.iter().find(|h| !h.sent && h.packet.copy == row.packet.copy).unwrap();
        assert_eq!(arrived.time, row.held.until + Span::from_millis(10));
    }
}

#[test]
fn what_is_not_asked_for_is_not_told() {
    let text = "name = \"x\"\n[chain]\nnodes = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"1ms\"\n\
                [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"rfc-sack\"\n\
                workload = { kind = \"file\", size = \"100kB\" }\n[record]\ndrops = true\nstate = true\n";
    let (_, rows) = run(&scenario(text), 1);
    assert!(rows.blocked.is_empty() && rows.applications.is_empty() && rows.held.is_empty());
}
