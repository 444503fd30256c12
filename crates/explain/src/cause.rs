//! The closed set of causes: who owns a moment of a conversation. Each has a file with its words, and a line in the list.

mod ack_loss;
mod bottleneck;
mod cannot_tell;
mod delayed_ack;
mod handshake;
mod loss_queue;
mod loss_random;
mod middlebox;
mod mtu;
mod nothing;
mod outage;
mod pacing;
mod packets_held;
mod path_died;
mod policer;
mod receive_window;
mod receiver_not_reading;
mod receiver_stack;
mod reordering;
mod request_response;
mod reset;
mod send_window;
mod sender_idle;
mod sender_stalled;
mod shared_bottleneck;
mod slow_start;
mod standing_queue;
mod timer;

use crate::answer::{Share, Words};
use crate::losses::Trouble;
use crate::paths::{How, Path};
use crate::waits::Facts;
use analysis::closed_set::Hue;
use analysis::members;
use analysis::rows::{FlowRow, Role};
use analysis::waits::Stretch;
use analysis::words::{rate, span};
use wire::{Span, Time};

members! {
    /// What the next byte of a conversation was waiting for, as a person would say it.
    "answer_cause" Cause of About {
        RequestResponse(request_response),
        SenderIdle(sender_idle),
        ReceiverNotReading(receiver_not_reading),
        ReceiveWindow(receive_window),
        DelayedAck(delayed_ack),
        ReceiverStack(receiver_stack),
        SendWindow(send_window),
        SlowStart(slow_start),
        Pacing(pacing),
        Timer(timer),
        SenderStalled(sender_stalled),
        Handshake(handshake),
        Bottleneck(bottleneck),
        SharedBottleneck(shared_bottleneck),
        Policer(policer),
        StandingQueue(standing_queue),
        LossRandom(loss_random),
        LossQueue(loss_queue),
        Outage(outage),
        PathDied(path_died),
        PacketsHeld(packets_held),
        Mtu(mtu),
        Reordering(reordering),
        AckLoss(ack_loss),
        Middlebox(middlebox),
        Reset(reset),
        Nothing(nothing),
        CannotTell(cannot_tell),
    }
}

/// A cause as its file describes it.
pub struct About {
    /// As it stands in JSON and tables.
    pub name: &'static str,
    /// As it stands in a sentence or a legend.
    pub in_words: &'static str,
    /// What it means, how it is recognised and what helps: for the documents and `rexmit help`.
    pub means: &'static str,
    pub recognised: &'static str,
    pub helps: &'static str,
    pub colour: Hue,
    /// What is said of one connection.
    pub words: fn(&Scene<'_>) -> Words,
}

impl About {
    fn properties(&self) -> Vec<(&'static str, &'static str)> {
        vec![
            ("means", self.means),
            ("recognised", self.recognised),
            ("helps", self.helps),
            ("colour", self.colour.name()),
        ]
    }
}

/// A cause in one connection, and all that is known around it.
pub struct Scene<'a> {
    pub facts: &'a Facts<'a>,
    pub share: &'a Share,
    /// Times in words count from here.
    pub origin: Time,
}

impl<'a> Scene<'a> {
    /// 0 if the client's data is meant, 1 if the server's: where the losses of this cause are, or else where most bytes go.
    pub fn side(&self) -> usize {
        if let Some(by) = self.share.by {
            let at_receiver = matches!(
                self.share.cause,
                Cause::ReceiverNotReading | Cause::ReceiveWindow | Cause::DelayedAck | Cause::ReceiverStack
            );
            return if at_receiver { 1 - by as usize } else { by as usize };
        }
        let troubles =
            |side: usize| self.facts.troubles[side].all().filter(|t| t.cause == self.share.cause).count();
        match troubles(0).cmp(&troubles(1)) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => self.facts.conversation.main_sender() as usize,
        }
    }
    pub fn by_side(&self) -> usize {
        self.share.by.map_or(self.side(), |by| by as usize)
    }
    /// The host that the time is due to.
    pub fn by(&self) -> &'static str {
        Role::of(self.by_side()).in_words()
    }
    /// The host that it is not due to.
    pub fn other(&self) -> &'static str {
        Role::of(1 - self.by_side()).in_words()
    }
    /// The host whose data is meant, and the one that receives it.
    pub fn sender(&self) -> &'static str {
        Role::of(self.side()).in_words()
    }
    pub fn receiver(&self) -> &'static str {
        Role::of(1 - self.side()).in_words()
    }
    pub fn flow(&self) -> Option<&'a FlowRow> {
        self.facts.conversation.row(self.side())
    }
    pub fn path(&self) -> &'a Path<'a> {
        self.facts.paths[self.side()]
    }
    pub fn stretches(&self) -> impl Iterator<Item = &'a Stretch> {
        self.facts.conversation.waits.iter()
    }
    /// Episodes that are due to this cause.
    pub fn troubles(&self) -> impl Iterator<Item = &'a Trouble> {
        let cause = self.share.cause;
        self.facts.troubles.iter().flat_map(|t| t.all()).filter(move |t| t.cause == cause)
    }
    /// The least round trip.
    pub fn rtt(&self) -> Option<String> {
        self.facts.conversation.base_rtt.map(span)
    }
    /// `3.92 s`, from the first packet of the capture.
    pub fn at(&self, time: Time) -> String {
        format!("{:.2} s", (time - self.origin).as_secs())
    }
    /// `, which carries about 21 Mbps of data`, behind the path, where that is known.
    pub fn carries(&self) -> String {
        let known = self.path().capacity.filter(|c| c.how != How::Reached);
        known
            .map(|c| format!(", which carries about {} of data", rate(c.bytes_per_s * 8.0)))
            .unwrap_or_default()
    }
    /// The share of what arrived that was not this connection's.
    pub fn others(&self) -> f64 {
        let c = self.facts.conversation;
        self.path().others(c.start, c.end, c.bytes(self.side()) as f64)
    }
    /// `12 packets were lost`.
    pub fn lost_words(&self) -> String {
        match self.troubles().map(|t| t.lost).sum() {
            0 => "Packets were lost".into(),
            n => plural(n, "packet was lost", "packets were lost"),
        }
    }
}

/// `1 packet was lost`, `12 packets were lost`.
fn plural(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", analysis::words::grouped(n), if n == 1 { one } else { more })
}

/// At the beginning of a sentence.
pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `, for at least 0.94 s and at most 1.51 s`.
fn lasted(least: Span, most: Option<Span>) -> String {
    match (least > Span::ZERO, most) {
        (true, Some(most)) if most > least => {
            format!(", for at least {} and at most {}", span(least), span(most))
        }
        (true, _) => format!(", for at least {}", span(least)),
        (false, Some(most)) => format!(", for at most {}", span(most)),
        (false, None) => String::new(),
    }
}
