//! A window rule of somebody's own ([`crate::own`]): its hooks, asked where those of the rules here are.

use super::{AckFacts, Driving, LossFacts, Window, WindowRule};
use crate::own::{self, OwnWindow};
use crate::sampler::rate::{Progress, RateSample};
use params::keys::{Variant, variant};
use params::{Lines, Problems, Values};
use wire::Time;

/// Which class it is, and with what, stands beside the sections of a stack ([`own::OwnRules`]): these are plain data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params;

impl params::Params for Params {
    const VARIANT: Variant =
        variant("python", "A class of one's own in Python (docs/own-rules.md).", own::KEYS);
    fn read(_: &Values, _: &mut Problems) -> Option<Params> {
        Some(Params)
    }
    fn write(&self, _: &mut Lines) {}
}

/// Before the handshake is over there is none, and nothing to ask it.
#[derive(Clone, Debug)]
pub(super) struct Own(Option<Box<dyn OwnWindow>>);

impl Own {
    pub(super) fn bring(&mut self, rule: Box<dyn OwnWindow>) {
        self.0 = Some(rule);
    }
}

impl WindowRule for Own {
    type Params = Params;

    fn new(_: &Params) -> Own {
        Own(None)
    }
    fn measure(&mut self, w: &mut Window, a: &AckFacts, open: bool) {
        if let Some(rule) = &mut self.0 {
            rule.measure(w, a, open);
        }
    }
    fn in_slow_start(&self, w: &Window) -> bool {
        self.0.as_ref().is_some_and(|rule| rule.in_slow_start(w))
    }
    fn counts_segments(&self) -> bool {
        self.0.as_ref().is_some_and(|rule| rule.counts_segments())
    }
    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        if let Some(rule) = &mut self.0 {
            rule.avoid(w, a, acked);
        }
    }
    fn at_round_end(&mut self, w: &mut Window, a: &AckFacts) -> bool {
        self.0.as_mut().is_some_and(|rule| rule.at_round_end(w, a))
    }
    fn rest(&mut self, a: &AckFacts) {
        if let Some(rule) = &mut self.0 {
            rule.rest(a);
        }
    }
    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.0.as_mut().map_or(w.ssthresh, |rule| rule.ssthresh(w, l))
    }
    fn timed_out(&mut self, w: &Window, _l: &LossFacts, so_far: &Progress) {
        if let Some(rule) = &mut self.0 {
            rule.timed_out(w, so_far);
        }
    }
    fn taken_back(&mut self, w: &mut Window, cwnd: u32) {
        if let Some(rule) = &mut self.0 {
            rule.taken_back(w, cwnd);
        }
    }
    fn on_recovery_end(&mut self, w: &mut Window, now: Time) {
        if let Some(rule) = &mut self.0 {
            rule.on_recovery_end(w, now);
        }
    }
    fn after_idle(&mut self, w: &mut Window, now: Time) {
        if let Some(rule) = &mut self.0 {
            rule.after_idle(w, now);
        }
    }
    fn drives(&self) -> bool {
        self.0.as_ref().is_some_and(|rule| rule.drives())
    }
    fn begin(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        if let Some(rule) = &mut self.0 {
            rule.begin(w, d);
        }
    }
    fn drive(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>) {
        if let Some(rule) = &mut self.0 {
            rule.drive(w, s, d);
        }
    }
    fn restart(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        if let Some(rule) = &mut self.0 {
            rule.restart(w, d);
        }
    }
}
