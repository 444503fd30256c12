//! Runs that would never end, and what looks like one and does.

mod support;

use instant::{Span, Time};
use sim::{End, Simulation, Summary};
use support::scenario;

/// A path that loses all data of the first `dark`, and a sender that never gives up.
fn in_the_dark(dark: &str, stack: &str, more: &str) -> Summary {
    let text = format!(
        "name = \"t\"\n{more}\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"20ms\"\n\
         [[link.channel]]\nname = \"black\"\nonly = \"data\"\n{dark}\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"stubborn\"\n\
         workload = {{ kind = \"file\", size = \"1MB\" }}\n[[stack]]\nname = \"stubborn\"\n{stack}\n"
    );
    Simulation::new(&scenario(&text), 1).expect("a net can be built").run(&mut |_| true)
}

const FOR_EVER: &str = "kind = \"random\"\nloss = 1";
const ENDPOINT: &str = "based_on = \"rfc-sack\"\n[stack.send]\nmax_retries = 0";
/// It sends often, so that much happens in little time.
const AGENT: &str = "based_on = \"ns2-reno\"\n[stack.oneway]\nrto_max = \"500ms\"";

#[test]
fn a_path_that_never_delivers_ends_the_run_after_a_day() {
    for stack in [ENDPOINT, AGENT] {
        let summary = in_the_dark(FOR_EVER, stack, "");
        let End::Stuck { connections, in_vain: Some(time) } = &summary.end else {
            panic!("{:?}", summary.end)
        };
        assert_eq!(*connections, [0]);
        assert!(*time >= Span::from_secs(86_400), "{time}");
        assert!(summary.time - Time::ZERO < Span::from_secs(30 * 86_400), "{}", summary.time);
    }
}

#[test]
fn a_duration_is_kept_to() {
    let summary = in_the_dark(FOR_EVER, AGENT, "duration = \"48h\"");
    assert_eq!((summary.end, summary.time), (End::Duration, Time::ZERO + Span::from_secs(48 * 3600)));
}

#[test]
fn a_path_that_comes_back_within_a_day_ends_the_transfer() {
    let dark = "kind = \"outage\"\nschedule = { intervals = [[\"0s\", \"23h\"]] }";
    for stack in [ENDPOINT, AGENT] {
        assert_eq!(in_the_dark(dark, stack, "").end, End::Done);
    }
}
