//! Rules of somebody's own: a window rule, a detector or a recovery rule that is not written here and is asked through
//! hooks, which are those of the rules that are.
//!
//! A stack file names a class ([`OwnRule`]). Whoever can make objects of it hands a [`Make`] in before the run; each
//! connection then gets its own. Nothing here knows what language they are in.

pub use crate::detect::rack::{Copy, Delivery, Horizon, Patience};
pub use crate::detect::{Facts as DetectFacts, Verdict};
pub use crate::recovery::{Facts as RepairFacts, Habits};

use crate::congestion::{AckFacts, Driving, LossFacts, Window};
use crate::sampler::rate::{Progress, RateSample};
use params::keys::{Key, Kind, key};
use params::{Item, Lines, Plain, Value, Values};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use wire::Time;

/// What a file says of it, whichever question it answers.
pub const KEYS: &[Key] = &[
    key(
        "class",
        Kind::Class,
        "The class: `package.module:Class`, or `./file.py:Class` beside the file that names it.",
    ),
    key("params", Kind::Plain, "What the class is made with: its constructor's arguments, by name.")
        .absent("none"),
];

/// A rule as a stack names it.
#[derive(Clone, Debug)]
pub struct OwnRule {
    /// The class, and where that is said.
    pub class: Item,
    pub params: Vec<(String, Plain)>,
    /// Who makes such rules; `None` until somebody has looked for the class.
    pub maker: Option<Arc<dyn Make>>,
}

impl OwnRule {
    /// From the values of a section whose rule is of somebody's own.
    pub fn read(v: &Values) -> Option<OwnRule> {
        let class = v.item("class")?.clone();
        class.text()?;
        let params = match v.item("params").map(|item| &item.value) {
            Some(Value::Plain(entries)) => entries.clone(),
            Some(_) => return None,
            None => Vec::new(),
        };
        Some(OwnRule { class, params, maker: None })
    }

    pub fn write(&self, out: &mut Lines) {
        out.text("class", self.name());
        if !self.params.is_empty() {
            out.raw("params", params::plain::table(&self.params));
        }
    }

    /// The class, as the file has it.
    pub fn name(&self) -> &str {
        self.class.text().unwrap_or_default()
    }
    /// The same without the folders of a file.
    pub fn short(&self) -> &str {
        self.name().rsplit(['/', '\\']).next().unwrap_or_default()
    }
}

/// As files say it: who makes them does not count.
impl PartialEq for OwnRule {
    fn eq(&self, other: &OwnRule) -> bool {
        self.name() == other.name() && self.params == other.params
    }
}

/// The rules of one's own of a stack, by the question that each answers; in boxes, as nearly every stack has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnRules {
    pub detect: Option<Box<OwnRule>>,
    pub recovery: Option<Box<OwnRule>>,
    pub congestion: Option<Box<OwnRule>>,
    pub mishap: Mishap,
}

impl OwnRules {
    /// With the name of the section that says it.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &OwnRule)> {
        let all = [("detect", &self.detect), ("recovery", &self.recovery), ("congestion", &self.congestion)];
        all.into_iter().filter_map(|(section, rule)| Some((section, rule.as_deref()?)))
    }
    pub fn all_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut OwnRule)> {
        let OwnRules { detect, recovery, congestion, .. } = self;
        let all = [("detect", detect), ("recovery", recovery), ("congestion", congestion)];
        all.into_iter().filter_map(|(section, rule)| Some((section, rule.as_deref_mut()?)))
    }

    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// For one run: nothing has gone wrong yet.
    pub fn begin(&mut self) {
        self.mishap = Mishap::default();
    }

    pub(crate) fn detector(&self) -> Option<Box<dyn OwnDetector>> {
        self.detect.as_ref()?.maker.as_ref()?.detector(&self.mishap)
    }
    pub(crate) fn time_detector(&self) -> Option<Box<dyn OwnTimeDetector>> {
        self.detect.as_ref()?.maker.as_ref()?.time_detector(&self.mishap)
    }
    pub(crate) fn repair(&self) -> Option<Box<dyn OwnRecovery>> {
        self.recovery.as_ref()?.maker.as_ref()?.recovery(&self.mishap)
    }
    pub(crate) fn window(&self) -> Option<Box<dyn OwnWindow>> {
        self.congestion.as_ref()?.maker.as_ref()?.window(&self.mishap)
    }
    pub(crate) fn habits(&self) -> Habits {
        self.recovery
            .as_ref()
            .and_then(|rule| rule.maker.as_ref())
            .map_or(Habits::RFC, |maker| maker.habits())
    }
}

/// What went wrong in a rule of one's own, told once: from then on it does nothing, and whoever turns the run ends it.
#[derive(Clone, Debug, Default)]
pub struct Mishap(Arc<OnceLock<String>>);

impl Mishap {
    /// The first one counts.
    pub fn tell(&self, why: String) {
        // What came before it is what matters.
        let _ = self.0.set(why);
    }
    #[inline]
    pub fn told(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// What happened is no part of what a stack is.
impl PartialEq for Mishap {
    fn eq(&self, _: &Mishap) -> bool {
        true
    }
}

/// Makes rules of one class, one for each connection.
pub trait Make: Debug + Send + Sync {
    fn window(&self, _mishap: &Mishap) -> Option<Box<dyn OwnWindow>> {
        None
    }
    fn detector(&self, _mishap: &Mishap) -> Option<Box<dyn OwnDetector>> {
        None
    }
    fn time_detector(&self, _mishap: &Mishap) -> Option<Box<dyn OwnTimeDetector>> {
        None
    }
    fn recovery(&self, _mishap: &Mishap) -> Option<Box<dyn OwnRecovery>> {
        None
    }
    /// What its recovery rules want of the sender around them.
    fn habits(&self) -> Habits {
        Habits::RFC
    }
}

/// A window rule (`WindowRule` in `congestion`, whose hooks these are). Undo is a copy before, put back after: a copy must
/// share nothing that either changes.
pub trait OwnWindow: Debug + Send + Sync {
    fn measure(&mut self, w: &Window, a: &AckFacts, open: bool);
    fn in_slow_start(&self, w: &Window) -> bool;
    fn counts_segments(&self) -> bool;
    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32);
    fn at_round_end(&mut self, w: &mut Window, a: &AckFacts) -> bool;
    fn rest(&mut self, a: &AckFacts);
    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32;
    fn timed_out(&mut self, w: &Window, so_far: &Progress);
    fn taken_back(&mut self, w: &mut Window, cwnd: u32);
    fn on_recovery_end(&mut self, w: &mut Window, now: Time);
    fn after_idle(&mut self, w: &mut Window, now: Time);
    fn drives(&self) -> bool;
    fn begin(&mut self, w: &mut Window, d: &mut Driving<'_>);
    fn drive(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>);
    fn restart(&mut self, w: &mut Window, d: &mut Driving<'_>);
    fn copied(&self) -> Box<dyn OwnWindow>;
}

/// A detector that counts (`detect`): from facts to a verdict.
pub trait OwnDetector: Debug + Send + Sync {
    fn judge(&self, f: &DetectFacts<'_>) -> Verdict;
    /// Duplicates are ACKs with news in their SACK blocks (RFC 6675 §2) rather than those of RFC 5681 §2.
    fn counts_news(&self) -> bool;
    fn copied(&self) -> Box<dyn OwnDetector>;
}

/// A detector that goes by time (`Rack` in `detect`, whose hooks these are): it says against what copies are held, and the
/// sender marks what is lost by that and sets the timer for the rest.
pub trait OwnTimeDetector: Debug + Send + Sync {
    /// The next ACK while nothing is wrong: the last of what it acknowledges was sent once, and last.
    fn note_plain(&mut self, newest: Copy, now: Time);
    /// Any other ACK.
    fn note(&mut self, d: &Delivery);
    /// After that: against what copies are held now; `None` where nothing is to be looked for.
    fn look(&mut self, p: &Patience, now: Time) -> Option<Horizon>;
    /// The same when the reorder timer fired.
    fn horizon(&mut self, p: &Patience, now: Time) -> Option<Horizon>;
    /// At a timeout what left later may still arrive.
    fn spared_since(&self, now: Time) -> Time;
    /// A recovery ended, and was not needless.
    fn recovery_ended(&mut self);
    /// A repair was taken back: what is on its way is looked at anew.
    fn taken_back(&mut self);
    /// By DSACKs.
    fn taken_back_by_dsack(&mut self);
    /// Segments may come so far out of order; and how often they did.
    fn reordering(&self, dupthresh: u32) -> u32;
    fn reordering_seen(&self) -> u32;
    fn copied(&self) -> Box<dyn OwnTimeDetector>;
}

/// A recovery rule (`recovery`).
pub trait OwnRecovery: Debug + Send + Sync {
    fn enter(&mut self, w: &mut Window, dupthresh: u32, f: &RepairFacts);
    fn on_ack(&mut self, w: &mut Window, f: &RepairFacts);
    fn sent(&mut self, bytes: u32);
    fn exit(&mut self, w: &mut Window, f: &RepairFacts);
    fn uses_pipe(&self) -> bool;
    fn partial_ack_restarts_timer(&self, first: bool) -> bool;
    fn copied(&self) -> Box<dyn OwnRecovery>;
}

macro_rules! clones {
    ($($hooks:ident),+) => {$(
        impl Clone for Box<dyn $hooks> {
            fn clone(&self) -> Box<dyn $hooks> {
                // Of what is in the box: the box itself would ask itself.
                (**self).copied()
            }
        }
    )+};
}
clones!(OwnWindow, OwnDetector, OwnTimeDetector, OwnRecovery);
