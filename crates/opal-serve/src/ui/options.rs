//! What it was started with. `opal ui` has read what people typed; these words are between the two programs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Options {
    pub(super) root: PathBuf,
    /// Where a socket goes; none for an address of this machine.
    pub(super) socket: Option<PathBuf>,
    /// What the browser has as host.
    pub(super) host: Option<String>,
    /// What `opal plan approve` is given.
    pub(super) key: Option<OsString>,
    /// Whether that key can be touched, and nobody can be asked in a terminal.
    pub(super) by_touch: bool,
    /// Whether a browser is started.
    pub(super) opens: bool,
    /// How long a second is, of all times that are limits. A release build knows only one answer.
    pub(super) second: Duration,
}

impl Options {
    /// The runtime root, and then pairs of a name and a value.
    pub(super) fn read(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let root = PathBuf::from(words.next()?);
        let second = Duration::from_secs(1);
        let (socket, host, key) = (None, None, None);
        let mut options = Self { root, socket, host, key, by_touch: false, opens: false, second };
        while let Some(name) = words.next() {
            let value = words.next()?;
            match name.to_str()? {
                "socket" => options.socket = Some(value.into()),
                "host" => options.host = Some(value.into_string().ok()?),
                "key" => options.key = Some(value),
                "touch" => options.by_touch = value == "yes",
                "open" => options.opens = value == "yes",
                #[cfg(debug_assertions)]
                "second" => {
                    let milliseconds = value.to_str()?.parse().ok()?;
                    options.second = Duration::from_millis(milliseconds);
                }
                _ => return None,
            }
        }
        Some(options)
    }

    pub(super) fn seconds(&self, count: u32) -> Duration {
        self.second * count
    }
}
