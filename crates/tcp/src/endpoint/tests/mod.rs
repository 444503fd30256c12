//! Two endpoints that talk over a path, and stories with times.

mod closing;
mod handshake;
mod pipe;
mod random;
mod stacks;
mod transfer;
