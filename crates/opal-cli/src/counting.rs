//! Which files count for `opal watch`, as a plan says: paths that planning has read, and what `@cached`
//! declares.
//!
//! The watch makes quick plans, in which expensive values are deferred. A round plans everything, and
//! passes what it knows to the watch through a named pipe that only this user can open: paths can hold
//! values, so they are never in a file.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use opal_core::gather::Gather as _;
use opal_core::inventory::CACHED;
use opal_core::plan::{Arg, Key, Plan};
use opal_core::{Data, Value as Constant};
use opal_plan::plan::Resolved;
use opal_session::noted::{Depth, Places};
use rustix::fs::OFlags;
use serde_json::{Value, json};

/// What one plan says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counting {
    /// What planning has read.
    pub(crate) places: Places,
    /// The inputs of `@cached`.
    pub(crate) inputs: BTreeSet<String>,
    /// The outputs of `@cached`.
    pub(crate) outputs: BTreeSet<String>,
    pub(crate) has_cached: bool,
    /// Whether there was a plan; otherwise only what was read up to the error is known.
    pub(crate) is_planned: bool,
}

impl Counting {
    /// What a plan says; relative paths begin in `base`.
    pub(crate) fn of(places: Places, planned: Option<&Resolved>, base: &Path) -> Self {
        let mut counting = Self { places, is_planned: planned.is_some(), ..Self::default() };
        let Some(Resolved { plan, secrets, .. }) = planned else { return counting };
        let values = |arg: &Arg| texts(arg, secrets);
        for step in plan.all_steps().filter(|step| step.node.is_decorator(CACHED)) {
            counting.has_cached = true;
            counting.inputs.extend(step.arg("inputs").map(values).unwrap_or_default());
            counting.outputs.extend(step.arg("outputs").map(values).unwrap_or_default());
        }
        let globbed = globbed(plan).into_iter().map(|name| (base.join(name), Depth::Content));
        counting.places.extend(globbed);
        counting
    }

    /// Adds what another plan of the same task says.
    pub(crate) fn with(mut self, other: &Self) -> Self {
        for (path, depth) in &other.places {
            let known = self.places.entry(path.clone()).or_insert(*depth);
            *known = (*known).max(*depth);
        }
        self.inputs.extend(other.inputs.iter().cloned());
        self.outputs.extend(other.outputs.iter().cloned());
        self.has_cached |= other.has_cached;
        self
    }

    fn to_json(&self) -> Value {
        let depth = |depth: Depth| {
            let places = self.places.iter().filter(move |(_, found)| **found == depth);
            places.filter_map(|(path, _)| path.to_str()).collect::<Vec<_>>()
        };
        json!({
            "content": depth(Depth::Content),
            "kind": depth(Depth::Kind),
            "inputs": self.inputs,
            "outputs": self.outputs,
            "cached": self.has_cached,
            "planned": self.is_planned,
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let texts = |name: &str| {
            let texts =
                value.get(name)?.as_array()?.iter().map(|it| it.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()
        };
        let places = |name: &str, depth: Depth| {
            Some(texts(name)?.into_iter().map(move |path| (PathBuf::from(path), depth)))
        };
        let content = places("content", Depth::Content)?;
        Some(Self {
            places: content.chain(places("kind", Depth::Kind)?).gathered(),
            inputs: texts("inputs")?.into_iter().collect(),
            outputs: texts("outputs")?.into_iter().collect(),
            has_cached: value.get("cached")?.as_bool()?,
            is_planned: value.get("planned")?.as_bool()?,
        })
    }
}

/// The pipe through which a round says what counts. It is there only until the watch has read it.
#[derive(Debug)]
pub(crate) struct Letter {
    path: PathBuf,
    received: RefCell<Option<Received>>,
}

/// The watch's end of the pipe, and what came out of it so far.
#[derive(Debug)]
struct Received {
    pipe: File,
    bytes: Vec<u8>,
}

/// A round does not wait for the watch: what does not fit is not said.
const MAX_BYTES: usize = 1024 * 1024;

impl Letter {
    pub(crate) fn new() -> Self {
        let name = u32::from_le_bytes(opal_trust::keys::name());
        let name = format!("opal-watch-{}-{name:08x}", std::process::id());
        Self { path: std::env::temp_dir().join(name), received: RefCell::new(None) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the pipe, for one round. Nobody else can have made it.
    pub(crate) fn open(&self) -> io::Result<()> {
        self.remove();
        make_pipe(&self.path)?;
        let pipe = OpenOptions::new().read(true).custom_flags(flags()).open(&self.path)?;
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe, MAX_BYTES);
        *self.received.borrow_mut() = Some(Received { pipe, bytes: Vec::new() });
        Ok(())
    }

    /// What the round has said; none where it has not yet.
    pub(crate) fn read(&self) -> Option<Counting> {
        let said = self.received.borrow_mut().as_mut().and_then(Received::read)?;
        self.remove();
        Some(said)
    }

    /// The round says nothing more.
    pub(crate) fn remove(&self) {
        if self.received.take().is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Received {
    fn read(&mut self) -> Option<Counting> {
        let mut buffer = [0; 8192];
        while self.bytes.len() <= MAX_BYTES {
            match self.pipe.read(&mut buffer) {
                Ok(count) if count > 0 => self.bytes.extend_from_slice(&buffer[..count]),
                _ => break,
            }
        }
        Counting::from_json(&serde_json::from_slice(&self.bytes).ok()?)
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(target_os = "linux")]
fn make_pipe(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, Mode, mkfifoat};
    Ok(mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?)
}

#[cfg(not(target_os = "linux"))]
fn make_pipe(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

/// Says what counts, in the pipe of the watch. Without it, the watch uses its quick plan alone.
pub(crate) fn say(counting: &Counting, letter: &Path) {
    let Ok(mut pipe) = OpenOptions::new().write(true).custom_flags(flags()).open(letter) else {
        return;
    };
    if pipe.metadata().is_ok_and(|it| it.file_type().is_fifo()) {
        let _ = pipe.write_all(counting.to_json().to_string().as_bytes());
    }
}

/// The files that a glob has found: the plan has their names, and its steps read them.
fn globbed(plan: &Plan) -> Vec<String> {
    let globs = plan.reads.iter().filter(|read| read.decorator == "file.glob");
    let found = globs.filter_map(|read| read.public.clone());
    found.flat_map(|names| texts(&Arg::Const(names), &BTreeMap::new())).collect()
}

/// The texts of an Array.
fn texts(arg: &Arg, values: &BTreeMap<Key, Data>) -> Vec<String> {
    let text = |value: &Constant| match value {
        Constant::String(text) => Some(text.to_string()),
        _ => None,
    };
    match arg {
        Arg::Const(Constant::Array(items)) => items.iter().filter_map(text).collect(),
        Arg::Const(value) => text(value).into_iter().collect(),
        Arg::Array(items) => items.iter().flat_map(|item| texts(item, values)).collect(),
        Arg::Value(key) => match values.get(key) {
            Some(Data::Array(items)) => {
                items.iter().filter_map(|item| item.as_text().map(str::to_owned)).collect()
            }
            Some(data) => data.as_text().map(str::to_owned).into_iter().collect(),
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_says_the_same_to_its_reader() {
        let places = Places::from([("/a".into(), Depth::Content), ("/b".into(), Depth::Kind)]);
        let inputs = BTreeSet::from(["src/**".to_owned()]);
        let said = Counting { places, inputs, has_cached: true, ..Counting::default() };
        let letter = Letter::new();
        // Only a pipe that the watch has made is written to.
        say(&said, letter.path());
        assert!(!letter.path().exists());
        std::fs::write(letter.path(), "").unwrap();
        say(&said, letter.path());
        assert_eq!(std::fs::read(letter.path()).unwrap(), b"");
        std::fs::remove_file(letter.path()).unwrap();
        letter.open().unwrap();
        assert_eq!(letter.read(), None);
        say(&said, letter.path());
        assert_eq!(letter.read(), Some(said));
        assert!(!letter.path().exists());
        letter.open().unwrap();
        let path = letter.path().to_owned();
        drop(letter);
        assert!(!path.exists());
    }
}
