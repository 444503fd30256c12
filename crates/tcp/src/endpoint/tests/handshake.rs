use super::pipe::*;
use super::stacks::*;
use crate::endpoint::*;
use wire::{Flags, Timestamps};

fn syn(mut e: Endpoint) -> Segment {
    e.transmit(Time::ZERO).unwrap().seg
}

#[test]
fn the_syn_offers_what_the_stack_has() {
    let seg = syn(Endpoint::connect(&linux(), Seq(7), Time::ZERO));
    assert_eq!((seg.seq, seg.flags, seg.mss), (Seq(7), Flags::SYN, Some(1460)));
    assert!(seg.sack_permitted && seg.timestamps.is_some());
    assert_eq!(seg.window_scale, Some(5), "2^20 needs a shift of 5 to fit 16 bits");
    assert_eq!(seg.window, 65535, "never scaled (RFC 7323 §2.2)");
    let plain = syn(Endpoint::connect(&rfc_reno(), Seq(7), Time::ZERO));
    assert!(!plain.sack_permitted && plain.timestamps.is_none());
}

#[test]
fn the_path_mtu_lowers_the_mss() {
    let config = Config { path_mtu: Some(576), ..Config::default() };
    assert_eq!(syn(Endpoint::connect_with(&linux(), &config, Time::ZERO)).mss, Some(536));
}

#[test]
fn what_both_offer_holds() {
    for (client, server, sack, stamps, smss) in [
        (linux(), linux(), true, true, 1448),
        (linux(), rfc_reno(), false, false, 1000),
        (rfc_sack(), linux(), true, false, 1000),
    ] {
        let mut p = Pipe::new(&client, &server, clear);
        p.run_until(at_s(1));
        assert!(p.client.is_established() && p.server.is_established());
        p.client.write(1);
        p.run_until(at_s(2));
        for end in [&p.client, &p.server] {
            assert_eq!((end.sender.sack, end.stamps, end.view().smss), (sack, stamps, smss));
        }
        let data = p.data().next().unwrap().sent.seg;
        assert_eq!(data.timestamps.is_some(), stamps);
    }
}

#[test]
fn a_lost_syn_is_sent_again_and_shrinks_the_initial_window() {
    // RFC 6298 (2.1), (5.5); RFC 5681 §3.1
    let mut p =
        Pipe::new(
            &rfc_sack(),
            &rfc_sack(),
            |c, n, _: &Sent| {
                if c && n < 2 { vec![] } else { vec![Span::from_millis(10)] }
            },
        );
    p.client.write(10_000);
    p.run_until(at_s(4));
    let times: Vec<_> = p.by_client().take(3).map(|c| (c.at, c.sent.why)).collect();
    assert_eq!(times, [0, 1, 3].map(|s| (at_s(s), Why::Handshake)));
    let first: Vec<_> = p.data().filter(|c| c.at < at_s(3) + Span::from_millis(40)).collect();
    assert_eq!(first.len(), 1);
}

#[test]
fn a_lost_syn_ack_is_sent_again() {
    let mut p =
        Pipe::new(
            &rfc_sack(),
            &rfc_sack(),
            |c, n, _: &Sent| {
                if !c && n == 0 { vec![] } else { vec![Span::from_millis(10)] }
            },
        );
    p.run_until(at_s(3));
    assert!(p.client.is_established() && p.server.is_established());
}

#[test]
fn a_lost_third_ack_is_made_good_by_data() {
    let mut p =
        Pipe::new(
            &rfc_sack(),
            &rfc_sack(),
            |c, n, _: &Sent| {
                if c && n == 1 { vec![] } else { vec![Span::from_millis(10)] }
            },
        );
    p.client.write(5000);
    p.run_until(at_s(3));
    assert_eq!(p.server_got, 5000);
}

#[test]
fn both_may_open_at_once() {
    // RFC 9293 §3.5, figure 8
    let mut a = Endpoint::connect(&linux(), Seq(100), Time::ZERO);
    let mut b = Endpoint::connect(&linux(), Seq(900), Time::ZERO);
    let (sa, sb) = (a.transmit(Time(0)).unwrap().seg, b.transmit(Time(0)).unwrap().seg);
    a.receive(Time(5), &sb);
    b.receive(Time(5), &sa);
    assert_eq!(a.state(), State::SynReceived);
    let (sa, sb) = (a.transmit(Time(5)).unwrap().seg, b.transmit(Time(5)).unwrap().seg);
    assert!(sa.flags.has(Flags::SYN) && sa.flags.has(Flags::ACK));
    a.receive(Time(9), &sb);
    b.receive(Time(9), &sa);
    assert_eq!((a.state(), b.state()), (State::Established, State::Established));
}

#[test]
fn a_port_without_a_listener_refuses() {
    let mut a = Endpoint::connect(&linux(), Seq(100), Time::ZERO);
    let syn = a.transmit(Time(0)).unwrap().seg;
    let mut gone = Endpoint::listen(&linux(), Seq(1));
    gone.close();
    gone.receive(Time(1), &syn);
    let rst = gone.transmit(Time(1)).unwrap();
    assert_eq!((rst.why, rst.seg.ack), (Why::Rst, Seq(101)));
    a.receive(Time(2), &rst.seg);
    assert_eq!((a.state(), a.failed()), (State::Closed, Some(Failure::Refused)));
}

#[test]
fn a_handshake_that_nobody_answers_is_given_up() {
    let mut spec = rfc_sack();
    spec.send.max_retries = 3;
    let mut p = Pipe::new(&spec, &spec, |_, _, _: &Sent| vec![]);
    p.run_until(at_s(100));
    assert_eq!(p.client.failed(), Some(Failure::TimedOut));
    assert_eq!(p.log.len(), 4, "a SYN and three more");
}

#[test]
fn headers_are_as_long_as_the_codec_writes_them() {
    let tuple = wire::Tuple {
        src: wire::Endpoint { host: wire::Host::v4([10, 0, 0, 1]), port: 1 },
        dst: wire::Endpoint { host: wire::Host::v4([10, 0, 0, 2]), port: 2 },
    };
    let mut bytes = Vec::new();
    for (name, spec) in all() {
        let mut p = Pipe::new(&spec, &spec, losing(&[5, 7, 9, 20]));
        p.client.write(60_000);
        p.run_until(at_s(20));
        assert!(p.log.len() > 60, "{name}");
        for c in &p.log {
            wire::tcp::write(&mut bytes, &tuple, &c.sent.seg);
            assert_eq!(usize::from(c.sent.seg.header_len), bytes.len(), "{name}: {:?}", c.sent);
        }
    }
}

#[test]
fn three_blocks_fit_beside_timestamps() {
    let mut p = Pipe::new(&linux(), &linux(), losing(&[4, 6, 8, 10, 12]));
    p.client.write(100_000);
    p.run_until(at_s(20));
    let most = p.log.iter().map(|c| c.sent.seg.sack.as_slice().len()).max();
    assert_eq!(most, Some(3));
    assert_eq!(p.server_got, 100_000);
}

#[test]
fn timestamps_are_echoed() {
    let mut p = Pipe::new(&linux(), &linux(), clear);
    p.client.write(1448);
    p.run_until(at_s(1));
    let data = p.data().next().unwrap().sent.seg.timestamps.unwrap();
    let ack = p.log.iter().rfind(|c| !c.from_client).unwrap().sent.seg.timestamps;
    assert_eq!(ack.map(|t| t.ecr), Some(data.val));
    assert_eq!(data, Timestamps { val: 20, ecr: 10 });
}
