//! One tool of a run: what it prints, on its way into two files, and how it ends.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use opal_core::stream::Stream;
use opal_vault::Vault;
use opal_vault::event::End;
use opal_vault::{Escapes, Shown};
use serde_json::json;

use super::ToolStep;
use crate::keep::file::{self, Draft, Unkept};
use crate::keep::id::time;
use crate::keep::secrecy::{HIDDEN, is_secret_key};

/// What is kept of one stream of a tool, from its beginning. The record of the run has its end.
const MOST_BYTES: u64 = 64 << 20;

/// How a tool ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolEnd {
    pub label: String,
    pub rc: i32,
    pub end: End,
    /// All attempts together.
    pub took: Duration,
    pub attempts: u32,
    /// What opal itself had to say about it.
    pub message: Option<String>,
    /// The files of the evidence that do not hold all that it has printed.
    pub cut: Vec<String>,
    /// Whether it has printed escape sequences, which the evidence does not have.
    pub had_escapes: bool,
}

impl ToolEnd {
    /// What the evidence does not have of it.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let most = MOST_BYTES >> 20;
        self.cut.iter().map(move |file| {
            format!("the evidence `{file}` contains only the first {most} MiB of the output")
        })
    }
}

#[derive(Debug)]
pub(super) struct Tool {
    step: ToolStep,
    result: PathBuf,
    stdout: Sink,
    stderr: Sink,
    first: Option<SystemTime>,
    is_running: bool,
    attempts: u32,
    took: Duration,
    message: Option<String>,
    end: Option<ToolEnd>,
}

impl Tool {
    pub(super) fn new(step: ToolStep, folder: &Path) -> Self {
        let file = |what: &str| folder.join(format!("{}.{what}", step.label));
        Self {
            result: file("result.json"),
            stdout: Sink::new(file("stdout.txt")),
            stderr: Sink::new(file("stderr.txt")),
            step,
            first: None,
            is_running: false,
            attempts: 0,
            took: Duration::ZERO,
            message: None,
            end: None,
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.step.path
    }

    pub(super) fn is_running(&self) -> bool {
        self.is_running
    }

    pub(super) fn end(&self) -> Option<&ToolEnd> {
        self.end.as_ref()
    }

    /// How long it has been at it, with all attempts.
    pub(super) fn since(&self, at: SystemTime) -> Duration {
        let all = self.first.and_then(|first| at.duration_since(first).ok()).unwrap_or_default();
        all.saturating_sub(self.took)
    }

    /// An attempt begins; its output follows that of the one before.
    pub(super) fn start(&mut self, at: SystemTime) -> Result<(), Unkept> {
        self.first.get_or_insert(at);
        self.is_running = true;
        self.attempts += 1;
        self.message = None;
        self.stdout.open()?;
        self.stderr.open()
    }

    pub(super) fn print(&mut self, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unkept> {
        match stream {
            Stream::Stdout => self.stdout.take(bytes),
            Stream::Stderr => self.stderr.take(bytes),
        }
    }

    pub(super) fn say(&mut self, message: &Shown<'_>) {
        self.message = Some(message.text().into_owned());
    }

    pub(super) fn finish(
        &mut self,
        rc: i32,
        end: End,
        took: Duration,
        at: SystemTime,
        vault: &Vault,
    ) -> Result<(), Unkept> {
        self.is_running = false;
        self.took += took;
        self.end = Some(ToolEnd {
            label: self.step.label.clone(),
            rc,
            end,
            took: self.took,
            attempts: self.attempts,
            message: self.message.clone(),
            cut: [&self.stdout, &self.stderr].into_iter().filter_map(Sink::cut).collect(),
            had_escapes: self.stdout.escapes.found() || self.stderr.escapes.found(),
        });
        self.stdout.close(vault)?;
        self.stderr.close(vault)?;
        let result = json!({
            "label": self.step.label,
            "argv": words(&self.step.argv),
            "cwd": self.step.cwd.to_string_lossy(),
            "rc": rc,
            "status": end.name(),
            "started_at": time(self.first.unwrap_or(at)),
            "finished_at": time(at),
            "duration_ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "attempts": self.attempts,
            "message": self.message,
        });
        file::write(&self.result, &vault.json(&result, &["/argv", "/message"]))
    }
}

/// The words of a command, without the argument of an option for a secret.
fn words(argv: &[String]) -> Vec<String> {
    let mut words = Vec::with_capacity(argv.len());
    let mut is_next = false;
    for word in argv {
        let option = word.strip_prefix('-').map(|name| name.split_once('=').unwrap_or((name, "")));
        words.push(match option {
            _ if is_next => HIDDEN.to_owned(),
            Some((name, value)) if !value.is_empty() && is_secret_key(name) => {
                format!("-{name}={HIDDEN}")
            }
            _ => word.clone(),
        });
        is_next =
            !is_next && option.is_some_and(|(name, value)| value.is_empty() && is_secret_key(name));
    }
    words
}

/// One stream, on its way into its file.
#[derive(Debug)]
struct Sink {
    path: PathBuf,
    draft: Option<Draft>,
    kept: u64,
    left_out: u64,
    is_cut: bool,
    is_kept: bool,
    escapes: Escapes,
}

impl Sink {
    fn new(path: PathBuf) -> Self {
        let (draft, escapes) = (None, Escapes::default());
        Self { path, draft, kept: 0, left_out: 0, is_cut: false, is_kept: false, escapes }
    }

    fn open(&mut self) -> Result<(), Unkept> {
        let draft = if self.is_kept { Draft::again(&self.path) } else { Draft::create(&self.path) };
        self.draft = Some(draft.map_err(|error| Unkept::new(&self.path, error))?);
        Ok(())
    }

    fn take(&mut self, bytes: &Shown<'_>) -> Result<(), Unkept> {
        let Some(draft) = &mut self.draft else { return Ok(()) };
        // Colours are for the terminal: evidence is searched, compared and read by programs.
        let plain = bytes.without(&mut self.escapes);
        let length = plain.bytes().len() as u64;
        if self.left_out > 0 || self.kept + length > MOST_BYTES {
            self.left_out += length;
            self.is_cut = true;
            return Ok(());
        }
        self.kept += length;
        draft.append(&plain).map_err(|error| Unkept::new(&self.path, error))
    }

    /// The name of the file, where that does not have everything.
    fn cut(&self) -> Option<String> {
        let name = self.path.file_name().filter(|_| self.is_cut)?;
        Some(name.to_string_lossy().into_owned())
    }

    fn close(&mut self, vault: &Vault) -> Result<(), Unkept> {
        let Some(mut draft) = self.draft.take() else { return Ok(()) };
        let kept = (|| {
            if self.left_out > 0 {
                let left_out = std::mem::take(&mut self.left_out);
                let note = format!("\n[opal: {left_out} bytes omitted]\n");
                self.kept = MOST_BYTES;
                draft.append(&vault.scrub(&note))?;
            }
            draft.keep()
        })();
        self.is_kept = true;
        kept.map_err(|error| Unkept::new(&self.path, error))
    }
}
