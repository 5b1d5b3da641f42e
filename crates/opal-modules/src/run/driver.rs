//! What a driver is: it says what is to run, and has no power to run it.
//!
//! A driver turns a [`Request`] into [`Work`]. The runtime makes a plan of that, and sees to the copy
//! of the pack, the evidence, time limits, attempts, secrets, Ctrl+C and hooks; no driver can forget any
//! of it. The laws that each of them obeys are in [`super::conformance`]:
//!
//! - **D1** The same request gives the same work.
//! - **D2** No word of a command holds a secret input or a credential.
//! - **D3** Labels are distinct, and begin with the name of the tool.
//! - **D4** Every file it writes stays within the stack.
//! - **D5** A stack that it cannot run is refused, in words, before anything runs.
//! - **D6** Outputs that make no sense are an error that quotes nothing of them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use opal_core::Secret;
use serde_json::{Map, Value};

use super::Command;
use crate::{Execution, ModuleRef, NotFound, Profile};

pub trait Driver: Sync + fmt::Debug {
    /// `shell/script`.
    fn reference(&self) -> &'static str;

    /// The section of a profile that is its own.
    fn section(&self) -> Option<&'static OwnSection> {
        None
    }

    /// Every program that a run may start, by these settings of its profile; none where that may be
    /// any.
    fn programs(&self, settings: &Map<String, Value>) -> Option<Vec<String>> {
        let _ = settings;
        None
    }

    /// Whether it could run the stack, were all inputs given. Checking a module needs none.
    fn fits(&self, request: &Request<'_>) -> Result<(), NotFound> {
        self.work(request).map(drop)
    }

    /// What is to run, in order.
    fn work(&self, request: &Request<'_>) -> Result<Work, NotFound>;

    /// The files that its tools read, and the variables: made right before they run, for a stack that
    /// has been copied.
    fn setting(&self, request: &Request<'_>, place: &Place<'_>) -> Result<Setting, NotFound>;

    /// What the tools have put out: the text of a file that [`Work::outputs`] or
    /// [`Work::earlier_outputs`] names. An error quotes nothing of it.
    fn outputs(&self, text: &str) -> Result<Outputs, String>;

    /// Whether a tool that was only to look has found a difference: by its exit code, and by the text of
    /// the file that [`Work::report`] names. An error says why nobody knows, and quotes nothing of it.
    fn differs(&self, code: i32, report: Option<&str>) -> Result<bool, String>;

    /// Why a tool that ended well by its exit code has done nothing of what it was for.
    fn has_missed(&self, code: i32, report: Option<&str>) -> Result<Option<&'static str>, String> {
        let _ = (code, report);
        Ok(None)
    }

    /// Whether a variable of this name would lead its tools elsewhere, or make them print what is not
    /// understood here. They run without it, unless the driver, the profile or a credential sets it.
    fn is_led_astray_by(&self, variable: &str) -> bool {
        let _ = variable;
        false
    }
}

/// A part of profiles that only one driver reads.
#[derive(Debug)]
pub struct OwnSection {
    pub name: &'static str,
    /// All that it reads there.
    pub keys: &'static [&'static str],
}

/// What a driver is asked to do.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    pub command: Command,
    pub module: &'r ModuleRef,
    /// The name of one of several of the same module.
    pub instance: Option<&'r str>,
    pub inputs: &'r Map<String, Value>,
    pub execution: &'r Execution,
    /// Identifiers of the credentials that are needed.
    pub credentials: &'r [String],
    pub profile: &'r Profile,
    /// What its templates hold, by where they belong below the stack.
    pub templates: &'r BTreeMap<String, String>,
    /// The files of the pack, read-only.
    pub stack: &'r Path,
    /// Where a program is, if it is there.
    pub find: &'r dyn Fn(&str) -> Option<PathBuf>,
}

/// Where a run takes place.
#[derive(Clone, Copy, Debug)]
pub struct Place<'r> {
    pub run_id: &'r str,
    /// The copy of the stack.
    pub stack: &'r Path,
    /// A directory that outlives the run, for what a tool has to remember of this module.
    pub memory: &'r Path,
    pub root: &'r Path,
    /// Whether tools may print colours. They are for people alone: evidence has none.
    pub colour: bool,
}

/// What is to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    pub tools: Vec<Tool>,
    /// Where the tools leave their outputs, below the stack.
    pub outputs: Option<String>,
    /// Where they leave what was put out before this run: what is secret in it is hidden, and that is
    /// all. Below the stack too.
    pub earlier_outputs: Option<String>,
    /// Where a tool leaves what it did, for the driver to read. Below the stack too.
    pub report: Option<String>,
    /// What there is to say about the driver, for `driver_meta.json`.
    pub facts: Map<String, Value>,
    /// What is not as it should be, and stops nothing.
    pub warnings: Vec<String>,
}

impl Work {
    /// The files of outputs, any of which may hold a secret.
    pub(crate) fn files_of_outputs(&self) -> impl Iterator<Item = &String> {
        self.outputs.iter().chain(&self.earlier_outputs)
    }

    /// Whether the tool of this label leaves what was put out before.
    pub(super) fn tells_earlier_outputs(&self, label: &str) -> bool {
        let mut tools = self.tools.iter().filter(|tool| tool.label == label);
        tools.any(|tool| tool.stdout.is_some() && tool.stdout == self.earlier_outputs)
    }
}

/// One program, run in the copy of the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// `terragrunt_apply`.
    pub label: String,
    /// The program and its arguments; part of the plan, and so in clear.
    pub words: Vec<String>,
    /// A file below the stack that takes what it prints. Nobody sees it then.
    pub stdout: Option<String>,
    /// It only looks, and runs even where the tool before it has failed or was stopped: the run ends
    /// as that one did.
    pub runs_anyway: bool,
    /// The run goes on where it fails, and ends as if it had not been there.
    pub may_fail: bool,
}

impl Tool {
    #[must_use]
    pub fn new(label: impl Into<String>, words: &[&str]) -> Self {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Self { label: label.into(), words, stdout: None, runs_anyway: false, may_fail: false }
    }
}

/// What a driver puts around its tools.
#[derive(Debug, Default)]
pub struct Setting {
    /// By the path below the stack.
    pub files: BTreeMap<String, Secret>,
    pub variables: BTreeMap<String, Secret>,
}

/// What a module has put out.
#[derive(Clone, Default)]
pub struct Outputs {
    pub values: Map<String, Value>,
    /// The names of those that the tool itself calls secret.
    pub sensitive: Vec<String>,
}

/// Any of it may be a secret.
impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("command", &self.command)
            .field("module", &self.module)
            .field("stack", &self.stack)
            .finish_non_exhaustive()
    }
}

/// A JSON document for a tool, to be read by nobody else.
pub(super) fn document(map: &Map<String, Value>) -> Secret {
    let mut text = serde_json::to_string_pretty(map).unwrap_or_default();
    text.push('\n');
    Secret::new(text)
}
