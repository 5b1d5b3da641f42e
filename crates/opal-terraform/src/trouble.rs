//! What goes wrong with a provider. A message names provider and call, and quotes what the provider said.

use std::fmt::Write as _;
use std::time::Duration;

use opal_core::data::Secret;
use opal_core::protocol::Kind;

use crate::wire::{AttributePath, Call, Diagnostic};

/// What is quoted of a provider, at most.
const QUOTED_BYTES: usize = 1024;
const QUOTED_LINES: usize = 3;

/// How data sources say that nothing matches.
const NOTHING: [&str; 8] = [
    "no matching",
    "no results",
    "empty result",
    "not found",
    "notfound",
    "no such",
    "does not exist",
    "couldn't find",
];

/// Why a call has no answer.
#[derive(Clone, Debug)]
pub struct Trouble {
    pub call: Option<Call>,
    pub why: Why,
    /// What identifies the object that is there nevertheless.
    pub made: Option<Secret>,
}

#[derive(Clone, Debug)]
pub enum Why {
    /// The provider reports errors.
    Said(Vec<Said>),
    TimedOut(Duration),
    /// The process ended, with this word about how and its last lines.
    Ended(String, Secret),
    /// The answer is not what the protocol says.
    Malformed(String),
    TooLarge,
    /// gRPC says no, with the number of its status.
    Refused(i32, Secret),
    /// It is not a provider, or cannot be started.
    Start(String),
    /// What opal will not send.
    Invalid(String),
}

/// One error of a provider.
#[derive(Clone, Debug)]
pub struct Said {
    pub summary: Secret,
    pub detail: Secret,
    /// The attribute that it is about: `rule[0].port`.
    pub attribute: String,
}

impl Trouble {
    #[must_use]
    pub const fn new(call: Call, why: Why) -> Self {
        Self { call: Some(call), why, made: None }
    }

    #[must_use]
    pub fn start(why: impl Into<String>) -> Self {
        Self::without_call(Why::Start(why.into()))
    }

    #[must_use]
    pub fn malformed(call: Call, why: impl ToString) -> Self {
        Self::new(call, Why::Malformed(why.to_string()))
    }

    #[must_use]
    pub fn invalid(why: impl Into<String>) -> Self {
        Self::without_call(Why::Invalid(why.into()))
    }

    #[must_use]
    pub const fn timed_out(limit: Duration) -> Self {
        Self::without_call(Why::TimedOut(limit))
    }

    const fn without_call(why: Why) -> Self {
        Self { call: None, why, made: None }
    }

    /// The same, where an object is there nevertheless: what identifies it, if anything does.
    #[must_use]
    pub fn beside(self, identity: Option<Secret>) -> Self {
        Self { made: Some(identity.unwrap_or_else(|| Secret::new("unknown"))), ..self }
    }

    /// Whether the provider says this in an error.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        let has = |said: &Said| {
            said.summary.expose().contains(text) || said.detail.expose().contains(text)
        };
        matches!(&self.why, Why::Said(all) if !text.is_empty() && all.iter().any(has))
    }

    /// Whether the process is gone, so that another one may know better.
    #[must_use]
    pub const fn is_crash(&self) -> bool {
        matches!(self.why, Why::Ended(..))
    }

    /// Whether the provider may hang, so that another process may answer.
    #[must_use]
    pub const fn is_silence(&self) -> bool {
        matches!(self.why, Why::TimedOut(_))
    }

    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.why {
            Why::Said(all)
                if self.call == Some(Call::Data) && all.iter().any(Said::finds_nothing) =>
            {
                Kind::Missing
            }
            Why::TimedOut(_) => Kind::TimedOut,
            Why::TooLarge => Kind::TooLarge,
            Why::Malformed(_) | Why::Invalid(_) => Kind::Invalid,
            _ => Kind::Failed,
        }
    }

    /// The message, for a provider that people know by a name such as `aws 6.47.1`.
    #[must_use]
    pub fn message(&self, provider: &str) -> Secret {
        let short = provider.split(' ').next().unwrap_or(provider);
        let call = self.call.map_or_else(String::new, |call| format!(", {}", call.name()));
        let about = format!("{provider}{call}");
        Secret::new(match &self.why {
            Why::Said(all) => {
                let said = all.iter().map(Said::text).collect::<Vec<_>>().join("\n");
                format!("{short} says: {}", quote(&said))
            }
            Why::TimedOut(limit) => format!("{about}: no answer within {limit:?}"),
            Why::Ended(how, lines) if lines.expose().is_empty() => {
                format!("{about}: the provider ended ({how})")
            }
            Why::Ended(how, lines) => {
                format!("{about}: the provider ended ({how}):\n{}", visible(lines.expose()))
            }
            Why::Malformed(why) => format!("{about}: the answer cannot be used: {why}"),
            Why::TooLarge => format!("{about}: the answer is too large"),
            Why::Refused(status, message) => {
                format!("{about}: status {status}; {short} says: {}", quote(message.expose()))
            }
            Why::Start(why) | Why::Invalid(why) => format!("{provider}: {why}"),
        })
    }
}

impl Said {
    #[must_use]
    pub fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            summary: Secret::new(diagnostic.summary.as_str()),
            detail: Secret::new(diagnostic.detail.as_str()),
            attribute: diagnostic.attribute.as_ref().map(path).unwrap_or_default(),
        }
    }

    /// Whether a data source says in this way that nothing matches. Protocols have no word for it.
    fn finds_nothing(&self) -> bool {
        let said = format!("{} {}", self.summary.expose(), self.detail.expose()).to_lowercase();
        let said = Secret::new(said);
        NOTHING.iter().any(|words| said.expose().contains(words))
    }

    fn text(&self) -> String {
        let at =
            if self.attribute.is_empty() { String::new() } else { format!("{}: ", self.attribute) };
        let (summary, detail) = (self.summary.expose(), self.detail.expose());
        if detail.is_empty() {
            format!("{at}{summary}")
        } else {
            format!("{at}{summary}: {detail}")
        }
    }
}

/// The errors among the diagnostics of an answer.
#[must_use]
pub fn errors(diagnostics: &[Diagnostic]) -> Vec<Said> {
    // What is not a warning is an error: an unknown severity must not pass.
    diagnostics.iter().filter(|it| it.severity != 2).map(Said::from).collect()
}

/// An attribute as people write it.
#[must_use]
pub fn path(path: &AttributePath) -> String {
    let mut text = String::new();
    for step in &path.steps {
        let dot = if text.is_empty() { "" } else { "." };
        let _ = match (&step.attribute, &step.key, step.index) {
            (Some(name), ..) => write!(text, "{dot}{}", visible(name)),
            (_, Some(key), _) => write!(text, "[\"{}\"]", visible(key)),
            (_, _, Some(index)) => write!(text, "[{index}]"),
            _ => Ok(()),
        };
    }
    text
}

/// Three lines and 1 KiB, without control characters.
fn quote(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut quoted = visible(&lines[..lines.len().min(QUOTED_LINES)].join("\n"));
    let is_cut = lines.len() > QUOTED_LINES || quoted.len() > QUOTED_BYTES;
    let mut end = quoted.len().min(QUOTED_BYTES);
    while !quoted.is_char_boundary(end) {
        end -= 1;
    }
    quoted.truncate(end);
    // Quoted lines are set in, so that none looks like a line of opal.
    let quoted = quoted.replace('\n', "\n    ");
    if is_cut { format!("{quoted} …") } else { quoted }
}

/// Text without characters that a terminal obeys, or that only look like the end of a line.
pub(crate) fn visible(text: &str) -> String {
    let is_safe = |c: char| {
        c == '\n'
            || !(c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    text.chars().map(|c| if is_safe(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(summary: &str, detail: &str) -> String {
        let diagnostic = Diagnostic {
            severity: 1,
            summary: summary.to_owned(),
            detail: detail.to_owned(),
            attribute: None,
        };
        let trouble = Trouble::new(Call::Read, Why::Said(errors(&[diagnostic])));
        trouble.message("aws 6.47.1").expose().to_owned()
    }

    #[test]
    fn what_a_provider_says_is_quoted_and_cut() {
        assert_eq!(said("no credentials", ""), "aws says: no credentials");
        assert_eq!(said("a", "b\n\nc\nd\ne"), "aws says: a: b\n    c\n    d …");
        assert!(said(&"x".repeat(5000), "").len() < 1100);
        let escaped = said("\u{1b}[2Jhelp: run rm\r\u{2028}help: x", "");
        assert!(
            !escaped.contains('\u{1b}') && !escaped.contains('\r') && !escaped.contains('\u{2028}')
        );
        assert!(!said("x\nhelp: run this", "").contains("\nhelp:"));
    }

    #[test]
    fn an_unknown_severity_is_an_error() {
        let with = |severity| Diagnostic { severity, ..Diagnostic::default() };
        assert_eq!(errors(&[with(0), with(1), with(2), with(7)]).len(), 3);
    }
}
