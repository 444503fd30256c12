//! An expression, read and worked out at once: `or`, `and`, `not`, comparisons in a chain, arithmetic, brackets.

use super::{Known, Value};
use crate::{Stop, words};
use std::collections::HashMap;

pub(crate) struct Evaluator<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    depth: u32,
    variables: &'a HashMap<String, Value>,
    known: Known<'a>,
    /// Names that were looked up, for the sentence of what does not hold.
    asked: Vec<(&'a str, i64)>,
}

/// More brackets within each other than any script has.
const DEEPEST: u32 = 32;
const WORDS: [&str; 6] = ["or", "and", "not", "if", "else", "in"];

type Worked = Result<Value, Stop>;

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        text: &'a str,
        line: u32,
        variables: &'a HashMap<String, Value>,
        known: Known<'a>,
    ) -> Self {
        Evaluator { text, at: 0, line, depth: 0, variables, known, asked: Vec::new() }
    }

    /// The whole text is one expression.
    pub(crate) fn whole(&mut self) -> Worked {
        let value = self.any()?;
        if self.rest().is_empty() { Ok(value) } else { Err(self.unknown()) }
    }

    /// What is asserted; behind a comma follows what to say, which nobody reads.
    pub(crate) fn condition(&mut self) -> Worked {
        let value = self.any()?;
        if self.rest().is_empty() || self.rest().starts_with(',') { Ok(value) } else { Err(self.unknown()) }
    }

    pub(crate) fn read_so_far<'t>(&self, text: &'t str) -> &'t str {
        &text[..self.at.min(text.len())]
    }

    /// `: tcpi_snd_cwnd is 7`
    pub(crate) fn seen(&self) -> String {
        let all: Vec<String> = self.asked.iter().map(|(name, value)| format!("{name} is {value}")).collect();
        if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) }
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }
    fn unknown(&mut self) -> Stop {
        let rest = self.rest().trim_end();
        if rest.is_empty() {
            return Stop::malformed(self.line, format!("the code `{}` ends too early", self.text.trim()));
        }
        Stop::unsupported(self.line, format!("`{rest}` in the code `{}`", self.text.trim()))
    }
    fn eat(&mut self, mark: &str) -> bool {
        let there = self.rest().starts_with(mark);
        self.at += if there { mark.len() } else { 0 };
        there
    }
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        &rest[..len]
    }
    fn eat_word(&mut self, word: &str) -> bool {
        let there = self.word() == word;
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn any(&mut self) -> Worked {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::malformed(
                self.line,
                format!("more than {DEEPEST} brackets within each other"),
            ));
        }
        let mut left = self.all()?;
        while self.eat_word("or") {
            let right = self.all()?;
            left = if is_true(&left) { left } else { right };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn all(&mut self) -> Worked {
        let mut left = self.negation()?;
        while self.eat_word("and") {
            let right = self.negation()?;
            left = if is_true(&left) { right } else { left };
        }
        Ok(left)
    }

    fn negation(&mut self) -> Worked {
        let mut negated = None;
        while self.eat_word("not") {
            negated = Some(!negated.unwrap_or(false));
        }
        let value = self.comparison()?;
        Ok(negated.map_or(value.clone(), |no| Value::Int(i64::from(is_true(&value) != no))))
    }

    fn comparison(&mut self) -> Worked {
        let mut left = self.bits()?;
        let mut held = None;
        while let Some(operator) = ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|o| self.eat(o)) {
            let right = self.bits()?;
            held = Some(held.unwrap_or(true) && compared(operator, &left, &right));
            left = right;
        }
        Ok(held.map_or(left, |h| Value::Int(i64::from(h))))
    }

    fn bits(&mut self) -> Worked {
        let mut left = self.sum()?;
        while let Some(operator) = ['&', '|'].into_iter().find(|c| self.eat(c.encode_utf8(&mut [0; 4]))) {
            let right = self.sum()?;
            left = arithmetic(operator, &left, &right, self.line)?;
        }
        Ok(left)
    }

    fn sum(&mut self) -> Worked {
        let mut left = self.product()?;
        while let Some(operator) = ['+', '-'].into_iter().find(|c| self.eat(c.encode_utf8(&mut [0; 4]))) {
            let right = self.product()?;
            left = arithmetic(operator, &left, &right, self.line)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Worked {
        let mut left = self.operand()?;
        loop {
            let operator = if self.eat("//") {
                '÷'
            } else if let Some(c) = ['*', '/', '%'].into_iter().find(|c| self.eat(c.encode_utf8(&mut [0; 4])))
            {
                c
            } else {
                return Ok(left);
            };
            let right = self.operand()?;
            left = arithmetic(operator, &left, &right, self.line)?;
        }
    }

    fn operand(&mut self) -> Worked {
        let mut sign = 1;
        while self.eat("-") {
            sign = -sign;
        }
        let value = self.plain()?;
        if sign < 0 { arithmetic('*', &value, &Value::Int(-1), self.line) } else { Ok(value) }
    }

    fn plain(&mut self) -> Worked {
        if self.eat("(") {
            let value = self.any()?;
            return if self.eat(")") { Ok(value) } else { Err(self.unknown()) };
        }
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| *c == '"' || *c == '\'') {
            let Some(end) = rest[1..].find(quote) else { return Err(self.unknown()) };
            self.at += end + 2;
            return Ok(Value::Text);
        }
        if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        self.name()
    }

    fn number(&mut self) -> Worked {
        let rest = self.rest();
        if let Some(hex) = rest.strip_prefix("0x") {
            let len = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
            let value = i64::from_str_radix(&hex[..len], 16).map_err(|_| self.unknown())?;
            self.at += 2 + len;
            return Ok(Value::Int(value));
        }
        let len = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let text = &rest[..len];
        let value = match text.parse() {
            Ok(n) => Value::Int(n),
            Err(_) => Value::Float(text.parse().map_err(|_| self.unknown())?),
        };
        self.at += len;
        Ok(value)
    }

    fn name(&mut self) -> Worked {
        let name = self.word();
        if name.is_empty() || WORDS.contains(&name) {
            return Err(self.unknown());
        }
        if self.text[self.at + name.len()..].trim_start().starts_with(['(', '.', '[']) {
            return self.function(name);
        }
        self.at += name.len();
        if let Some(value) = self.variables.get(name) {
            if let Value::Int(n) = value {
                self.asked.push((name, *n));
            }
            return Ok(value.clone());
        }
        if let Some(value) = (self.known)(name) {
            if !self.asked.iter().any(|(n, _)| *n == name) {
                self.asked.push((name, value));
            }
            return Ok(Value::Int(value));
        }
        if let Some(value) = words::number(name) {
            return Ok(Value::Int(value));
        }
        Err(Stop::unsupported(self.line, format!("the figure {name}")))
    }

    fn function(&mut self, name: &str) -> Worked {
        let known = ["min", "max", "abs", "int", "float", "round"];
        if !known.contains(&name) {
            return Err(self.unknown());
        }
        self.at += name.len();
        let mut list = Vec::new();
        if !self.eat("(") {
            return Err(self.unknown());
        }
        loop {
            list.push(number(&self.any()?, self.line)?);
            if self.eat(")") {
                break;
            }
            if !self.eat(",") {
                return Err(self.unknown());
            }
        }
        let value = match name {
            "min" => list.iter().copied().fold(f64::INFINITY, f64::min),
            "max" => list.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            "abs" => list[0].abs(),
            "float" => return Ok(Value::Float(list[0])),
            "int" => list[0].trunc(),
            _ => list[0].round_ties_even(),
        };
        Ok(if value.fract() == 0.0 && value.abs() < 9e15 {
            Value::Int(value as i64)
        } else {
            Value::Float(value)
        })
    }
}

pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Int(n) => *n != 0,
        Value::Float(x) => *x != 0.0,
        Value::Text => true,
    }
}

fn number(value: &Value, line: u32) -> Result<f64, Stop> {
    match value {
        Value::Int(n) => Ok(*n as f64),
        Value::Float(x) => Ok(*x),
        Value::Text => Err(Stop::unsupported(line, "a text where a number should stand")),
    }
}

fn compared(operator: &str, left: &Value, right: &Value) -> bool {
    use std::cmp::Ordering::*;
    let order = match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Text, _) | (_, Value::Text) => None,
        _ => match (number(left, 0), number(right, 0)) {
            (Ok(a), Ok(b)) => a.partial_cmp(&b),
            _ => None,
        },
    };
    match operator {
        "==" => order == Some(Equal),
        "!=" => order != Some(Equal),
        "<" => order == Some(Less),
        ">" => order == Some(Greater),
        "<=" => matches!(order, Some(Less | Equal)),
        _ => matches!(order, Some(Greater | Equal)),
    }
}

/// `÷` is Python's `//`.
pub(crate) fn arithmetic(operator: char, left: &Value, right: &Value, line: u32) -> Worked {
    if operator == '%' && *left == Value::Text {
        // A message is filled in.
        return Ok(Value::Text);
    }
    let too_large = || Stop::malformed(line, "a number in the code grows too large");
    let by_nothing = || Stop::failed(line, "the code divides by 0");
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        let value = match operator {
            '+' => a.checked_add(*b),
            '-' => a.checked_sub(*b),
            '*' => a.checked_mul(*b),
            '&' => Some(a & b),
            '|' => Some(a | b),
            '÷' | '%' | '/' if *b == 0 => return Err(by_nothing()),
            '÷' => a.checked_div_euclid(*b),
            '%' => a.checked_rem_euclid(*b),
            _ => return Ok(Value::Float(*a as f64 / *b as f64)),
        };
        return value.map(Value::Int).ok_or_else(too_large);
    }
    let (a, b) = (number(left, line)?, number(right, line)?);
    Ok(Value::Float(match operator {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        '/' | '÷' | '%' if b == 0.0 => return Err(by_nothing()),
        '/' => a / b,
        '÷' => (a / b).floor(),
        '%' => a.rem_euclid(b),
        _ => return Err(Stop::unsupported(line, "bits of a number with a fraction")),
    }))
}
