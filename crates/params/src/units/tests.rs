use super::*;

#[test]
fn decimal_text_becomes_an_integer_exactly() {
    assert_eq!(rate("5.2Mbps"), Ok(5_200_000));
    assert_eq!(rate("0.8 Mbps"), Ok(800_000));
    assert_eq!(span("3.1s"), Ok(Span(3_100_000_000)));
    assert_eq!(span("100us"), Ok(Span(100_000)));
    assert_eq!(span("100µs"), Ok(Span(100_000)));
    assert_eq!(span("-40ms"), Ok(Span(-40_000_000)));
    assert_eq!(span("0.5ns"), Ok(Span(1)));
    assert_eq!(span("1e-3s"), Ok(Span(1_000_000)));
    assert_eq!(amount("10MiB", &[Unit::Bytes]), Ok(Amount::Bytes(10_485_760)));
    assert_eq!(amount("10 MB", &[Unit::Bytes]), Ok(Amount::Bytes(10_000_000)));
    assert_eq!(amount("3 SMSS", &[Unit::Bytes, Unit::Smss]), Ok(Amount::Smss(3.0)));
    assert_eq!(amount("0.08 packets", &[Unit::Packets, Unit::Time]), Ok(Amount::Packets(0.08)));
    assert_eq!(amount("30ms", &[Unit::Packets, Unit::Time]), Ok(Amount::Time(Span(30_000_000))));
    assert_eq!(probability("2%"), Ok(0.02));
    assert_eq!(probability("1e-6"), Ok(1e-6));
    assert_eq!(probability("0.1%"), Ok(0.001));
}

#[test]
fn a_slip_has_its_name() {
    assert_eq!(rate("5.2"), Err(Slip::NoUnit));
    assert_eq!(rate("5.2ms"), Err(Slip::WrongUnit));
    assert_eq!(rate("5.2MBps"), Err(Slip::WrongUnit));
    assert_eq!(rate("-1Mbps"), Err(Slip::Negative));
    assert_eq!(rate("fast"), Err(Slip::NoNumber));
    assert_eq!(rate("1.2.3Mbps"), Err(Slip::NoNumber));
    assert_eq!(rate("99999999999Tbps"), Err(Slip::TooLarge));
    assert_eq!(span("1e300s"), Err(Slip::TooLarge));
    assert_eq!(span("900000h"), Err(Slip::TooLarge));
    assert_eq!(amount("5ms", &[Unit::Bytes]), Err(Slip::WrongUnit));
    assert_eq!(amount("5", &[Unit::Bytes]), Err(Slip::NoUnit));
    assert_eq!(amount("-5B", &[Unit::Bytes]), Err(Slip::Negative));
    assert_eq!(span(""), Err(Slip::NoNumber));
    assert_eq!(span("é"), Err(Slip::NoNumber));
    assert_eq!(span("1é"), Err(Slip::WrongUnit));
}

#[test]
fn what_is_shown_reads_back_the_same() {
    for ns in [0, 1, 999, 1_000, 200_000_000, 3_100_000_000, 60_000_000_000, -40_000_000, 74_400_001] {
        assert_eq!(span(&show_span(Span(ns))), Ok(Span(ns)));
    }
    for bps in [1, 999, 1_000, 5_200_000, 800_000, 1_500_000, 1_000_000_000, 123_456_789] {
        assert_eq!(rate(&show_rate(bps)), Ok(bps));
    }
    for bytes in [1, 1_000, 1_024, 10_485_760, 10_000_000, 1_460, 65_535] {
        assert_eq!(amount(&show_bytes(bytes), &[Unit::Bytes]), Ok(Amount::Bytes(bytes)));
    }
}
