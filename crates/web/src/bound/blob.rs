//! A file that the page was given, read in pieces.

use capture::Bytes;
use js_sys::{Function, Uint8Array};
use std::cell::RefCell;
use std::io;
use wasm_bindgen::{JsCast, JsValue};

/// Bytes that are asked for at once: each question takes the browser a fraction of a millisecond.
const PIECE: u64 = 1 << 20;

pub struct Blob {
    number: usize,
    size: u64,
    read: Function,
    /// The piece that was read last, and where it begins.
    piece: RefCell<(u64, Vec<u8>)>,
}

impl Blob {
    pub fn new(number: usize, size: u64, read: Function) -> Blob {
        Blob { number, size, read, piece: RefCell::default() }
    }
    fn fetch(&self, at: u64) -> io::Result<Vec<u8>> {
        let length = PIECE.min(self.size - at);
        let [number, from, length] = [self.number as f64, at as f64, length as f64].map(JsValue::from);
        let found = self.read.call3(&JsValue::NULL, &number, &from, &length).map_err(|e| failed(&e))?;
        let bytes = found.dyn_into::<Uint8Array>().map_err(|e| failed(&e))?.to_vec();
        if bytes.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }
}

impl Bytes for Blob {
    fn size(&self) -> u64 {
        self.size
    }
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        if at >= self.size {
            return Ok(0);
        }
        let mut piece = self.piece.borrow_mut();
        if at < piece.0 || at >= piece.0 + piece.1.len() as u64 {
            *piece = (at, self.fetch(at)?);
        }
        let there = &piece.1[(at - piece.0) as usize..];
        let read = there.len().min(buf.len());
        buf[..read].copy_from_slice(&there[..read]);
        Ok(read)
    }
}

/// What the browser says of a file that it cannot read: one that was changed or removed since it was chosen.
fn failed(why: &JsValue) -> io::Error {
    let message = js_sys::Reflect::get(why, &"message".into()).ok().and_then(|m| m.as_string());
    io::Error::other(message.unwrap_or_else(|| "the browser gives no reason".into()))
}
