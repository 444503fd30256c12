//! Each law of the audit, and an answer that breaks it.

use analysis::waits::Stretch;
use explain::answer::{Answer, PathWords, Share, Words};
use explain::audit::violations;
use explain::cause::Cause;
use explain::certainty::Certainty;
use explain::conversation::Rows;
use wire::{Span, Time};

fn kept() -> (Vec<Stretch>, Answer) {
    let waits = vec![Stretch { end: Time::ZERO + Span::from_secs(2), ..Stretch::default() }];
    let share = Share {
        cause: Cause::Outage,
        by: None,
        time: Span::from_secs(1),
        share: 1.0,
        certainty: Certainty::Likely,
        first: Time::ZERO,
        last: Time::ZERO + Span::from_secs(1),
        words: Words { text: "1 packet was lost.".into(), ..Words::default() },
    };
    let answer = Answer {
        cause: Cause::Outage,
        by: None,
        certainty: Certainty::Likely,
        text: "1 packet was lost.".into(),
        owed: Span::from_secs(1),
        causes: vec![share],
        findings: Vec::new(),
        paths: [PathWords { own_share: 1.0, ..Default::default() }; 2],
        outages: [None, None],
        limits: Vec::new(),
    };
    (waits, answer)
}

fn broken(change: impl Fn(&mut Answer)) -> Vec<String> {
    let (waits, mut answer) = kept();
    change(&mut answer);
    violations(&Rows { waits: &waits, ..Rows::default() }, &answer)
}

#[test]
fn each_law_is_broken_by_what_it_forbids() {
    assert_eq!(broken(|_| ()), [""; 0]);
    assert_eq!(broken(|a| a.causes[0].time = Span::from_millis(900)).len(), 1);
    assert_eq!(broken(|a| (a.owed, a.causes[0].time) = (Span::from_secs(3), Span::from_secs(3))).len(), 1);
    assert_eq!(broken(|a| a.cause = Cause::LossQueue).len(), 1);
    assert_eq!(broken(|a| a.text.clear()).len(), 1);
    assert_eq!(broken(|a| a.causes[0].share = 1.5).len(), 1);
    assert_eq!(broken(|a| a.causes[0].words.text = "0 packets were lost.".into()).len(), 1);
    assert_eq!(
        broken(|a| a.causes[0].words.text = "It took 1 ms before each of 30 messages.".into()),
        [""; 0]
    );
    assert_eq!(broken(|a| a.paths[0].own_share = -0.1).len(), 0, "no flow, no path");
}
