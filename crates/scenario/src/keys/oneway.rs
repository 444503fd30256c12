//! Keys of one-way agents; each names the ns-2 variable that it stands for. Defaults are ns-2.35's, but for what
//! papers always set: packets of 1024 bytes, a window of 50.

use super::stack::{SOURCE, UNLIMITED};
use super::*;

pub static ONEWAY_VARIANTS: &[Word] = &[
    word("tahoe", "Agent/TCP"),
    word("reno", "Agent/TCP/Reno"),
    word("newreno", "Agent/TCP/Newreno"),
    word("sack1", "Agent/TCP/Sack1"),
    word("vegas", "Agent/TCP/Vegas"),
];
static WINDOW_START: &[Word] = &[word("window", "starts at the window")];
static NO_BYTES: &[Word] = &[word("none", "0 bytes")];

const PACKETS: Kind = Kind::Amount(&[Unit::Packets]);

pub static ONEWAY: Table = Table {
    noun: "a one-way agent",
    doc: "ns-2's TCP, sender and sink: data one way, numbers count packets. Defaults are those of ns-2.35.",
    keys: &[
        key("variant", Kind::Choice(ONEWAY_VARIANTS), "The agent."),
        key("window", PACKETS, "Largest window (`window_`).").default("50 packets"),
        key("initial_window", PACKETS, "Window at the beginning (`windowInit_`).").default("2 packets"),
        key("initial_ssthresh", Kind::Or(WINDOW_START, &PACKETS), "ssthresh at the beginning (`ssthresh_`).").default("window"),
        key("max_cwnd", Kind::Or(UNLIMITED, &PACKETS), "Largest cwnd (`maxcwnd_`).").default("unlimited"),
        key("packet", BYTES, "A data packet on the wire, headers included (`packetSize_` with `useHeaders_` off).").default("1024B"),
        key("ack", BYTES, "An ACK without SACK blocks; a SYN.").default("40B"),
        flag("syn", "Packet 0 stands for the SYN (`syn_`).").default("true"),
        flag("delay_growth", "With `syn`, the window is 1 until packet 0 is acknowledged (`delay_growth_`).").default("true"),
        key("tick", POSITIVE_TIME, "The timer's tick (`tcpTick_`).").default("10ms"),
        key("tick_phase", Kind::Number(Range { least: 0.0, most: 1.0, above: false, below: true }), "Where in a tick the timer's clock starts, as a fraction of a tick (`boot_time_`).").default("0"),
        key("rto_initial", POSITIVE_TIME, "RTO before the first sample (`rtxcur_init_`).").default("3s"),
        key("rto_min", NOT_NEGATIVE_TIME, "Smallest RTO (`minrto_`).").default("200ms"),
        key("rto_max", POSITIVE_TIME, "Largest RTO (`maxrto_`).").default("60s"),
        flag("min_before_backoff", "The minimum holds before the back-off multiplies, and the back-off may pass 64 (`rfc2988_`).").default("true"),
        flag("timer_after_rtt", "An ACK sets the timer with the RTT that it brought, not the one before (`timerfix_`).").default("true"),
        flag("timestamps", "Every ACK brings an RTT, by the echoed time (`timestamps_`).").default("false"),
        key("timestamp_bytes", Kind::Or(NO_BYTES, &BYTES), "Added to data packets by timestamps (`ts_option_size_`).").default("none"),
        flag("timestamps_end_backoff", "An RTT by timestamps ends the back-off even if it is not of a packet sent since (`ts_resetRTO_`).").default("false"),
        key("dupthresh", whole(1, 1000), "Duplicate ACKs that prove a loss (`numdupacks_`).").default("3"),
        flag("limited_transmit", "A new packet on each duplicate ACK before that (`singledup_`, RFC 3042).").default("true"),
        key("max_burst", Kind::Or(UNLIMITED, &PACKETS), "Most packets sent at one ACK (`maxburst_`).").default("unlimited"),
        flag("burst_on_old_acks", "ACKs older than the last may trigger sending, too (`aggressive_maxburst_`).").default("true"),
        key("overhead", NOT_NEGATIVE_TIME, "Each send waits a random time, uniform up to this (`overhead_`).").default("0s"),
        flag("restart_after_idle", "The timer closes the window of a sender that was idle for an RTO (`slow_start_restart_`).").default("true"),
        flag("restart_keeps_ssthresh", "It then leaves ssthresh and back-off as they are (`restart_bugfix_`).").default("true"),
        flag("bug_fix", "No second fast retransmit within one window of data (`bugFix_`).").default("true"),
        flag("bug_fix_first_window", "Except for the first packets; no larger initial window where packet 0 was lost (`bugfix_ss_`).").default("true"),
        flag("exact_halving", "Half a window keeps its fraction (`precisionReduce_`).").default("true"),
        flag("clean_exit", "Duplicate ACKs inflate only in a recovery that is going on (`exitFastRetrans_`).").default("true"),
        flag("newreno_partial_deflation", "A partial ACK deflates by what it acknowledges (`partial_window_deflation_`).").default("true"),
        flag("newreno_impatient", "Only the first partial ACK sets the timer (`newreno_changes1_`).").default("true"),
        flag("newreno_hoe", "Hoe 1996: ssthresh by the first ACKs, a new packet on every second duplicate (`newreno_changes_`).").default("false"),
        flag("newreno_less_careful", "Fast retransmit also where `recover` itself is acknowledged (`lessCareful_`).").default("false"),
        flag("newreno_exit_by_flight", "cwnd leaves recovery at what is outstanding, where that is below ssthresh (`exit_recovery_fix_`).").default("false"),
        flag("sack_limited_transmit_pipe", "Recovery's pipe counts limited transmit's packets (`LimTransmitFix_`).").default("false"),
        flag("sack_partial_ack_sends", "A partial ACK sends two packets, and only the first sets the timer (`partial_ack_`).").default("false"),
        flag("sack_pipe_from_cwnd", "Recovery's pipe starts from cwnd, not from what is outstanding (`oldCode_`).").default("false"),
        key("vegas_alpha", number(0.0, BIG), "Vegas' alpha, packets (`v_alpha_`).").default("1"),
        key("vegas_beta", number(0.0, BIG), "Vegas' beta, packets (`v_beta_`).").default("3"),
        key("vegas_gamma", number(0.0, BIG), "Vegas' gamma, packets (`v_gamma_`).").default("1"),
        key("delayed_ack", whole(1, 1000), "The sink acknowledges every so many packets (2: `DelAck`).").default("1"),
        key("delayed_ack_timeout", POSITIVE_TIME, "It waits no longer than this (`interval_`).").default("100ms"),
        flag("delayed_ack_gaps_at_once", "Packets that fill a gap are acknowledged at once (`RFC2581_immediate_ack_`).").default("true"),
        flag("delayed_ack_syn_at_once", "Packet 0 is acknowledged at once (`SYN_immediate_ack_`).").default("true"),
        key("sack_blocks", whole(0, 3), "Most SACK blocks in an ACK (`maxSackBlocks_`); used where the sender is sack1.").default("3"),
        flag("dsack", "The first block tells of a packet that arrived twice (`generateDSacks_`).").default("false"),
        SOURCE,
    ],
    forms: None,
    variants: None,
};
