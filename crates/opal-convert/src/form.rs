//! The form that every reader produces: tasks, parameters, dependencies, and bodies as lines of pieces.

mod cached;
mod defaults;
mod elsewhere;
mod merge;
mod order;
mod path;
mod substitute;
mod visit;

pub(crate) use cached::Cached;
pub(crate) use merge::Place;

/// A file of tasks.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) variables: Vec<Variable>,
    pub(crate) tasks: Vec<Task>,
    /// Parts of the file that belong to no task and are not in the result.
    pub(crate) leftovers: Vec<Leftover>,
    /// Variables of the environment that all tasks have; each has them in its own list, too.
    pub(crate) environment: Vec<(String, Expr)>,
    /// Files of variables, later ones win.
    pub(crate) imports: Vec<VariablesFile>,
    /// The other tool runs a dependency as often as tasks depend on it.
    pub(crate) repeats_dependencies: bool,
    /// In the other tool, too, a command fails if a program of a pipe does.
    pub(crate) has_pipefail: bool,
    /// The parts of the body of [`CHECKS`], in order.
    pub(crate) checks: Vec<StartCheck>,
}

/// Something that the other tool checks when it starts.
#[derive(Clone, Debug)]
pub(crate) struct StartCheck {
    /// What is reported where it is not in the result.
    pub(crate) leftover: Leftover,
    /// How many steps it has.
    pub(crate) steps: usize,
}

/// A file of variables for all tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariablesFile {
    pub(crate) path: String,
    pub(crate) optional: bool,
}

impl VariablesFile {
    /// None where an import of this path means something else.
    pub(crate) fn new(path: &str, optional: bool) -> Option<Self> {
        let path = crate::files::joined("", path)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_one = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/ +".contains(c);
        (is_one && path.chars().all(is_plain)).then_some(Self { path, optional })
    }
}

/// The variable for the directory of the file; a blank keeps it apart from names of the file.
pub(crate) const HERE: &str = "the directory";
/// The path of the file, absolute.
pub(crate) const MAIN: &str = "the main file";
/// The directory in which the other tool was called.
pub(crate) const INVOCATION: &str = "cli.directory";

/// The task that checks what the other tool checks when it starts; no task has a blank in its name.
pub(crate) const CHECKS: &str = "checks at the start";

/// What is different where files decide whether a task runs begins with it.
pub(crate) const DECIDES: &str = "`@cached` decides whether it runs: ";

/// Something that is not in the result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftover {
    pub(crate) line: usize,
    /// The file that it is in, where that is another one.
    pub(crate) file: Option<String>,
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) why: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: Expr,
    pub(crate) docs: Vec<String>,
}

impl Variable {
    /// The directory of the file.
    pub(crate) fn here() -> Self {
        Self { name: HERE.to_owned(), value: Expr::output("pwd"), docs: Vec::new() }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Task {
    pub(crate) name: String,
    /// It is not listed.
    pub(crate) is_private: bool,
    /// The other tool runs it once, however many tasks depend on it.
    pub(crate) runs_once: bool,
    pub(crate) line: usize,
    /// The file that it is in, where that is another one.
    pub(crate) file: Option<String>,
    /// The text of the file, for the comment where it is omitted.
    pub(crate) source: String,
    pub(crate) docs: Vec<String>,
    /// The heading that it is listed under.
    pub(crate) group: Option<String>,
    pub(crate) params: Vec<Param>,
    pub(crate) needs: Vec<Call>,
    pub(crate) confirm: Option<Expr>,
    pub(crate) directory: Option<Expr>,
    /// The directory is created where it does not exist.
    pub(crate) creates_directory: bool,
    pub(crate) environment: Vec<(String, Expr)>,
    /// The files that decide whether the body runs.
    pub(crate) cached: Option<Cached>,
    pub(crate) body: Vec<Step>,
    /// Runs last, whatever happens.
    pub(crate) finally: Vec<Step>,
    /// Variables of the task, which hide those of the file.
    pub(crate) locals: Vec<(String, Expr)>,
    /// What is different.
    pub(crate) why: Vec<String>,
    pub(crate) omitted: Option<String>,
}

impl Task {
    /// Another name for the task.
    pub(crate) fn alias(&self, name: String, line: usize, source: String) -> Self {
        let params = self.params.clone();
        let pass = |param: &Param| Argument { name: None, value: Expr::Name(param.name.clone()) };
        let call = Call { task: self.name.clone(), args: params.iter().map(pass).collect() };
        let docs = vec![format!("Alias of `{}`.", self.name)];
        let body = vec![Step::Call { call, may_fail: false }];
        let group = self.group.clone();
        Self { name, line, source, docs, group, params, body, ..Self::default() }
    }

    /// Nothing decides whether it runs.
    pub(crate) fn always_runs(&mut self) {
        if self.cached.take().is_some() {
            self.why.retain(|why| !why.starts_with(DECIDES));
            self.differs("files do not decide whether it runs: it always does");
        }
    }

    /// Adds a difference, once.
    pub(crate) fn differs(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.why.contains(&why) {
            self.why.push(why);
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) default: Option<Expr>,
    pub(crate) rest: bool,
    /// What the whole value must match.
    pub(crate) pattern: Option<String>,
}

/// A task that another one runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) task: String,
    pub(crate) args: Vec<Argument>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: Option<String>,
    pub(crate) value: Expr,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A text for the shell, in a shell of its own.
    Line {
        pieces: Vec<Piece>,
        may_fail: bool,
    },
    /// A text for an interpreter.
    Script {
        program: String,
        text: Vec<Piece>,
        args: Vec<Expr>,
    },
    Call {
        call: Call,
        may_fail: bool,
    },
    If {
        condition: Cond,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// For each part of a text between the separators.
    For {
        item: String,
        over: Expr,
        separator: String,
        body: Vec<Step>,
    },
    Fail(Expr),
    Comment(String),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    /// The other tool pastes the value here, unquoted.
    Value(Expr),
}

/// A text that is computed. All values are strings; those of a rest parameter are joined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Text(String),
    /// A variable or a parameter, as the file calls it.
    Name(String),
    /// What a command prints, without trailing line ends.
    Output(Vec<Piece>),
    Env(String, Option<Box<Expr>>),
    Concat(Vec<Expr>),
    /// A function of the language.
    Apply(&'static str, Vec<Expr>),
    /// The text up to the first blank.
    FirstWord(Box<Expr>),
    /// A value decorator without arguments, by its path.
    Fact(&'static str),
    /// Quoted for the shell.
    Quoted(Box<Expr>),
    Choice(Box<Cond>, Box<Expr>, Box<Expr>),
    /// The task fails with this message.
    Fail(Box<Expr>),
    /// It cannot be written in the language; why.
    Unsupported(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cond {
    Equal(Expr, Expr),
    NotEqual(Expr, Expr),
    Matches(Expr, String),
    Exists(Expr),
    Not(Box<Cond>),
    /// Both, or one of them.
    All(Vec<Cond>),
    Any(Vec<Cond>),
}

impl Expr {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The directory of the file, absolute.
    pub(crate) fn here() -> Self {
        Self::Name(HERE.to_owned())
    }

    /// A path from the directory of the file, absolute.
    pub(crate) fn below_here(path: &str) -> Self {
        match path {
            "" => Self::here(),
            path => Self::concat(vec![Self::here(), Self::text(format!("/{path}"))]),
        }
    }

    /// The parts, one after the other.
    pub(crate) fn concat(parts: Vec<Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        for part in parts {
            match (part, flat.last_mut()) {
                (Self::Text(text), Some(Self::Text(before))) => before.push_str(&text),
                (Self::Text(text), _) if text.is_empty() => {}
                (Self::Concat(inner), _) => flat.extend(inner),
                (part, _) => flat.push(part),
            }
        }
        match flat.len() {
            0 => Self::text(""),
            1 => flat.remove(0),
            _ => Self::Concat(flat),
        }
    }

    pub(crate) fn choice(condition: Cond, then: Self, otherwise: Self) -> Self {
        Self::Choice(Box::new(condition), Box::new(then), Box::new(otherwise))
    }

    /// A text with values in it.
    pub(crate) fn of_pieces(pieces: Vec<Piece>) -> Self {
        let parts = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => Self::Text(text),
            Piece::Value(value) => value,
        });
        Self::concat(parts.collect())
    }

    pub(crate) fn output(command: &str) -> Self {
        Self::Output(vec![Piece::Text(command.to_owned())])
    }

    /// Whether it needs statements of its own, because the language has no such expression.
    pub(crate) fn needs_statements(&self) -> bool {
        let mut found = false;
        self.visit(&mut |it| found |= matches!(it, Self::Choice(..) | Self::Fail(_)));
        found
    }

    pub(crate) fn unsupported(&self) -> Option<String> {
        let mut found = None;
        self.visit(&mut |it| {
            if let Self::Unsupported(why) = it {
                found.get_or_insert_with(|| why.clone());
            }
        });
        found
    }
}
