//! The helper as a program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Service, guard, serve, stdio, versions};
use crate::local::{leader, seat};
#[cfg(feature = "origin")]
use crate::reach::report;
use crate::wire::frame::Loss;
use crate::wire::{BUILD, Timing};

/// Why a helper has ended before opal said good-bye.
#[derive(Debug)]
pub enum Ended {
    Usage(String),
    NotStarted(io::Error),
    Lost(Loss),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(word) => write!(f, "unknown argument `{word}`: opal starts this program"),
            Self::NotStarted(error) => write!(f, "cannot serve: {error}"),
            Self::Lost(loss) => write!(f, "connection lost: {loss}"),
        }
    }
}

/// Serves over the standard input and output of this process. `before` are the words that come before
/// the arguments where this program calls itself. It gives the exit code. Arguments: `--read-only`, `--digest`,
/// `--ping` and `--lost` with milliseconds; `--once DIRECTORY` removes the program and the directory
/// that was made for it. `--check BUILD` only says whether it runs here and is of that build, and
/// `--seat` makes another program of it, which wants a terminal; `--lead` leads the session of one;
/// `--guard` ends what another one leaves that is killed; `--hostkey` reports a key for `ssh`.
pub fn run(
    before: &[&str],
    arguments: impl Iterator<Item = OsString>,
    environment: BTreeMap<OsString, OsString>,
) -> Result<u8, Ended> {
    let mut arguments = arguments.peekable();
    if arguments.next_if(|word| word == leader::WORD).is_some() {
        return crate::lead(arguments).map_err(Ended::NotStarted);
    }
    if arguments.next_if(|word| word == seat::WORD).is_some() {
        return Err(Ended::NotStarted(seat::take(arguments)));
    }
    if arguments.next_if(|word| word == guard::WORD).is_some() {
        return guard::watch(arguments).map(|()| 0).map_err(Ended::NotStarted);
    }
    // Only on opal's own machine does anybody ask for it.
    #[cfg(feature = "origin")]
    if arguments.next_if(|word| word == report::WORD).is_some() {
        return report::report(arguments).map(|()| 0).map_err(Ended::NotStarted);
    }
    opal_files::memory::keep_private();
    let start = std::env::current_dir().map_err(Ended::NotStarted)?;
    let home = environment.get(&OsString::from("HOME")).map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let timing = Timing::default();
    let (is_read_only, tells_digest) = (false, false);
    // This program, even if its file is gone.
    let own = ["/proc/self/exe"].iter().chain(before).map(OsString::from).collect();
    let mut service = Service { environment, start, home, is_read_only, tells_digest, timing, own };
    if read(arguments, &mut service).map_err(Ended::Usage)? == Purpose::Check {
        return Ok(0);
    }
    if !service.is_read_only {
        versions::tidy(service.tells_digest);
    }
    let (input, output) = stdio::take_standard_pipes().map_err(Ended::NotStarted)?;
    serve(input, output, service).map(|()| 0).map_err(Ended::Lost)
}

/// What the program was started for.
#[derive(PartialEq, Eq)]
enum Purpose {
    Serve,
    Check,
}

fn read(
    mut arguments: impl Iterator<Item = OsString>,
    service: &mut Service,
) -> Result<Purpose, String> {
    while let Some(word) = arguments.next() {
        let unknown = || word.to_string_lossy().into_owned();
        let mut value = || arguments.next().ok_or_else(unknown);
        let millis = |value: OsString| {
            let millis = value.to_str().and_then(|it| it.parse().ok());
            millis.map(Duration::from_millis).ok_or_else(unknown)
        };
        match word.to_str() {
            Some("--read-only") => service.is_read_only = true,
            Some("--digest") => service.tells_digest = true,
            Some("--ping") => service.timing.ping = millis(value()?)?,
            Some("--lost") => service.timing.lost = millis(value()?)?,
            Some("--once") => remove_own(Path::new(&value()?)),
            Some("--check") => {
                return match value()?.to_str() == Some(BUILD) {
                    true => Ok(Purpose::Check),
                    false => Err(unknown()),
                };
            }
            _ => return Err(unknown()),
        }
    }
    Ok(Purpose::Serve)
}

/// Removes the program and its directory, which the shell that started it has made for it alone.
/// Whatever else is in the directory keeps it there.
fn remove_own(directory: &Path) {
    let _ = std::fs::remove_file(directory.join("opal-target"));
    let _ = std::fs::remove_dir(directory);
}
