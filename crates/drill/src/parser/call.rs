//! A system call: `write(4, ..., 1000) = -1 EAGAIN (why)`.

use super::{DEEPEST, Parser};
use crate::Stop;
use crate::lexer::Token;
use crate::script::{Call, Expr};

impl Parser<'_> {
    pub(super) fn call(&mut self) -> Result<Call, Stop> {
        let until = if self.peek() == Some(&Token::Ellipsis) {
            self.at += 1;
            Some(self.time()?)
        } else {
            None
        };
        let name = self.word("a system call")?.to_owned();
        self.want('(')?;
        let arguments = self.expressions(')')?;
        self.want('=')?;
        let result = self.expression()?;
        let errno = match self.peek() {
            Some(Token::Word(w)) => {
                self.at += 1;
                Some(w.clone())
            }
            _ => None,
        };
        if self.eat('(') {
            // What the error means, for a reader.
            while self.peek().is_some() && !self.eat(')') {
                self.at += 1;
            }
        }
        Ok(Call { name, arguments, result, errno, until })
    }

    /// Up to the closing bracket.
    fn expressions(&mut self, close: char) -> Result<Vec<Expr>, Stop> {
        let mut list = Vec::new();
        if self.eat(close) {
            return Ok(list);
        }
        loop {
            list.push(self.expression()?);
            if self.eat(close) {
                return Ok(list);
            }
            if !self.eat(',') {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
    }

    fn expression(&mut self) -> Result<Expr, Stop> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::malformed(
                self.line(),
                format!("more than {DEEPEST} brackets within each other"),
            ));
        }
        let mut left = self.operand()?;
        while self.eat('|') {
            left = Expr::Or(Box::new(left), Box::new(self.operand()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, Stop> {
        let found = match self.peek() {
            Some(Token::Ellipsis) => Expr::Any,
            Some(Token::Int(n)) => Expr::Int(*n),
            Some(Token::Text(s)) => {
                self.at += 1;
                let mut text = s.clone();
                // Texts beside each other are one; `...` behind one repeats it.
                while let Some(Token::Text(more)) = self.peek() {
                    text += more;
                    self.at += 1;
                }
                self.at += usize::from(self.peek() == Some(&Token::Ellipsis));
                return Ok(Expr::Text(text));
            }
            Some(Token::Word(w)) => {
                self.at += 1;
                if self.eat('=') {
                    self.expression()?;
                    return Ok(Expr::Struct(w.clone()));
                }
                if self.eat('(') {
                    self.expressions(')')?;
                    return Ok(Expr::Struct(w.clone()));
                }
                return Ok(Expr::Word(w.clone()));
            }
            Some(Token::Mark('[')) => {
                self.at += 1;
                return Ok(Expr::List(self.expressions(']')?));
            }
            Some(Token::Mark('{')) => return self.structure(),
            _ => return Err(self.unexpected("an argument")),
        };
        self.at += 1;
        Ok(found)
    }

    /// `{…}` with whatever is in it.
    fn structure(&mut self) -> Result<Expr, Stop> {
        let line = self.line();
        let (mut depth, mut text) = (0u32, String::new());
        while let Some(token) = self.peek() {
            self.at += 1;
            match token {
                Token::Mark('{') => depth += 1,
                Token::Mark('}') => depth -= 1,
                Token::Word(w) => text += w,
                Token::Int(n) => text += &n.to_string(),
                Token::Mark(c) => text.push(*c),
                _ => {}
            }
            if depth == 0 {
                return Ok(Expr::Struct(text));
            }
        }
        Err(Stop::malformed(line, "`{` is never closed by `}`"))
    }
}
