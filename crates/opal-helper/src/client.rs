//! Starting a helper and asking it.

use std::ffi::{OsStr, OsString};
use std::io::{BufReader, BufWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::desk::Sent;
use crate::find::find;
use crate::{BUILD, Parcel, Unusable};

/// A helper that runs. It ends when this is dropped, and when opal ends.
#[derive(Debug)]
pub struct Helper {
    name: &'static str,
    child: Child,
    /// Closed before it is waited for.
    input: Option<BufWriter<ChildStdin>>,
    output: BufReader<ChildStdout>,
}

/// What a helper wants to know while it works on an answer.
pub type Answer<'a> = dyn FnMut(&Parcel) -> Parcel + 'a;

impl Helper {
    /// Starts the helper that is beside this program, and asks it for its build.
    pub fn start(name: &'static str) -> Result<Self, Unusable> {
        Self::begin(name, &[])
    }

    /// The same of one part of a helper that has several.
    pub fn start_part(name: &'static str, part: &str) -> Result<Self, Unusable> {
        Self::begin(name, &[part, BUILD])
    }

    fn begin(name: &'static str, arguments: &[&str]) -> Result<Self, Unusable> {
        let path = find(name)?;
        // It gets nothing of the environment: who needs a variable sends it. A group of its own, because
        // Ctrl+C reaches the whole group of opal, and what cleans up afterwards still needs the helper.
        #[expect(clippy::disallowed_methods, reason = "the helper ends with the pipe to it")]
        let child = Command::new(path)
            .args(arguments)
            .env_clear()
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let not_started = |error: std::io::Error| Unusable::NotStarted { name, kind: error.kind() };
        let mut child = child.map_err(not_started)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(Unusable::Silent { name });
        };
        let input = Some(BufWriter::new(input));
        let mut helper = Self { name, child, input, output: BufReader::new(output) };
        let hello = helper.receive()?;
        match hello.head.get("build").and_then(Value::as_str) {
            Some(BUILD) => Ok(helper),
            Some(build) => {
                let build = build.chars().filter(char::is_ascii_graphic).take(80).collect();
                Err(Unusable::OtherBuild { name, build })
            }
            None => Err(Unusable::Silent { name }),
        }
    }

    /// Sends a request and waits for its answer. What the helper asks meanwhile, `answer` knows.
    pub fn ask(&mut self, request: &Parcel, answer: &mut Answer<'_>) -> Result<Parcel, Unusable> {
        self.send(request)?;
        loop {
            let parcel = self.receive()?;
            if parcel.head.get("asks").is_none() {
                return Ok(parcel);
            }
            let answer = answer(&parcel);
            self.send(&answer)?;
        }
    }

    /// Sends requests, and waits for their answers: fewer where it has ended before the last one. It must
    /// be able to read all requests before the first answer is read.
    pub(crate) fn ask_all(&mut self, requests: &[Sent]) -> Vec<Parcel> {
        let Some(input) = self.input.as_mut() else { return Vec::new() };
        let written = requests.iter().try_for_each(|it| input.write_all(it));
        if written.and_then(|()| input.flush()).is_err() {
            return Vec::new();
        }
        requests.iter().map_while(|_| self.receive().ok()).collect()
    }

    fn send(&mut self, parcel: &Parcel) -> Result<(), Unusable> {
        let silent = Unusable::Silent { name: self.name };
        let input = self.input.as_mut().ok_or_else(|| silent.clone())?;
        parcel.write(input).and_then(|()| input.flush()).map_err(|_| silent)
    }

    fn receive(&mut self) -> Result<Parcel, Unusable> {
        let found = Parcel::read(&mut self.output).ok().flatten();
        found.ok_or(Unusable::Silent { name: self.name })
    }
}

/// Replaces this process by a part of a helper, with arguments of its own. It returns only if that is not
/// possible.
#[must_use]
pub fn become_part(name: &'static str, part: &str, arguments: &[OsString]) -> Unusable {
    let path = match find(name) {
        Ok(path) => path,
        Err(unusable) => return unusable,
    };
    // It says itself if it is of another build.
    #[expect(clippy::disallowed_methods, reason = "no process is added: this one becomes another")]
    let error = Command::new(path).args([part, BUILD]).args(arguments).exec();
    Unusable::NotStarted { name, kind: error.kind() }
}

/// Replaces this process by a program beside it, which then has its name. It returns only if that is not
/// possible.
#[must_use]
pub fn become_program(name: &'static str, called: &OsStr, words: &[OsString]) -> Unusable {
    let path = match find(name) {
        Ok(path) => path,
        Err(unusable) => return unusable,
    };
    #[expect(clippy::disallowed_methods, reason = "no process is added: this one becomes another")]
    let error = Command::new(path).arg0(called).args(words).exec();
    Unusable::NotStarted { name, kind: error.kind() }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.input = None;
        // It may be in the middle of an answer that nobody wants any more, with programs of its own.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
