//! A run asks often enough whether to go on, while it is built, too: Ctrl-C answers within a second.

mod support;

use sim::{End, Rows, Simulation};
use support::scenario;

const COUNT: usize = 5000;

fn text() -> String {
    format!(
        "name = \"many\"\nduration = \"1s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"5ms\"\n[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
         stack = \"rfc-sack\"\nworkload = {{ kind = \"endless\" }}\ncount = {COUNT}\n"
    )
}

#[test]
fn building_is_asked_about_every_few_hundred_connections() {
    let mut asked = 0;
    let built = Simulation::recorded_while(&scenario(&text()), 1, Rows::default(), &mut |p| {
        assert_eq!(p.events, 0);
        asked += 1;
        true
    });
    // Some 20 us each in a slow build: 50 ms between two questions.
    assert!(asked >= COUNT / 1000, "asked {asked} times");
    assert!(built.is_ok());
}

#[test]
fn a_run_that_is_stopped_while_it_is_built_has_no_event_and_says_that_it_was_stopped() {
    let mut left = 3;
    let mut run = Simulation::recorded_while(&scenario(&text()), 1, Rows::default(), &mut |_| {
        left -= 1;
        left > 0
    })
    .expect("a net can be built");
    let summary = run.run(&mut |_| panic!("it is over"));
    assert_eq!((&summary.end, summary.events), (&End::Stopped, 0));
    assert!(summary.connections.len() < COUNT);
}
