//! Words, and the commands that they form.

/// A character of a word after its quotes are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) c: u8,
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The shell interprets it.
    Bare,
    /// In quotes, or after a `\`.
    Quoted,
    /// It is computed: `$x`, `$(…)`, a value of the file.
    Computed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) units: Vec<Unit>,
}

impl Word {
    /// The text, where nothing of it is quoted or computed.
    pub(super) fn bare(&self) -> Option<String> {
        let is_bare = self.units.iter().all(|it| it.kind == Kind::Bare);
        // A word of two quotes only is empty, and not bare.
        (is_bare && !self.units.is_empty()).then(|| text(&self.units))
    }

    /// The text, where nothing of it is computed.
    pub(super) fn literal(&self) -> Option<String> {
        let is_computed = self.units.iter().any(|it| it.kind == Kind::Computed);
        (!is_computed).then(|| text(&self.units))
    }

    /// The name that it gives a value, and what follows the name: `=`, `+=` or `[`.
    pub(super) fn assigned(&self) -> Option<(String, String)> {
        let is_name =
            |it: &&Unit| it.kind == Kind::Bare && (it.c.is_ascii_alphanumeric() || it.c == b'_');
        let length = self.units.iter().take_while(is_name).count();
        let name = text(&self.units[..length]);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let bare = self.units[length..].iter().take_while(|it| it.kind == Kind::Bare);
        let rest: String = bare.map(|it| char::from(it.c)).collect();
        let is_element = rest.starts_with('[') && (rest.contains("]=") || rest.contains("]+="));
        let operator = match &rest {
            it if it.starts_with('=') => "=",
            it if it.starts_with("+=") => "+=",
            _ if is_element => "[",
            _ => return None,
        };
        Some((name, operator.to_owned()))
    }
}

pub(super) fn text(units: &[Unit]) -> String {
    let bytes = units.iter().map(|it| it.c).collect::<Vec<u8>>();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A simple command, or the words of a `for`.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// `X=1` before it.
    pub(super) assignments: Vec<Word>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// The words are those of `for NAME in …`.
    pub(super) is_loop: bool,
}

#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) operator: &'static str,
    /// The number before it.
    pub(super) number: Option<String>,
    pub(super) target: Word,
}

impl Command {
    pub(super) fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }

    /// Whether its failure can matter: a text that is printed or assigned does not fail.
    pub(super) fn may_fail(&self) -> bool {
        const SAFE: [&str; 9] =
            [":", "echo", "export", "local", "printf", "set", "trap", "true", "unset"];
        let is_text = |it: &Word| it.literal().is_some();
        match self.name() {
            Some(name) => !SAFE.contains(&name.as_str()),
            None => !(self.words.is_empty() && self.assignments.iter().all(is_text)),
        }
    }

    /// The name of the program, where it is known.
    pub(super) fn name(&self) -> Option<String> {
        self.words.first().filter(|_| !self.is_loop).and_then(Word::literal)
    }

    /// The arguments, with an empty text for those that are computed.
    pub(super) fn arguments(&self) -> Vec<String> {
        self.words.iter().skip(1).map(|it| it.literal().unwrap_or_default()).collect()
    }
}
