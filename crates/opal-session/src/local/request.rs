//! The text that a waiting shell is given for one command.
//!
//! ```text
//! builtin cd -- '/srv' 2>&201 && export OLDPWD='/' &&   only where the shell is elsewhere
//! ( unset -v __opal_0
//! __opal_0='; rm -rf /'
//! export REGION='eu'
//! kubectl scale --replicas="${__opal_0}"
//! ) 2>&201 201>&- 200>&-
//! ```
//!
//! In a fork `$$` is the number of the waiting shell. Where a command names it, the fork becomes a
//! new shell, which reads the values from a pipe:
//!
//! ```text
//! ( __opal_feed='…'; exec 202<&0
//! printf %s "$__opal_feed" | exec bash -c 'eval "$(cat)"; exec <&202 202<&-; echo $$' bash 2>&201 … )
//! ```
//!
//! The command is in the brackets as it is, so that the shell can become the last program in it
//! without one more fork. Its text is known to be whole: the source was read with all its quotes
//! and brackets in pairs, and the shell was asked about it before anything ran.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use opal_core::Secret;
use opal_core::wiped::Wiped;

use super::waiting::Descriptors;
use opal_core::shell::{Compiled, Shell};

/// What is asked for.
pub(super) struct Request<'a> {
    pub(super) shell: Shell,
    pub(super) descriptors: Descriptors,
    /// Where to go first, and what `cd -` then goes back to.
    pub(super) place: Option<(&'a Path, Option<&'a Path>)>,
    pub(super) environment: &'a BTreeMap<String, Secret>,
    /// What the fork does first.
    pub(super) prelude: String,
    /// Whether to tell where it ended.
    pub(super) is_mover: bool,
}

impl Request<'_> {
    /// A command in a fork.
    pub(super) fn forked(&self, compiled: &Compiled) -> Wiped<String> {
        let assignments = compiled.assignments();
        let exports = self.exports();
        let bytes =
            assignments.len() + exports.len() + compiled.text().len() + self.prelude.len() + 512;
        let mut text = self.begun(bytes);
        text.push_str("( ");
        text.push_str(&self.prelude);
        text.push_str(&assignments);
        text.push_str(&exports);
        let [command, report] = self.reporting(compiled.text());
        text.push_str(&command);
        if self.is_mover {
            text.push_str("\"$__opal_turn\"");
        }
        text.push_str(&report);
        text.push_str(") ");
        text.push_str(&self.descriptors());
        text
    }

    /// A command in a shell of its own, which the fork becomes. It reads its values from a pipe.
    pub(super) fn alone(&self, compiled: &Compiled, program: &Path) -> Wiped<String> {
        let feed = compiled.feed().map(|feed| quoted(&feed));
        let exports = self.exports();
        let program = quoted(&program.to_string_lossy());
        let Descriptors { script, error, .. } = self.descriptors;
        let input = script.unwrap_or(error + 1);
        let (prelude, command) = compiled.alone(&format!("exec <&{input} {input}<&-"));
        let [command, report] = self.reporting(command);
        let shell = match self.shell {
            Shell::Bash => format!("builtin exec {} -o pipefail -c ", program.as_str()),
            Shell::Sh => format!("exec {} -c ", program.as_str()),
        };
        let turn = if self.is_mover { "\"$__opal_turn\"" } else { "" };
        let argument = Wiped::new(prelude + &command);
        let argument = format!("{}{turn}{}", quoted(&argument).as_str(), quoted(&report).as_str());
        let bytes = feed.as_ref().map_or(0, |it| it.len())
            + exports.len()
            + argument.len()
            + self.prelude.len()
            + 512;
        let mut text = self.begun(bytes);
        text.push_str("( ");
        text.push_str(&self.prelude);
        text.push_str(&exports);
        if let Some(feed) = &feed {
            text.push_str("unset -v __opal_feed; __opal_feed=");
            text.push_str(feed);
            text.push_str(&format!("; exec {input}<&0; {}printf ", self.builtin()));
            text.push_str("%s \"$__opal_feed\" | ");
        }
        let name = if self.shell == Shell::Bash { "bash" } else { "sh" };
        // Not around the brackets: what the fork has to say about the end of a shell is nobody's.
        text.push_str(&format!("{shell}{argument} {name} {} )", self.descriptors()));
        text
    }

    /// The text of a command, and what tells where it ended, cut where the turn is named.
    ///
    /// The command is in the brackets as it is, so that the shell can become the last program in
    /// it; where that cannot be, its programs do not get the channel.
    fn reporting(&self, command: &str) -> [String; 2] {
        let nothing = if is_empty(command) { ":\n" } else { "" };
        // The second line break is for a text that ends in a backslash.
        let command = format!("{nothing}{command}\n\n");
        if !self.is_mover {
            return [command, String::new()];
        }
        let (channel, builtin) = (self.descriptors.channel, self.builtin());
        let begun = format!("{{ {command}}} {channel}>&-\n__opal_code=$?\n__opal_turn=");
        let ended = format!(
            "\n{builtin}printf '%s:%s\\0' \"$__opal_turn\" \"$PWD\" \
             \"$__opal_turn\" \"-${{OLDPWD-}}\" >&{channel}\n{builtin}exit \"$__opal_code\"\n"
        );
        [begun, ended]
    }

    /// What of the descriptors of the waiting shell a command gets.
    fn descriptors(&self) -> String {
        let Descriptors { channel, error, .. } = self.descriptors;
        let closed = if self.is_mover { String::new() } else { format!(" {channel}>&-") };
        format!("2>&{error} {error}>&-{closed}")
    }

    /// A command of the shell itself that leaves no trace in it.
    pub(super) fn unforked(&self, text: &str) -> Wiped<String> {
        let mut begun = self.begun(text.len() + 64);
        begun.push_str(text);
        begun.push_str(&format!(" 2>&{}", self.descriptors.error));
        begun
    }

    fn begun(&self, bytes: usize) -> Wiped<String> {
        let mut text = Wiped::new(String::new());
        let Some((directory, previous)) = self.place else {
            text.reserve_exact(bytes);
            return text;
        };
        let directory = directory.to_string_lossy();
        let previous = previous.map(|it| quoted(&it.to_string_lossy()));
        let paths = 2 * directory.len() + previous.as_ref().map_or(0, |it| it.len());
        text.reserve_exact(bytes + paths + 64);
        text.push_str(&format!(
            "{}cd -- {} 2>&{}",
            self.builtin(),
            quoted(&directory).as_str(),
            self.descriptors.error
        ));
        match previous {
            Some(previous) => {
                text.push_str(" && export OLDPWD=");
                text.push_str(&previous);
            }
            None => text.push_str(" && unset -v OLDPWD"),
        }
        text.push_str(" && ");
        text
    }

    fn exports(&self) -> Wiped<String> {
        let mut text = Wiped::new(String::new());
        text.reserve_exact(
            self.environment
                .iter()
                .map(|(name, value)| name.len() + 4 * value.expose().len() + 16)
                .sum(),
        );
        for (name, value) in self.environment {
            text.push_str("export ");
            text.push_str(name);
            text.push('=');
            text.push_str(&quoted(value.expose()));
            text.push_str("; ");
        }
        text
    }

    fn builtin(&self) -> &'static str {
        match self.shell {
            Shell::Bash => "builtin ",
            Shell::Sh => "",
        }
    }
}

/// Whether there is no command between the brackets, which they need.
fn is_empty(text: &str) -> bool {
    text.lines().map(str::trim_start).all(|line| line.is_empty() || line.starts_with('#'))
}

fn quoted(text: &str) -> Wiped<String> {
    let mut quoted = Wiped::new(String::new());
    opal_core::shell::single(&mut quoted, text);
    quoted
}

/// Whether a shell takes the variable from `export NAME=value` as it would from its environment.
pub(super) fn is_exportable(name: &str) -> bool {
    const OWN: [&str; 12] = [
        "EUID",
        "GROUPS",
        "IFS",
        "OLDPWD",
        "OPTIND",
        "PPID",
        "PS4",
        "PWD",
        "SHELLOPTS",
        "SHLVL",
        "UID",
        "_",
    ];
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && !name.starts_with("BASH") && !name.starts_with("__opal_") && !OWN.contains(&name)
}

/// What bash takes for a function: `BASH_FUNC_name%%`.
pub(super) fn exported_function(variable: &OsStr) -> Option<&str> {
    std::str::from_utf8(variable.as_bytes().strip_prefix(b"BASH_FUNC_")?.strip_suffix(b"%%")?).ok()
}
