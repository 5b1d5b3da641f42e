//! Names of hosts, users, targets, containers and pods: closed grammars, as types that hold nothing
//! else.
//!
//! | type | grammar |
//! |---|---|
//! | [`Host`] | `[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?`, 253 bytes at most, or an IP address |
//! | [`User`] | `[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}`, not ending in `-` |
//! | [`TargetName`] | `[A-Za-z0-9_][A-Za-z0-9._-]{0,252}`, or an IP address |
//! | [`Name`] of a container, pod or namespace | `[A-Za-z0-9_][A-Za-z0-9._-]{0,252}` |
//! | [`KubeContext`] | `[A-Za-z0-9_][A-Za-z0-9._:/@-]{0,252}` |
//! | [`Image`] of a container | `[A-Za-z0-9_][A-Za-z0-9._/:@-]{0,511}` |
//! | [`LabelSelector`] | the same with `=!,() ` instead of `:@`, 1,000 bytes at most |
//!
//! None begins with `-`, so none can be an option of the program that gets it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::view::visible;

/// How much of an invalid name a message quotes.
const QUOTED_CHARS: usize = 64;

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Host,
    User,
    Target,
    /// Of a container, a pod or a namespace.
    Object,
    KubeContext,
    LabelSelector,
    Image,
}

/// Why a text is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Empty,
    TooLong { most: usize },
    First(char),
    Last(char),
    Inside(char),
}

/// A text that is not a name. It is shown with visible symbols, whatever it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    pub kind: Kind,
    pub text: String,
    pub fault: Fault,
}

struct Grammar {
    kind: Kind,
    most: usize,
    /// Allowed after the first character, besides letters and digits.
    inside: &'static [char],
    /// Not allowed at the end.
    not_last: &'static [char],
}

impl Grammar {
    fn check(&self, text: &str) -> Result<(), NameError> {
        let is_first = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_inside = |c: char| c.is_ascii_alphanumeric() || self.inside.contains(&c);
        let fault = match text.chars().next() {
            None => Some(Fault::Empty),
            Some(first) if !is_first(first) => Some(Fault::First(first)),
            // A single `_` is a name: only what follows the first character has an end.
            Some(first) => {
                let rest = &text[first.len_utf8()..];
                let wrong = rest.chars().find(|c| !is_inside(*c)).map(Fault::Inside);
                let long = (text.len() > self.most).then_some(Fault::TooLong { most: self.most });
                let last = rest.chars().last().filter(|last| self.not_last.contains(last));
                wrong.or(long).or(last.map(Fault::Last))
            }
        };
        match fault {
            None => Ok(()),
            Some(fault) => Err(NameError { kind: self.kind, text: text.to_owned(), fault }),
        }
    }
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, $is_ip:expr => $grammar:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            const GRAMMAR: Grammar = $grammar;

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                // Where it cannot be one, nothing that reads addresses is needed.
                if !($is_ip && text.parse::<IpAddr>().is_ok()) {
                    Self::GRAMMAR.check(text)?;
                }
                Ok(Self(text.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    )*};
}

names! {
    /// A host as `ssh` gets it: a name, an alias of the SSH configuration, or an IP address.
    Host, true => Grammar {
        kind: Kind::Host,
        most: 253,
        inside: &['.', '_', '-'],
        not_last: &['.', '_', '-'],
    };
    /// A user of a machine.
    User, false => Grammar {
        kind: Kind::User,
        most: 64,
        inside: &['.', '_', '@', '+', '-'],
        not_last: &['-'],
    };
    /// A target as people, records and messages know it.
    TargetName, true => Grammar {
        kind: Kind::Target,
        most: 253,
        inside: &['.', '_', '-'],
        not_last: &[],
    };
    /// A container, a pod or a namespace.
    Name, false => Grammar {
        kind: Kind::Object,
        most: 253,
        inside: &['.', '_', '-'],
        not_last: &[],
    };
    /// A context in the configuration of `kubectl`.
    KubeContext, false => Grammar {
        kind: Kind::KubeContext,
        most: 253,
        inside: &['.', '_', ':', '/', '@', '-'],
        not_last: &[],
    };
    /// An image of a container, with its registry and its tag or digest.
    Image, false => Grammar {
        kind: Kind::Image,
        most: 512,
        inside: &['.', '_', '/', ':', '@', '-'],
        not_last: &['/', ':', '@'],
    };
    /// Which pods: `app=web,tier in (a, b),!old` begins with a letter, a digit or `_`.
    LabelSelector, false => Grammar {
        kind: Kind::LabelSelector,
        most: 1000,
        inside: &['.', '_', '/', '-', '=', '!', ',', '(', ')', ' '],
        not_last: &[',', '=', '!', '('],
    };
}

impl Host {
    /// Whether it is an address and not a name.
    #[must_use]
    pub fn is_ip(&self) -> bool {
        self.0.parse::<IpAddr>().is_ok()
    }
}

/// A target that nobody has named is called like its host.
impl From<&Host> for TargetName {
    fn from(host: &Host) -> Self {
        // Every host is a target name: its grammar is narrower.
        Self(host.0.clone())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host name",
            Self::User => "user name",
            Self::Target => "target name",
            Self::Object => "name",
            Self::KubeContext => "Kubernetes context",
            Self::Image => "image",
            Self::LabelSelector => "selector of labels",
        })
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, text, fault } = self;
        let shown = |c: char| visible::character(c);
        if *fault == Fault::Empty {
            return write!(f, "empty {kind}");
        }
        write!(f, "invalid {kind} `{}`: ", visible::brief(text, QUOTED_CHARS).replace('\t', "␉"))?;
        match *fault {
            Fault::Empty => Ok(()),
            Fault::TooLong { most } => write!(f, "it is longer than {most} characters"),
            Fault::First(c) => write!(f, "it must not begin with `{}`", shown(c)),
            Fault::Last(c) => write!(f, "it must not end with `{}`", shown(c)),
            Fault::Inside(c) => write!(f, "it must not contain `{}`", shown(c)),
        }
    }
}

impl std::error::Error for NameError {}
