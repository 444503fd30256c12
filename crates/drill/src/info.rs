//! TCP_INFO: what the kernel would say of a connection, by the names of its fields (include/uapi/linux/tcp.h).

use tcp::endpoint::{CaState, Endpoint, State};
use wire::Span;

/// ssthresh before the first loss (TCP_INFINITE_SSTHRESH).
const UNBOUNDED: i64 = 0x7fff_ffff;

/// A field, if rexmit has it.
pub(crate) fn field(e: &Endpoint, name: &str) -> Option<i64> {
    let view = e.view();
    let board = e.scoreboard();
    let smss = i64::from(view.smss.max(1));
    let micros = |span: Option<Span>| span.map_or(0, |s| s.0 / 1000);
    Some(match name.strip_prefix("tcpi_")? {
        "state" => state(e.state()),
        "ca_state" => match e.ca_state() {
            CaState::Open => 0,
            CaState::Disorder => 1,
            CaState::Cwr => 2,
            CaState::Recovery => 3,
            CaState::Loss => 4,
        },
        "retransmits" => i64::from(view.timeouts),
        // One count for both timers (icsk_backoff): probes of a closed window go out while nothing else is.
        "backoff" => i64::from(view.backoff.max(e.window_probes())),
        "probes" => i64::from(e.unanswered_probes()),
        "rto" => micros(Some(view.rto)),
        "snd_mss" => smss,
        "unacked" => i64::from(board.segments),
        "sacked" => i64::from(board.sacked),
        "lost" => i64::from(board.lost),
        "retrans" => i64::from(board.repaired),
        "rtt" => micros(view.srtt),
        "rttvar" => micros(view.rttvar),
        // Before the first sample the kernel says ~0.
        "min_rtt" => view.min_rtt.map_or(i64::from(u32::MAX), |s| s.0 / 1000),
        "snd_ssthresh" if view.ssthresh == u32::MAX => UNBOUNDED,
        "snd_ssthresh" => i64::from(view.ssthresh) / smss,
        "snd_cwnd" => i64::from(view.cwnd) / smss,
        "reordering" => i64::from(board.reordering),
        "reord_seen" => i64::from(board.reordering_seen),
        "bytes_acked" => e.acknowledged() as i64,
        "bytes_received" => e.delivered() as i64,
        _ => return None,
    })
}

/// include/net/tcp_states.h
fn state(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}
