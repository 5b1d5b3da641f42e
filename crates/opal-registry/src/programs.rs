//! Programs that sources need: `git`, and what prints a password. The helper ends with opal, and its whole
//! process group with it, so none of them stays.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use opal_files::SystemError;
use opal_plugins::registries::VARIABLES;

use crate::sources::Reach;

/// What a program said.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) is_success: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Runs a program until it ends; more than `most` bytes of output end it.
pub(crate) fn run(
    program: &str,
    words: &[&str],
    more: &[(&str, &str)],
    input: &[u8],
    most: u64,
    reach: &Reach,
) -> Result<Output, String> {
    let failed =
        |error: std::io::Error| format!("`{program}` cannot be started: {}", SystemError(&error));
    let path = reach.variable("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    let found = opal_files::program::find(Some(path.as_ref()), Path::new("/"), program);
    let found = found.ok_or_else(|| format!("`{program}` is not installed"))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "it is in the process group of this helper, which ends as a whole"
    )]
    let mut command = Command::new(found);
    let known = VARIABLES.iter().filter_map(|name| Some((*name, reach.variable(name)?)));
    command.args(words).env_clear().envs(known).envs(more.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = input.to_vec();
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.map(|stderr| stderr.take(64 * 1024).read_to_end(&mut text));
        text
    });
    let mut out = Vec::new();
    let read = stdout.map(|stdout| stdout.take(most + 1).read_to_end(&mut out)).transpose();
    let is_too_large = out.len() as u64 > most;
    if is_too_large || read.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let _ = writer.join();
    let stderr = reader.join().unwrap_or_default();
    if is_too_large {
        return Err(format!("`{program}` printed more than {most} bytes"));
    }
    let stderr = crate::format::Visible::of(&String::from_utf8_lossy(&stderr)).to_string();
    Ok(Output { is_success: status.success(), stdout: out, stderr })
}
