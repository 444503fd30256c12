//! What follows from the list of window rules: the enum of what stacks say of them, and the one that is run.

/// Held as it is; beside `Box`.
pub(super) type Plain<T> = T;

/// Each rule's page has its parameters as `Params`, and its state under the rule's own name.
macro_rules! window_rules {
    ($($rule:ident($page:ident) in $held:ident,)+) => {
        params::choice! {
            /// A window rule as a stack picks it, with its parameters.
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub enum WindowRuleKind { $($rule($page::Params),)+ }
        }

        /// The window rule of one connection. Enum dispatch: no indirect call at every ACK.
        #[derive(Clone, Debug)]
        enum Rule { $($rule($held<$page::$rule>),)+ }

        /// The same call on whichever rule it is.
        impl Rule {
            fn new(kind: &WindowRuleKind) -> Rule {
                match kind {
                    $(WindowRuleKind::$rule(params) => Rule::$rule($page::$rule::new(params).into()),)+
                }
            }
            #[inline(always)]
            fn on_ack(&mut self, slow_start: &mut SlowStart, rests: bool, w: &mut Window, a: &AckFacts) {
                match self { $(Rule::$rule(r) => r.on_ack(slow_start, rests, w, a),)+ }
            }
            fn grow(&mut self, slow_start: &mut SlowStart, rests: bool, w: &mut Window, a: &AckFacts) {
                match self { $(Rule::$rule(r) => r.grow(slow_start, rests, w, a),)+ }
            }
            #[inline(always)]
            fn measure(&mut self, w: &mut Window, a: &AckFacts, open: bool) {
                match self { $(Rule::$rule(r) => r.measure(w, a, open),)+ }
            }
            fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
                match self { $(Rule::$rule(r) => r.ssthresh(w, l),)+ }
            }
            fn timed_out(&mut self, w: &Window, l: &LossFacts, so_far: &Progress) {
                match self { $(Rule::$rule(r) => r.timed_out(w, l, so_far),)+ }
            }
            fn taken_back(&mut self, w: &mut Window, cwnd: u32) {
                match self { $(Rule::$rule(r) => r.taken_back(w, cwnd),)+ }
            }
            fn on_recovery_end(&mut self, w: &mut Window, now: Time) {
                match self { $(Rule::$rule(r) => r.on_recovery_end(w, now),)+ }
            }
            fn taken_up(&mut self) {
                match self { $(Rule::$rule(r) => r.taken_up(),)+ }
            }
            fn after_idle(&mut self, w: &mut Window, now: Time) {
                match self { $(Rule::$rule(r) => r.after_idle(w, now),)+ }
            }
            fn drives(&self) -> bool {
                match self { $(Rule::$rule(r) => r.drives(),)+ }
            }
            fn begin(&mut self, w: &mut Window, d: &mut Driving<'_>) {
                match self { $(Rule::$rule(r) => r.begin(w, d),)+ }
            }
            fn drive(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>) {
                match self { $(Rule::$rule(r) => r.drive(w, s, d),)+ }
            }
            fn restart(&mut self, w: &mut Window, d: &mut Driving<'_>) {
                match self { $(Rule::$rule(r) => r.restart(w, d),)+ }
            }
        }
    };
}
