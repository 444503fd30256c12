use super::pipe::*;
use super::stacks::*;
use crate::endpoint::*;

#[test]
fn bulk_goes_both_ways_and_every_byte_arrives_once() {
    for (name, spec) in all() {
        let mut p = Pipe::new(&spec, &spec, clear);
        p.backlog = 300_000;
        let answer = p.server.write(200_000);
        p.run_until(at_s(20));
        assert_eq!((p.server_got, p.client_got), (300_000, answer), "{name}");
        let resent = p.log.iter().find(|c| c.sent.why.is_retransmission());
        assert!(resent.is_none(), "{name}: nothing was lost: {resent:?}");
    }
}

#[test]
fn any_stack_repairs_single_and_multiple_losses() {
    for (name, spec) in all() {
        for lost in
            [&[12][..], &[12, 13, 14], &[12, 14, 16, 18, 20], &[0], &[0, 1, 2, 3], &[299], &[12, 40, 41]]
        {
            let lost: &'static [usize] = lost.to_vec().leak();
            let mut p = Pipe::new(&spec, &spec, losing(lost));
            p.backlog = 300_000;
            assert!(p.finish(at_s(300)), "{name}: {lost:?}: {:?}", p.client.view());
            assert_eq!(p.server_got, 300_000, "{name}: {lost:?}");
        }
    }
}

#[test]
fn the_window_doubles_each_round_trip_in_slow_start() {
    let mut spec = rfc_sack();
    spec.receive.delayed_ack = crate::stack::DelayedAck::Off;
    let mut p = Pipe::new(&spec, &spec, clear);
    p.client.write(u64::MAX);
    p.run_until(Time(95_000_000));
    let in_round = |k: i64| {
        let (from, to) = (Time(20_000_000 * k), Time(20_000_000 * (k + 1)));
        p.data().filter(|c| from <= c.at && c.at < to).count()
    };
    assert_eq!([1, 2, 3, 4].map(in_round), [4, 8, 16, 32]);
}

#[test]
fn a_stream_longer_than_the_sequence_space_wraps() {
    // RFC 9293 §3.4: more than 4 GiB, and an ISN that wraps within the first segments.
    let mut spec = rfc_sack();
    spec.options.mss_bytes = 65_000;
    spec.receive.window = crate::stack::WindowPolicy::Fixed { buffer_bytes: 256 << 20 };
    let mut n = 0u32;
    let mut p = Pipe::new(&spec, &spec, move |c, _, s: &Sent| {
        n += u32::from(c && s.seg.payload > 0);
        if c && s.seg.payload > 0 && n.is_multiple_of(9973) { vec![] } else { vec![Span::from_millis(10)] }
    });
    let bytes = (1 << 32) + (1 << 31);
    p.client.write(bytes);
    while p.server_got < bytes {
        assert!(p.step(at_s(1000)), "{:?}", p.client.view());
        p.log.clear();
    }
    assert_eq!(p.server_got, bytes);
}

#[test]
fn an_idle_endpoint_is_small() {
    // Tens of thousands of flows: it is cache misses that cost.
    let bytes = size_of::<Endpoint>() + size_of::<crate::stack::Wire>();
    assert!(bytes < 2048, "{bytes} bytes");
}
