//! What a decorator of a plugin is called with, and what it gives.

use super::body::{Frames, Shape, View, record};
use super::words;
use crate::data::{Data, Secret};

words! {
    /// The functions of a plugin that opal calls.
    Function {
        Resolve = "value.resolve",
        Verify = "state.verify",
        Act = "action.act",
        Begin = "wrapper.begin",
        End = "wrapper.end",
        Judge = "policy.judge",
        Targets = "boundary.targets",
        Read = "source.read",
        Write = "sink.write",
    }
}

impl Function {
    /// The interface it belongs to, as manifests and components name it.
    #[must_use]
    pub fn interface(self) -> &'static str {
        self.word().split('.').next().unwrap_or_default()
    }

    /// Whether it may change something: only then it gets a stage.
    #[must_use]
    pub const fn acts(self) -> bool {
        matches!(self, Self::Act | Self::Begin | Self::End | Self::Write)
    }
}

/// Every interface that a component may export.
pub const INTERFACES: [&str; 8] =
    ["value", "state", "action", "wrapper", "policy", "boundary", "source", "sink"];

record! {
    /// Loads the component of a plugin. A descriptor with its compiled code comes with the line.
    Load {
        /// What it must export: no more and no less.
        exports: Vec<String>,
        memory_mib: u32,
    }
}

record! {
    /// Makes the helper a native program. A descriptor with the program comes with the line.
    Native {
        /// Directories and files that it may read, and those that it may write too.
        reads: Vec<String>,
        writes: Vec<String>,
        /// Whether it may open sockets, and start programs.
        net: bool,
        run: bool,
        memory_mib: u32,
        /// Whether it runs although the kernel cannot take files from it.
        unconfined: bool,
    }
}

record! {
    /// One call of a decorator.
    Invocation {
        decorator: String,
        subject: Option<String>,
        /// A JSON object; `{"$secret": 0}` in it is the first handle.
        args: Secret,
        /// How many handles it gets, numbered from 0.
        secrets: u32,
        text: Option<Secret>,
        /// What random numbers derive from: 64 hexadecimal digits.
        seed: String,
        /// For `end`.
        token: Option<Secret>,
        outcome: Option<Outcome>,
        /// For `judge`.
        event: Option<Event>,
    }
}

/// How a block ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Failed(i32),
    Stopped,
}

impl Shape for Outcome {
    fn write(&self, frames: &mut Frames) -> Data {
        match self {
            Self::Done => Data::text("done"),
            Self::Failed(code) => code.write(frames),
            Self::Stopped => Data::text("stopped"),
        }
    }

    fn read(view: View<'_>) -> Option<Self> {
        match view.data {
            Data::Int(_) => i32::read(view).map(Self::Failed),
            data => match data.as_text()? {
                "done" => Some(Self::Done),
                "stopped" => Some(Self::Stopped),
                _ => None,
            },
        }
    }
}

record! {
    /// A run of a block that is about to start, or has ended.
    Event {
        target: Option<String>,
        attempt: u32,
        outcome: Option<Outcome>,
    }
}

record! {
    Resolved {
        /// A JSON document.
        value: Secret,
        /// Paths in it whose values are secret. Only Terraform providers report them.
        secrets: Option<Vec<String>>,
    }
}

words! {
    Found {
        Satisfied = "satisfied",
        Missing = "missing",
        Drifted = "drifted",
        Unknown = "unknown",
    }
}

impl Shape for Found {
    fn write(&self, _: &mut Frames) -> Data {
        Data::text(self.word())
    }

    fn read(view: View<'_>) -> Option<Self> {
        Self::named(view.data.as_text()?)
    }
}

record! {
    /// What a verification reports.
    Finding {
        status: Found,
        message: Secret,
        details: Option<Secret>,
        identity: Option<Secret>,
        /// The object itself, a JSON document. Only Terraform providers report this and what follows.
        object: Option<Secret>,
        /// Attributes that cannot be read back, so they were not compared.
        unread: Option<Vec<String>>,
        /// Paths in `object` whose values are secret.
        secrets: Option<Vec<String>>,
        /// What a contract compares, a canonical text. opal keys its digest.
        digest: Option<Secret>,
        /// What differs: a path, what is expected there, and what is there.
        differences: Option<Vec<(String, (Secret, Secret))>>,
        /// Whose object it is.
        account: Option<Secret>,
        /// Whether it was found by a tag, which others can move.
        marked: Option<bool>,
        /// Whether an apply would delete it.
        deletes: Option<bool>,
        /// When it was created, where it says so.
        created: Option<Secret>,
        /// What of `differences` cannot be changed in place: its paths.
        fixed: Option<Vec<String>>,
    }
}

record! {
    Acted {
        /// A JSON document.
        output: Secret,
        identity: Option<Secret>,
        adopted: bool,
        /// As in a [`Finding`], about the output.
        unread: Option<Vec<String>>,
        secrets: Option<Vec<String>>,
        digest: Option<Secret>,
        /// What was done, for people; and what was changed: a path, what is there now, and what was there.
        message: Option<Secret>,
        changes: Option<Vec<(String, (Secret, Secret))>>,
    }
}

words! {
    /// What a provider does to an object.
    Deed {
        Create = "create",
        Change = "change",
        Replace = "replace",
        Remove = "remove",
    }
}

impl Shape for Deed {
    fn write(&self, _: &mut Frames) -> Data {
        Data::text(self.word())
    }

    fn read(view: View<'_>) -> Option<Self> {
        Self::named(view.data.as_text()?)
    }
}

record! {
    /// What a provider is about to do. opal records it before, or refuses it.
    Intent {
        deed: Deed,
        /// What the object is found by, for people.
        by: Secret,
        /// Whether an object that nobody may read looks as if it were missing.
        hides_denied: bool,
        /// Whose object it will be; only where it may be hidden.
        account: Option<Secret>,
    }
}

record! {
    /// What a step for an object of a state file says.
    Adopted {
        /// A JSON document.
        args: Secret,
        /// An import id, or an identity: a JSON document.
        adopt: Option<Secret>,
        /// Paths in `args` whose values are secret.
        secrets: Option<Vec<String>>,
        /// Attributes that cannot be read back: only the state file has them.
        unread: Option<Vec<String>>,
        status: Found,
        message: Secret,
    }
}

record! {
    Opened {
        token: Secret,
        env: Vec<(String, Secret)>,
    }
}

/// What a policy decides.
#[derive(Clone, Debug)]
pub enum Verdict {
    Proceed,
    /// Again, after this many milliseconds.
    Retry(u32),
    Stop(Secret),
}

impl Shape for Verdict {
    fn write(&self, frames: &mut Frames) -> Data {
        match self {
            Self::Proceed => Data::Null,
            Self::Retry(pause) => pause.write(frames),
            Self::Stop(reason) => reason.write(frames),
        }
    }

    fn read(view: View<'_>) -> Option<Self> {
        match view.data {
            Data::Null => Some(Self::Proceed),
            Data::Int(_) => u32::read(view).map(Self::Retry),
            _ => Secret::read(view).map(Self::Stop),
        }
    }
}

record! {
    Judged {
        verdict: Verdict,
    }
}

record! {
    Program {
        name: String,
        args: Vec<String>,
    }
}

record! {
    Ssh {
        host: String,
        port: Option<u16>,
        user: Option<String>,
    }
}

record! {
    /// Where a block runs. One of `ssh` and `program` says how to get there.
    Target {
        name: String,
        ssh: Option<Ssh>,
        program: Option<Program>,
        interpreter: Option<Program>,
        ready: Option<Program>,
        ready_within: u32,
    }
}

record! {
    Targets {
        targets: Vec<Target>,
    }
}
