//! A file that is kept equal to what a template renders to.

mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::files::Files;
use opal_core::gather::Gather as _;
use opal_core::resolver::{Inputs, Links, Probe, Trouble};
use opal_core::resource::{Finding, Verify};
use opal_core::template::{self, Template, Values};
use opal_core::types::TypeRef;
use opal_core::wiped::Wiped;
use opal_core::{Data, Type};

use super::sides::Sides;
use super::written::{self, Found, Wanted};
use super::{content, links, paths};
use crate::common::{DEPENDS_ON, GROUP, ID, MODE, NAME, OWNER, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "file.template",
    summary: "a file whose content comes from a template",
    docs: "Renders a Jinja template and keeps the destination equal to the result, in content \
           and, if they are given, in `mode`, `owner` and `group`. A destination that differs is \
           shown as a diff and replaced as a whole.\n\n\
           The template sees only the values of `vars`, and with `env=true` the environment. An \
           undefined name is an error, so that a typo does not become an empty setting; \
           `allow_missing=true` renders it as an empty text.\n\n\
           Methods work as in Jinja: `.items()`, `.keys()`, `.values()` and `.get()` of a map; \
           `.split()`, `.replace()`, `.startswith()`, `.strip()` and others of a text. An error names \
           the line, and the nearest name, filter, test or method that exists.\n\n\
           A template in Go's spelling, such as `{{.name}}`, is an error; `opal convert --from \
           go-template FILE` turns it into Jinja. A template cannot include another one. A \
           destination that is a symlink is never written through.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the destination has the rendered content, and the given `mode`, \
           `owner` and `group`.\n\
           - `missing`: nothing exists at the destination.\n\
           - `drifted`: the content, `mode`, `owner` or `group` differs.\n\
           - `blocked`: the template does not exist, is not UTF-8 text or cannot be rendered, or the \
           destination is the template itself, a symlink or anything else that is not a file. \
           In none of these cases are there two contents to compare, so no difference is shown.",
    params: &[
        Param::required("source", "the template"),
        Param::required("destination", "the file to write"),
        Param {
            name: "vars",
            ty: Type::Map(TypeRef::Static(&Type::Any)),
            presence: Presence::Optional,
            docs: "the values that the template can use, by name",
            ..Param::BASE
        },
        Param::flag("env", "let the template use environment variables too; `vars` overrides them"),
        Param::flag("allow_missing", "render undefined names as an empty text"),
        MODE,
        OWNER,
        GROUP,
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
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
        let (wanted, found) = inspect(inputs, probe)?;
        Ok(written::decide(&wanted, found.as_ref(), "is what the template gives"))
    }
}

impl Action for FileTemplate {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        apply(inputs, &*stage.probe(), &*stage.files())
            .map(|()| Data::Null)
            .map_err(|trouble| stage.fail(1, trouble))
    }
}

/// A template: where it is, and what is in it.
struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Source {
    fn read(path: PathBuf, probe: &dyn Probe) -> Result<Self, Trouble> {
        let mut read = content::read(probe, &path, Links::Followed)
            .map_err(|trouble| words::unread(&path, trouble))?;
        // Whoever renders keeps templates, so there is no use in wiping this copy, which takes its time.
        let bytes = std::mem::take(&mut *read);
        Ok(Self { path, bytes })
    }

    /// Whether a file with this content could be the template itself.
    fn could_be(&self, found: &Found) -> bool {
        found.content.as_ref().is_some_and(|content| **content == self.bytes)
    }
}

/// Both sides; trouble where they are one file.
///
/// Where the template is, links followed, takes a question for each part of its path. It is asked only if
/// it matters: where a difference is shown, or the destination could be the template.
fn inspect(inputs: &Inputs, probe: &dyn Probe) -> Result<(Wanted, Option<Found>), Trouble> {
    let sides = Sides::of(probe);
    let source = paths::path(inputs, "source", sides.source())?;
    let destination = paths::path(inputs, "destination", sides.here())?;
    let source = Source::read(source, sides.source())?;
    let content = render(inputs, &sides, &source)?;
    let (name, attributes) =
        (source.path.display().to_string(), paths::attributes(inputs, sides.here())?);
    let mut wanted = Wanted { name, destination, content, attributes, is_private: false };
    let found = Found::read(&wanted, probe)?;
    let could_be_template = found.as_ref().is_some_and(|found| source.could_be(found));
    if could_be_template || !found.as_ref().is_some_and(|found| found.has_content_of(&wanted)) {
        let template = links::resolved(&source.path, sides.source())?;
        if could_be_template
            && links::resolved(&wanted.destination, probe)? == template
            && sides.are_one(&template)?
        {
            return Err(words::own_template(&wanted.destination));
        }
        let found = sides.source().stat(&template)?;
        wanted.is_private = found.is_some_and(|it| paths::is_private(it.mode));
    }
    Ok((wanted, found))
}

fn render(inputs: &Inputs, sides: &Sides<'_>, from: &Source) -> Result<Wiped<Vec<u8>>, Trouble> {
    let source = &from.path;
    let text = std::str::from_utf8(&from.bytes).map_err(|error| words::no_text(source, &error))?;
    let faulty = |fault| words::faulty(source, fault, inputs);
    let engine = template::renderer().ok_or_else(|| words::nobody(source))?;
    let template = Template { source: text, allow_missing: inputs.is_true("allow_missing") };
    let vars = match inputs.data("vars") {
        Some(Data::Map(vars)) => vars,
        _ => &BTreeMap::new(),
    };
    let mut environment = BTreeMap::new();
    if inputs.is_true("env") {
        let names = engine.names(&template).map_err(faulty)?;
        for name in names.into_iter().filter(|name| !vars.contains_key(name)) {
            if let Some(found) = sides.here().env(&name)? {
                environment.insert(name, Data::Text(found));
            }
        }
    }
    let values = vars.iter().chain(&environment).map(|(name, data)| (name.as_str(), data));
    let values: Values<'_> = values.gathered();
    engine.render(&template, &values).map_err(faulty)
}

fn apply(inputs: &Inputs, probe: &dyn Probe, files: &dyn Files) -> Result<(), Trouble> {
    let (wanted, found) = inspect(inputs, probe)?;
    written::apply(&wanted, found.as_ref(), files)
}

#[cfg(test)]
mod tests;
