//! The answer's first word: whose fault it is.

use crate::closed_sets;

closed_sets! {
    /// Where to look.
    #[derive(Default)]
    "look_at" Verdict {
        SendingApplication = "sending-application", "the sending application";
        SendingStack = "sending-stack", "the sending stack";
        Network = "network", "the network";
        Receiver = "receiver", "the receiver";
        /// Nothing slowed it down that shows here.
        Nothing = "nothing", "nothing";
        #[default]
        CannotTell = "cannot-tell", "cannot tell";
    }
}
