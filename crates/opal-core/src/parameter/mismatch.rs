//! Why a value may not be given to a parameter, and how that is said.

use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::suggest;
use crate::text::Span;
use crate::types::{Choices, Type};

#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    Type {
        wanted: Type,
        given: Type,
    },
    /// It is not in the closed set.
    Choice(Choices),
    /// Both bounds are allowed.
    Range {
        low: i64,
        high: i64,
    },
    /// All of it must match; what the parameter is, in the words of its documentation.
    Pattern {
        pattern: &'static str,
        docs: &'static str,
    },
    /// A rule of its [`crate::shape::Shape`]; `place` is inside the value, `.0.name`.
    Shape {
        place: String,
        code: Code,
        why: String,
    },
}

/// How a value came to its parameter, which decides what a message may show of it.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'v> {
    /// It is written in the source: the value itself.
    Literal(&'v str),
    /// What stands for a value: a constant, or the name of what it was read from.
    Computed(&'v str),
    /// A value of a run, which is not shown.
    Hidden,
}

impl Mismatch {
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Type { .. } => Code::WrongType,
            Self::Choice(_) => Code::NotAChoice,
            Self::Range { .. } => Code::OutOfRange,
            Self::Pattern { .. } => Code::PatternMismatch,
            Self::Shape { code, .. } => *code,
        }
    }

    /// What is wrong with what the parameter `name` is given.
    #[must_use]
    pub fn message(&self, name: &str, origin: Origin<'_>) -> String {
        let value = match origin {
            Origin::Literal(value) | Origin::Computed(value) => format!("`{value}`"),
            Origin::Hidden => "the value".to_owned(),
        };
        match self {
            Self::Type { wanted, given } => {
                let (wanted, given) = (wanted.with_article(), given.with_article());
                let shown = match origin {
                    Origin::Computed(value) => format!(": `{value}`"),
                    Origin::Literal(_) | Origin::Hidden => String::new(),
                };
                format!("`{name}` expects {wanted}, got {given}{shown}")
            }
            Self::Choice(_) | Self::Pattern { .. } => format!("{value} is not a valid `{name}`"),
            Self::Range { .. } => format!("{value} is out of the range of `{name}`"),
            Self::Shape { place, why, .. } => format!("`{name}{place}` {why}"),
        }
    }

    /// What to write instead, the best first.
    #[must_use]
    pub fn help(&self, origin: Origin<'_>) -> Vec<String> {
        match self {
            Self::Type { wanted, given } => vec![match origin {
                Origin::Literal(_) => literal_help(wanted, given),
                Origin::Computed(_) | Origin::Hidden => {
                    "convert it with `int(…)`, `float(…)` or `str(…)`: nothing is converted \
                     automatically"
                        .to_owned()
                }
            }],
            Self::Choice(choices) => {
                let near = match origin {
                    Origin::Literal(text) => suggest::nearest(text, choices.iter()),
                    Origin::Computed(_) | Origin::Hidden => None,
                };
                let near = near.map(|near| format!("did you mean `{near}`?"));
                let all = expected(choices.iter());
                near.into_iter().chain([all]).collect()
            }
            Self::Shape { .. } => {
                vec!["the manifest of the package says so; see `opal explain @PATH`".to_owned()]
            }
            Self::Range { low, high } => vec![format!("it must be between {low} and {high}")],
            Self::Pattern { pattern, docs } => {
                let rule = format!("it must match `{pattern}`");
                let docs = Some(format!("expects {docs}")).filter(|_| !docs.is_empty());
                docs.into_iter().chain([rule]).collect()
            }
        }
    }

    #[must_use]
    pub fn diagnostic(&self, name: &str, origin: Origin<'_>, span: Span) -> Diagnostic {
        let error = Diagnostic::new(self.code(), span, self.message(name, origin));
        self.help(origin).into_iter().fold(error, Diagnostic::help)
    }
}

fn literal_help(wanted: &Type, given: &Type) -> String {
    let help = match (wanted, given) {
        (Type::Duration, Type::Int) => "give it a unit, as in `5s` or `1m30s`",
        (Type::Duration, Type::String) => "write it without quotes, as in `5s`",
        (Type::Int, Type::String) => "write it without quotes, or convert it with `int(…)`",
        (Type::Bool, Type::String) => "write `true` or `false` without quotes",
        (Type::String, Type::Int | Type::Float) => "quote it, or convert it with `str(…)`",
        (Type::Float, Type::Int) => "write it with a point, as in `1.0`",
        (Type::Array(_), _) => "write a list: `[value]`",
        _ => return format!("give it {}", wanted.with_article()),
    };
    help.to_owned()
}

/// `a`, `b` and `c`; of many names only the first.
#[must_use]
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    match quoted(names).as_slice() {
        [] => "none".into(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// `expected one of: a, b, c`; of many names only the first.
#[must_use]
pub fn expected<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    match quoted(names).as_slice() {
        [] => "there are none".into(),
        names => format!("expected one of: {}", names.join(", ")),
    }
}

fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    const MOST: usize = 20;
    let mut names: Vec<String> =
        names.into_iter().take(MOST + 1).map(|name| format!("`{name}`")).collect();
    if names.len() > MOST {
        names.truncate(MOST);
        names.push("others".into());
    }
    names
}
