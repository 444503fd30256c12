//! The command line of the fuzzer: `fuzz` alone prints what it can do.

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    fuzz::driver::main(&arguments)
}
