//! What a file that a key names is read as.

/// What a file is read as, which says how large it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Scenario,
    Stack,
    /// Outages, "begin length" in seconds on each line.
    Outages,
    /// Opportunities to send, in milliseconds, one a line.
    Rates,
}

const MIB: u64 = 1 << 20;

impl Form {
    pub fn noun(self) -> &'static str {
        match self {
            Form::Scenario => "scenario",
            Form::Stack => "stack file",
            Form::Outages => "trace of outages",
            Form::Rates => "rate trace",
        }
    }

    /// A TOML file takes about fifty times its size in memory while it is read. Ten minutes at 100 Mbps are a rate trace
    /// of 33 MB.
    pub fn most_bytes(self) -> u64 {
        match self {
            Form::Scenario | Form::Stack => 8 * MIB,
            Form::Outages | Form::Rates => 68 * MIB,
        }
    }
}
