//! Answering, in a helper.

use std::io::{self, BufReader, BufWriter};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::json;

use crate::{BUILD, Parcel};

/// The other side, to be asked while an answer is made.
#[derive(Debug)]
pub struct Asking<'a> {
    requests: &'a Receiver<Parcel>,
    output: &'a mut BufWriter<io::Stdout>,
}

impl Asking<'_> {
    /// Asks for something; none where nobody answers any more. `head` has the field `asks`.
    pub fn ask(&mut self, question: &Parcel) -> Option<Parcel> {
        question.write(self.output).ok()?;
        self.requests.recv().ok()
    }
}

/// Answers requests from standard input until it ends. Then this process ends, also in the middle of
/// an answer.
#[must_use]
pub fn serve(answer: fn(&Parcel, &mut Asking<'_>) -> Parcel) -> ExitCode {
    // Values must not be in a file after a crash.
    opal_files::memory::keep_private();
    let (send, requests) = channel();
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin().lock());
        while let Ok(Some(request)) = Parcel::read(&mut input) {
            if send.send(request).is_err() {
                break;
            }
        }
        #[expect(clippy::exit, reason = "nobody waits for the answer that is being made")]
        std::process::exit(0);
    });
    let mut output = BufWriter::new(io::stdout());
    let hello = Parcel::new(json!({"build": BUILD}));
    let mut is_heard = hello.write(&mut output).is_ok();
    while is_heard && let Ok(request) = requests.recv() {
        let asking = &mut Asking { requests: &requests, output: &mut output };
        is_heard = answer(&request, asking).write(&mut output).is_ok();
    }
    ExitCode::SUCCESS
}
