//! What a stack is: where its files are, who can run it, and whether it says where state is kept.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde_json::{Map, Value};

use super::literal::{self, Config};
use crate::NotFound;
use crate::document::bytes;
use crate::lint::pack::{MOST_BYTES, beats_inputs, keeps_state};
use crate::run::driver::Request;
use opal_core::gather::Gather as _;

const CONFIG: &str = "terragrunt.hcl";

/// Blocks with which Terragrunt writes files or keeps state.
const GENERATORS: [&str; 2] = ["generate", "remote_state"];

#[derive(Debug)]
pub(super) struct Stack {
    /// Whether it has a `terragrunt.hcl`.
    pub(super) has_config: bool,
    /// What of Terragrunt it cannot do without.
    pub(super) needs: Option<String>,
    /// Where the files of Terraform are, if not in the stack itself.
    pub(super) source: Option<String>,
    pub(super) backend: Backend,
    /// Inputs in `terragrunt.hcl`.
    pub(super) inputs: Map<String, Value>,
}

/// Who says where state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    Pack,
    Profile,
    Unsaid,
}

impl Backend {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pack => "pack",
            Self::Profile => "profile",
            Self::Unsaid => "local",
        }
    }
}

impl Stack {
    pub(super) fn read(request: &Request<'_>) -> Result<Self, NotFound> {
        let pack = &request.execution.pack;
        let templates = request.templates;
        let config = match templates.get(CONFIG) {
            Some(text) => Some(text.clone()),
            None => text(&request.stack.join(CONFIG)),
        };
        let Config { needs, source, inputs } =
            config.as_deref().map(literal::config).unwrap_or_default();
        let (source, needs) = match (source.as_deref().map(Source::read), needs) {
            (Some(Source::Elsewhere), None) => (None, Some("`source`".to_owned())),
            (Some(Source::Folder(folder)), needs) => (Some(folder), needs),
            (_, needs) => (None, needs),
        };
        if let Some(folder) = source.as_ref().filter(|folder| !request.stack.join(folder).is_dir())
        {
            return Err(NotFound {
                message: format!("the pack `{pack}` has no `{folder}`, its `source`"),
                help: format!("fix `source` in `{CONFIG}`, or add the directory"),
            });
        }
        let folder =
            source.as_ref().map_or_else(|| request.stack.into(), |it| request.stack.join(it));
        if let Some(name) = late(request, source.as_deref()) {
            return Err(NotFound {
                message: format!(
                    "`{name}` would override the inputs: Terraform reads it after theirs"
                ),
                help: "rename it to `terraform.tfvars`, which the inputs override, or remove it"
                    .into(),
            });
        }
        let files = files(&folder);
        if files.is_empty() && config.is_none() {
            return Err(NotFound {
                message: format!(
                    "the pack `{pack}` has neither `{CONFIG}` nor a file that ends in `.tf`"
                ),
                help: "a pack of `iac/terragrunt` needs one of them in its `stack/`".to_owned(),
            });
        }
        let backend = backend(config.as_deref(), &files, templates);
        Ok(Self { has_config: config.is_some(), needs, source, backend, inputs })
    }
}

/// What a configuration has as its source.
enum Source {
    /// The stack itself.
    Stack,
    /// A directory below it.
    Folder(String),
    /// For Terragrunt to fetch.
    Elsewhere,
}

impl Source {
    fn read(source: &str) -> Self {
        if !source.starts_with('.') || source.contains("//") {
            return Self::Elsewhere;
        }
        let mut parts = Vec::new();
        for part in Path::new(source).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(part) => parts.push(part.to_string_lossy()),
                _ => return Self::Elsewhere,
            }
        }
        if parts.is_empty() { Self::Stack } else { Self::Folder(parts.join("/")) }
    }
}

/// A file of values of the pack or of a template that Terraform reads after the inputs.
fn late(request: &Request<'_>, source: Option<&str>) -> Option<String> {
    let read = ["", source.unwrap_or_default()];
    let templates = request.templates.keys().filter(|path| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        read.contains(&folder) && beats_inputs(name)
    });
    let files = read.iter().flat_map(|folder| {
        let entries = request.stack.join(folder).read_dir().into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| beats_inputs(name))
    });
    templates.cloned().chain(files).min()
}

/// The files that Terraform reads, by their names.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = folder.read_dir() else { return BTreeMap::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_read = |name: &String| {
        [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().any(|end| name.ends_with(end))
    };
    let read = |name: String| Some((name.clone(), text(&folder.join(name))?));
    names.filter(is_read).filter_map(read).gathered()
}

/// A file that people wrote; what is not text was not.
fn text(path: &Path) -> Option<String> {
    let found = bytes(path, MOST_BYTES).ok().filter(|found| found.len() <= MOST_BYTES)?;
    String::from_utf8(found).ok()
}

fn backend(
    config: Option<&str>,
    files: &BTreeMap<String, String>,
    templates: &BTreeMap<String, String>,
) -> Backend {
    let generates = |name: &str, text: &str| {
        name.ends_with(".hcl") && literal::blocks(text).iter().any(|it| GENERATORS.contains(it))
    };
    let says = |name: &str, text: &str| keeps_state(name, text) || generates(name, text);
    if templates.iter().any(|(name, text)| says(name, text)) {
        Backend::Profile
    } else if files.iter().any(|(name, text)| says(name, text))
        || config.is_some_and(|text| says(CONFIG, text))
    {
        Backend::Pack
    } else {
        Backend::Unsaid
    }
}
