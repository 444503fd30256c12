//! What follows from the list of queues: the enum of what scenarios say of them, and the one of their states.

/// Each queue's page has what a scenario says of it as `Params`.
macro_rules! queues {
    ($($queue:ident($page:ident),)+) => {
        params::choice! {
            /// A queue as a scenario has it, with its parameters.
            #[derive(Clone, Debug, PartialEq)]
            pub enum QueueSpec { $($queue($page::Params),)+ }
        }

        impl QueueSpec {
            pub fn limit(&self) -> Limit {
                match self { $(QueueSpec::$queue(q) => q.limit(),)+ }
            }
            /// Does it mark packets that can be marked?
            pub fn marks(&self) -> bool {
                match self { $(QueueSpec::$queue(q) => q.marks(),)+ }
            }
            pub(crate) fn is_managed(&self) -> bool {
                match self { $(QueueSpec::$queue(_) => <$page::Params as Queue>::MANAGED,)+ }
            }
            pub(crate) fn check(&self) -> Checked {
                self.limit().check()?;
                match self { $(QueueSpec::$queue(q) => q.check(),)+ }
            }
            pub(crate) fn manager(&self, stream: impl Fn() -> Stream) -> Manager {
                match self { $(QueueSpec::$queue(q) => Manager::$queue(q.manager(stream)),)+ }
            }
        }

        /// Enum dispatch: no indirect call at every packet.
        #[derive(Clone, Debug)]
        pub(crate) enum Manager { $($queue(<$page::Params as Queue>::Manager),)+ }

        /// The same call on whichever it is.
        impl Manager {
            pub fn admit<P: Copy, W: Watch<P>>(
                &mut self,
                cx: &mut Context<P, W>,
                counters: &mut Counters,
                packet: Coming,
            ) -> Admission {
                match self { $(Manager::$queue(m) => m.admit(cx, counters, packet),)+ }
            }
            pub fn take<P: Copy, W: Watch<P>>(
                &mut self,
                cx: &mut Context<P, W>,
                counters: &mut Counters,
                queue: &mut DropTail,
                framing: u32,
            ) -> Option<PacketId> {
                match self { $(Manager::$queue(m) => m.take(cx, counters, queue, framing),)+ }
            }
            pub fn take_any_of_own<P: Copy, W>(&mut self, cx: &Context<P, W>, framing: u32) -> Option<PacketId> {
                match self { $(Manager::$queue(m) => m.take_any_of_own(cx, framing),)+ }
            }
            pub fn backlog(&self, queue: &DropTail) -> Backlog {
                match self { $(Manager::$queue(m) => m.backlog(queue),)+ }
            }
        }
    };
}
