//! Everything that is known of a run before a plan is made. Nothing here changes anything.

mod imports;

use std::collections::BTreeMap;
use std::path::Path;

use opal_core::{Code, Data, Diagnostic};
use serde_json::{Map, Value, json};

use super::driver::Work;
use super::pack::Pack;
use super::prepared::{Prepared, Unprepared};
use super::{Command, Programs, drivers, hooks, prepared, probes, secrets, workspace};
use crate::inputs::{self, Given, InvalidInputs, Schema};
use crate::keep::{Credentials, Instance, RuntimeRoot, State, Unusable};
use crate::lint::{self, Linted};
use crate::load::{self, Read};
use crate::{ModuleRef, NotFound, Places, Profile};

/// What is to be run, and what was said about it.
#[derive(Debug)]
pub struct Wanted<'w> {
    pub command: Command,
    pub module: &'w ModuleRef,
    pub instance: Option<&'w Instance>,
    pub places: &'w Places,
    pub root: &'w RuntimeRoot,
    /// Without what is imported.
    pub given: Given,
    /// Whether the module was named itself, and does not come along with another.
    pub is_named: bool,
    pub programs: &'w Programs,
}

/// Reads everything that a run needs.
pub fn prepare(wanted: Wanted<'_>) -> Result<Prepared, Unprepared> {
    let prepared = inspect(wanted)?;
    match prepared.credentials.unusable.values().next().cloned() {
        Some(Unusable { message, help }) => Err(NotFound { message, help }.into()),
        None => Ok(prepared),
    }
}

/// The same where nothing will run: what is wrong with credentials is one thing among others.
pub fn inspect(wanted: Wanted<'_>) -> Result<Prepared, Unprepared> {
    let Wanted { command, module, instance, places, root, mut given, is_named, programs } = wanted;
    let read = load::spec(places, module)?;
    let (spec_path, spec_text) = (read.path.clone(), read.text.clone());
    let mut files = vec![read.file()];
    let mut warnings = unused(&read.checked.diagnostics);
    let spec = whole(read)?;
    let read = load::profile(places, &spec)?;
    let profile_path = read.path.clone();
    let profile_file = read.file();
    warnings.extend(unused(&read.checked.diagnostics));
    let profile = whole(read)?;
    let hook_steps = hooks::steps(command, &spec, &profile, &mut warnings)
        .map_err(|diagnostics| faults(&spec_path, &spec_text, diagnostics))?;
    let driver = drivers::find(&spec.execution.driver)?;
    let stack = places.stack(&spec.execution.driver, &spec.execution.pack)?;
    let pack = pack_of(command, &stack)?;
    warnings.extend(unfit_pack(command, &pack, places)?);
    if !is_named {
        given = given.fitting(&spec);
    }
    given.imports = imports::of(command, &spec, root, &mut warnings)?;
    let (schema, schema_file) = load::schema_file(places, module)?.unzip();
    if schema.is_none() && !spec.defaults.is_empty() {
        warnings.extend(given.unknown(&spec));
    }
    let inputs = inputs::resolve(&spec, &given, schema.as_ref()).map_err(Unprepared::Inputs)?;
    let secrets = secrets::find(&inputs, schema.as_ref());
    let hidden = hidden(&given, &profile, (&inputs, schema.as_ref()), &secrets);
    let invalid =
        |reason| Unprepared::Inputs(InvalidInputs { module_ref: spec.module_ref.clone(), reason });
    if let Some(reason) = unfit(&inputs, &secrets) {
        return Err(invalid(reason));
    }
    let probes = probes::steps(command, &spec, &inputs, &secrets).map_err(invalid)?;
    let credentials = Credentials::read(root, &spec.credentials)
        .map_err(|it| NotFound { message: it.message, help: it.help })?;
    warnings.extend(credentials.warnings.iter().cloned());
    let templates = drivers::templates(&profile, &profile_path)?;
    let of_templates = drivers::template_files(&profile, &profile_path, &templates);
    files.extend(schema_file.into_iter().chain([profile_file]).chain(of_templates));
    files.extend(pack.files());
    let mut prepared = Prepared {
        command,
        instance: instance.cloned(),
        root: root.clone(),
        spec,
        spec_path,
        spec_text,
        files,
        policy_digest: policy_digest(&profile, &templates),
        profile,
        profile_path,
        driver,
        pack,
        inputs,
        secrets,
        hidden,
        templates,
        work: Work::default(),
        probes,
        hooks: hook_steps,
        credentials,
        programs: programs.clone(),
        warnings,
    };
    add_work(&mut prepared, programs)?;
    Ok(prepared)
}

/// What the driver makes of it all, and what there is to say about that.
fn add_work(prepared: &mut Prepared, programs: &Programs) -> Result<(), NotFound> {
    let find = |name: &str| programs.find(name);
    let work = prepared.driver.work(&prepared.request(&prepared.inputs, &find))?;
    prepared.warnings.extend(work.warnings.iter().cloned());
    prepared.work = work;
    prepared.warnings.extend(strange(prepared));
    prepared.warnings.extend(workspace::name(prepared).and_then(Result::err));
    Ok(())
}

/// What must be hidden besides the secret inputs themselves.
fn hidden(
    given: &Given,
    profile: &Profile,
    (inputs, schema): (&Map<String, Value>, Option<&Schema>),
    secrets: &BTreeMap<String, Data>,
) -> Vec<Data> {
    let mut hidden = secrets::said(given, schema);
    hidden.extend(secrets::of_profile(&profile.env));
    hidden.extend(secrets::in_documents(inputs, schema));
    hidden.extend(secrets::parts(secrets.values().chain(&hidden)));
    hidden
}

/// What is destroyed was applied with other inputs: the tools may not find it.
fn strange(prepared: &Prepared) -> Option<String> {
    let state = State::seen(&prepared.state()).ok().flatten()?;
    let other = state.inputs_digest.is_some_and(|digest| digest != prepared.inputs_digest());
    let is_strange = prepared.command == Command::Destroy && other;
    is_strange.then(|| {
        "the inputs differ from the last run: resources of the last run may remain".to_owned()
    })
}

/// Of what a profile says to the tools or wants of a run, and of the files that it brings along.
fn policy_digest(profile: &Profile, templates: &BTreeMap<String, String>) -> String {
    let (hooks, Profile { env, settings, .. }) = (profile.written_hooks(), profile);
    let policy = json!({"env": env, "hooks": hooks, "settings": settings, "templates": templates});
    prepared::digest(&json!([policy, profile.policy.reported()]))
}

fn faults(path: &Path, text: &str, diagnostics: Vec<Diagnostic>) -> Unprepared {
    Unprepared::Faults { path: path.to_owned(), text: text.to_owned(), diagnostics }
}

/// What a file says for nobody.
fn unused(diagnostics: &[Diagnostic]) -> Vec<String> {
    let unused = diagnostics.iter().filter(|one| one.code == Code::SpecUnused);
    unused.map(|one| one.message.clone()).collect()
}

/// A file without faults; other warnings are for the linter.
fn whole<T>(read: Read<T>) -> Result<T, Unprepared> {
    let Read { path, text, checked, .. } = read;
    let diagnostics = checked.diagnostics;
    match checked.found.filter(|_| !diagnostics.iter().any(Diagnostic::is_error)) {
        Some(found) => Ok(found),
        None => Err(Unprepared::Faults { path, text, diagnostics }),
    }
}

/// What was made is taken down with what is there.
fn pack_of(command: Command, stack: &Path) -> Result<Pack, NotFound> {
    match command {
        Command::Destroy => Pack::read_without_outward_links(stack),
        _ => Pack::read(stack),
    }
}

/// Refuses a pack that a validation refuses. What it has made can still be taken down, with a warning.
fn unfit_pack(
    command: Command,
    pack: &Pack,
    places: &Places,
) -> Result<Option<String>, Unprepared> {
    let unfit = lint::unfit(&pack.stack, places.schemas()).map_err(|error| NotFound {
        message: format!("the pack in `{}` cannot be used: {error}", pack.stack.display()),
        help: "check packs with `opal module lint`".to_owned(),
    })?;
    match unfit {
        None => Ok(None),
        Some(Linted { path, diagnostics, .. }) if command == Command::Destroy => {
            let first = diagnostics.iter().find(|one| one.is_error());
            let why = first.map_or("it has errors", |one| one.message.as_str());
            Ok(Some(format!("`{}`: {why}", path.display())))
        }
        Some(Linted { path, text, diagnostics }) => {
            Err(Unprepared::Faults { path, text, diagnostics })
        }
    }
}

/// Why a plan cannot hold the inputs.
fn unfit(inputs: &Map<String, Value>, secrets: &BTreeMap<String, Data>) -> Option<String> {
    if let Some(at) = odd_number("", &Value::Object(inputs.clone())) {
        let at = inputs::place(&at);
        return Some(format!("the number at `{at}` {}", inputs::LARGE));
    }
    let short = secrets.iter().find(|(_, secret)| secrets::is_short(secret));
    short.map(|(at, _)| {
        format!(
            "`{}` is a secret of fewer than {} characters, too few to hide",
            inputs::place(at),
            opal_core::class::HIDDEN_ALONE_FROM
        )
    })
}

/// Where there is a number that neither an Int nor a Float can hold without a loss.
fn odd_number(at: &str, value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => {
            (number.is_u64() && number.as_i64().is_none()).then(|| at.to_owned())
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| odd_number(&format!("{at}/{index}"), item))
        }
        Value::Object(map) => {
            map.iter().find_map(|(key, value)| odd_number(&secrets::below(at, key), value))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests;
