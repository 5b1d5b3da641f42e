//! Which files count for `opal watch`, as a plan says: paths that planning has read, and what `@cached`
//! declares.
//!
//! The watch makes quick plans, in which expensive values are deferred. A round plans everything, and
//! passes what it knows to the watch in a file that only this user can read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

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
            places: content.chain(places("kind", Depth::Kind)?).collect(),
            inputs: texts("inputs")?.into_iter().collect(),
            outputs: texts("outputs")?.into_iter().collect(),
            has_cached: value.get("cached")?.as_bool()?,
            is_planned: value.get("planned")?.as_bool()?,
        })
    }
}

/// The file in which a round says what counts. It is there only until the watch has read it.
#[derive(Debug)]
pub(crate) struct Letter(PathBuf);

impl Letter {
    pub(crate) fn new() -> Self {
        let name = u32::from_le_bytes(opal_trust::keys::name());
        let name = format!("opal-watch-{}-{name:08x}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the file, for one round. Nobody else can have made it.
    pub(crate) fn open(&self) -> io::Result<()> {
        self.remove();
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.0).map(drop)
    }

    /// What the round has said; none where it has not yet.
    pub(crate) fn read(&self) -> Option<Counting> {
        let bytes = std::fs::read(&self.0).ok()?;
        let said = Counting::from_json(&serde_json::from_slice(&bytes).ok()?)?;
        self.remove();
        Some(said)
    }

    /// The round says nothing more.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Drop for Letter {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Says what counts, in the file of the watch. Without it, the watch uses its quick plan alone.
pub(crate) fn say(counting: &Counting, letter: &Path) {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(flags).open(letter);
    let bytes = counting.to_json().to_string();
    let _ = file.and_then(|mut file| file.write_all(bytes.as_bytes()));
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
        // Only a file that the watch has made is written to.
        say(&said, letter.path());
        assert!(!letter.path().exists());
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
