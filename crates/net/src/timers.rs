//! Timers. Moving one later or stopping it costs nothing: its old event finds out when it comes.

use crate::agenda::Agenda;
use crate::topology::TimerId;
use links::Key;

#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    timers: Vec<Timer>,
    /// The looks.
    agenda: Agenda,
}

#[derive(Clone, Copy, Debug)]
struct Timer {
    /// When it is to fire.
    deadline: Key,
    /// When it is looked at next: never later than its deadline. As in the agenda, kept here as well so that
    /// moving a timer touches one line of memory.
    look: Key,
}

impl Timers {
    #[inline(always)]
    pub fn set(&mut self, id: TimerId, deadline: Key) {
        if id.0 as usize >= self.timers.len() {
            self.grow(id);
        }
        let timer = &mut self.timers[id.0 as usize];
        timer.deadline = deadline;
        // One that was stopped is looked at all the same: it most often runs again by then.
        if deadline.is_before(timer.look) {
            self.look_earlier(id, deadline);
        }
    }

    /// Rare: a timer that moves most often moves later.
    #[inline(never)]
    fn look_earlier(&mut self, id: TimerId, at: Key) {
        self.timers[id.0 as usize].look = at;
        self.agenda.set(id.0, at);
        self.agenda.close();
    }

    #[cold]
    fn grow(&mut self, id: TimerId) {
        self.timers.resize(id.0 as usize + 1, Timer { deadline: Key::NEVER, look: Key::NEVER });
        self.agenda.grow(id.0);
    }

    pub fn deadline(&self, id: TimerId) -> Key {
        self.timers.get(id.0 as usize).map_or(Key::NEVER, |timer| timer.deadline)
    }

    /// The earliest look; it may turn out that nothing is due.
    #[inline]
    pub fn first_look(&self) -> Key {
        self.agenda.first_key()
    }

    /// Handles the earliest look: the timer that fires, or `None` if it was moved or stopped.
    pub fn look(&mut self) -> Option<TimerId> {
        let (planned, source) = self.agenda.first()?;
        let timer = &mut self.timers[source as usize];
        let fires = planned == timer.deadline;
        if fires {
            timer.deadline = Key::NEVER;
        }
        timer.look = timer.deadline;
        self.agenda.set_first(timer.look);
        self.agenda.close();
        fires.then_some(TimerId(source))
    }

    /// Until the earliest look is a timer that fires.
    pub fn settle(&mut self) {
        while let Some((planned, source)) = self.agenda.first() {
            let timer = &mut self.timers[source as usize];
            if planned == timer.deadline {
                return;
            }
            timer.look = timer.deadline;
            self.agenda.set_first(timer.look);
            self.agenda.close();
        }
    }
}
