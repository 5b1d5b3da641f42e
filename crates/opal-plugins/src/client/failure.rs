//! Why a call of a plugin has no answer: all messages of the client.

use opal_core::message;
use opal_core::message::Message;
use opal_core::protocol::{Ending, Kind, Refusal};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_helper::Unusable;

use super::process::Ended;

/// Exit codes of steps.
const UNAVAILABLE: i32 = 69;
const TIMED_OUT: i32 = 124;

/// What is shown of the words of a plugin.
const SHOWN_BYTES: usize = 1 << 10;
const SHOWN_LINES: usize = 3;

/// A call without an answer.
#[derive(Clone, Debug)]
pub struct CallFailure {
    pub plugin: String,
    pub version: String,
    pub decorator: String,
    pub why: Why,
}

#[derive(Clone, Debug)]
pub enum Why {
    /// There is no helper that may be used.
    Unusable(Unusable),
    /// This process runs no code of packages.
    NoRuntime,
    /// The helper ended during the call.
    Crashed(Ended),
    /// It had ended before, and was started again once already.
    CrashedAgain(Ended),
    /// The plugin or the engine said no.
    Refused(Refusal),
    /// The plugin gave something else than its manifest says.
    Strange(String),
}

impl CallFailure {
    /// The exit code of a step that fails so.
    #[must_use]
    pub fn code(&self) -> i32 {
        match &self.why {
            Why::Refused(refusal) if refusal.engine == Some(Ending::Time) => TIMED_OUT,
            Why::Refused(Refusal { engine: None, kind: Kind::TimedOut, .. }) => TIMED_OUT,
            Why::Refused(Refusal { engine: None, .. }) => 1,
            _ => UNAVAILABLE,
        }
    }

    /// In words.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        let (plugin, version) = (self.plugin.clone(), self.version.clone());
        let decorator = self.decorator.clone();
        let named = |rest: String| {
            message!("plugin `", plugin, "` ", version, ", `@", decorator, "`: ", rest)
        };
        match &self.why {
            Why::Unusable(unusable) => {
                let kind = match unusable.is_unsafe() {
                    true => TroubleKind::Denied,
                    false => TroubleKind::Unreachable,
                };
                Trouble {
                    kind,
                    message: named(unusable.to_string()),
                    help: vec![unusable.help().into()],
                }
            }
            Why::NoRuntime => {
                let message = named("the code of packages does not run here".to_owned());
                let help = "use the decorator in a task that `opal` runs";
                Trouble::new(TroubleKind::Invalid, message, help)
            }
            Why::Crashed(ended) => {
                let help = "the call is not repeated: verify what it may have done";
                Trouble::new(TroubleKind::Failed, named(how(ended)), help)
            }
            Why::CrashedAgain(ended) => {
                let message = format!("{}; it is restarted once in a run", how(ended));
                let help = "run again, or remove the plugin that crashes";
                Trouble::new(TroubleKind::Failed, named(message), help)
            }
            Why::Refused(refusal) => self.refused(refusal),
            Why::Strange(what) => {
                let help = "report it to the author of the plugin";
                Trouble::new(TroubleKind::Invalid, named(what.clone()), help)
            }
        }
    }

    /// The same for what a resource was asked: a step ends with the code of a call.
    #[must_use]
    pub fn unverified(&self) -> Trouble {
        let trouble = self.trouble();
        let kind = match self.code() {
            TIMED_OUT => TroubleKind::TimedOut,
            UNAVAILABLE => TroubleKind::Unreachable,
            _ => trouble.kind,
        };
        Trouble { kind, ..trouble }
    }

    fn refused(&self, refusal: &Refusal) -> Trouble {
        let kind = match refusal.kind {
            Kind::Missing => TroubleKind::Missing,
            Kind::Denied => TroubleKind::Denied,
            Kind::Failed => TroubleKind::Failed,
            Kind::TimedOut => TroubleKind::TimedOut,
            Kind::TooLarge => TroubleKind::TooLarge,
            Kind::NotText => TroubleKind::NotText,
            Kind::Invalid => TroubleKind::Invalid,
        };
        let said = shown(refusal.message.expose());
        let plugin = self.plugin.clone();
        let Some(engine) = refusal.engine else {
            let help = refusal.help.iter().map(|help| {
                let (plugin, help) = (self.plugin.clone(), shown(help.expose()));
                message!(plugin, " says: ", help)
            });
            return Trouble {
                kind,
                message: message!(plugin, " says: ", said),
                help: help.collect(),
            };
        };
        let (version, decorator) = (self.version.clone(), self.decorator.clone());
        let message =
            message!("plugin `", plugin, "` ", version, " failed in `@", decorator, "`: ", said);
        let help: Message = match engine {
            Ending::Memory => "its manifest may ask for up to 512 MiB: `memory_mib: 512` in \
                               `x-opal-plugin`"
                .into(),
            Ending::Load => "install the plugin again, or report it to its author".into(),
            _ => "report it to the author of the plugin".into(),
        };
        // What opal's own helper says about it comes first.
        let own = refusal.help.iter().map(|help| shown(help.expose()).into());
        let help = own.chain([help]).take(1).collect();
        Trouble { kind, message, help }
    }
}

fn how(ended: &Ended) -> String {
    match ended {
        Ended::Signal(signal) => format!("the helper was ended by {}", name(*signal)),
        Ended::Code(code) => format!("the helper ended with exit code {code}"),
        Ended::Malformed(malformed) => format!("the helper broke the protocol: {malformed}"),
        Ended::Silent => "the helper gave no sign of life".to_owned(),
        Ended::NotStarted(kind) => format!("the helper did not start: {kind}"),
        Ended::OtherBuild(build) => format!("the helper is of another build: {build}"),
    }
}

fn name(signal: i32) -> String {
    let known = [
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (15, "SIGTERM"),
        (24, "SIGXCPU"),
        (31, "SIGSYS"),
    ];
    match known.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("signal {signal}"),
    }
}

/// The words of a plugin, as they may be shown: at most 1 KiB and three lines, without escapes.
fn shown(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take(SHOWN_LINES).collect();
    let mut text = lines.join("; ");
    text.truncate(text.floor_char_boundary(SHOWN_BYTES));
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(why: Why) -> CallFailure {
        let [plugin, version, decorator] = ["acme/vault", "1.2.0", "vault.read"].map(str::to_owned);
        CallFailure { plugin, version, decorator, why }
    }

    #[test]
    fn a_crash_names_the_plugin_and_the_signal() {
        let failure = failure(Why::Crashed(Ended::Signal(11)));
        let said = failure.trouble().message.to_string();
        assert_eq!(
            said,
            "plugin `acme/vault` 1.2.0, `@vault.read`: the helper was ended by SIGSEGV"
        );
        assert_eq!(failure.code(), 69);
    }

    #[test]
    fn words_of_a_plugin_are_quoted_and_cut() {
        let words = format!("a\nb\x1b[31m\nc\nd{}", "x".repeat(2_000));
        let failure = failure(Why::Refused(Refusal::new(Kind::Failed, words)));
        let said = failure.trouble().message.to_string();
        assert_eq!(said, "acme/vault says: a; b [31m; c");
        assert_eq!(failure.code(), 1);
        let long = self::failure(Why::Refused(Refusal::new(Kind::Failed, "é".repeat(2_000))));
        assert!(long.trouble().message.to_string().len() < 1_100);
    }

    #[test]
    fn a_time_limit_is_124() {
        let failure = failure(Why::Refused(Refusal::engine(Ending::Time, "it ran longer")));
        assert_eq!(failure.code(), 124);
    }
}
