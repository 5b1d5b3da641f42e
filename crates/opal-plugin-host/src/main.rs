//! The helper `opal-plugin-host`: runs the WASM components of plugins, and has no other power.
//!
//! ```text
//! opal ──lines──▶ serve ──▶ worker ──▶ engine: a new instance for each call
//! opal ◀─lines── link ◀── what the plugin asks for: opal decides and acts
//! ```
//!
//! | what | where |
//! |---|---|
//! | lines from opal, and the threads that answer | `serve`, `workers` |
//! | lines to opal, and waiting for its answers | `link` |
//! | compiling, loading and calling components, with all limits | `engine` |
//! | what a component imports: opal's host, and a WASI that does nothing | `host`, `wasi` |
//! | what this process gives up before it reads anything | `confine` |
//! | a native program, which this process becomes | `native` |
//! | what ends with opal although it was killed | `guard` |
//! | the socket, and the descriptors that come with lines | `socket` |
//!
//! Deliberately not here: files, variables, programs, the network. Whatever a plugin wants of the
//! world it asks opal for.

mod bindings;
mod confine;
mod engine;
mod guard;
mod host;
mod link;
#[cfg(target_os = "linux")]
mod native;
mod serve;
mod socket;
mod wasi;
mod workers;

use std::process::ExitCode;

/// The other side does not keep to the protocol, or this process cannot be confined.
const PROTOCOL: u8 = 76;

fn main() -> ExitCode {
    opal_files::memory::keep_private();
    let mut words = std::env::args_os().skip(1);
    let word = words.next();
    if word.as_ref().is_some_and(|word| word == "guard") {
        let group = words.next().and_then(|group| group.into_string().ok());
        return match group.and_then(|group| guard::watch(&group)) {
            Some(()) => ExitCode::SUCCESS,
            None => ExitCode::from(PROTOCOL),
        };
    }
    let Some(socket) = socket::take() else {
        return ExitCode::from(PROTOCOL);
    };
    let is_compiler = word.as_ref().is_some_and(|word| word == "compile");
    #[cfg(target_os = "linux")]
    if word.is_some_and(|word| word == "native") {
        // It returns only where there is no program.
        let _ = native::serve(socket);
        return ExitCode::from(PROTOCOL);
    }
    if confine::confine(is_compiler).is_err() {
        return ExitCode::from(PROTOCOL);
    }
    match serve::serve(socket) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(PROTOCOL),
    }
}
