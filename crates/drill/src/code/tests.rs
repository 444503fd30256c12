use super::*;

fn run(code: &str) -> Result<(), Stop> {
    let known = |name: &str| match name {
        "tcpi_snd_cwnd" => Some(10),
        "tcpi_rtt" => Some(100_000),
        _ => None,
    };
    Variables::default().run(code, 7, &known)
}

#[test]
fn assertions_hold_or_do_not() {
    for held in [
        "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
        "assert tcpi_snd_cwnd >= 9 and tcpi_snd_cwnd < 11",
        "assert 9 < tcpi_snd_cwnd <= 10, 'cwnd=%d' % tcpi_snd_cwnd",
        "assert not tcpi_snd_cwnd == 11 or False",
        "assert abs(tcpi_rtt - 99000) <= 1000 # close",
        "x = 3; x += 4; assert x * 2 - 4 == tcpi_snd_cwnd; print(x)",
        "assert (tcpi_snd_cwnd // 3, 1) == 3",
        "assert TCP_CA_Open == 0 and 0x7fffffff == 2147483647 and 7 / 2 == 3.5",
        "print('a; # b'); pass",
        "assert tcpi_snd_cwnd == 10, 'why'; \\\n  assert tcpi_rtt \\\n > 0\\",
        "\n\nassert max(1, tcpi_snd_cwnd) == 10",
    ] {
        // The pair is no part of this language.
        let unsupported = held.contains(", 1) ==");
        assert_eq!(run(held).is_ok(), !unsupported, "{held}: {:?}", run(held));
    }
}

#[test]
fn what_does_not_hold_is_told_with_what_was_seen() {
    let told = |code: &str| match run(code) {
        Err(Stop::Failed(at)) => format!("{}: {}", at.line, at.says),
        other => panic!("{other:?}"),
    };
    let says = "8: assert tcpi_snd_cwnd == 11 does not hold: tcpi_snd_cwnd is 10";
    assert_eq!(told("\nassert tcpi_snd_cwnd == 11, 'why'"), says);
    assert_eq!(told("pass; \\\n pass\n\nassert 1 / 0 == 1"), "10: the code divides by 0");
    assert_eq!(told("assert 1 / 0 == 1"), "7: the code divides by 0");
}

#[test]
fn what_is_not_known_is_named() {
    let told = |code: &str| match run(code) {
        Err(Stop::Unsupported(at)) => at.says,
        other => panic!("{other:?}"),
    };
    assert_eq!(told("assert tcpi_busy_time > 0"), "the figure tcpi_busy_time");
    assert_eq!(told("import os"), "the code `import os`");
    assert_eq!(told("assert [1][0] == 1"), "`[1][0] == 1` in the code `[1][0] == 1`");
}
