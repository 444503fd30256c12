//! What a one-way stack is made of, as plain data. Each switch names the ns-2 variable that it stands for.

use wire::Span;

/// IP's header and TCP's, without options.
const HEADERS: u32 = 40;

/// ns-2's one-way TCP, sender and sink. [`OneWay::ns2_35`] and [`OneWay::of_1998`] are the two usual readings.
#[derive(Clone, Debug, PartialEq)]
pub struct OneWay {
    pub variant: OneWayVariant,

    // ---- sizes and windows ----
    /// Largest window, packets (`window_`).
    pub window_packets: u32,
    /// `windowInit_`.
    pub initial_window_packets: u32,
    /// `None` starts at the window.
    pub initial_ssthresh_packets: Option<u32>,
    /// `maxcwnd_`; `None` is no limit.
    pub max_cwnd_packets: Option<u32>,
    /// Bytes of a data packet on the wire, headers included (`packetSize_` with `useHeaders_` off).
    pub packet_bytes: u32,
    /// Bytes of an ACK, SACK blocks (8 bytes each) not counted; also of a SYN.
    pub ack_bytes: u32,
    /// Packet 0 stands for the SYN and has `ack_bytes` (`syn_`). Vegas sends it full-sized.
    pub syn: bool,
    /// cwnd is the initial window once packet 0 is acknowledged; with `syn`, 1 until then (`delay_growth_`).
    pub delay_growth: bool,

    // ---- the retransmission timer ----
    /// `tcpTick_`.
    pub tick: Span,
    /// Where in a tick the timer's clock starts (`boot_time_`), as a fraction of a tick, 0 ..< 1.
    pub tick_phase: f64,
    /// `rtxcur_init_`, `minrto_`, `maxrto_`.
    pub rto_initial: Span,
    pub rto_min: Span,
    pub rto_max: Span,
    /// The minimum holds before the back-off multiplies, and the back-off may pass 64 (`rfc2988_`).
    pub min_before_backoff: bool,
    /// An ACK sets the timer with the RTT that it brought, not the one before (`timerfix_`).
    pub timer_after_rtt: bool,
    /// Every ACK brings an RTT, by the echoed time (`timestamps_`).
    pub timestamps: bool,
    /// Added to data packets then (`ts_option_size_`, where `useHeaders_` is on).
    pub timestamp_bytes: u32,
    /// Such an RTT ends the back-off even if it is not of a packet sent since (`ts_resetRTO_`).
    pub timestamps_end_backoff: bool,

    // ---- when to send ----
    /// `numdupacks_`.
    pub dupthresh: u32,
    /// A new packet on each duplicate ACK before DupThresh (`singledup_`, RFC 3042).
    pub limited_transmit: bool,
    /// Most packets sent at one ACK (`maxburst_`); `None` is no limit.
    pub max_burst_packets: Option<u32>,
    /// ACKs older than the last may trigger sending, too (`aggressive_maxburst_`).
    pub burst_on_old_acks: bool,
    /// Each send waits a random time, uniform up to this (`overhead_`), so that flows do not lock in phase.
    pub overhead: Span,
    /// The timer closes the window of a sender that was idle for an RTO (`slow_start_restart_`) ...
    pub restart_after_idle: bool,
    /// ... but leaves ssthresh and the back-off as they are (`restart_bugfix_`).
    pub restart_keeps_ssthresh: bool,

    // ---- recovery ----
    /// No second fast retransmit within one window of data (`bugFix_`) ...
    pub bug_fix: bool,
    /// ... except for the first packets; and no larger initial window where packet 0 was lost (`bugfix_ss_`).
    pub bug_fix_first_window: bool,
    /// Half a window keeps its fraction (`precisionReduce_`).
    pub exact_halving: bool,
    /// Duplicate ACKs inflate only in a recovery that is going on (`exitFastRetrans_`).
    pub clean_exit: bool,
    /// A partial ACK deflates by what it acknowledges; without, it ends the inflation (`partial_window_deflation_`).
    pub newreno_partial_deflation: bool,
    /// Only the first partial ACK sets the timer (`newreno_changes1_`, RFC 2582's impatient variant).
    pub newreno_impatient: bool,
    /// Hoe 1996: ssthresh by the first ACKs, a new packet on every second duplicate (`newreno_changes_`).
    pub newreno_hoe: bool,
    /// Fast retransmit also where `recover` itself is what is acknowledged (`lessCareful_`).
    pub newreno_less_careful: bool,
    /// cwnd leaves recovery at what is outstanding, where that is below ssthresh (`exit_recovery_fix_`).
    pub newreno_exit_by_flight: bool,
    /// Recovery's pipe counts limited transmit's packets (`LimTransmitFix_`).
    pub sack_limited_transmit_pipe: bool,
    /// A partial ACK sends two packets, and only the first sets the timer (`partial_ack_`).
    pub sack_partial_ack_sends: bool,
    /// Recovery's pipe starts from cwnd, not from what is outstanding (`oldCode_`).
    pub sack_pipe_from_cwnd: bool,

    /// Vegas thresholds, packets (`v_alpha_`, `v_beta_`, `v_gamma_`).
    pub vegas_alpha: f64,
    pub vegas_beta: f64,
    pub vegas_gamma: f64,

    // ---- the sink ----
    /// Acknowledges every `delayed_ack`-th packet (1: each; 2: `DelAck`) ...
    pub delayed_ack: u32,
    /// ... or after this (`interval_`).
    pub delayed_ack_timeout: Span,
    /// Packets that fill a gap are acknowledged at once (`RFC2581_immediate_ack_`).
    pub delayed_ack_gaps_at_once: bool,
    /// Packet 0 is acknowledged at once (`SYN_immediate_ack_`).
    pub delayed_ack_syn_at_once: bool,
    /// Most SACK blocks in an ACK, up to 3 (`maxSackBlocks_`); used where the sender is Sack1.
    pub sack_blocks: u32,
    /// The first block tells of a packet that arrived twice (`generateDSacks_`).
    pub dsack: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneWayVariant {
    Tahoe,
    Reno,
    NewReno,
    Sack1,
    Vegas,
}

impl OneWay {
    /// Packet 0 stands for the SYN, and is as small. Vegas' is a packet like any other.
    pub fn sends_syn(&self) -> bool {
        self.syn && self.variant != OneWayVariant::Vegas
    }

    /// What one number stands for, bytes.
    pub fn payload_bytes(&self) -> u32 {
        self.packet_bytes.saturating_sub(HEADERS).max(1)
    }

    /// ns-2.35 as it comes, but for what papers always set: 1024-byte packets, a window of 50.
    pub fn ns2_35(variant: OneWayVariant) -> OneWay {
        OneWay {
            variant,
            window_packets: 50,
            initial_window_packets: 2,
            initial_ssthresh_packets: None,
            max_cwnd_packets: None,
            packet_bytes: 1024,
            ack_bytes: 40,
            syn: true,
            delay_growth: true,
            tick: Span::from_millis(10),
            tick_phase: 0.0,
            rto_initial: Span::from_secs(3),
            rto_min: Span::from_millis(200),
            rto_max: Span::from_secs(60),
            min_before_backoff: true,
            timer_after_rtt: true,
            timestamps: false,
            timestamp_bytes: 0,
            timestamps_end_backoff: false,
            dupthresh: 3,
            limited_transmit: true,
            max_burst_packets: None,
            burst_on_old_acks: true,
            overhead: Span::ZERO,
            restart_after_idle: true,
            restart_keeps_ssthresh: true,
            bug_fix: true,
            bug_fix_first_window: true,
            exact_halving: true,
            clean_exit: true,
            newreno_partial_deflation: true,
            newreno_impatient: true,
            newreno_hoe: false,
            newreno_less_careful: false,
            newreno_exit_by_flight: false,
            sack_limited_transmit_pipe: false,
            sack_partial_ack_sends: false,
            sack_pipe_from_cwnd: false,
            vegas_alpha: 1.0,
            vegas_beta: 3.0,
            vegas_gamma: 1.0,
            delayed_ack: 1,
            delayed_ack_timeout: Span::from_millis(100),
            delayed_ack_gaps_at_once: true,
            delayed_ack_syn_at_once: true,
            sack_blocks: 3,
            dsack: false,
        }
    }

    /// ns-2 as it was in 1998, when paper `wireless` used it: no SYN, coarse ticks, no least RTO, NewReno before its
    /// RFC, whole-packet halving.
    pub fn of_1998(variant: OneWayVariant) -> OneWay {
        OneWay {
            initial_window_packets: 1,
            syn: false,
            delay_growth: false,
            tick: Span::from_millis(100),
            rto_initial: Span::from_secs(6),
            rto_min: Span::ZERO,
            rto_max: Span::from_secs(64),
            min_before_backoff: false,
            limited_transmit: false,
            exact_halving: false,
            newreno_partial_deflation: false,
            newreno_impatient: false,
            ..OneWay::ns2_35(variant)
        }
    }
}
