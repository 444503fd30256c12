//! A column of very many rows: in memory, or in a file without a name, of which the system holds in memory what is read.

use bytemuck::Pod;
use std::io;
use std::ops::Deref;

/// A column that is complete.
pub enum Column<T: Pod> {
    Memory(Vec<T>),
    #[cfg(not(target_arch = "wasm32"))]
    File(file::Mapped<T>),
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Column::Memory(values) => values,
            #[cfg(not(target_arch = "wasm32"))]
            Column::File(mapped) => mapped,
        }
    }
}

impl<T: Pod> Default for Column<T> {
    fn default() -> Column<T> {
        Column::Memory(Vec::new())
    }
}

/// A column that is being filled.
pub struct Filling<T: Pod> {
    values: Vec<T>,
    #[cfg(not(target_arch = "wasm32"))]
    file: Option<file::Written>,
}

impl<T: Pod> Filling<T> {
    /// in_file: there will be more rows than memory is to hold.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(in_file: bool) -> io::Result<Filling<T>> {
        let file = in_file.then(file::Written::new).transpose()?;
        Ok(Filling { values: Vec::new(), file })
    }
    #[cfg(target_arch = "wasm32")]
    pub fn new(_: bool) -> io::Result<Filling<T>> {
        Ok(Filling { values: Vec::new() })
    }
    pub fn push(&mut self, value: T) {
        self.values.push(value);
    }
    /// Called now and then: what belongs into a file is written there.
    pub fn pass_on(&mut self) -> io::Result<()> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(file) = &mut self.file {
            file.append(bytemuck::cast_slice(&self.values))?;
            self.values.clear();
        }
        Ok(())
    }
    /// No more rows come.
    #[cfg_attr(target_arch = "wasm32", allow(unused_mut))]
    pub fn end(mut self) -> io::Result<Column<T>> {
        self.pass_on()?;
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(file) = self.file {
            return Ok(Column::File(file.mapped()?));
        }
        Ok(Column::Memory(self.values))
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod file {
    use bytemuck::Pod;
    use memmap2::Mmap;
    use std::fs::File;
    use std::io::{self, Write};
    use std::marker::PhantomData;
    use std::ops::Deref;

    /// A file without a name: the system removes it however the process ends.
    pub struct Written(File);

    impl Written {
        pub fn new() -> io::Result<Written> {
            Ok(Written(tempfile::tempfile().map_err(no_room)?))
        }
        pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.write_all(bytes).map_err(no_room)
        }
        pub fn mapped<T: Pod>(self) -> io::Result<Mapped<T>> {
            if self.0.metadata()?.len() == 0 {
                return Ok(Mapped { map: None, of: PhantomData });
            }
            // SAFETY: nobody else can open the file, which has no name, and nobody here writes to it from now on. All of
            // it was written, so the disk has its blocks.
            let map = unsafe { Mmap::map(&self.0) }.map_err(no_room)?;
            Ok(Mapped { map: Some(map), of: PhantomData })
        }
    }

    fn no_room(why: io::Error) -> io::Error {
        let folder = std::env::temp_dir();
        let text = why.to_string();
        let why = text.split(" (os error").next().unwrap_or_default().to_lowercase();
        let says = format!(
            "{}: packets are kept there for a while: {why}; name another place with TMPDIR",
            folder.display()
        );
        io::Error::other(says)
    }

    /// The values in a file, read where they lie.
    pub struct Mapped<T> {
        map: Option<Mmap>,
        of: PhantomData<T>,
    }

    impl<T: Pod> Deref for Mapped<T> {
        type Target = [T];
        fn deref(&self) -> &[T] {
            // The mapping begins at a page, and holds whole values.
            self.map.as_ref().map_or(&[], |map| bytemuck::cast_slice(map))
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn a_column_in_a_file_holds_what_one_in_memory_holds() {
        for rows in [0_i64, 1, 5000] {
            let [memory, file] = [false, true].map(|in_file| {
                let mut filling = Filling::new(in_file).unwrap();
                for row in 0..rows {
                    filling.push(row * 3 - 7);
                    if row % 100 == 0 {
                        filling.pass_on().unwrap();
                    }
                }
                filling.end().unwrap()
            });
            assert!(matches!(file, Column::File(_)));
            assert_eq!(memory[..], file[..]);
            assert_eq!(file.len() as i64, rows);
        }
    }
}
