//! Why a call is refused before `opal` was asked: all messages.
//!
//! None of them repeats what the agent sent, so that no text of others gets in here.

use std::fmt;
use std::path::PathBuf;

use opal_core::message::Reason;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The policy of the machine does not enable the tool.
    NotEnabled(&'static str),
    UnknownArgument {
        tool: &'static str,
        known: &'static [&'static str],
    },
    Missing(&'static str),
    Wrong(&'static str, &'static str),
    /// Not one of the projects that an agent may name.
    OtherProject(Vec<PathBuf>),
    /// Several could be meant.
    WhichProject(Vec<PathBuf>),
    NoSource,
    NoContract,
    SeveralContracts,
    /// A contract that is no longer what was submitted, or that cannot be read.
    Changed,
    NoRun,
    /// It was not started here, or has ended.
    NotOwnRun,
    NoPage,
    /// So many calls wait already.
    Busy(usize),
    /// The source of the project is a link to a file elsewhere.
    SourceElsewhere,
    NotStarted(std::io::ErrorKind),
    /// It printed more than is read.
    TooLong,
    /// It could not list the inbox.
    NoInbox,
    Cancelled,
    /// The call could not be written down.
    Unlogged(std::io::ErrorKind),
    Root(String, String),
}

impl From<crate::child::Unanswered> for Refusal {
    fn from(why: crate::child::Unanswered) -> Self {
        match why {
            crate::child::Unanswered::NotStarted(kind) => Self::NotStarted(kind),
            crate::child::Unanswered::TooLong => Self::TooLong,
            crate::child::Unanswered::NoInbox(_) => Self::NoInbox,
        }
    }
}

impl Refusal {
    /// A word that programs can compare.
    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::NotEnabled(_) => "tool_not_enabled",
            Self::UnknownArgument { .. } | Self::Missing(_) | Self::Wrong(..) => "wrong_argument",
            Self::OtherProject(_) | Self::WhichProject(_) => "project_refused",
            Self::NoSource | Self::SourceElsewhere => "no_source",
            Self::Busy(_) => "busy",
            Self::NoContract | Self::SeveralContracts => "no_such_contract",
            Self::Changed => "contract_changed",
            Self::NoRun => "no_such_run",
            Self::NotOwnRun => "not_own_run",
            Self::NoPage => "no_such_page",
            Self::NotStarted(_) | Self::NoInbox | Self::Root(..) => "unavailable",
            Self::TooLong => "too_long",
            Self::Cancelled => "cancelled",
            Self::Unlogged(_) => "not_logged",
        }
    }

    pub(super) fn help(&self) -> String {
        match self {
            Self::NotEnabled(tool) => format!(
                "the owner of this machine enables it with `tools = [\"{tool}\", …]` below `[mcp]` in \
                 `/etc/opal/policy.toml` or `config/policy.toml` of the runtime root"
            ),
            Self::UnknownArgument { known, .. } => format!("it takes: {}", known.join(", ")),
            Self::Missing(_) | Self::Wrong(..) => {
                "the schema of the tool says what it takes".to_owned()
            }
            Self::OtherProject(known) | Self::WhichProject(known) => {
                let known: Vec<String> =
                    known.iter().map(|it| format!("`{}`", it.display())).collect();
                match &known[..] {
                    [] => "the owner of this machine lists projects with `projects = […]` below \
                           `[mcp]` in the policy"
                        .to_owned(),
                    _ => format!("`project` is one of: {}", known.join(", ")),
                }
            }
            Self::SourceElsewhere => "put the file itself into the project".to_owned(),
            Self::Busy(_) => "wait for the answers to earlier calls".to_owned(),
            Self::NoSource => "write a `commands.opl` in the directory of the project".to_owned(),
            Self::NoContract | Self::SeveralContracts => {
                "the tool `contracts` lists their ids; use all 32 digits".to_owned()
            }
            Self::Changed => "make a new one with the tool `contract`".to_owned(),
            Self::NoRun => "the tool `runs` lists the runs of these projects".to_owned(),
            Self::NotOwnRun => "a person stops other runs in the terminal they run in".to_owned(),
            Self::NoPage => "repeat the call without `page`".to_owned(),
            Self::TooLong => "narrow the request, or use `opal` in a terminal".to_owned(),
            Self::NotStarted(_) | Self::Cancelled => "try again".to_owned(),
            Self::Unlogged(_) => {
                "the owner of this machine checks `logs/mcp` of the runtime root".to_owned()
            }
            Self::NoInbox => {
                "the owner of this machine sees the reason with `opal plan inbox`".to_owned()
            }
            Self::Root(_, help) => help.clone(),
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "version": 1,
            "error": {"code": self.code(), "message": self.to_string(), "help": [self.help()]},
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEnabled(tool) => {
                write!(f, "the policy of this machine does not enable the tool `{tool}`")
            }
            Self::UnknownArgument { tool, .. } => {
                write!(f, "the tool `{tool}` has no such argument")
            }
            Self::Missing(name) => write!(f, "the argument `{name}` is missing"),
            Self::Wrong(name, expected) => write!(f, "the argument `{name}` must be {expected}"),
            Self::OtherProject(_) => f.write_str("this project is not open to agents"),
            Self::WhichProject(_) => f.write_str("it is not clear which project is meant"),
            Self::NoSource => f.write_str("the project has no `commands.opl`"),
            Self::SourceElsewhere => {
                f.write_str("`commands.opl` of the project is a link to a file outside of it")
            }
            Self::Busy(most) => write!(f, "{most} calls are waiting for an answer already"),
            Self::NoContract => {
                f.write_str("there is no such contract of these projects in the inbox")
            }
            Self::SeveralContracts => f.write_str("several contracts begin with these digits"),
            Self::Changed => f.write_str("the contract is not the one that was submitted"),
            Self::NoRun => f.write_str("there is no such run of these projects"),
            Self::NotOwnRun => {
                f.write_str("the run was not started by this agent, or it has ended")
            }
            Self::NoPage => f.write_str("there is no such page, or it is no longer kept"),
            Self::NotStarted(kind) => write!(f, "`opal` cannot be started: {}", Reason(*kind)),
            Self::TooLong => f.write_str("the answer is too long"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Unlogged(kind) => write!(f, "the call cannot be logged: {}", Reason(*kind)),
            Self::NoInbox => f.write_str("the contracts of the inbox cannot be listed"),
            Self::Root(message, _) => f.write_str(message),
        }
    }
}

impl From<opal_vault::root::RootError> for Refusal {
    fn from(error: opal_vault::root::RootError) -> Self {
        Self::Root(error.to_string(), error.help())
    }
}
