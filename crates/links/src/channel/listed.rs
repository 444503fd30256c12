//! What follows from the list of channels: the enum of what scenarios say of them, and the one of their laws.

/// Each channel's page has what a scenario says of it as `Params`.
macro_rules! channels {
    ($($channel:ident($page:ident),)+) => {
        params::choice! {
            /// A channel as a scenario has it, with its parameters.
            #[derive(Clone, Debug, PartialEq)]
            pub enum ChannelKind { $($channel($page::Params),)+ }
        }

        impl ChannelKind {
            /// Says what does not go with the link on which it is to stand, whose other channels come before it.
            pub fn fits(&self, link: &LinkSpec, v: &Values, p: &mut Problems) {
                match self { $(ChannelKind::$channel(c) => c.fits(link, v, p),)+ }
            }
            pub(crate) fn check(&self, on: &Standing) -> Checked {
                match self { $(ChannelKind::$channel(c) => c.check(on),)+ }
            }
            pub(crate) fn cause(&self, index: u16) -> Cause {
                match self { $(ChannelKind::$channel(c) => c.cause(index),)+ }
            }
            pub(crate) fn reorders(&self) -> bool {
                match self { $(ChannelKind::$channel(c) => c.reorders(),)+ }
            }
        }

        /// An enum, not a trait object: every packet of a link with channels passes here.
        #[derive(Clone, Debug)]
        pub(crate) enum Law { $($channel(<$page::Params as Channel>::Law),)+ }

        impl Law {
            pub fn new(spec: &ChannelSpec, seeds: Seeds) -> Option<Law> {
                match &spec.kind {
                    $(ChannelKind::$channel(c) => c.law(&spec.name, seeds).map(Law::$channel),)+
                }
            }

            #[inline(never)]
            fn ask(&mut self, packet: Passing) -> Answer {
                match self { $(Law::$channel(law) => law.ask(packet),)+ }
            }
        }
    };
}
