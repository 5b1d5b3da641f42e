//! Answering, in a helper.

use std::io::{self, BufReader, BufWriter, StdinLock, Write as _};
use std::process::ExitCode;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::json;

use crate::desk::PIPE_BYTES;
use crate::{BUILD, Parcel};

/// The other side, to be asked while an answer is made.
#[derive(Debug)]
pub struct Asking<'a> {
    input: &'a mut BufReader<StdinLock<'static>>,
    output: &'a mut BufWriter<io::Stdout>,
}

impl Asking<'_> {
    /// Asks for something; none where nobody answers any more. `head` has the field `asks`.
    pub fn ask(&mut self, question: &Parcel) -> Option<Parcel> {
        question.write(self.output).and_then(|()| self.output.flush()).ok()?;
        Parcel::read(self.input).ok()?
    }
}

/// Answers requests from standard input until it ends. Then this process ends, also in the middle of
/// an answer.
#[must_use]
pub fn serve(answer: fn(&Parcel, &mut Asking<'_>) -> Parcel) -> ExitCode {
    // Values must not be in a file after a crash.
    opal_files::memory::keep_private();
    thread::spawn(end_with_input);
    let mut input = BufReader::with_capacity(PIPE_BYTES, io::stdin().lock());
    let mut output = BufWriter::with_capacity(PIPE_BYTES, io::stdout());
    let hello = Parcel::new(json!({"build": BUILD}));
    let mut sent = hello.write(&mut output).and_then(|()| output.flush());
    while sent.is_ok()
        && let Ok(Some(request)) = Parcel::read(&mut input)
    {
        let asking = &mut Asking { input: &mut input, output: &mut output };
        sent = answer(&request, asking).write(&mut output);
        // Several requests may have come at once: then their answers go at once, too.
        if sent.is_ok() && input.buffer().is_empty() {
            sent = output.flush();
        }
    }
    ExitCode::SUCCESS
}

/// Waits until nobody writes to standard input any more. It asks for no event: the end is always reported.
fn end_with_input() {
    let stdin = rustix::stdio::stdin();
    loop {
        let mut ended = [PollFd::new(&stdin, PollFlags::empty())];
        match poll(&mut ended, None) {
            Err(Errno::INTR) | Ok(0) => {}
            Ok(_) | Err(_) => break,
        }
    }
    // Programs that work on it end too: opal starts a helper as the first of its own group.
    if rustix::process::getpgrp() == rustix::process::getpid() {
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::KILL);
    }
    #[expect(clippy::exit, reason = "nobody waits for the answer that is being made")]
    std::process::exit(0);
}
