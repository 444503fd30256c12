//! What became of each packet of a run, as soon as it is known. The simulator numbers its copies, so none has to be
//! recognised as two captures' packets have to be.

use super::sides::Sides;
use analysis::Fate;
use analysis::join::{Clock, LostAckSegments, Side};
use instant::{Span, Time};
use rustc_hash::FxHashMap;
use sim::Frame;

/// A packet of the sender's side, by its number there, and what became of it.
pub type Settled = (u64, Fate);

/// A copy between its two ends.
#[derive(Debug)]
struct Sent {
    side: Side,
    number: u64,
    time: Time,
    connection: u32,
    forward: bool,
    /// So many of it are on the way: channels may double it.
    copies: u32,
}

/// Follows the copies of a run between the ends of their connections.
#[derive(Debug, Default)]
pub struct Fates {
    /// By the simulator's number.
    on_the_way: FxHashMap<u64, Sent>,
    /// By connection and direction: the highest number that has arrived of those from the sender's side.
    newest: Vec<u64>,
    /// Of the sender's side, in any order: those that did not simply arrive.
    unlike: Vec<Settled>,
    /// By connection, and whether the client sent them.
    lost_acks: Vec<(u32, bool, Time)>,
    /// By the side that they left from: how many arrived, and how long the quickest took.
    arrived: [u64; 2],
    quickest: [Option<Span>; 2],
    lost: [u64; 2],
    under_way: [u64; 2],
}

/// What is known of all packets once the run is over.
#[derive(Debug)]
pub struct Known {
    /// Those of the sender's side that did not simply arrive, in order.
    unlike: Vec<Settled>,
    pub lost_acks: LostAckSegments,
    pub clock: Clock,
    pub matched: u64,
    /// By side.
    pub lost: [u64; 2],
    pub under_way: [u64; 2],
}

impl Fates {
    /// A packet left from `side`, where it has this number.
    pub fn left(&mut self, time: Time, frame: &Frame, side: Side, number: u64) {
        let Frame { connection, forward, .. } = *frame;
        self.on_the_way.insert(frame.copy, Sent { side, number, time, connection, forward, copies: 1 });
    }

    /// A copy arrived at the other end.
    pub fn came(&mut self, time: Time, frame: &Frame) -> Option<Settled> {
        let sent = self.on_the_way.remove(&frame.copy)?;
        let (from, took) = (sent.side as usize, time - sent.time);
        self.arrived[from] += 1;
        self.quickest[from] = Some(self.quickest[from].map_or(took, |least| least.min(took)));
        if sent.side == Side::Receiver {
            return None;
        }
        let overtaken = self.is_overtaken(frame, sent.number);
        let fate = if overtaken && frame.payload_bytes() > 0 { Fate::Late } else { Fate::Arrived };
        self.settle(sent.number, fate)
    }

    /// One that was sent after it came before it.
    fn is_overtaken(&mut self, frame: &Frame, number: u64) -> bool {
        let way = frame.connection as usize * 2 + usize::from(!frame.forward);
        if way >= self.newest.len() {
            self.newest.resize(way + 1, 0);
        }
        let newest = &mut self.newest[way];
        let overtaken = number < *newest;
        *newest = number.max(*newest);
        overtaken
    }

    /// A channel made another one of a copy.
    pub fn doubled(&mut self, copy: u64) {
        if let Some(sent) = self.on_the_way.get_mut(&copy) {
            sent.copies += 1;
        }
    }

    /// A link lost a copy.
    pub fn dropped(&mut self, copy: u64) -> Option<Settled> {
        let sent = self.on_the_way.get_mut(&copy)?;
        sent.copies -= 1;
        if sent.copies > 0 {
            return None;
        }
        let sent = self.on_the_way.remove(&copy)?;
        self.lose(&sent)
    }

    fn lose(&mut self, sent: &Sent) -> Option<Settled> {
        self.lost[sent.side as usize] += 1;
        match sent.side {
            Side::Sender => self.settle(sent.number, Fate::Lost),
            Side::Receiver => {
                self.lost_acks.push((sent.connection, sent.forward, sent.time));
                None
            }
        }
    }

    /// A copy that the run's end keeps from arriving.
    pub fn cut_short(&mut self, copy: u64) -> Option<Settled> {
        let sent = self.on_the_way.remove(&copy)?;
        self.under_way[sent.side as usize] += 1;
        (sent.side == Side::Sender).then(|| self.settle(sent.number, Fate::UnderWay)).flatten()
    }

    /// The run is over: what is left went where no way leads.
    pub fn leave(&mut self) -> Vec<Settled> {
        let mut left: Vec<Sent> = self.on_the_way.drain().map(|(_, sent)| sent).collect();
        left.sort_unstable_by_key(|sent| (sent.side as u8, sent.number));
        left.iter().filter_map(|sent| self.lose(sent)).collect()
    }

    /// After [`Fates::leave`].
    pub fn finish(mut self, sides: &Sides) -> Known {
        let [outward, inward] = self.quickest;
        let floor = outward.zip(inward).map(|(outward, inward)| outward + inward);
        let lost_acks = self.lost_acks.iter().filter_map(|&(connection, forward, time)| {
            let tuple = sides.tuple(connection)?;
            // Of the data that they acknowledge, which goes the other way.
            Some((if forward { tuple.reversed() } else { tuple }, time))
        });
        self.unlike.sort_unstable_by_key(|(number, _)| *number);
        Known {
            unlike: self.unlike,
            lost_acks: LostAckSegments::new(lost_acks),
            clock: Clock::common(floor, self.arrived),
            matched: self.arrived.iter().sum(),
            lost: self.lost,
            under_way: self.under_way,
        }
    }

    fn settle(&mut self, number: u64, fate: Fate) -> Option<Settled> {
        if fate != Fate::Arrived {
            self.unlike.push((number, fate));
        }
        Some((number, fate))
    }
}

impl Known {
    /// Tells the fates of packets in the order of their numbers, the first of which is `first`.
    pub fn reader_from(&self, first: u64) -> impl FnMut(u64) -> Fate + '_ {
        let mut rest = self.unlike[self.unlike.partition_point(|(n, _)| *n < first)..].iter().peekable();
        move |number| {
            while rest.next_if(|(n, _)| *n < number).is_some() {}
            rest.next_if(|(n, _)| *n == number).map_or(Fate::Arrived, |(_, fate)| *fate)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::tests::{UPLOAD, scenario};
    use sim::Body;

    fn sides() -> Sides {
        Sides::new(&scenario(UPLOAD, ""))
    }
    fn frame(copy: u64) -> Frame {
        Frame { copy, forward: true, body: Body::Datagram(100), ..Frame::default() }
    }
    fn at(k: u64) -> Time {
        Time(k as i64)
    }
    fn sent(n: u64) -> Fates {
        let mut fates = Fates::default();
        (1..=n).for_each(|k| fates.left(at(k), &frame(k), Side::Sender, k));
        fates
    }

    #[test]
    fn each_copy_is_settled_when_it_arrives_or_is_lost() {
        let mut fates = sent(4);
        assert_eq!(fates.came(at(9), &frame(2)), Some((2, Fate::Arrived)));
        assert_eq!(fates.came(at(9), &frame(1)), Some((1, Fate::Late)));
        assert_eq!(fates.dropped(3), Some((3, Fate::Lost)));
        assert_eq!(fates.cut_short(4), Some((4, Fate::UnderWay)));
        let known = fates.finish(&sides());
        assert_eq!((known.matched, known.lost, known.under_way), (2, [1, 0], [1, 0]));
        let mut fate = known.reader_from(1);
        let all = [1, 2, 3, 4].map(&mut fate);
        assert_eq!(all, [Fate::Late, Fate::Arrived, Fate::Lost, Fate::UnderWay]);
    }

    #[test]
    fn a_doubled_copy_is_lost_only_with_its_last() {
        let mut fates = sent(2);
        fates.doubled(1);
        fates.doubled(2);
        assert_eq!(fates.dropped(1), None);
        assert_eq!(fates.came(at(9), &frame(1)), Some((1, Fate::Arrived)));
        assert_eq!(fates.came(at(9), &frame(1)), None);
        assert_eq!((fates.dropped(2), fates.dropped(2)), (None, Some((2, Fate::Lost))));
    }

    #[test]
    fn what_had_no_way_was_lost() {
        let mut fates = sent(2);
        fates.left(at(1), &frame(7), Side::Receiver, 1);
        assert_eq!(fates.leave(), [(1, Fate::Lost), (2, Fate::Lost)]);
        let known = fates.finish(&sides());
        assert_eq!(known.lost, [2, 1]);
        assert_eq!(known.lost_acks.of(sides().tuple(0).expect("a connection").reversed()), [Time(1)]);
    }
}
