//! Timers. Moving one later or stopping it costs nothing: its old event finds out when it comes.

use crate::agenda::Agenda;
use crate::topology::TimerId;
use path::Key;

#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    /// When each timer is to fire.
    deadline: Vec<Key>,
    /// When each is looked at next: never later than its deadline.
    agenda: Agenda,
}

impl Timers {
    #[inline]
    pub fn set(&mut self, id: TimerId, deadline: Key) {
        let index = id.0 as usize;
        if index >= self.deadline.len() {
            self.deadline.resize(index + 1, Key::NEVER);
            self.agenda.grow(id.0);
        }
        self.deadline[index] = deadline;
        if deadline == Key::NEVER {
            return;
        }
        match self.agenda.key_of(id.0) {
            Some(planned) if planned.is_before(deadline) => {}
            _ => self.agenda.set(id.0, deadline),
        }
    }

    pub fn deadline(&self, id: TimerId) -> Key {
        self.deadline.get(id.0 as usize).copied().unwrap_or(Key::NEVER)
    }

    /// The earliest look; it may turn out that nothing is due.
    #[inline]
    pub fn first_look(&self) -> Key {
        self.agenda.first_key()
    }

    /// Handles the earliest look: the timer that fires, or `None` if it was moved or stopped.
    pub fn look(&mut self) -> Option<TimerId> {
        let (planned, source) = self.agenda.first()?;
        let deadline = self.deadline[source as usize];
        if planned != deadline {
            self.agenda.set(source, deadline);
            return None;
        }
        self.deadline[source as usize] = Key::NEVER;
        self.agenda.set(source, Key::NEVER);
        Some(TimerId(source))
    }

    /// Until the earliest look is a timer that fires.
    pub fn settle(&mut self) {
        while let Some((planned, source)) = self.agenda.first() {
            let deadline = self.deadline[source as usize];
            if planned == deadline {
                return;
            }
            self.agenda.set(source, deadline);
        }
    }
}
