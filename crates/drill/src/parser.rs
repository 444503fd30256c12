//! Tokens to a script. A grammar of one token's foresight, by recursive descent.

mod call;
mod packet;

use crate::Stop;
use crate::lexer::{Lexeme, Token, tokens};
use crate::script::*;
use wire::Span;

pub(crate) fn parse(text: &str) -> Result<Script, Stop> {
    let all = tokens(text)?;
    let mut p = Parser { all: &all, at: 0, depth: 0 };
    let mut script = Script { options: Vec::new(), first: None, events: Vec::new() };
    while let Some(Token::Option(name)) = p.peek() {
        let (line, name) = (p.line(), name.clone());
        p.at += 1;
        let value = if p.eat('=') { Some(p.option_value()?) } else { None };
        script.options.push(Setting { line, name, value });
    }
    script.first = p.command();
    while p.peek().is_some() {
        if let Some(last) = p.command() {
            // What is to be done behind the last event.
            let when = When::Relative { from: Span::ZERO, to: Span::ZERO };
            script.events.push(Event { line: last.line, when, what: Action::Command(last) });
            break;
        }
        script.events.push(p.event()?);
    }
    if p.peek().is_some() {
        return Err(p.unexpected("the end: a command without a time ends a script"));
    }
    check_first(&script)?;
    Ok(script)
}

fn check_first(script: &Script) -> Result<(), Stop> {
    match script.events.first() {
        None => Err(Stop::malformed(1, "there is no event in it")),
        Some(Event { when: When::Absolute { from, .. } | When::Relative { from, .. }, line, .. })
            if *from != Span::ZERO =>
        {
            Err(Stop::malformed(*line, "the first event is not at time 0"))
        }
        Some(_) => Ok(()),
    }
}

struct Parser<'a> {
    all: &'a [Lexeme],
    at: usize,
    /// Of what stands in brackets.
    depth: u32,
}

/// More brackets within each other than any script has.
const DEEPEST: u32 = 32;

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.all.get(self.at).map(|l| &l.token)
    }
    fn peek_behind(&self, by: usize) -> Option<&'a Token> {
        self.all.get(self.at + by).map(|l| &l.token)
    }
    /// The line of the next token, or of the last.
    fn line(&self) -> u32 {
        self.all.get(self.at).or(self.all.last()).map_or(1, |l| l.line)
    }

    fn unexpected(&self, wanted: &str) -> Stop {
        let found = self.peek().map_or("the end of the script".to_owned(), Token::shown);
        Stop::malformed(self.line(), format!("{found} where {wanted} should stand"))
    }

    fn eat(&mut self, mark: char) -> bool {
        let there = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(there);
        there
    }
    fn want(&mut self, mark: char) -> Result<(), Stop> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }
    fn eat_word(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += usize::from(there);
        there
    }
    fn word(&mut self, what: &str) -> Result<&'a str, Stop> {
        match self.peek() {
            Some(Token::Word(w)) => {
                self.at += 1;
                Ok(w)
            }
            _ => Err(self.unexpected(what)),
        }
    }
    /// A whole number from 0 to `most`.
    fn whole(&mut self, what: &str, most: u64) -> Result<u64, Stop> {
        match self.peek() {
            Some(&Token::Int(n)) if (0..=most.min(i64::MAX as u64) as i64).contains(&n) => {
                self.at += 1;
                Ok(n as u64)
            }
            Some(Token::Int(n)) => {
                Err(Stop::malformed(self.line(), format!("{what} is {n}: from 0 to {most}")))
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Whatever stands behind `--name=`, as one text: `4000`, `ipv4`, `10.0.0.1`, `CC="reno"`.
    fn option_value(&mut self) -> Result<String, Stop> {
        let line = self.line();
        let mut value = String::new();
        while let Some(lexeme) = self.all.get(self.at).filter(|l| l.line == line) {
            match &lexeme.token {
                Token::Int(n) => value += &n.to_string(),
                Token::Float(s) | Token::Word(s) => value += s,
                Token::Text(s) => value += &format!("\"{s}\""),
                Token::Shell(s) => value += &format!("`{s}`"),
                Token::Mark(c) => value.push(*c),
                _ => break,
            }
            self.at += 1;
        }
        if value.is_empty() { Err(self.unexpected("a value")) } else { Ok(value) }
    }

    fn command(&mut self) -> Option<Command> {
        let Some(Token::Shell(text)) = self.peek() else { return None };
        let line = self.line();
        self.at += 1;
        Some(Command { line, text: text.clone() })
    }

    fn event(&mut self) -> Result<Event, Stop> {
        let line = self.line();
        let when = self.when()?;
        let what = match self.peek() {
            Some(Token::Mark('<')) => {
                self.at += 1;
                Action::Inject(self.packet(true)?)
            }
            Some(Token::Mark('>')) => {
                self.at += 1;
                Action::Expect(self.packet(false)?)
            }
            Some(Token::Code(text)) => {
                self.at += 1;
                Action::Code(text.clone())
            }
            Some(Token::Shell(_)) => match self.command() {
                Some(command) => Action::Command(command),
                None => return Err(self.unexpected("a command")),
            },
            Some(Token::Word(_) | Token::Ellipsis) => Action::Call(self.call()?),
            _ => return Err(self.unexpected("a packet, a system call, a command or code")),
        };
        let ranged = match when {
            When::Any => true,
            When::Absolute { from, to } | When::Relative { from, to } => from != to,
        };
        if ranged && !matches!(what, Action::Expect(_)) {
            return Err(Stop::malformed(
                line,
                "only a packet that is to leave may have `*` or a range as its time",
            ));
        }
        Ok(Event { line, when, what })
    }

    fn when(&mut self) -> Result<When, Stop> {
        let line = self.line();
        if self.eat('*') {
            return Ok(When::Any);
        }
        let relative = self.eat('+');
        let from = self.time()?;
        let to = if self.eat('~') {
            if relative {
                self.want('+')?;
            }
            self.time()?
        } else {
            from
        };
        if to < from {
            return Err(Stop::malformed(line, "the range of time ends before it begins"));
        }
        Ok(if relative { When::Relative { from, to } } else { When::Absolute { from, to } })
    }

    /// Seconds.
    fn time(&mut self) -> Result<Span, Stop> {
        let seconds: f64 = match self.peek() {
            Some(Token::Int(n)) => *n as f64,
            Some(Token::Float(text)) => text.parse().unwrap_or(f64::NAN),
            _ => return Err(self.unexpected("a time")),
        };
        if !(0.0..=1e6).contains(&seconds) {
            return Err(Stop::malformed(self.line(), format!("{seconds} s is no time from 0 to 1000000 s")));
        }
        self.at += 1;
        Ok(Span::from_micros((seconds * 1e6).round() as i64))
    }
}

#[cfg(test)]
mod tests;
