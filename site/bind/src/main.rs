//! `rexmit-bind MODULE.wasm FOLDER`: what `wasm-bindgen --target web --omit-default-module-path --out-dir` writes.

use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let mut words = std::env::args_os().skip(1);
    let (Some(module), Some(folder)) = (words.next(), words.next()) else {
        anyhow::bail!("usage: rexmit-bind MODULE.wasm FOLDER");
    };
    Bindgen::new().input_path(module).web(true)?.omit_default_module_path(true).typescript(true).generate(folder)
}
