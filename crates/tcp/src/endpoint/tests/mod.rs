//! Two endpoints that talk over a path, and stories with times.

#![allow(clippy::single_range_in_vec_init, reason = "a SACK option may have one block")]

mod bbr;
mod bbr3;
mod bottleneck;
mod closing;
mod fack;
mod flow;
mod handshake;
mod interruption;
mod ns320;
mod offload;
mod pipe;
mod rack;
mod random;
mod recovery;
mod stacks;
mod timeline;
mod transfer;
mod without_sack;
