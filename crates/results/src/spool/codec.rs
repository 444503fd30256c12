//! A row as bytes and back: postcard, whose variable-length integers make a quiet flow's row a few bytes a field.

use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;

struct Append<'a>(&'a mut Vec<u8>);

impl Flavor for Append<'_> {
    type Output = ();
    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }
    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Appends `row` to `bytes`.
pub fn append<R: Serialize>(bytes: &mut Vec<u8>, row: &R) {
    // Rows are plain structs: there is nothing in them that postcard refuses, and memory does not fail here.
    let done = postcard::serialize_with_flavor::<R, Append<'_>, ()>(row, Append(bytes));
    debug_assert!(done.is_ok(), "{done:?}");
}

pub fn decode<R: DeserializeOwned>(bytes: &[u8]) -> io::Result<R> {
    postcard::from_bytes(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}
