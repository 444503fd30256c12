//! A system call that has not returned yet.

use super::{Runner, START};
use crate::Stop;
use crate::script::{Call, Expr};
use wire::Span;

#[derive(Clone, Debug)]
pub(super) struct Blocked {
    pub(super) line: u32,
    pub(super) name: String,
    until: Span,
    tolerance: Span,
    waits: Waits,
    call: Call,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    ForConnection,
    ToAccept,
    ForData { most: u64 },
}

impl Runner {
    /// A call that cannot return at once: may it block?
    pub(super) fn block(&mut self, call: &Call, line: u32, base: Span, waits: Waits) -> Result<(), Stop> {
        let Some(until) = call.until else {
            return Err(Stop::failed(
                line,
                format!("{} would block, and the script lets it return at once", call.name),
            ));
        };
        let until = base + until;
        let tolerance = self.tolerance(until);
        let (name, call) = (call.name.clone(), call.clone());
        self.blocked = Some(Blocked { line, name, until, tolerance, waits, call });
        Ok(())
    }

    /// Does what blocks return now?
    pub(super) fn resume(&mut self) -> Result<(), Stop> {
        let Some(blocked) = &self.blocked else { return Ok(()) };
        let (line, waits) = (blocked.line, blocked.waits);
        let returned = match waits {
            Waits::ForConnection => self.connected(),
            Waits::ToAccept => self.accept(),
            Waits::ForData { most } => self.read(most),
        };
        let Some(returned) = returned else { return Ok(()) };
        let Some(blocked) = self.blocked.take() else { return Ok(()) };
        self.returned(&blocked.call, line, returned)?;
        if (self.clock() - blocked.until).abs() > blocked.tolerance {
            let (name, until, now) = (&blocked.name, blocked.until.as_secs(), (self.now - START).as_secs());
            return Err(Stop::failed(line, format!("{name} returned at {now:.6} s, not at {until:.6} s")));
        }
        Ok(())
    }

    /// A script calls what it opens as it likes.
    fn named(
        &mut self,
        call: &Call,
        line: u32,
        came: Result<i64, &'static str>,
    ) -> Result<Result<i64, &'static str>, Stop> {
        let (true, Ok(fd)) = (["socket", "accept", "accept4"].contains(&call.name.as_str()), came) else {
            return Ok(came);
        };
        if call.result == Expr::Any {
            return Ok(came);
        }
        let wanted = super::calls::number(&call.result, line)?;
        if wanted >= 0 && self.sockets.get(wanted).is_none() {
            self.sockets.rename(fd, wanted);
            return Ok(Ok(wanted));
        }
        Ok(came)
    }

    /// Holds what a call returned against the script.
    pub(super) fn returned(
        &mut self,
        call: &Call,
        line: u32,
        came: Result<i64, &'static str>,
    ) -> Result<(), Stop> {
        let came = self.named(call, line, came)?;
        let shown = match came {
            Ok(n) => n.to_string(),
            Err(errno) => format!("-1 {errno}"),
        };
        let wanted = match (&call.result, &call.errno) {
            (Expr::Any, _) => None,
            (result, errno) => Some((super::calls::number(result, line)?, errno)),
        };
        let (result, same) = match (&wanted, came) {
            (None, _) => ("...".to_owned(), true),
            (Some((n, None)), came) => (n.to_string(), came == Ok(*n)),
            (Some((n, Some(errno))), came) => {
                (format!("{n} {errno}"), came == Err(errno.as_str()) && *n == -1)
            }
        };
        self.note(format!("{}() = {result}", call.name), if same { String::new() } else { shown.clone() });
        if same {
            return Ok(());
        }
        Err(Stop::failed(line, format!("{} returned {shown}, not {result}", call.name)))
    }
}
