//! Text to tokens, each with its line.

use crate::Stop;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Int(i64),
    /// As written: a number with a point may be flags with an ACE count.
    Float(String),
    Word(String),
    /// In double quotes.
    Text(String),
    /// In backticks.
    Shell(String),
    /// Between `%{` and `}%`.
    Code(String),
    /// `--name`
    Option(String),
    Ellipsis,
    Mark(char),
}

impl Token {
    /// As an error names it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Token::Int(n) => format!("`{n}`"),
            Token::Float(s) | Token::Word(s) => format!("`{s}`"),
            Token::Text(s) if s.len() > 40 || s.contains('\n') => "a text in quotes".to_owned(),
            Token::Text(s) => format!("`\"{s}\"`"),
            Token::Shell(_) => "a command in backticks".to_owned(),
            Token::Code(_) => "code".to_owned(),
            Token::Option(s) => format!("`--{s}`"),
            Token::Ellipsis => "`...`".to_owned(),
            Token::Mark(c) => format!("`{c}`"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lexeme {
    pub(crate) line: u32,
    pub(crate) token: Token,
}

/// All tokens of a script.
pub(crate) fn tokens(text: &str) -> Result<Vec<Lexeme>, Stop> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut all = Vec::new();
    while lexer.skip()? {
        let line = lexer.line;
        let token = lexer.token()?;
        all.push(Lexeme { line, token });
    }
    Ok(all)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
}

impl Lexer<'_> {
    /// Over white space and comments; is anything left?
    fn skip(&mut self) -> Result<bool, Stop> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                let begun = self.line;
                let end = self.rest.find("*/");
                self.take(end.ok_or_else(|| Stop::malformed(begun, "`/*` is never closed by `*/`"))? + 2);
            } else {
                return Ok(!self.rest.is_empty());
            }
        }
    }

    fn take(&mut self, bytes: usize) -> String {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count() as u32;
        self.rest = rest;
        taken.to_owned()
    }

    fn token(&mut self) -> Result<Token, Stop> {
        let first = self.rest.chars().next().unwrap_or(' ');
        if let Some(text) = self.enclosed("%{", "}%", "code")? {
            return Ok(Token::Code(text));
        }
        if let Some(text) = self.quoted('"')? {
            return Ok(Token::Text(text));
        }
        if let Some(text) = self.quoted('`')? {
            return Ok(Token::Shell(text));
        }
        if self.rest.starts_with("...") {
            self.take(3);
            return Ok(Token::Ellipsis);
        }
        if let Some(name) = self.rest.strip_prefix("--") {
            let len = word_len(name);
            if len > 0 {
                return Ok(Token::Option(self.take(2 + len).split_off(2)));
            }
        }
        if let Some(number) = self.number()? {
            return Ok(number);
        }
        match word_len(self.rest) {
            0 => {
                self.take(first.len_utf8());
                Ok(Token::Mark(first))
            }
            len => Ok(Token::Word(self.take(len))),
        }
    }

    fn enclosed(&mut self, open: &str, close: &str, what: &str) -> Result<Option<String>, Stop> {
        let Some(inside) = self.rest.strip_prefix(open) else { return Ok(None) };
        let begun = self.line;
        let end = inside.find(close).ok_or_else(|| {
            Stop::malformed(begun, format!("{what} begun by `{open}` is never closed by `{close}`"))
        })?;
        let text = inside[..end].to_owned();
        self.take(open.len() + end + close.len());
        Ok(Some(text))
    }

    /// A backslash keeps what follows it from ending the text.
    fn quoted(&mut self, quote: char) -> Result<Option<String>, Stop> {
        if !self.rest.starts_with(quote) {
            return Ok(None);
        }
        let mut escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            if c == quote && !escaped {
                let text = self.take(at + 1);
                return Ok(Some(text[1..at].to_owned()));
            }
            escaped = c == '\\' && !escaped;
        }
        Err(Stop::malformed(self.line, format!("text begun by `{quote}` is never closed")))
    }

    /// `12`, `-1`, `0x1f`, `.1`, `0.25`; a word may begin with digits, too.
    fn number(&mut self) -> Result<Option<Token>, Stop> {
        let sign = usize::from(self.rest.starts_with('-'));
        let body = &self.rest[sign..];
        if sign == 0
            && let Some(hex) = body.strip_prefix("0x")
        {
            let len = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
            if len > 0 && word_len(hex) == len {
                let text = self.take(2 + len);
                return self.integer(&text[2..], 16).map(Some);
            }
        }
        let whole = digits(body);
        let point = body[whole..].starts_with('.');
        let fraction = if point { digits(&body[whole + 1..]) } else { 0 };
        if fraction > 0 {
            return Ok(Some(Token::Float(self.take(sign + whole + 1 + fraction))));
        }
        if whole == 0 || word_len(body) > whole {
            return Ok(None);
        }
        let text = self.take(sign + whole);
        self.integer(&text, 10).map(Some)
    }

    fn integer(&self, digits: &str, base: u32) -> Result<Token, Stop> {
        i64::from_str_radix(digits, base)
            .map(Token::Int)
            .map_err(|_| Stop::malformed(self.line, format!("`{digits}` is too large a number")))
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn word_len(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}
