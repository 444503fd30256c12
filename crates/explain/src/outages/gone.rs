//! One outage as the rows show it, and what follows from it alone.

use analysis::assumptions::MIN_RTO_SEEN;
use analysis::flow_facts::{arriving, round_trip};
use analysis::rows::{BurstRow, EpisodeRow, FlowRow, IdleRow, Trigger};
use analysis::sure::Sure;
use analysis::sure::certainty::{Claim, Evidence, Grounds};
use serde::{Deserialize, Serialize};
use wire::{Span, Time};

/// Nothing delivered for so many copies or so long is no accident of single packets.
pub(super) const COPIES: u32 = 8;
/// Where data is seen as it arrives: a gap in it this long before a hole is seen belongs to the hole.
pub(super) const BEHIND: Span = Span::from_millis(50);
/// A clock that ticks blurs by so much when something was sent.
pub(super) const TICK: Span = Span::from_millis(1);
/// From this part of the period on the next outage may be there.
pub(super) const NEXT: f64 = 0.7;

/// What the packets showed of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Copies were sent into it and did not arrive.
    CopiesVanished,
    /// A window was in flight, and a timer fired: the ACKs vanished.
    AcksVanished,
    /// Nothing arrived for a while; then came new data, sent while the path was dark or just after.
    ArrivalsStopped,
    /// The same, and what came first was sent by a timer.
    TimerEndedIt,
    /// The same, and what came first was alone for a round trip: the sender had fallen silent, and probed with new data
    /// (RFC 8985 §7.3).
    ProbeEndedIt,
    /// Nothing arrived for a while; then what had arrived was sent again: the ACKs from here vanished.
    AcksUnheard,
    /// Nothing came back to the very end.
    Died,
}

/// One outage as the link had it. Seconds from the start of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dark {
    pub begin_earliest_s: f64,
    pub begin_latest_s: f64,
    pub end_earliest_s: f64,
    /// `None`: that it ended does not show.
    pub end_latest_s: Option<f64>,
    #[serde(skip)]
    pub sure: Sure,
}

/// Times between which something happened; the last is `None` where it lasts to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub begin: (Time, Time),
    pub end: (Time, Option<Time>),
}

/// How long the queue made packets wait when the burst began.
pub(super) fn queued(rtt_before: Option<Span>, flow: &FlowRow) -> Option<f64> {
    let rtt = round_trip(flow).filter(|_| !arriving(flow))?;
    rtt_before.map(|r| (r.as_secs() - rtt.min).max(0.0))
}

/// From the first to the last copy that was lost before any was repaired: copies of repairs lie behind a silence.
pub(super) fn lasted(b: &BurstRow) -> Span {
    let before_repair = match (b.first_repair, b.silence) {
        (Some(repair), Some(silence)) => repair - silence - b.start,
        _ => Span::MAX,
    };
    (b.last - b.start).min(before_repair).max(Span::ZERO)
}

/// One time that everything vanished.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    pub start: Time,
    /// The last copy that was lost in it before any was repaired, and the last that was lost at all before
    /// something came through.
    pub(super) last: Time,
    pub(super) dark: Time,
    /// When the first that came through was sent.
    pub(super) back: Option<Time>,
    pub episode: Option<u32>,
    /// Copies that vanished in it.
    pub copies: u64,
    pub(super) rtt_before: Option<Span>,
    /// From when the first lost copy should have been acknowledged to the repair that the first arrival behind
    /// the hole set off; where data is seen as it arrives, how long none did.
    pub(super) length: Option<Span>,
    pub(super) lost_acks: Option<u32>,
    pub(super) first_repair: Option<Time>,
    /// When the sender fell idle no more: its ACKs had come back.
    pub(super) resumed: Option<Time>,
    /// How long nothing arrived before the hole was seen; it is no part of the episode.
    pub gap: Option<Span>,
    /// The same by what arrived last before it and first behind it, and the part at whose end the path was back.
    pub(super) silence: Option<(Time, Time)>,
    /// Both as they arrived, and not as a gap tells.
    pub(super) heard: bool,
    /// When the last arrived of what the sender had not heard of, and how long all of that took to arrive.
    pub(super) unheard: Option<(Time, Option<Span>)>,
    /// At other times, too, an ACK was missed.
    pub(super) singly: bool,
    /// It lasts to the end.
    pub for_good: bool,
    pub(super) shown: Shown,
    pub(super) bounds: Bounds,
}

impl Gone {
    /// Nothing is known of it yet but when it began.
    pub(super) fn at(start: Time, shown: Shown) -> Gone {
        Gone {
            start,
            last: start,
            dark: start,
            back: None,
            episode: None,
            copies: 0,
            rtt_before: None,
            length: None,
            lost_acks: None,
            first_repair: None,
            resumed: None,
            gap: None,
            silence: None,
            heard: false,
            unheard: None,
            singly: false,
            for_good: false,
            shown,
            bounds: Bounds { begin: (Time::ZERO, Time::ZERO), end: (Time::ZERO, None) },
        }
    }
    pub(super) fn of(b: &BurstRow) -> Gone {
        // A timer's repair does not show where the hole ended.
        let length = match (b.trigger, b.first_repair, b.rtt_before) {
            (Trigger::Ack, Some(repair), Some(rtt)) => Some((repair - b.start - rtt).max(b.last - b.start)),
            _ => None,
        };
        Gone {
            last: b.start + lasted(b),
            dark: b.last,
            back: b.back,
            episode: b.episode,
            copies: u64::from(b.lost()),
            rtt_before: b.rtt_before,
            length,
            lost_acks: b.lost_acks,
            first_repair: b.first_repair,
            ..Gone::at(b.start, Shown::CopiesVanished)
        }
    }
    pub fn sure(&self, flow: &FlowRow) -> Sure {
        Sure::of(Claim::Outage, flow, grounds(self))
    }
    /// How long it lasted at least and at most, in seconds. The first lost copy met it after the wait in the queue, the
    /// last perhaps without one. Nothing shows that the link was away all the while between a repair that was lost and
    /// what was lost before it: where the next outage was due by then (`period`), that may have taken the repair.
    pub(super) fn lengths(&self, flow: &FlowRow, period: Option<f64>) -> (f64, Option<f64>) {
        let b = &self.bounds;
        let most = b.end.1.map(|t| (t - b.begin.0).as_secs());
        if self.silence.is_some() {
            return ((b.end.0 - b.begin.1).max(Span::ZERO).as_secs(), most);
        }
        let dark = (self.dark - self.start).as_secs();
        let next = period.is_some_and(|p| dark >= NEXT * p);
        let seen = if next { (self.last - self.start).as_secs() } else { dark };
        let least = (seen - queued(self.rtt_before, flow).unwrap_or(0.0)).max(0.0);
        let seen = self.back.map(|t| (t - self.start).as_secs());
        (least, seen.or(most).filter(|_| !next))
    }
    /// One figure for its length, where its repair tells one, within what is possible.
    pub(super) fn told_length(&self, flow: &FlowRow, period: Option<f64>) -> Option<f64> {
        let (least, most) = self.lengths(flow, period);
        self.length.map(|l| l.as_secs().min(most.unwrap_or(f64::MAX)).max(least))
    }
    /// What its sender's silence tells: without ACKs nothing is sent. `gaps`: in order of time.
    pub(super) fn with_silence(mut self, gaps: &[&IdleRow]) -> Gone {
        let until = self.first_repair.map_or(self.start, |r| r + Span::from_millis(1));
        let from = gaps.partition_point(|i| i.start < self.start);
        let silence = gaps[from..].iter().take_while(|i| i.end <= until);
        let (total, longest) = silence.fold((Span::ZERO, None::<&IdleRow>), |(sum, longest), i| {
            let more = longest.is_none_or(|l| i.end - i.start > l.end - l.start);
            (sum + (i.end - i.start), if more { Some(i) } else { longest })
        });
        self.resumed = longest.map(|i| i.end);
        // The round trip before it is that of packets sent long before, where a queue was building up.
        if total > Span::ZERO {
            self.length = self.length.map(|l| l.min(total.max(self.last - self.start)));
        }
        self
    }
    /// Seen where data arrives: `gap` is how long none did.
    pub(super) fn arrived(
        b: &BurstRow,
        during: &IdleRow,
        by_timer: bool,
        shown: Shown,
        heard: &Heard,
    ) -> Gone {
        // A gap lies between when its neighbours were sent, by their timestamps. When they arrived is told of a repair,
        // and of a burst right behind a silence; else the queue was about as long for the data before.
        let silence = match (shown, b.behind_silence()) {
            (Shown::TimerEndedIt, _) => heard.silence(during),
            (_, Some(around)) => (around.before, b.start),
            _ => (b.start - (during.end - during.start), b.start),
        };
        let (start, gap) = (silence.0, silence.1 - silence.0);
        let stopped = matches!(shown, Shown::ArrivalsStopped | Shown::ProbeEndedIt);
        let length = (!by_timer && stopped).then_some(gap);
        let at = Gone { start, last: start, dark: start, back: Some(silence.1), ..Gone::of(b) };
        Gone {
            length,
            rtt_before: None,
            gap: Some(gap),
            silence: Some(silence),
            heard: b.behind_silence().is_some(),
            shown,
            ..at
        }
    }
}

/// When data arrived, as far as rows tell.
pub(super) struct Heard {
    /// First repairs, with the silence before each.
    repairs: Vec<(Time, Span)>,
    /// The first beyond each hole, and first repairs.
    arrived: Vec<Time>,
}

impl Heard {
    pub(super) fn of(bursts: &[BurstRow], episodes: &[EpisodeRow]) -> Heard {
        let by_burst = bursts.iter().filter_map(|b| Some((b.first_repair?, b.silence?)));
        let by_episode = episodes.iter().filter_map(|e| Some((e.first_repair, e.silence?)));
        let mut all: Vec<_> = by_burst.chain(by_episode).collect();
        all.sort_unstable();
        let holes = bursts.iter().flat_map(|b| [b.start, b.last]);
        let mut arrived: Vec<Time> = holes.chain(all.iter().map(|r| r.0)).collect();
        arrived.sort_unstable();
        Heard { repairs: all, arrived }
    }
    /// From the last arrival before a gap, as far as one is told, to what ended it.
    pub(super) fn silence(&self, during: &IdleRow) -> (Time, Time) {
        let then = during.end;
        let from = self.repairs.partition_point(|r| r.0 < then - TICK);
        let near = self.repairs[from..].iter().take_while(|r| r.0 <= then + TICK);
        if let Some(r) = near.max_by_key(|r| r.1) {
            return (r.0 - r.1, r.0);
        }
        let before = self.arrived.partition_point(|t| *t < then - TICK);
        let last = before.checked_sub(1).map(|at| self.arrived[at]);
        (last.map_or(during.start, |t| t.max(during.start)), then)
    }
}

fn grounds(g: &Gone) -> Grounds {
    let by_timer = matches!(g.shown, Shown::TimerEndedIt | Shown::ProbeEndedIt | Shown::AcksUnheard);
    let stopped = by_timer || g.shown == Shown::ArrivalsStopped;
    Grounds::default()
        .with_if(by_timer, Evidence::TimerSilence)
        .with_if(!stopped && g.dark > g.start, Evidence::StillSending)
        .with_if(g.shown == Shown::ArrivalsStopped, Evidence::StillSending)
        .with_if(!stopped && g.dark - g.last >= MIN_RTO_SEEN, Evidence::RepairsLost)
        .with_if(g.copies >= u64::from(COPIES), Evidence::Run)
        .with_if(g.copies == 1, Evidence::Lone)
        .with_if(g.lost_acks.is_some_and(|n| n > 0), Evidence::AcksLost)
        .with_if(matches!(g.shown, Shown::AcksVanished | Shown::AcksUnheard), Evidence::AcksUnheard)
        .with_if(g.singly, Evidence::AcksLostSingly)
        .with_if(g.for_good, Evidence::Unfinished)
}
