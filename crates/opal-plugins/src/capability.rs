//! What a package may do besides computing: each capability as it is written, typed, and as a sentence
//! for the person who accepts it.
//!
//! A capability has one spelling. What is granted is compared by equality, so a second spelling of the
//! same power would be a second power.

mod error;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use opal_core::decorator::Capability as Power;
use opal_core::script;

pub use error::CapabilityError;

/// Bytes of one capability.
const MAX_BYTES: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Reading pages of a host; effects may use every method.
    Net(Service),
    /// The same, and reading may use POST.
    Query(Service),
    /// One of the two, with a host that the project names: `allow` in `opal.mod` closes it. Open, it grants
    /// nothing.
    Open(Scope),
    /// A program that only looks.
    Ask(Command),
    /// A program with effects.
    Run(Command),
    /// A program whose input is a shell on a target.
    Transport(Command),
    /// Targets that are reached by ssh.
    Ssh(Login),
    /// A variable in the environment of steps and programs.
    Set(String),
    /// Variables to read: the name, or what it begins with.
    Env {
        name: String,
        is_prefix: bool,
    },
    Clock,
    /// The plain text of secrets.
    Secrets,
    Read(String),
    Write(String),
    /// Anything that the user can do.
    Shell,
}

/// What a manifest may leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Net,
    Query,
}

/// A host and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Service {
    pub host: String,
    pub is_plain: bool,
    /// None is the usual one of its scheme.
    pub port: Option<u16>,
    /// Whether its address may be one of this machine or of its network.
    pub is_private: bool,
}

/// A program and the arguments that it always begins with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Command {
    pub program: String,
    pub arguments: Vec<String>,
}

/// `deploy@*.example`: a user or any, and a host with `*` for some of its letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Login {
    pub user: Option<String>,
    pub host: String,
}

impl FromStr for Capability {
    type Err = CapabilityError;

    fn from_str(text: &str) -> Result<Self, CapabilityError> {
        if text.len() > MAX_BYTES {
            return Err(CapabilityError::TooLong);
        }
        let found = parse(text)?;
        let canonical = found.to_string();
        match canonical == text {
            true => Ok(found),
            false => Err(CapabilityError::Spelling(canonical)),
        }
    }
}

fn parse(text: &str) -> Result<Capability, CapabilityError> {
    let (name, of) = match text.split_once(':') {
        Some((name, of)) => (name, Some(of)),
        None => (text, None),
    };
    let needed = |what| of.filter(|of| !of.is_empty()).ok_or(CapabilityError::Missing(what));
    let alone = |it| if of.is_none() { Ok(it) } else { Err(CapabilityError::Excess) };
    match name {
        "net" if of.is_none() => Ok(Capability::Open(Scope::Net)),
        "query" if of.is_none() => Ok(Capability::Open(Scope::Query)),
        "net" => Ok(Capability::Net(service(needed("a host")?)?)),
        "query" => Ok(Capability::Query(service(needed("a host")?)?)),
        "ask" => Ok(Capability::Ask(command(needed("a program")?)?)),
        "run" => Ok(Capability::Run(command(needed("a program")?)?)),
        "transport" => Ok(Capability::Transport(command(needed("a program")?)?)),
        "ssh" => Ok(Capability::Ssh(login(needed("a host")?)?)),
        "set" => Ok(Capability::Set(variable(needed("the name of a variable")?)?)),
        "env" => {
            let name = needed("the name of a variable")?;
            let (start, is_prefix) = match name.strip_suffix('*') {
                Some(start) => (start, true),
                None => (name, false),
            };
            Ok(Capability::Env { name: variable(start)?, is_prefix })
        }
        "read" => Ok(Capability::Read(pattern(needed("a path")?)?)),
        "write" => Ok(Capability::Write(pattern(needed("a path")?)?)),
        "clock" => alone(Capability::Clock),
        "secrets" => alone(Capability::Secrets),
        "shell" => alone(Capability::Shell),
        _ => Err(CapabilityError::Unknown),
    }
}

fn service(text: &str) -> Result<Service, CapabilityError> {
    let (text, is_private) = match text.strip_suffix(" private") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (rest, is_plain) = match text.strip_prefix("http://") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    // An address of version 6 has its own colons, and brackets around them.
    let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':').or((!rest.is_empty()).then_some(rest))),
        None => match rest.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        },
    };
    let is_address = host.parse::<IpAddr>().is_ok();
    if !is_address && (!is_host(host) || host.contains(|c: char| c.is_ascii_uppercase())) {
        return Err(CapabilityError::Host(host.to_owned()));
    }
    let port = match port {
        None => None,
        Some(port) => {
            let number = port.parse::<u16>().ok().filter(|port| *port != 0);
            Some(number.ok_or_else(|| CapabilityError::Port(port.to_owned()))?)
        }
    };
    Ok(Service { host: host.to_owned(), is_plain, port, is_private })
}

/// Words with single blanks between them: an argument with a blank cannot be said, and so not be
/// mistaken for two.
fn command(text: &str) -> Result<Command, CapabilityError> {
    let mut words = text.split(' ');
    let program = words.next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let is_program = !program.is_empty()
        && program.chars().all(is_name)
        && !matches!(program, "." | "..")
        && !program.starts_with('-');
    if !is_program {
        return Err(CapabilityError::Program(program.to_owned()));
    }
    let arguments: Vec<String> = words.map(str::to_owned).collect();
    let is_argument =
        |word: &String| !word.is_empty() && word.chars().all(|c| c.is_ascii_graphic());
    match arguments.iter().find(|word| !is_argument(word)) {
        Some(word) => Err(CapabilityError::Argument(word.clone())),
        None => Ok(Command { program: program.to_owned(), arguments }),
    }
}

/// Labels of letters, digits and `-`, with dots between them.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (1..=63).contains(&label.len())
            && label.chars().all(is_fine)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= 253 && host.split('.').all(is_label)
}

fn login(text: &str) -> Result<Login, CapabilityError> {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, text),
    };
    let is_user = |user: &str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        !user.is_empty() && user.len() <= 64 && user.chars().all(is_fine) && !user.starts_with('-')
    };
    // With a letter in place of each star it must be a host.
    let is_pattern = is_host(&host.replace('*', "x"));
    if !is_pattern || user.is_some_and(|user| !is_user(user)) {
        return Err(CapabilityError::Host(text.to_owned()));
    }
    Ok(Login { user: user.map(str::to_owned), host: host.to_owned() })
}

fn variable(name: &str) -> Result<String, CapabilityError> {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name =
        name.starts_with(is_start) && name.chars().all(|c| is_start(c) || c.is_ascii_digit());
    if is_name { Ok(name.to_owned()) } else { Err(CapabilityError::Variable(name.to_owned())) }
}

/// A path with `*`, `**` and `?`: whole, below the home directory, or below the project.
fn pattern(path: &str) -> Result<String, CapabilityError> {
    let rest = path.strip_prefix("~/").or(path.strip_prefix('/')).unwrap_or(path);
    let is_fine = !rest.is_empty()
        && rest.split('/').all(|part| !matches!(part, "" | "." | ".." | "~"))
        && !path.contains(|c: char| c.is_control() || "[]{}\\".contains(c));
    if is_fine { Ok(path.to_owned()) } else { Err(CapabilityError::Path(path.to_owned())) }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Net(service) => write!(f, "net:{service}"),
            Self::Query(service) => write!(f, "query:{service}"),
            Self::Open(scope) => f.write_str(scope.word()),
            Self::Ask(command) => write!(f, "ask:{command}"),
            Self::Run(command) => write!(f, "run:{command}"),
            Self::Transport(command) => write!(f, "transport:{command}"),
            Self::Ssh(login) => write!(f, "ssh:{login}"),
            Self::Set(name) => write!(f, "set:{name}"),
            Self::Env { name, is_prefix } => {
                write!(f, "env:{name}{}", if *is_prefix { "*" } else { "" })
            }
            Self::Clock => f.write_str("clock"),
            Self::Secrets => f.write_str("secrets"),
            Self::Read(path) => write!(f, "read:{path}"),
            Self::Write(path) => write!(f, "write:{path}"),
            Self::Shell => f.write_str("shell"),
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_plain {
            f.write_str("http://")?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        let usual = if self.is_plain { 80 } else { 443 };
        if let Some(port) = self.port.filter(|port| *port != usual) {
            write!(f, ":{port}")?;
        }
        f.write_str(if self.is_private { " private" } else { "" })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        self.arguments.iter().try_for_each(|word| write!(f, " {word}"))
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user {
            Some(user) => write!(f, "{user}@{}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

impl Scope {
    const fn word(self) -> &'static str {
        match self {
            Self::Net => "net",
            Self::Query => "query",
        }
    }
}

impl Capability {
    /// Whether it is what an open one leaves to the project.
    #[must_use]
    pub const fn closes(&self, open: &Self) -> bool {
        matches!(
            (self, open),
            (Self::Net(_), Self::Open(Scope::Net)) | (Self::Query(_), Self::Open(Scope::Query))
        )
    }

    /// What it needs of the machine, in the words of descriptors.
    #[must_use]
    pub fn power(&self) -> Option<Power> {
        Some(match self {
            Self::Net(_) | Self::Query(_) | Self::Open(_) => Power::Network,
            Self::Ask(_) | Self::Run(_) | Self::Transport(_) | Self::Ssh(_) | Self::Shell => {
                Power::Processes
            }
            Self::Set(_) | Self::Env { .. } => Power::Environment,
            Self::Clock => Power::Clock,
            Self::Read(_) => Power::FilesRead,
            Self::Write(_) => Power::FilesWrite,
            Self::Secrets => return None,
        })
    }

    /// Whether it gives whoever has it all that the user can do: programs run what such variables hold.
    #[must_use]
    pub fn is_shell(&self) -> bool {
        match self {
            Self::Shell => true,
            Self::Set(name) => {
                script::interpreted(name).is_some()
                    || script::is_run_by_program(name)
                    || name.ends_with("_OPTIONS")
                    || ["GIT_", "SSH_"].iter().any(|start| name.starts_with(start))
            }
            _ => false,
        }
    }

    /// What it means, for the person who is asked to accept it.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Net(service) => format!("reads from {}", service.described()),
            Self::Query(service) => format!("sends questions to {}", service.described()),
            Self::Open(Scope::Net) => "reads from a host that you name".to_owned(),
            Self::Open(Scope::Query) => "sends questions to a host that you name".to_owned(),
            Self::Ask(command) | Self::Run(command) if command.arguments.is_empty() => {
                format!("any use of {}: can run code", command.program)
            }
            Self::Ask(command) => format!("reads what `{command} …` prints"),
            Self::Run(command) => format!("runs `{command} …`"),
            Self::Transport(command) => format!("reaches other machines by `{command} …`"),
            Self::Ssh(login) => format!("reaches {login} by ssh"),
            Self::Set(name) => format!("sets the variable {name} for steps and programs"),
            Self::Env { name, is_prefix: false } => format!("reads the variable {name}"),
            Self::Env { name, is_prefix: true } => {
                format!("reads all variables that begin with {name}")
            }
            Self::Clock => "reads the time".to_owned(),
            Self::Secrets => "reads the plain text of the secrets that it is given".to_owned(),
            Self::Read(path) => format!("reads {path}"),
            Self::Write(path) => format!("writes {path}"),
            Self::Shell => "anything you can do".to_owned(),
        }
    }
}

impl Service {
    fn described(&self) -> String {
        let scheme = if self.is_plain { ", without encryption" } else { "" };
        let private = if self.is_private { ", also at private addresses" } else { "" };
        let port = self.port.map_or(String::new(), |port| format!(", port {port}"));
        format!("{}{port}{scheme}{private}", self.host)
    }
}

#[cfg(test)]
mod tests;
