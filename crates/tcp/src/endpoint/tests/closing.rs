use super::pipe::*;
use super::stacks::*;
use crate::endpoint::*;
use wire::Flags;

#[test]
fn a_transfer_ends_with_fins_and_the_first_to_close_waits() {
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.client.write(12_345);
    assert!(p.finish(at_s(100)));
    assert_eq!(p.server_got, 12_345);
    assert_eq!((p.client.state(), p.server.state()), (State::TimeWait, State::Closed));
    assert_eq!((p.client.failed(), p.server.failed()), (None, None));
    let fin = p.data().last().unwrap().sent;
    assert!(fin.seg.flags.has(Flags::FIN) && fin.seg.flags.has(Flags::PSH), "it rides on the last data");
    p.run_until(at_s(100));
    assert_eq!(p.client.state(), State::Closed, "2 MSL later");
}

#[test]
fn a_lost_fin_is_resent_by_the_timer() {
    for lost_from_client in [true, false] {
        let mut lost = false;
        let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), move |c, _, s: &Sent| {
            if c == lost_from_client && s.seg.flags.has(Flags::FIN) && !lost {
                lost = true;
                return vec![];
            }
            vec![Span::from_millis(10)]
        });
        p.client.write(3000);
        p.run_until(at_s(1));
        assert!(p.finish(at_s(30)));
        let fins: Vec<_> = p
            .log
            .iter()
            .filter(|c| c.from_client == lost_from_client && c.sent.seg.flags.has(Flags::FIN))
            .map(|c| c.sent.why)
            .collect();
        assert_eq!(fins, [Why::Fin, Why::Timeout { backoff: 0 }]);
    }
}

#[test]
fn a_lost_last_ack_is_sent_again_from_time_wait() {
    let mut fins = 0;
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), move |c, _, s: &Sent| {
        fins += u32::from(!c && s.seg.flags.has(Flags::FIN));
        // The client's ACK of the server's first FIN.
        if c && fins == 1 && s.why == Why::Ack { vec![] } else { vec![Span::from_millis(10)] }
    });
    assert!(p.finish(at_s(30)));
    assert_eq!((p.client.state(), p.server.state()), (State::TimeWait, State::Closed));
}

#[test]
fn one_side_may_go_on_after_the_other_has_closed() {
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.client.close();
    p.run_until(at_s(1));
    assert_eq!(p.client.state(), State::FinWait2, "closed after the handshake");
    assert_eq!(p.server.state(), State::CloseWait);
    p.server.write(50_000);
    p.server.close();
    assert!(p.run_to_close(at_s(30)));
    assert_eq!(p.client_got, 50_000);
}

#[test]
fn both_may_close_at_once() {
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.run_until(at_s(1));
    p.client.close();
    p.server.close();
    p.drain();
    assert_eq!((p.client.state(), p.server.state()), (State::FinWait1, State::FinWait1));
    assert!(p.run_to_close(at_s(30)));
    assert_eq!((p.client.state(), p.server.state()), (State::TimeWait, State::TimeWait));
}

#[test]
fn an_abort_resets_the_peer() {
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.client.write(u64::MAX);
    p.run_until(at_s(1));
    p.client.abort();
    p.run_until(at_s(2));
    assert_eq!(p.server.failed(), Some(Failure::Reset));
    assert_eq!(p.client.failed(), Some(Failure::Aborted));
    assert_eq!(p.client.next_wakeup(), None);
}

#[test]
fn only_the_exact_number_resets() {
    // RFC 5961 §3.2
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.client.write(1000);
    p.run_until(at_s(1));
    let next = p.client.seq(1001);
    let rst = |seq| Segment { seq, flags: Flags::RST, ..Segment::default() };
    p.server.receive(p.now, &rst(next + 1));
    assert_eq!(p.server.state(), State::Established);
    let challenge = p.server.transmit(p.now).unwrap();
    assert_eq!((challenge.why, challenge.seg.ack), (Why::Ack, next));
    p.server.receive(p.now, &rst(next + (1 << 21)));
    assert_eq!(p.server.transmit(p.now), None, "outside the window: not even answered");
    p.server.receive(p.now, &rst(next));
    assert_eq!(p.server.failed(), Some(Failure::Reset));
}

#[test]
fn a_syn_in_a_connection_is_challenged() {
    // RFC 5961 §4.2
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.run_until(at_s(1));
    let syn = Segment { seq: p.client.seq(1), flags: Flags::SYN, ..Segment::default() };
    p.server.receive(p.now, &syn);
    assert_eq!(p.server.transmit(p.now).map(|s| s.why), Some(Why::Ack));
    assert_eq!(p.server.state(), State::Established);
}

#[test]
fn an_ack_of_what_was_never_sent_is_challenged() {
    // RFC 9293 §3.10.7.4, RFC 5961 §5.2
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.run_until(at_s(1));
    let ack = Segment {
        seq: p.client.seq(1),
        ack: p.server.seq(5000),
        flags: Flags::ACK,
        window: 100,
        ..Segment::default()
    };
    p.server.receive(p.now, &ack);
    assert_eq!(p.server.transmit(p.now).map(|s| s.why), Some(Why::Ack));
}
