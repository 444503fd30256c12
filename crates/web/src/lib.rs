//! What `results` offers, as a page in a browser sees it: a module in WebAssembly, which runs in a worker.

#[cfg(target_arch = "wasm32")]
mod bound;
