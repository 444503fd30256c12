//! Code between `%{` and `}%`: the small part of Python that scripts use, `assert`, assignments and arithmetic.
//!
//! What is printed is not; anything else of Python is named, and the script counts as unsupported.

mod expression;

use crate::Stop;
use expression::Evaluator;
use std::collections::HashMap;

/// A value, as Python has it; texts are messages only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Int(i64),
    Float(f64),
    Text,
}

/// What a script's code has set so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(HashMap<String, Value>);

/// What the kernel would say of the connection, by name: `Err` where rexmit has no such figure.
pub(crate) type Known<'a> = &'a dyn Fn(&str) -> Option<i64>;

impl Variables {
    /// Runs code that begins in a line of the script.
    pub(crate) fn run(&mut self, code: &str, line: u32, known: Known) -> Result<(), Stop> {
        let mut lines = code.split('\n').enumerate();
        while let Some((at, text)) = lines.next() {
            // A line that ends with a backslash goes on in the next.
            let mut whole = text.to_owned();
            while let Some(begun) = whole.strip_suffix('\\') {
                let more = lines.next().map_or("", |(_, text)| text);
                whole = format!("{begun} {more}");
            }
            for statement in split(&whole) {
                self.statement(statement.trim(), line + at as u32, known)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, text: &str, line: u32, known: Known) -> Result<(), Stop> {
        if text.is_empty() || text == "pass" || is_print(text) {
            return Ok(());
        }
        if let Some(condition) = text.strip_prefix("assert").filter(|rest| !begins_with_word(rest)) {
            return self.assertion(condition, line, known);
        }
        if let Some((name, operator, value)) = assignment(text) {
            let mut value = self.evaluator(value, line, known).whole()?;
            if let Some(operator) = operator {
                let old = self.evaluator(name, line, known).whole()?;
                value = expression::arithmetic(operator, &old, &value, line)?;
            }
            self.0.insert(name.to_owned(), value);
            return Ok(());
        }
        Err(Stop::unsupported(line, format!("the code `{text}`")))
    }

    fn assertion(&self, text: &str, line: u32, known: Known) -> Result<(), Stop> {
        let mut evaluator = self.evaluator(text, line, known);
        let value = evaluator.condition()?;
        if expression::is_true(&value) {
            return Ok(());
        }
        let condition = evaluator.read_so_far(text).trim();
        let seen = evaluator.seen();
        Err(Stop::failed(line, format!("assert {condition} does not hold{seen}")))
    }

    fn evaluator<'a>(&'a self, text: &'a str, line: u32, known: Known<'a>) -> Evaluator<'a> {
        Evaluator::new(text, line, &self.0, known)
    }
}

fn is_print(text: &str) -> bool {
    text.strip_prefix("print").is_some_and(|rest| !begins_with_word(rest))
}

fn begins_with_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// `x = …`, `x += …`: name, operator, value.
fn assignment(text: &str) -> Option<(&str, Option<char>, &str)> {
    let name = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let (name, rest) = (&text[..text.len() - name.len()], name.trim_start());
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(value) = rest.strip_prefix('=').filter(|v| !v.starts_with('=')) {
        return Some((name, None, value));
    }
    let operator = rest.chars().next().filter(|c| "+-*".contains(*c))?;
    rest[1..].strip_prefix('=').map(|value| (name, Some(operator), value))
}

/// Statements of one line, without its comment.
fn split(line: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ';' | '#') => {
                parts.push(&line[from..at]);
                from = at + 1;
                if c == '#' {
                    return parts;
                }
            }
            _ => {}
        }
    }
    parts.push(&line[from..]);
    parts
}

#[cfg(test)]
mod tests;
