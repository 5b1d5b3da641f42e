//! A file that is kept equal to what a template renders to.

mod apart;
mod chains;
mod engine;
mod go;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::files::{Attributes, Existing, Files};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Inputs, Links, Probe, Trouble};
use opal_core::resource::{Finding, Verify};
use opal_core::types::TypeRef;
use opal_core::{Data, Type};
use zeroize::Zeroizing;

use super::content::{self, MAX_BYTES};
use super::diff::{grouped, unified};
use super::{links, paths};
use crate::decorators::common::{DEPENDS_ON, ID, NO, OCTAL, VERIFY_TIMEOUT};
pub use apart::{render_here, render_with};
use engine::Template;

pub(in crate::decorators) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.template",
    summary: "a file whose content comes from a template",
    docs: "Renders a Jinja template and keeps the destination equal to the result, in content \
           and, where `mode` is given, in permissions. A destination that differs is shown as a \
           diff and replaced as a whole.\n\n\
           The template sees what `vars` hands it and nothing else, unless `env=true` adds the \
           environment. A name it uses and nobody gave is an error, which keeps a typing mistake \
           from becoming an empty setting; `allow_missing=true` renders it as nothing.\n\n\
           Tags in the Go spelling are understood too: `{{.name}}`, `{{if .on}}`, `{{else}}`, \
           `{{range .list}}`, `{{end}}`, and `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `not`, `and`, \
           `or`. A template cannot include another one. A destination that is a symbolic link \
           is never written through.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the destination has the content that the template gives, and the `mode` \
           where one is given.\n\
           - `missing`: nothing is at the destination.\n\
           - `drifted`: the content or the `mode` differs.\n\
           - `blocked`: the template is not there, is no UTF-8 text or cannot be rendered, or the \
           destination is the template itself, a link or anything else that is no file.",
    params: &[
        Param { name: "source", docs: "the template", ..Param::BASE },
        Param {
            name: "destination",
            docs: "the file to keep in step with the template",
            ..Param::BASE
        },
        Param {
            name: "vars",
            ty: Type::Map(TypeRef::Static(&Type::Any)),
            presence: Presence::Optional,
            docs: "the values that the template can use, by name",
            ..Param::BASE
        },
        Param {
            name: "env",
            ty: Type::Bool,
            presence: NO,
            docs: "let the template use environment variables too; `vars` wins over them",
            ..Param::BASE
        },
        Param {
            name: "allow_missing",
            ty: Type::Bool,
            presence: NO,
            docs: "render names without a value as nothing",
            ..Param::BASE
        },
        Param {
            name: "mode",
            presence: Presence::Optional,
            pattern: Some(OCTAL),
            docs: "the permissions in octal, such as `0640`; without it they are left alone",
            ..Param::BASE
        },
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "template", key: &["destination"], verify: &FileTemplate }),
    capabilities: &[Capability::Environment, Capability::FilesRead, Capability::FilesWrite],
    action: Some(&FileTemplate),
    examples: &[Example {
        title: "a configuration file with two settings",
        source: "fun configure(port: Int = 8080) {\n    @file.template(\n        \
                 source=\"templates/app.conf.j2\",\n        \
                 destination=\"/etc/app.conf\",\n        \
                 vars={port: port, workers: 4},\n        mode=\"0640\",\n    )\n}\n",
    }],
    ..Descriptor::BASE
};

#[derive(Debug)]
struct FileTemplate;

impl Verify for FileTemplate {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let wanted = wanted(inputs, probe)?;
        let found = found(&wanted, probe)?;
        Ok(decide(&wanted, found.as_ref()))
    }
}

impl Action for FileTemplate {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        apply(inputs, &*stage.probe(), stage.files())
            .map(|()| Data::Null)
            .map_err(|trouble| stage.fail(1, trouble))
    }
}

/// What the destination should be.
struct Wanted {
    source: PathBuf,
    destination: PathBuf,
    content: Zeroizing<Vec<u8>>,
    mode: Option<u32>,
    /// The template, links followed, and its permissions.
    template: PathBuf,
    template_mode: Option<u32>,
}

/// A destination that is there.
struct Found {
    mode: u32,
    bytes: u64,
    /// None where it is so large that it cannot be what a template renders to.
    content: Option<Zeroizing<Vec<u8>>>,
}

impl Found {
    fn has_content_of(&self, wanted: &Wanted) -> bool {
        self.content.as_ref().is_some_and(|content| **content == *wanted.content)
    }
}

fn wanted(inputs: &Inputs, probe: &dyn Probe) -> Result<Wanted, Trouble> {
    let source = paths::path(inputs, "source", probe)?;
    let destination = paths::path(inputs, "destination", probe)?;
    let content = render(inputs, probe, &source)?;
    let template = links::resolved(&source, probe)?;
    let template_mode = probe.look(&template)?.map(|it| it.mode);
    let mode = paths::mode(inputs);
    Ok(Wanted { source, destination, content, mode, template, template_mode })
}

fn render(
    inputs: &Inputs,
    probe: &dyn Probe,
    source: &Path,
) -> Result<Zeroizing<Vec<u8>>, Trouble> {
    let mut read = content::read(probe, source, Links::Followed)
        .map_err(|trouble| words::unread(source, trouble))?;
    // The engine keeps templates, so there is no use in wiping this copy, which takes its time.
    let bytes = std::mem::take(&mut *read);
    let template = std::str::from_utf8(&bytes).map_err(|error| words::no_text(source, &error))?;
    let faulty = |fault| words::faulty(source, fault, inputs);
    let template = Template::new(template, inputs.is_true("allow_missing")).map_err(faulty)?;
    let vars = match inputs.data("vars") {
        Some(Data::Map(vars)) => vars,
        _ => &BTreeMap::new(),
    };
    let mut environment = BTreeMap::new();
    if inputs.is_true("env") {
        for name in template.names().iter().filter(|name| !vars.contains_key(*name)) {
            if let Some(found) = probe.env(name)? {
                environment.insert(name.clone(), Data::Text(found));
            }
        }
    }
    let values = vars.iter().chain(&environment).map(|(name, data)| (name.as_str(), data));
    template.render(values).map_err(faulty)
}

fn found(wanted: &Wanted, probe: &dyn Probe) -> Result<Option<Found>, Trouble> {
    let path = &wanted.destination;
    let Some(entry) = content::replaceable(probe, path)? else { return Ok(None) };
    if links::resolved(path, probe)? == wanted.template {
        return Err(words::own_template(path));
    }
    let read = || content::read(probe, path, Links::followed_above(path));
    let content = (entry.bytes <= MAX_BYTES).then(read).transpose()?;
    Ok(Some(Found { mode: entry.mode, bytes: entry.bytes, content }))
}

fn decide(wanted: &Wanted, found: Option<&Found>) -> Finding {
    let path = wanted.destination.display();
    let Some(found) = found else {
        let content = Algorithm::Sha256.digest(&[&wanted.content]);
        return Finding::missing(format!("there is no `{path}`")).with_content(content);
    };
    let modes = [Some(found.mode), wanted.mode, wanted.template_mode];
    let is_private = modes.into_iter().flatten().any(paths::is_private);
    let mode = wanted.mode.filter(|mode| *mode != found.mode);
    let mode = mode.map(|mode| format!("mode {:04o}, expected {mode:04o}", found.mode));
    match (found.has_content_of(wanted), mode) {
        (true, None) => Finding::satisfied(format!("`{path}` is what the template gives")),
        (true, Some(mode)) => {
            Finding::drifted(format!("`{path}` differs: {mode}")).with_details(mode + "\n")
        }
        (false, None) => Finding::drifted(format!("`{path}` differs: content"))
            .with_details(difference(wanted, found))
            .with_content(contents(wanted, found))
            .with_privacy(is_private),
        (false, Some(mode)) => Finding::drifted(format!("`{path}` differs: content, {mode}"))
            .with_details(format!("{mode}\n{}", difference(wanted, found)))
            .with_content(contents(wanted, found))
            .with_privacy(is_private),
    }
}

/// A difference may be cut, or only described.
fn contents(wanted: &Wanted, found: &Found) -> Digest {
    let there = found.content.as_deref().map_or(&[][..], Vec::as_slice);
    let length = (wanted.content.len() as u64).to_le_bytes();
    Algorithm::Sha256.digest(&[&length, &wanted.content, there])
}

fn difference(wanted: &Wanted, found: &Found) -> String {
    let [source, destination] =
        [&wanted.source, &wanted.destination].map(|path| path.display().to_string());
    match &found.content {
        Some(content) => unified((&source, &wanted.content), (&destination, content)),
        None => {
            let expected = grouped(wanted.content.len());
            let actual = grouped(usize::try_from(found.bytes).unwrap_or(usize::MAX));
            format!("content differs: {expected} bytes expected, {actual} actual\n")
        }
    }
}

fn apply(inputs: &Inputs, probe: &dyn Probe, files: &dyn Files) -> Result<(), Trouble> {
    let wanted = wanted(inputs, probe)?;
    let attributes = Attributes { mode: wanted.mode, ..Attributes::default() };
    let found = found(&wanted, probe)?;
    let existing = if found.is_some() { Existing::Replaced } else { Existing::Refused };
    match found {
        Some(found) if found.has_content_of(&wanted) => match wanted.mode {
            Some(mode) if mode != found.mode => files.set(&wanted.destination, &attributes),
            _ => Ok(()),
        },
        _ => content::write(files, &wanted.destination, (&attributes, existing), &wanted.content),
    }
}

#[cfg(test)]
mod tests;
