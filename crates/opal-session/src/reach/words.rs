//! Which program leads to a target, and with which arguments: constants and checked names.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use opal_core::target::{Engine, Hop, Name, Pod, User, Via};

use super::script::{for_user, script};
use super::{Dialling, created};

/// Where `sudo` and `doas` may be. They are never looked up in `$PATH`.
const TRUSTED: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/wrappers/bin"];

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Whether it may refuse to run without a controlling terminal.
    pub wants_terminal: bool,
}

/// Why there is nothing to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachError {
    /// Not in `$PATH`, or not in the directories for programs that change the user.
    Missing { program: &'static str },
    /// It does not belong to root.
    Untrusted { program: PathBuf },
    /// Neither engine knows it.
    NoContainer { name: Name },
    /// A machine inside a target.
    NotInside,
    /// `doas` takes none.
    Password,
}

/// What building the words needs of the machine.
pub trait Programs {
    /// The program of this name in `$PATH`.
    fn find(&self, name: &str) -> Option<PathBuf>;

    /// Whether a program succeeds with these arguments.
    fn succeeds(&self, program: &Path, arguments: &[&str]) -> bool;

    /// Where relative paths begin.
    fn directory(&self) -> &Path;
}

/// The program that leads to `hop` from a machine where a session is.
pub fn words(
    hop: &Hop,
    dialling: &Dialling,
    has_password: bool,
    programs: &dyn Programs,
) -> Result<Words, ReachError> {
    let script = script(dialling);
    match hop {
        Hop::Local | Hop::Ssh(_) | Hop::Program(_) => Err(ReachError::NotInside),
        Hop::Container { engine, name } => container(*engine, name, &script, programs),
        Hop::NewContainer(new) => created::words(new, dialling, programs),
        Hop::Pod(pod) => {
            let program = programs.find("kubectl");
            let program = program.ok_or(ReachError::Missing { program: "kubectl" })?;
            Ok(Words::new(program, &pod_arguments(pod, &script)))
        }
        Hop::User { user, via: Via::Sudo } => {
            let program = trusted("sudo")?;
            let prompt = dialling.nonce.prompt();
            let asking: &[&str] = match has_password {
                true => &["-k", "-S", "-p", &prompt],
                false => &["-n"],
            };
            let words =
                Words::new(program, &[asking, &as_user(user, "-H", &for_user(dialling))].concat());
            Ok(Words { wants_terminal: true, ..words })
        }
        Hop::User { user, via: Via::Doas } => {
            if has_password {
                return Err(ReachError::Password);
            }
            Ok(Words::new(trusted("doas")?, &as_user(user, "-n", &for_user(dialling))))
        }
    }
}

fn as_user<'a>(user: &'a User, option: &'a str, script: &'a str) -> [&'a str; 7] {
    [option, "-u", user.as_str(), "--", "/bin/sh", "-c", script]
}

fn container(
    engine: Engine,
    name: &Name,
    script: &str,
    programs: &dyn Programs,
) -> Result<Words, ReachError> {
    let arguments = ["exec", "-i", name.as_str(), "sh", "-c", script];
    let only = |program: &'static str| {
        programs.find(program).ok_or(ReachError::Missing { program }).map(|path| vec![path])
    };
    let engines = match engine {
        Engine::Docker => only("docker")?,
        Engine::Podman => only("podman")?,
        Engine::Auto => {
            let found: Vec<_> =
                ["docker", "podman"].iter().filter_map(|name| programs.find(name)).collect();
            if found.is_empty() {
                return Err(ReachError::Missing { program: "docker" });
            }
            let knows = |program: &PathBuf| {
                programs.succeeds(program, &["container", "inspect", name.as_str()])
            };
            found.into_iter().filter(knows).collect()
        }
    };
    let engine = engines.into_iter().next();
    let engine = engine.ok_or_else(|| ReachError::NoContainer { name: name.clone() })?;
    Ok(Words::new(engine, &arguments))
}

fn pod_arguments<'a>(pod: &'a Pod, script: &'a str) -> Vec<&'a str> {
    let mut words = Vec::new();
    let context = pod.context.as_ref().map(|it| ("--context", it.as_str()));
    let namespace = pod.namespace.as_ref().map(|it| ("--namespace", it.as_str()));
    for (option, value) in context.into_iter().chain(namespace) {
        words.extend([option, value]);
    }
    words.extend(["exec", "-i", pod.name.as_str()]);
    if let Some(container) = &pod.container {
        words.extend(["-c", container.as_str()]);
    }
    words.extend(["--", "sh", "-c", script]);
    words
}

/// A program that root has put where only root can.
fn trusted(name: &'static str) -> Result<PathBuf, ReachError> {
    let found = TRUSTED.iter().map(|place| Path::new(place).join(name));
    let found = found.filter_map(|path| path.metadata().ok().map(|file| (path, file.uid()))).next();
    match found {
        Some((path, 0)) => Ok(path),
        Some((program, _)) => Err(ReachError::Untrusted { program }),
        None => Err(ReachError::Missing { program: name }),
    }
}

impl Words {
    fn new(program: PathBuf, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(Into::into).collect();
        Self { program, arguments, wants_terminal: false }
    }
}

impl fmt::Display for ReachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { program } => write!(f, "`{program}` is not installed"),
            Self::Untrusted { program } => {
                write!(f, "`{}` does not belong to root", program.display())
            }
            Self::NoContainer { name } => write!(f, "unknown container `{name}`"),
            Self::NotInside => f.write_str("SSH inside a target"),
            Self::Password => f.write_str("`doas` accepts no password"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Nonce;
    use crate::wire::Timing;

    /// Everything is there, and only `podman` knows containers.
    struct Machine;

    impl Programs for Machine {
        fn find(&self, name: &str) -> Option<PathBuf> {
            Some(Path::new("/bin").join(name))
        }

        fn succeeds(&self, program: &Path, arguments: &[&str]) -> bool {
            program.ends_with("podman") && arguments == ["container", "inspect", "app"]
        }

        fn directory(&self) -> &Path {
            Path::new("/")
        }
    }

    fn shown(hop: &Hop) -> String {
        let (nonce, timing) = (Nonce([1; 16]), Timing::default());
        let dialling = Dialling { nonce, digests: Vec::new(), is_read_only: false, timing };
        let words = match words(hop, &dialling, false, &Machine) {
            Ok(words) => words,
            Err(error) => return error.to_string(),
        };
        assert_eq!(words.arguments.last().unwrap(), script(&dialling).as_str());
        let words = std::iter::once(words.program.into_os_string()).chain(words.arguments);
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        words[..words.len() - 1].join(" ")
    }

    #[test]
    fn a_hop_becomes_the_words_of_one_program() {
        let name = || "app".parse::<Name>().unwrap();
        let auto = Hop::Container { engine: Engine::Auto, name: name() };
        assert_eq!(shown(&auto), "/bin/podman exec -i app sh -c");
        let docker = Hop::Container { engine: Engine::Docker, name: name() };
        assert_eq!(shown(&docker), "/bin/docker exec -i app sh -c");
        let unknown = Hop::Container { engine: Engine::Auto, name: "other".parse().unwrap() };
        assert_eq!(shown(&unknown), "unknown container `other`");
        let mut pod = Pod { name: name(), namespace: None, container: None, context: None };
        assert_eq!(shown(&Hop::Pod(pod.clone())), "/bin/kubectl exec -i app -- sh -c");
        pod.namespace = Some("prod".parse().unwrap());
        pod.container = Some("web".parse().unwrap());
        pod.context = Some("admin@eu/1".parse().unwrap());
        assert_eq!(
            shown(&Hop::Pod(pod)),
            "/bin/kubectl --context admin@eu/1 --namespace prod exec -i app -c web -- sh -c"
        );
        assert_eq!(shown(&Hop::Ssh("web1".parse().unwrap())), "SSH inside a target");
    }
}
