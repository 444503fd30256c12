//! How a host numbers its packets (RFC 6864 §2 and §4 promise no order). Seen at the receiver, missing numbers of a host that
//! counts each connection by itself are lost packets; those of a host that counts all that it sends are not.

mod story;

use analysis::rows::Vantage;
use story::random::Random;
use story::{MSS, Story};

const SEEDS: u64 = 300;

/// Sets the identification of the next packet, of which so many milliseconds have passed.
struct Numbers {
    kind: Kind,
    id: u16,
    at: u64,
    /// Packets a second on other connections.
    elsewhere: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Connection,
    Host,
    /// One counter whose bytes are swapped, for all that the host sends.
    Swapped,
    Random,
    Zero,
}

impl Numbers {
    fn next(&mut self, r: &mut Random, at: u64) -> u16 {
        let ms = at - self.at;
        self.at = at;
        let others = match self.kind {
            Kind::Connection => 0,
            // Poisson's, near enough: each of so many packets in a second comes with that chance.
            _ => (0..ms * self.elsewhere / 100).filter(|_| r.one_in(10)).count() as u16,
        };
        self.id = self.id.wrapping_add(1 + others);
        match self.kind {
            Kind::Connection | Kind::Host => self.id,
            Kind::Swapped => self.id.swap_bytes(),
            Kind::Random => r.bits() as u16,
            Kind::Zero => 0,
        }
    }
}

/// Messages of one to eight segments, each answered or only acknowledged; in between a bare ACK now and then. Nothing is lost.
fn messages(kind: Kind, seed: u64) -> (Story, u64) {
    let mut r = Random::new(seed);
    let rtt = r.within(1, 120);
    let elsewhere = r.pick(&[5, 20, 50, 200, 2000]);
    let mut numbers = Numbers { kind, id: r.bits() as u16, at: 0, elsewhere };
    let (whole, pause) = (r.within(1, 9) as u32, r.within(30, 2000));
    let (answers, acks) = (r.one_in(2), r.one_in(2));
    let mut t = Story::from(Vantage::Receiver);
    if r.one_in(2) {
        t = t.sack_permitted();
    }
    let id = numbers.next(&mut r, 0);
    t = t.id(id).at(0).syn().at(0).syn_ack();
    let id = numbers.next(&mut r, rtt);
    t = t.id(id).at(rtt).ack_of_syn();
    let (mut seq, mut at, mut sent) = (1, rtt + 1, 2);
    for _ in 0..60 {
        for k in 0..whole {
            let id = numbers.next(&mut r, at);
            let len = if k + 1 == whole { 300 } else { MSS };
            t = t.id(id).at_us(at * 1000 + u64::from(k) * 12);
            t = if k + 1 == whole { t.data(seq, len) } else { t.amid_data(seq, len) };
            seq += len;
            sent += 1;
        }
        t = t.at_us(at * 1000 + 150);
        t = if answers { t.request(80) } else { t.ack(seq) };
        if answers && acks {
            at += rtt + 40;
            let id = numbers.next(&mut r, at);
            t = t.id(id).at(at).ack_of_syn();
            sent += 1;
        }
        at += rtt + pause + r.below(pause);
    }
    (t, sent)
}

#[test]
fn of_transfers_without_a_loss_hardly_a_packet_is_called_lost_however_the_host_counts() {
    for kind in [Kind::Connection, Kind::Host, Kind::Swapped, Kind::Random, Kind::Zero] {
        let (mut lost, mut packets, mut worst) = (0, 0, (0, 0));
        for seed in 1..=SEEDS {
            let (t, sent) = messages(kind, seed);
            let told = t.ends_with_all();
            let of_it: u64 = told.rows.bursts.iter().map(|b| u64::from(b.lost_segments)).sum();
            let resent: u64 = told.flows.iter().map(|f| f.retransmitted_packets).sum();
            packets += sent;
            lost += of_it.max(resent);
            worst = worst.max((of_it.max(resent), seed));
        }
        println!("{kind:?}: {lost} of {packets} called lost, worst {worst:?}");
        let most = if kind == Kind::Connection { 0 } else { packets / 200 };
        assert!(
            lost <= most,
            "{kind:?}: {lost} of {packets} packets called lost, most of them of seed {}",
            worst.1
        );
    }
}

/// A bulk transfer of a host that counts each connection by itself. Now and then all that is in flight is lost: a timer sends
/// the first segment again, and slow start the others. Returns how many copies were lost.
fn interrupted(seed: u64) -> (Story, u64) {
    let mut r = Random::new(seed);
    let rtt = r.within(10, 120);
    let first = r.bits() as u16;
    let mut t = Story::from(Vantage::Receiver).sack_permitted().id(first).handshake(rtt);
    let (mut seq, mut id, mut at, mut lost) = (1, first.wrapping_add(1), rtt + 1, 0);
    let window = r.within(4, 20) as u32;
    for flight in 0..60 {
        if flight % 15 == 10 {
            // These are sent, and do not come; so long the timer runs.
            id = id.wrapping_add(window as u16);
            lost += u64::from(window);
            at += rtt + 200 + r.within(1, 100);
            let (mut left, mut cwnd) = (window, 1);
            while left > 0 {
                for k in 0..cwnd.min(left) {
                    t = t.id(id).at_us(at * 1000 + u64::from(k) * 12).amid_data(seq, MSS).ack(seq + MSS);
                    id = id.wrapping_add(1);
                    seq += MSS;
                }
                left = left.saturating_sub(cwnd);
                cwnd *= 2;
                at += rtt;
            }
        }
        for k in 0..window {
            t = t.id(id).at_us(at * 1000 + u64::from(k) * 12).amid_data(seq, MSS);
            id = id.wrapping_add(1);
            seq += MSS;
        }
        t = t.at_us(at * 1000 + 400).ack(seq);
        at += rtt;
    }
    (t, lost)
}

#[test]
fn what_is_missing_of_a_connections_own_numbers_is_lost() {
    let (mut found, mut all) = (0, 0);
    for seed in 1..=SEEDS {
        let (t, lost) = interrupted(seed);
        let told = t.ends();
        all += lost;
        found += told.rows.bursts.iter().map(|b| u64::from(b.lost_segments)).sum::<u64>().min(lost);
    }
    assert!(found * 100 >= all * 95, "{found} of {all} lost copies are found");
}
