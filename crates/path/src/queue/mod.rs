//! Queues: what waits for the transmitter. The packet being sent is not counted.

pub(crate) mod droptail;

pub(crate) use droptail::DropTail;
