//! The hooks of a profile: what a module may switch on, to run after its tools.
//!
//! They are only read here. Which of them run, and with which words, is for the run to say.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::{Code, Diagnostic, suggest};
use serde_json::{Map, Value};

use super::super::document::{all_without_effect, optional_map, switch, unused};
use super::super::reference::shorten;
use super::super::spec::secret;
use super::super::value::{mapping, value};
use super::Profile;
use super::policy::count;
use opal_config::report::Report;
use opal_core::gather::Gather as _;
use opal_yaml::fields::{Field, Fields};

/// What opal acts on.
const KEYS: [&str; 6] =
    ["command", "hook_root_default", "hook_root_env", "redact", "strict", "timeout_s"];

const LONGEST_NAME: usize = 64;

/// A hook as a profile describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileHook {
    /// The program and its arguments, with `{name}` where something is filled in.
    pub command: Option<Vec<String>>,
    /// Whether its failure is one of the run.
    pub strict: bool,
    pub timeout_s: Option<u32>,
    /// The variable that may say what `{hook_root}` is.
    pub(crate) root_variable: Option<String>,
    /// All of it as it was written: some of it is filled in.
    pub settings: Map<String, Value>,
}

impl Profile {
    /// Its hooks as they were written.
    pub(crate) fn written_hooks(&self) -> Map<String, Value> {
        let written = |(name, hook): (&String, &ProfileHook)| {
            (name.clone(), Value::Object(hook.settings.clone()))
        };
        self.hooks.iter().map(written).gathered()
    }
}

/// A part of a word of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'w> {
    Text(&'w str),
    /// `{name}`.
    Placeholder(&'w str),
    /// `{{`: a brace to some, a placeholder to others.
    Doubled,
}

/// A word in parts. A brace that begins no `{name}` is text.
pub(crate) fn pieces(word: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest, mut from) = (Vec::new(), word, 0);
    while let Some(at) = rest[from..].find('{').map(|at| from + at) {
        let following = &rest[at + 1..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = following.find(|c| !is_part(c)).unwrap_or(following.len());
        let (piece, end) = if following.starts_with('{') {
            (Piece::Doubled, at + 2)
        } else if length > 0 && following[length..].starts_with('}') {
            (Piece::Placeholder(&following[..length]), at + length + 2)
        } else {
            from = at + 1;
            continue;
        };
        pieces.extend((at > 0).then(|| Piece::Text(&rest[..at])));
        pieces.push(piece);
        (rest, from) = (&rest[end..], 0);
    }
    pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    pieces
}

/// The names that the words of a command want to have filled in.
pub(crate) fn placeholders(command: &[String]) -> BTreeSet<&str> {
    let pieces = command.iter().flat_map(|word| pieces(word));
    let name = |piece| match piece {
        Piece::Placeholder(name) => Some(name),
        Piece::Text(_) | Piece::Doubled => None,
    };
    pieces.filter_map(name).collect()
}

pub(super) fn read(
    fields: &mut Fields<'_>,
    report: &mut Report<'_>,
) -> BTreeMap<String, ProfileHook> {
    let mut hooks = BTreeMap::new();
    let Some(mut found) = optional_map(fields, "hooks", report) else { return hooks };
    let names: Vec<&str> = found.keys().collect();
    for name in names {
        let Some(field) = found.get_field(name) else { continue };
        secret::refuse(field.value, from_credentials, report);
        if is_name(name) {
            let hook = hook(&mut found, name, field, report);
            hooks.extend(hook.map(|hook| (name.to_owned(), hook)));
        } else {
            let message = format!("invalid hook name `{}`", shorten(name));
            let error = Diagnostic::new(Code::SpecHook, field.key, message);
            report.push(
                error.help("use lower-case letters, digits, `_` and `-`, as in `export_infra`"),
            );
        }
    }
    hooks
}

/// It becomes a part of the names of files.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_part)
}

fn hook(
    hooks: &mut Fields<'_>,
    name: &str,
    field: Field<'_>,
    report: &mut Report<'_>,
) -> Option<ProfileHook> {
    let Some(mut fields) = optional_map(hooks, name, report) else {
        // Nothing below its name: it may be switched, and runs nothing.
        return value(field.value, report)?.is_null().then(ProfileHook::default);
    };
    let settings = mapping(field.value, &format!("the hook `{name}`"), report)?;
    let command = fields.get_field("command").and_then(|command| {
        let words = settings.get("command").and_then(words);
        if words.is_none() {
            let message = format!("`command` of the hook `{name}` must be a list of words");
            let help = "write `command: [program, --target, \"{target}\"]`, with quotes around \
                        placeholders and numbers";
            report.error(Code::ConfigValue, command.value.head(), message, help);
        }
        words
    });
    let redact = fields.get_field("redact");
    if let Some(redact) = redact.filter(|_| !switch(&mut fields, "redact", true, report)) {
        let name = format!("hooks.{name}.redact: false");
        unused(&name, redact.key, "secrets are always hidden", report);
    }
    astray(&fields, name, command.as_deref(), report);
    Some(ProfileHook {
        command,
        strict: switch(&mut fields, "strict", false, report),
        timeout_s: count(&mut fields, "timeout_s", 1, report),
        root_variable: root_variable(&fields, &settings, report),
        settings,
    })
}

fn words(command: &Value) -> Option<Vec<String>> {
    let word = |word: &Value| word.as_str().filter(|it| !it.contains('\0')).map(str::to_owned);
    let words = command.as_array()?.iter().map(word).collect::<Option<Vec<_>>>()?;
    words.first().is_some_and(|program| !program.is_empty()).then_some(words)
}

fn root_variable(
    fields: &Fields<'_>,
    settings: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Option<String> {
    let field = fields.get_field("hook_root_env")?;
    let is_variable = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let name = settings.get("hook_root_env").and_then(Value::as_str).filter(is_variable);
    if name.is_none() {
        let message = "`hook_root_env` must be the name of an environment variable";
        let help = "write `hook_root_env: EXPORT_ROOT`, or omit it";
        report.error(Code::ConfigValue, field.value.head(), message, help);
    }
    name.map(str::to_owned)
}

/// Keys that opal does not act on are for placeholders, and are reported where there are none. A
/// typo of one that it does act on is an error, because `strickt: true` would be none.
fn astray(fields: &Fields<'_>, name: &str, command: Option<&[String]>, report: &mut Report<'_>) {
    let filled_in = placeholders(command.unwrap_or_default());
    let (mut idle, mut first) = (Vec::new(), None);
    for key in fields.keys().filter(|key| !KEYS.contains(key) && !filled_in.contains(key)) {
        let Some(field) = fields.get_field(key) else { continue };
        if suggest::nearest(key, KEYS).is_some() {
            let message = format!("unknown key `{}` of the hook `{name}`", shorten(key));
            let error = Diagnostic::new(Code::ConfigUnknownKey, field.key, message);
            report.unknown(error, key, KEYS.into_iter());
        } else {
            idle.push(format!("hooks.{name}.{}", shorten(key)));
            first = first.or(Some(field.key));
        }
    }
    let why = match (command, idle.len()) {
        // What is wrong with it is reported already.
        (None, _) if fields.get("command").is_some() => return,
        (None, _) => "it has no command",
        (Some(_), 1) => "its command has no placeholder for it",
        (Some(_), _) => "its command has no placeholders for them",
    };
    first.into_iter().for_each(|span| report.push(all_without_effect(&idle, span, why)));
}

/// The way out for a secret variable.
pub(super) fn from_credentials(name: &str) -> String {
    format!("remove it: the tools get `{name}` from an `.env` file of a credential of the module")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_a_name_in_braces_and_every_other_brace_is_text() {
        use Piece::{Doubled, Placeholder, Text};
        let cases: [(&str, &[Piece<'_>]); 10] = [
            ("", &[]),
            ("plain", &[Text("plain")]),
            ("{target}", &[Placeholder("target")]),
            (
                "--to={a}/{b_2}x",
                &[Text("--to="), Placeholder("a"), Text("/"), Placeholder("b_2"), Text("x")],
            ),
            ("{\"a\": {}}", &[Text("{\"a\": {}}")]),
            ("{.items}{a", &[Text("{.items}{a")]),
            ("{ä}{a}", &[Text("{ä}"), Placeholder("a")]),
            ("x{{a}}", &[Text("x"), Doubled, Text("a}}")]),
            ("{", &[Text("{")]),
            ("{a-b}{a,b}", &[Text("{a-b}{a,b}")]),
        ];
        for (word, expected) in cases {
            assert_eq!(pieces(word), expected, "{word}");
        }
    }
}
