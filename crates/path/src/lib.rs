//! Links, queues, channels and link-layer retries as values under a passed-in clock.

pub mod spec;
