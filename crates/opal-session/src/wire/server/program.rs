//! The helper as a program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::{Service, serve, stdio};
use crate::wire::Timing;
use crate::wire::frame::Loss;

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

/// Serves over the standard input and output of this process. Arguments: `--read-only`, `--digest`,
/// `--ping` and `--lost` with milliseconds.
pub fn run(
    arguments: impl Iterator<Item = OsString>,
    environment: BTreeMap<OsString, OsString>,
) -> Result<(), Ended> {
    keep_values();
    let start = std::env::current_dir().map_err(Ended::NotStarted)?;
    let home = environment.get(&OsString::from("HOME")).map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let timing = Timing::default();
    let (is_read_only, tells_digest) = (false, false);
    let mut service = Service { environment, start, home, is_read_only, tells_digest, timing };
    read(arguments, &mut service).map_err(Ended::Usage)?;
    let (input, output) = stdio::take_standard_pipes().map_err(Ended::NotStarted)?;
    serve(input, output, service).map_err(Ended::Lost)
}

/// No core file shows the values that are in memory, and no other process of the user reads them
/// through `/proc`. It ends with `exec`: steps are not concerned.
fn keep_values() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // A kernel that refuses this has no other way either.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

fn read(
    mut arguments: impl Iterator<Item = OsString>,
    service: &mut Service,
) -> Result<(), String> {
    while let Some(word) = arguments.next() {
        let mut time = || {
            let millis = arguments.next().and_then(|it| it.to_str()?.parse().ok());
            millis.map(Duration::from_millis).ok_or_else(|| word.to_string_lossy().into_owned())
        };
        match word.to_str() {
            Some("--read-only") => service.is_read_only = true,
            Some("--digest") => service.tells_digest = true,
            Some("--ping") => service.timing.ping = time()?,
            Some("--lost") => service.timing.lost = time()?,
            _ => return Err(word.to_string_lossy().into_owned()),
        }
    }
    Ok(())
}
