//! A bottleneck between two endpoints, 10 ms each way, and what a model of the path says of it meanwhile.

use super::pipe::{Fate, Pipe};
use crate::endpoint::*;
use crate::stack::{WindowPolicy, Wire};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const WAY: Span = Span::from_millis(10);

/// What the client's model said, each time it changed, or the sender's phase.
pub type Story<T> = Rc<RefCell<Vec<(Time, T, View)>>>;

/// Both ends have the stack, and room for 16 MiB. `takes`: how long the bottleneck takes for a data segment, by the time
/// and its number from 1, and how much longer its way is; `None` loses it, as a queue longer than `queue` does.
pub fn bottleneck(
    mut stack: Wire,
    queue: Span,
    mut takes: impl FnMut(Time, usize) -> Option<(Span, Span)>,
) -> Pipe<impl FnMut(bool, usize, &Sent) -> Fate> {
    let clock = Rc::new(Cell::new(Time::ZERO));
    let told = clock.clone();
    let (mut free, mut ordinal) = (Time::ZERO, 0);
    let fate = move |client: bool, _: usize, sent: &Sent| {
        if !client {
            return vec![WAY];
        }
        ordinal += usize::from(sent.seg.payload > 0);
        let now = told.get();
        let begin = free.max(now);
        match takes(now, ordinal) {
            Some((gap, more)) if begin - now <= queue => {
                free = begin + gap;
                vec![free - now + WAY + more]
            }
            _ => vec![],
        }
    };
    stack.receive.window = WindowPolicy::Fixed { buffer_bytes: 1 << 24 };
    let mut p = Pipe::new(&stack, &stack, fate);
    p.tell = Some(clock);
    p
}

/// Writes down what the client's model says from now on.
pub fn story<T: PartialEq + Copy + 'static, F: FnMut(bool, usize, &Sent) -> Fate>(
    p: &mut Pipe<F>,
    model: impl Fn(&Endpoint) -> Option<T> + 'static,
) -> Story<T> {
    let story: Story<T> = Rc::default();
    let notes = story.clone();
    p.watch = Some(Box::new(move |client, _, now| {
        let (Some(said), mut notes) = (model(client), notes.borrow_mut()) else { return };
        let view = client.view();
        if notes.last().is_none_or(|(_, before, v)| *before != said || v.phase != view.phase) {
            notes.push((now, said, view));
        }
    }));
    story
}

/// When a part of what the model says became what.
pub fn changes<T, S: PartialEq + Copy>(story: &Story<T>, of: impl Fn(&T) -> S) -> Vec<(Time, S)> {
    let mut found: Vec<(Time, S)> = Vec::new();
    for (at, said, _) in story.borrow().iter() {
        if found.last().is_none_or(|(_, s)| *s != of(said)) {
            found.push((*at, of(said)));
        }
    }
    found
}
