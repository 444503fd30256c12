use super::*;
use tcp::stack::Kind;

fn script(stack: &str, rtt_ms: i64) -> Script {
    let Kind::Wire(spec) = scenario::describe::load(stack).expect("a stack").kind else {
        panic!("{stack} is no endpoint")
    };
    Script::new(&spec, Span::from_millis(rtt_ms))
}

fn at(ms: i64, what: What) -> Event {
    Event { at: Span::from_millis(ms), what }
}

fn ack(next: u64) -> What {
    What::Ack(Ack { next, ..Ack::default() })
}

fn segments(step: &Step) -> Vec<(u64, &'static str)> {
    step.sent.iter().map(|s| ((s.offset - 1) / u64::from(step.view.smss), why(s.why))).collect()
}

#[test]
fn three_duplicate_acks_bring_back_the_segment_and_a_timer_does_the_rest() {
    let s = script("rfc-reno", 100);
    let smss = u64::from(s.smss());
    let mut events = vec![at(0, What::Write(100 * smss)), at(100, ack(2 * smss))];
    events.extend((0..3).map(|k| at(110 + k, ack(2 * smss))));
    events.push(at(5_000, What::Wait));
    let steps = s.play(&events).expect("it plays");
    assert_eq!(steps[0].event, Some(0));
    assert!(segments(&steps[0]).iter().all(|(_, why)| *why == "new"));
    assert_eq!(segments(&steps[4])[0], (2, "recovery"));
    assert_eq!(phase(steps[4].view.phase), "recovery");
    let timer = steps.iter().find(|step| step.event.is_none()).expect("a timer fired");
    assert_eq!((segments(timer)[0], timer.view.timeouts), ((2, "timeout"), 1));
    assert!(timer.view.backoff == 1 && timer.view.cwnd == timer.view.smss);
}

#[test]
fn the_echo_says_which_copy_arrived() {
    // Segment 0 times out; the ACK that then comes echoes the first copy, or the second.
    for (echo_ms, srtt_ms) in [(0, 200..220), (1_000, 100..110)] {
        let s = script("linux-2.6-reno", 100);
        let smss = u64::from(s.smss());
        let timeout = at(1_000, What::Wait);
        let echo = Some(Span::from_millis(echo_ms));
        let last = at(1_005, What::Ack(Ack { next: smss, echo, ..Ack::default() }));
        let steps = s.play(&[at(0, What::Write(smss)), timeout, last]).expect("it plays");
        let srtt = steps.last().and_then(|step| step.view.srtt).expect("a sample").0 / 1_000_000;
        let late = steps.iter().filter(|step| step.event.is_none()).count();
        assert!(late > 0 && srtt_ms.contains(&srtt), "echo of {echo_ms} ms: SRTT {srtt} ms, {late} timeouts");
    }
}

#[test]
fn data_of_the_peer_is_acknowledged_with_what_is_missing() {
    let s = script("linux-2.6-reno", 100);
    let steps = s
        .play(&[at(0, What::Data { from: 1448, to: 2896 }), at(10, What::Data { from: 0, to: 1448 })])
        .expect("it plays");
    let [first, second] = [&steps[0].sent[0].seg, &steps[1].sent[0].seg];
    assert_eq!(first.ack, PEER + 1);
    assert_eq!(first.sack.as_slice(), [(PEER + 1449, PEER + 2897)]);
    assert_eq!(second.ack, PEER + 2897);
}

#[test]
fn a_window_and_a_send_buffer_limit_what_leaves() {
    let s = script("linux-2.2", 100);
    let smss = u64::from(s.smss());
    let few = Ack { next: 0, window: Some(4 * smss as u32), ..Ack::default() };
    let steps = s
        .play(&[
            at(0, What::Ack(few)),
            at(1, What::Write(1_000 * smss)),
            at(100, ack(smss)),
            at(200, ack(3 * smss)),
        ])
        .expect("it plays");
    assert_eq!([&steps[1], &steps[2], &steps[3]].map(|s| s.sent.len()), [1, 2, 3]);
    assert!(u64::from(steps[3].view.flight) <= 4 * smss);
}

#[test]
fn a_script_whose_times_run_back_is_told() {
    let told = script("rfc-reno", 100).play(&[at(200, What::Wait), at(100, ack(0))]);
    assert_eq!(told.err().as_deref(), Some("event 1: 0.1 s is before 0.2 s, where the script has come to"));
}
