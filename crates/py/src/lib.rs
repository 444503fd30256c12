//! The extension module `rexmit._core`: what `results` offers, as Python sees it.

#[cfg(feature = "python")]
mod python;
