//! What became of the ACKs of a flow on their way to its sender, and what they say that no receiver means.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AckWay {
    /// Packets of the receiver's host that were lost on their way; known where both captures are.
    pub lost: Option<u64>,
    /// ACKs that came together with the one before although they were sent apart, as their timestamps say: something on their
    /// way holds ACKs back and lets them go together.
    pub held: u64,
    /// Packets of either host without data in an ACK loop, in which each host answers what the other one's says with the same
    /// ACK as before; counted for the flow whose receiver sent them.
    pub looped: u64,
    /// ACKs with SACK blocks of data that this sender cannot have sent: something on the way numbers the data anew and leaves
    /// the blocks as they are.
    pub sack_of_nothing: u64,
}
