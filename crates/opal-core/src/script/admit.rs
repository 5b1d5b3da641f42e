//! Whether a value is allowed in its place, and the shell words that it becomes there.

use super::cases::{At, Case, Role};
use super::programs;
use super::proof::Construct;
use super::reading::read_values;
use super::words::Word;
use crate::code::Code;
use crate::context::{Context, Place};
use crate::data::{Data, Secret};
use crate::placeholder::scalar_text;
use crate::types::{Type, TypeRef};

/// Why a value is not allowed in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The shell would read it a second time.
    Evaluated(&'static Case),
    /// The shell would compute it, and it is not an Int.
    NotInt(&'static Case, Type),
    /// An array or a map inside a word.
    Collection(Type),
    /// Null has no text.
    Null,
    /// It holds a NUL character.
    Nul,
    /// It begins a word with `-`.
    LeadingDash,
    /// It makes a redirection a network connection.
    Network,
    /// It names a program that would evaluate the other values.
    Program,
    /// `declare` would read it as a list.
    List,
    /// A program would see an option, a setting or a command in it, and code in what it says.
    Chosen(&'static Case),
    /// opal does not know what the shell makes of it, because of this.
    Hidden(Construct),
    /// The same, and it has a character that could be code.
    NotFollowed(Construct),
}

/// Decides by the type alone, before there is a value.
pub fn admit_type(context: Context, ty: &Type) -> Result<(), Refusal> {
    let place = context.place();
    let case = context.refused().or(match place {
        Place::Arithmetic => Some(Case::SUM),
        Place::Subscript => Some(Case::INDEX),
        _ => None,
    });
    match case {
        Some(case) if case.role == Role::Sum && Type::Int.accepts(ty) => {}
        Some(case) if case.role == Role::Sum => return Err(Refusal::NotInt(case, ty.clone())),
        Some(case) => return Err(Refusal::Evaluated(case)),
        None => {}
    }
    if let Some(construct) = context.construct().filter(|_| context.is_hidden())
        && !matches!(ty, Type::Int | Type::Bool)
    {
        return Err(Refusal::Hidden(construct));
    }
    match ty {
        Type::Array(_) if context.takes_array() => Ok(()),
        Type::Array(_) | Type::Map(_) | Type::Object(_) => Err(Refusal::Collection(ty.clone())),
        _ => Ok(()),
    }
}

/// The shell words that a value becomes in its place: one, or, for an array that is a whole word,
/// one for each element. This is the only decision about it: the check, the planner, the executor
/// and what compiles a script all ask here.
pub fn admit(context: Context, data: &Data) -> Result<Vec<Secret>, Refusal> {
    admit_type(context, &data.type_of())?;
    match data {
        Data::Array(items) => all(context, items.iter().map(|item| (context, item))),
        item => all(context, std::iter::once((context, item))),
    }
}

/// The same for an array whose elements come from different places.
pub fn admit_list(context: Context, items: &[(Context, Data)]) -> Result<Vec<Secret>, Refusal> {
    admit_type(context, &Type::Array(TypeRef::Static(&Type::Any)))?;
    all(context, items.iter().map(|(context, item)| (*context, item)))
}

fn all<'d>(
    context: Context,
    items: impl Iterator<Item = (Context, &'d Data)> + Clone,
) -> Result<Vec<Secret>, Refusal> {
    let words = items.clone().map(|(at, item)| word(at, item)).collect::<Result<Vec<_>, _>>()?;
    if context.is_program() {
        let name = words.first().map(|name| name.expose().rsplit('/').next().unwrap_or_default());
        let names_none = name.is_none() && context.reader().is_none();
        if names_none || name.is_some_and(|name| programs::evaluates(name.as_bytes())) {
            return Err(Refusal::Program);
        }
    }
    let is_command = context.is_command() && words.len() > 1;
    let is_read = context.is_word_start() && context.reader().is_some() && !words.is_empty();
    let is_own = items.clone().all(|(at, _)| at.is_constant());
    if (is_command || is_read) && (!is_own || context.is_program()) {
        let items: Vec<(Context, &Data)> = items.collect();
        chosen(context, &items, &words)?;
    }
    Ok(words)
}

/// Whether the program that reads the words would see code in them.
fn chosen(context: Context, items: &[(Context, &Data)], values: &[Secret]) -> Result<(), Refusal> {
    let own = items.iter().map(|(at, _)| at.is_constant());
    let words = values.iter().zip(own).map(|(value, own)| Word::value(value.expose(), own));
    // What follows is not known: an option at the end may be given it, and a command follow.
    let words: Vec<Word<'_>> = words.chain([Word::unknown(), Word::unknown()]).collect();
    let reader = context.reader().filter(|_| !context.is_command());
    for (at, case) in read_values(&words, reader) {
        let by_option = matches!(case.at, At::Option(_) | At::After(_) | At::Of(..));
        let item = items.get(at);
        match case.role {
            _ if item.is_none() && !by_option && !context.is_program() => {}
            Role::Sum if item.is_some_and(|(_, data)| matches!(data, Data::Int(_))) => {}
            Role::Warn => {
                let is_allowed = items.iter().any(|(at, _)| at.is_dash());
                if matches!(case.at, At::Syntax | At::Begins(_)) && !is_allowed {
                    return Err(Refusal::Chosen(case));
                }
                // `find` knows no end of its options.
                let is_after = context.is_after_dashes() && !matches!(case.at, At::After(_));
                if by_option && !is_allowed && !is_after {
                    return Err(Refusal::LeadingDash);
                }
            }
            _ => return Err(Refusal::Chosen(case)),
        }
    }
    Ok(())
}

fn word(context: Context, data: &Data) -> Result<Secret, Refusal> {
    let text = match data {
        Data::Null => return Err(Refusal::Null),
        Data::Array(_) | Data::Map(_) => return Err(Refusal::Collection(data.type_of())),
        Data::Int(number) if context.place() == Place::Arithmetic => {
            return Ok(Secret::new(summand(*number)));
        }
        Data::Text(text) => text,
        scalar => return Ok(Secret::new(scalar_text(scalar).as_str())),
    };
    let exposed = text.expose();
    if exposed.contains('\0') {
        return Err(Refusal::Nul);
    }
    if let Some(construct) = context.construct().filter(|_| !context.is_constant())
        && !is_harmless(exposed, context)
    {
        return Err(Refusal::NotFollowed(construct));
    }
    if context.is_word_start() && !context.allows_dash() && exposed.starts_with('-') {
        return Err(Refusal::LeadingDash);
    }
    if context.is_network(exposed) {
        return Err(Refusal::Network);
    }
    if context.is_declared() && exposed.starts_with('(') {
        return Err(Refusal::List);
    }
    Ok(text.clone())
}

/// Whether a text is the same in every place: no shell sees more in it than a word.
fn is_harmless(text: &str, context: Context) -> bool {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:@%+,-".contains(&byte);
    text.bytes().all(usual) && (context.is_dash() || !text.starts_with('-'))
}

/// A number inside a sum: `3 -@var.n` must not become `3 --1`, and the least number has no
/// positive counterpart that a shell could negate.
fn summand(number: i64) -> String {
    match number {
        0.. => number.to_string(),
        i64::MIN => format!("({}-1)", i64::MIN + 1),
        _ => format!("({number})"),
    }
}

impl Refusal {
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            // An index is computed, and names are refused for the index in them.
            Self::Evaluated(case) if case.role == Role::Name => Code::ArithmeticNotInt,
            Self::Evaluated(_)
            | Self::Chosen(_)
            | Self::Network
            | Self::Program
            | Self::List
            | Self::Hidden(_)
            | Self::NotFollowed(_) => Code::ReevaluatedText,
            Self::NotInt(..) => Code::ArithmeticNotInt,
            Self::Collection(_) => Code::CollectionInText,
            Self::Null => Code::WrongType,
            Self::Nul => Code::NulInText,
            Self::LeadingDash => Code::LeadingDash,
        }
    }

    /// `name` as a message shows it.
    #[must_use]
    pub fn message(&self, name: &str) -> String {
        match self {
            Self::Evaluated(case) => format!("`{name}` would become code: {}", case.why),
            Self::Chosen(case) => format!(
                "`{name}` would become code: it is more than data for the program that reads it, \
                 and {}",
                case.why
            ),
            Self::NotInt(case, ty) => {
                format!("`{name}` would become code: {}, and it is {}", case.why, ty.with_article())
            }
            Self::Collection(ty) => {
                format!("`{name}` is {}, which has no single form inside text", ty.with_article())
            }
            Self::Null => format!("`{name}` is null, which has no text"),
            Self::Nul => format!("`{name}` contains a NUL character, which no command accepts"),
            Self::LeadingDash => {
                format!("`{name}` begins with `-`, so the program would read it as an option")
            }
            Self::Network => {
                format!("`{name}` makes this redirection a network connection")
            }
            Self::Program => format!(
                "`{name}` names a program that evaluates its words, and other values are among \
                 those words"
            ),
            Self::Hidden(construct) => {
                format!("`{name}` could become code: {}", construct.reason())
            }
            Self::NotFollowed(construct) => {
                format!("`{name}` has a character that could become code: {}", construct.reason())
            }
            Self::List => {
                format!("`{name}` begins with `(`, so the shell could evaluate it as a list")
            }
        }
    }

    /// The ways forward, the first one first.
    #[must_use]
    pub fn help(&self, name: &str) -> Vec<String> {
        match self {
            Self::Evaluated(case) if *case == Case::SPLIT => vec![
                "put all of the expansion in double quotes: `\"${NAME/old/@var.new}\"`".to_owned(),
            ],
            Self::Evaluated(case) if *case == Case::INTERPRETED => vec![
                "call the program by its path, or set the variable to a constant".to_owned(),
                raw(name),
            ],
            Self::Evaluated(case) if *case == Case::UNKNOWN || *case == Case::ASSEMBLED => vec![
                "write the program's name, or give it as a reference of its own: `@env.CMD`"
                    .to_owned(),
                raw(name),
            ],
            Self::Evaluated(case) if *case == Case::DUPLICATED => vec![
                format!("write both outputs to the file with `&> {name}`, or `> {name} 2>&1`"),
                raw(name),
            ],
            Self::Evaluated(case) if case.role == Role::Name => vec![
                "use a constant name and choose with opal, in an `if` or a `when`".to_owned(),
                raw(name),
            ],
            Self::Evaluated(case) => vec![case.instead().to_owned(), raw(name)],
            Self::Chosen(_) => vec![
                "write options, settings and the name of the program in the text of the step, and \
                 only the data as values"
                    .to_owned(),
                raw(name),
            ],
            Self::NotInt(..) => {
                vec![format!("compute with opal: `var n = int({name}) + 1`, then `@var.n`")]
            }
            Self::Collection(Type::Array(_)) => vec![format!(
                "join it: `var text = join({name}, \",\")`; as a bare word of its own it becomes \
                 one word for each element"
            )],
            Self::Collection(_) => {
                vec![format!("take one of its fields: `{name}.KEY`, or `join` its parts")]
            }
            Self::Null => vec!["give it a value, or leave the text out with `if`".to_owned()],
            Self::Nul => vec!["remove it, or pass the data in a file".to_owned()],
            Self::LeadingDash => vec![
                "put `--` before it: `rm -- @var.FILE`".to_owned(),
                format!("if it is meant to be an option, write `{name}(dash=true)`"),
            ],
            Self::Network => {
                vec!["use the path of a file, or a program such as `nc` or `curl`".to_owned()]
            }
            Self::Program => {
                vec![
                    "write the program's name in the text, so that its words can be checked"
                        .to_owned(),
                ]
            }
            Self::Hidden(construct) | Self::NotFollowed(construct) => {
                let instead =
                    construct.instead().unwrap_or("write this part of the text in a plainer way");
                vec![instead.to_owned(), raw(name)]
            }
            Self::List => vec!["assign it without `declare`: `NAME=@var.x`".to_owned()],
        }
    }
}

fn raw(name: &str) -> String {
    format!("to paste it unprotected, write `@raw({name})`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(context: Context, data: &Data) -> Vec<String> {
        admit(context, data).unwrap().iter().map(|word| word.expose().to_owned()).collect()
    }

    #[test]
    fn a_number_in_a_sum_keeps_its_sign_apart() {
        let at = Context::new(Place::Arithmetic);
        for (number, word) in
            [(0, "0"), (7, "7"), (-7, "(-7)"), (i64::MIN, "(-9223372036854775807-1)")]
        {
            assert_eq!(words(at, &Data::Int(number)), [word]);
        }
        let refusal = admit(at, &Data::text("a[$(x)]")).unwrap_err();
        assert_eq!(refusal, Refusal::NotInt(Case::SUM, Type::String));
    }

    #[test]
    fn an_index_takes_nothing() {
        let refusal = admit(Context::new(Place::Subscript), &Data::Int(1)).unwrap_err();
        assert_eq!(refusal, Refusal::Evaluated(Case::INDEX));
    }

    #[test]
    fn a_dash_is_refused_only_where_it_begins_a_word() {
        let dash = Data::text("-rf");
        let start = Context::new(Place::Word).starts_word(true);
        assert_eq!(admit(start, &dash).unwrap_err(), Refusal::LeadingDash);
        assert_eq!(words(start.after_dashes(true), &dash), ["-rf"]);
        assert_eq!(words(Context::new(Place::Word), &dash), ["-rf"]);
        assert_eq!(words(start, &Data::Int(-1)), ["-1"]);
    }

    #[test]
    fn a_redirection_does_not_become_a_connection_however_it_is_put_together() {
        let at = |prefix: &str| Context::new(Place::Redirection).device(prefix.as_bytes());
        for (prefix, value) in [
            ("", "/dev/tcp/h/1"),
            ("", "/dev/udp/h/1"),
            ("/", "dev/tcp/h/1"),
            ("/dev/", "tcp/h/1"),
            ("/dev/t", "cp/h/1"),
            ("/dev/u", "dp/h/1"),
        ] {
            let refusal = admit(at(prefix), &Data::text(value)).unwrap_err();
            assert_eq!(refusal, Refusal::Network, "{prefix}{value}");
        }
        for (prefix, value) in [
            ("", "dev/tcp/h"),
            ("/dev/tcp/", "host/80"),
            ("logs/", "tcp/x"),
            ("", "/dev/null"),
            ("/dev/", "null"),
        ] {
            assert!(admit(at(prefix), &Data::text(value)).is_ok(), "{prefix}{value}");
        }
    }

    #[test]
    fn a_value_names_no_program_that_evaluates_others() {
        let at = Context::new(Place::Word).command(true).whole_word(true).program(true);
        for name in ["eval", "/bin/bash", "sh", "ssh", "sudo", "env", "printf", "git"] {
            assert_eq!(admit(at, &Data::text(name)).unwrap_err(), Refusal::Program, "{name}");
        }
        for name in ["vim", "kubectl", "/usr/bin/make"] {
            assert!(admit(at, &Data::text(name)).is_ok(), "{name}");
        }
        let alone = Context::new(Place::Word).command(true).whole_word(true);
        assert!(admit(alone, &Data::text("bash")).is_ok());
        let row = Data::Array(vec![Data::text("bash"), Data::text("-c"), Data::text("x")]);
        assert!(matches!(admit(alone, &row).unwrap_err(), Refusal::Chosen(_)));
        assert!(admit(alone.constant(), &row).is_ok());
        assert_eq!(admit(at, &Data::Array(Vec::new())).unwrap_err(), Refusal::Program);
    }
}
