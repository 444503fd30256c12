//! Timelines of RACK, TLP, PRR, F-RTO and the rest, in packetdrill's language: each passes on the stack that it is about,
//! and none of its alterations does.

use std::path::PathBuf;

fn scripts() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "pkt"))
        .map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    all.sort();
    all
}

const STACK: &str = "linux-6-cubic";

#[test]
fn every_timeline_passes() {
    let all = scripts();
    assert!(all.len() >= 9);
    for (path, text) in all {
        let outcome = drill::run(&text, STACK).unwrap();
        assert_eq!(outcome.stop, None, "{}\n{}", path.display(), outcome.ladder.join("\n"));
    }
}

#[test]
fn no_alteration_of_one_passes() {
    let stack = scenario::describe::load(STACK).unwrap();
    let mut tried = 0;
    for (path, text) in scripts() {
        let script = drill::read(&text).unwrap();
        for altered in drill::mutate::alterations(&script) {
            tried += 1;
            let stop = drill::play(&altered.script, &stack).stop;
            let failed = matches!(stop, Some(drill::Stop::Failed(_)));
            assert!(
                failed,
                "{}:{}: {} altered, and it is {stop:?}",
                path.display(),
                altered.line,
                altered.what
            );
        }
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn a_script_of_what_a_stack_does_not_do_fails_with_line_and_ladder() {
    let (_, text) = scripts().into_iter().find(|(p, _)| p.ends_with("tlp.pkt")).unwrap();
    let text = text
        .replace("`../common/defaults.sh`", "")
        .replace("<mss 1460,nop,nop,sackOK,nop,wscale 8>", "<...>");
    let outcome = drill::run(&text, "linux-2.6-cubic").unwrap();
    let Some(drill::Stop::Failed(at)) = outcome.stop else { panic!("{outcome:?}") };
    assert!(at.line > 8 && !outcome.ladder.is_empty(), "{at:?}");
}
