//! The `rowferry` program: hands the arguments to the library and exits with its code.

fn main() -> std::process::ExitCode {
    rowferry_cli::run(std::env::args_os()).into()
}
