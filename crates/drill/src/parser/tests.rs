use super::*;
use wire::Flags;

fn events(text: &str) -> Vec<Event> {
    parse(text).unwrap().events
}

#[test]
fn every_kind_of_event_is_read_with_its_line_and_time() {
    let text = "// a comment\n--tolerance_usecs=20000\n`../common/defaults.sh\nsysctl -q net.ipv4.tcp_sack=1`\n\
                0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n/* and\nanother */\n\
                +.1 < SEW 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7>\n\
                +.3~+.310 > [ect0] P. 1:1001(1000) ack 1\n\
                * > . 1001:2001(1000) ack 1 <...>\n\
                1.5 %{ assert tcpi_snd_cwnd == 10 }%\n\
                +0...0.010 connect(3, ..., ...) = -1 ETIMEDOUT (gave up)\n";
    let script = parse(text).unwrap();
    assert_eq!(script.options[0].value.as_deref(), Some("20000"));
    assert!(script.first.is_some());
    let lines: Vec<u32> = script.events.iter().map(|e| e.line).collect();
    assert_eq!(lines, [5, 8, 9, 10, 11, 12]);
    let Action::Inject(syn) = &script.events[1].what else { panic!() };
    assert_eq!(syn.flags, Flags::SYN.with(Flags::ECE).with(Flags::CWR));
    assert_eq!(syn.options.as_ref().unwrap()[0], TcpOption::Mss(1000));
    let range = When::Relative { from: Span::from_millis(300), to: Span::from_millis(310) };
    assert_eq!(script.events[2].when, range);
    let Action::Expect(data) = &script.events[2].what else { panic!() };
    assert_eq!((data.ecn, data.payload, data.end()), (Some(Ecn::Ect0), 1000, 1001));
    let Action::Call(call) = &script.events[5].what else { panic!() };
    assert_eq!((call.until, call.errno.as_deref()), (Some(Span::from_millis(10)), Some("ETIMEDOUT")));
}

#[test]
fn sack_blocks_follow_each_other_without_commas() {
    let all = events("0 < . 1:1(0) ack 1 win 257 <sack 1001:2001 3001:4001,nop,nop>");
    let Action::Inject(p) = &all[0].what else { panic!() };
    assert_eq!(p.options.as_ref().unwrap()[0], TcpOption::Sack(vec![(1001, 2001), (3001, 4001)]));
}

#[test]
fn an_error_names_the_line_and_what_stands_there() {
    let told = |text: &str| match parse(text) {
        Err(Stop::Malformed(at)) => format!("{}: {}", at.line, at.says),
        other => panic!("{other:?}"),
    };
    assert_eq!(told("0 < . 1:1001(900) ack 1"), "1: 1:1001(900): 1 and 900 bytes make 901");
    assert_eq!(told("0 socket(...) = 3\n+0 < Q. 1:1(0)"), "2: `Q` is no flag of F, S, R, P, E, W or `.`");
    assert_eq!(
        told("0 < . 1:1(0) ack 1 <mss 1000,what>"),
        "1: `what` is no option of mss, wscale, sackOK, sack, TS, nop or eol"
    );
    assert_eq!(told("0 %{ assert"), "1: code begun by `%{` is never closed by `}%`");
    assert_eq!(told("+1 socket(...) = 3"), "1: the first event is not at time 0");
    assert_eq!(told("0 write(4, ..., 1 = 1"), "1: `=` where `,` or `)` should stand");
    assert_eq!(
        told("* write(4) = 1"),
        "1: only a packet that is to leave may have `*` or a range as its time"
    );
}

#[test]
fn what_the_language_has_and_rexmit_has_not_is_named() {
    let told = |text: &str| match parse(text) {
        Err(Stop::Unsupported(at)) => at.says,
        other => panic!("{other:?}"),
    };
    assert_eq!(told("0 < icmp unreachable frag_needed mtu 1200 [1:1(0)]"), "ICMP");
    assert_eq!(told("0 > S.5 0:0(0) ack 1"), "accurate ECN (an ACE count)");
    assert_eq!(told("0 < S 0:0(0) <FO abcd>"), "TCP Fast Open");
    assert_eq!(told("0 > [tos 0x4] . 1:1(0) ack 1"), "a packet's tos");
}
