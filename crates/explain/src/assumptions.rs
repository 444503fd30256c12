//! The numbers that decide, each with its reason. Nothing else in this crate compares with a literal.

use wire::Span;

/// Time that is not worth telling: less than this, and less than so many round trips: the handshake, one exchange and its
/// ACK take three, and sending takes a little (docs/causes, *nothing*).
pub const NEGLIGIBLE: Span = Span::from_millis(50);
pub const NEGLIGIBLE_TRIPS: f64 = 3.2;

/// A message of at most so many segments needs no window: ten is the initial window of RFC 6928.
pub const SMALL_MESSAGE_SEGMENTS: u64 = 10;

/// A queue stands if it makes packets wait for a tenth of the base round trip and a millisecond: less is jitter of hosts
/// and of link layers.
pub const QUEUE_OF_RTT: f64 = 0.1;
pub const QUEUE_LEAST: Span = Span::from_millis(1);

/// A path is full from this share of its rate on: headers, ACKs and the edges of a bin take the rest.
pub const FULL: f64 = 0.9;

/// A tenth counts: other flows share a bottleneck if they take that much of it (the definition of `shared-bottleneck`), more
/// bandwidth does help a transfer that was held by it for so long, and so many ACKs held on their way make bursts.
pub const SHARED: f64 = 0.1;

/// Segments that arrive one behind the other, as the narrowest link spaced them, before their rate tells its rate.
pub const TRAIN_SEGMENTS: u64 = 5;

/// A flight that is never more than this above itself is a limit and no accident of growth.
pub const PLATEAU: f64 = 1.1;

/// So many round trips in a row at one flight show a limit: slow start doubles meanwhile, and congestion avoidance adds as
/// many segments.
pub const PLATEAU_ROUNDS: usize = 5;

/// So many copies lost in a row are no accident of single packets.
pub const RUN: u32 = 8;

/// Copies that were sent within so short a time are one burst, which one full queue drops.
pub const AT_ONCE: Span = Span::from_millis(20);

/// A queue was full if the round trip before a loss was at three quarters of the way from its least to its most.
pub const QUEUE_FULL: f64 = 0.75;

/// A retransmission timer this many times as long as RFC 6298 has it owns most of its wait.
pub const TIMER_FAR: f64 = 2.0;

/// No timer of RFC 6298 is shorter (section 2.4).
pub const TIMER_LEAST: Span = Span::from_secs(1);

/// An answer to a packet takes a round trip; less than this share of the least one is none.
pub const RETURN: f64 = 0.9;

/// What happens so often is no single event.
pub const OFTEN: usize = 3;

/// Most of them.
pub const MOSTLY: f64 = 0.7;

/// Rates that differ by less are the same.
pub const NEAR: f64 = 0.25;

/// So many segments are lost at a time, on average, where packets are not lost one by one.
pub const TOGETHER: f64 = 1.5;

/// So many of a thing before their share, or the least of them, says something.
pub const ENOUGH: u64 = 10;

/// Lost ACKs are no matter below this share: each ACK speaks for all before it.
pub const MANY_ACKS: f64 = 0.01;

/// Segments under way of which some are acknowledged without delay (RFC 9293 section 3.8.6.3); a slow link takes the time of as
/// many longer for data than for a SYN.
pub const FEW_SEGMENTS: u64 = 4;

/// A handshake that took so many times less than any round trip of data was answered on the way.
pub const FAR_SOONER: f64 = 4.0;
