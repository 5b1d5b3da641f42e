//! What the drivers share: the part of the profile that is theirs, and its templates. The programs and
//! their arguments are not here.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::document::bytes;
use crate::load::ReadFile;
use crate::place::is_below;
use crate::profile::Template;
use crate::run::driver::{Outputs, OwnSection, Request};
use crate::{NotFound, Profile};

/// What the tools leave, below the stack.
pub(super) const OUTPUTS: &str = "hyops.outputs.json";

/// What the runtime itself writes into every stack.
pub(in crate::run) const RESERVED: [&str; 3] =
    ["hyops.inputs.json", "hyops.meta.json", "inputs.auto.tfvars.json"];

/// A template is a file that people write.
const MOST_BYTES: usize = 1 << 20;

/// The keys of the profile that only one driver reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'r> {
    own: &'static OwnSection,
    keys: Option<&'r Map<String, Value>>,
}

impl<'r> Section<'r> {
    pub(super) fn of(
        settings: &'r Map<String, Value>,
        own: &'static OwnSection,
    ) -> Result<Self, NotFound> {
        let name = own.name;
        match settings.get(name) {
            None | Some(Value::Null) => Ok(Self { own, keys: None }),
            Some(Value::Object(keys)) => Ok(Self { own, keys: Some(keys) }),
            Some(_) => Err(NotFound {
                message: format!("`{name}` of the profile must have keys"),
                help: format!("write `{name}: {{bin: …}}`, or omit it"),
            }),
        }
    }

    /// One word.
    pub(super) fn word(&self, key: &str) -> Result<Option<&'r str>, NotFound> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(word)) if !word.is_empty() && !word.starts_with('-') => {
                Ok(Some(word))
            }
            Some(_) => Err(self.unfit(key, "a word", "a")),
        }
    }

    /// The name of a file of the stack.
    pub(super) fn file(&self, key: &str, usual: &'r str) -> Result<&'r str, NotFound> {
        let name = self.word(key)?.unwrap_or(usual);
        if stays(name) { Ok(name) } else { Err(self.unfit(key, "a file of the stack", usual)) }
    }

    /// A list of words.
    pub(super) fn words(&self, key: &str) -> Result<Option<Vec<String>>, NotFound> {
        let Some(found) = self.get(key) else { return Ok(None) };
        let words = found.as_array().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        words.map(Some).ok_or_else(|| self.unfit(key, "a list of words", "[a, b]"))
    }

    fn get(&self, key: &str) -> Option<&'r Value> {
        debug_assert!(self.own.keys.contains(&key), "a profile with `{key}` gets a warning");
        self.keys?.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn unfit(&self, key: &str, what: &str, example: &str) -> NotFound {
        NotFound {
            message: format!("`{}.{key}` of the profile must be {what}", self.own.name),
            help: format!("write `{key}: {example}`, or omit it"),
        }
    }
}

/// Adds an argument that must be there.
pub(super) fn ensure(words: &mut Vec<String>, argument: &str) {
    if !words.iter().any(|word| word == argument) {
        words.push(argument.to_owned());
    }
}

/// Whether a path below the stack stays there.
pub(in crate::run) fn stays(path: &str) -> bool {
    let path = Path::new(path);
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.file_name().is_some()
}

/// The templates of a profile as they are, by where they belong below the stack. They are read once,
/// so that a run gets what its plan was made with.
pub fn templates(
    profile: &Profile,
    profile_path: &Path,
) -> Result<BTreeMap<String, String>, NotFound> {
    let folder = folder(profile, profile_path);
    let mut found = BTreeMap::new();
    for template in &profile.templates {
        let path = folder.join(&template.src);
        let missing = |why: &str| NotFound {
            message: format!("the template `{}` of the profile {why}", template.src),
            help: format!("opal looks for it at `{}`", path.display()),
        };
        if RESERVED.contains(&template.dst.as_str()) {
            return Err(missing("would hide a file of the runtime"));
        }
        if path.exists() && !is_below(&path, &folder) {
            return Err(missing("is a symlink that leads out of its directory"));
        }
        let text = bytes(&path, MOST_BYTES)
            .map_err(|error| missing(&format!("cannot be read: {error}")))?;
        if text.len() > MOST_BYTES {
            return Err(missing("is larger than 1 MiB"));
        }
        let text = String::from_utf8(text).map_err(|_| missing("is not text"))?;
        found.insert(template.dst.clone(), text);
    }
    Ok(found)
}

/// The files of the templates of a profile, whose texts are `found`.
pub(crate) fn template_files(
    profile: &Profile,
    profile_path: &Path,
    found: &BTreeMap<String, String>,
) -> Vec<ReadFile> {
    let folder = folder(profile, profile_path);
    let file = |template: &Template| {
        let text = found.get(&template.dst)?;
        let digest = ReadFile::ALGORITHM.digest(&[text.as_bytes()]);
        Some(ReadFile { path: folder.join(&template.src), digest })
    };
    profile.templates.iter().filter_map(file).collect()
}

/// `drivers/<driver>/templates`; the profile is in `drivers/<driver>/profiles`.
fn folder(profile: &Profile, profile_path: &Path) -> PathBuf {
    let levels = profile.profile_ref.path().components().count() + 1;
    let driver = profile_path.ancestors().nth(levels).unwrap_or(Path::new(""));
    driver.join("templates")
}

/// Outputs that are a JSON object of values.
pub(super) fn object(text: &str) -> Result<Outputs, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(values)) => Ok(Outputs { values, sensitive: Vec::new() }),
        _ => Err(format!("`{OUTPUTS}` is not a JSON object")),
    }
}

/// Whether a program can be started by this name; a path is taken at its word.
pub(super) fn is_there(request: &Request<'_>, program: &str) -> bool {
    program.contains('/') || (request.find)(program).is_some()
}
