//! Contract files: writing and opening them.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use opal_core::Value;
use opal_core::contract::{
    Contract, FormatErrorKind, MAX_BYTES, Provenance, Section, Seen, Source,
};
use opal_core::keys::Keys;
use opal_files::atomic::{self, Unfinished};
use opal_files::regular;
use opal_ops::contract::Refusal;
use opal_ops::planning::Subject;
use opal_ops::resources;
use opal_plan::plan::Resolved;
use opal_trust::contracts::{self, Making, Opened, OwnKeys, Unmade};
use opal_trust::keys::{Credentials, Recipient, Runner, SigningKey, recipients};

use super::show;
use super::sources::sources;
use crate::commands::execute::recording::MODULE;
use crate::commands::module;
use crate::dispatch::Context;
use crate::failure::contract::Refused;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::planning::{self, Outcome};
use crate::signals::Watched;
use crate::view;

/// Who signs a contract and who may open it: known before anything is asked of the world.
#[derive(Debug)]
pub(crate) struct Parties {
    signer: Option<SigningKey>,
    recipients: Vec<Recipient>,
}

impl Parties {
    pub(crate) fn load(context: &Context<'_>, options: &PlanOptions) -> Result<Self, Failure> {
        let mut others: Vec<Recipient> = Vec::new();
        for recipient in &options.recipients {
            others.extend(recipients(recipient).map_err(Failure::key)?);
        }
        Ok(Self { signer: signer(context, options)?, recipients: others })
    }
}

/// Writes the contract of `resolved` to a file, or else to standard output.
pub(crate) fn write(
    context: &Context<'_>,
    subject: &Subject<'_>,
    options: &PlanOptions,
    resolved: Resolved,
    keys: &mut OwnKeys<'_>,
    (parties, file): (&Parties, Option<&Path>),
    watched: &Watched,
) -> Result<Exit, Failure> {
    let now = unix_time();
    let steps = view::plan::count(&resolved.plan.steps);
    let values = resolved.plan.values.len();
    let hash = opal_core::contract::plan_hash(&resolved.plan);
    let algorithm = resolved.plan.algorithm;
    let mut provenance = provenance(context, subject, options, now)?;
    provenance.resources = match resources(context, subject, options, &resolved, keys, watched)? {
        Ok(resources) => resources,
        Err(exit) => return Ok(exit),
    };
    let making = Making {
        created: now,
        provenance,
        recipients: &parties.recipients,
        signer: parties.signer.as_ref(),
        registry: &context.registry,
    };
    let made = contracts::make(resolved.plan, keys, making);
    let bytes =
        made.map_err(|why| unmade(why, keys.used_runner().and_then(Runner::why_ephemeral)))?;
    let Some(path) = file else { return view::print_bytes(&bytes) };
    write_file(path, &bytes)?;
    view::plan::written(path, steps, values, &format!("{}:{}", algorithm.name(), hash.hex()));
    if options.format.is_none() {
        return Ok(Exit::Done);
    }
    let contract = contracts::peek(&bytes).map_err(|why| refused(path, why.into(), None))?;
    show::show(context, &contract, options, Vec::new())
}

/// What is seen of the resources, for a later run to be compared with.
fn resources(
    context: &Context<'_>,
    subject: &Subject<'_>,
    options: &PlanOptions,
    resolved: &Resolved,
    keys: &mut OwnKeys<'_>,
    watched: &Watched,
) -> Outcome<Vec<Seen>> {
    if !resources::has_resources(&resolved.plan, &context.registry) {
        return Ok(Ok(Vec::new()));
    }
    let key = keys.placeholder_key().map_err(Failure::key)?;
    let (place, registry) = (planning::place(subject, context, options)?, &context.registry);
    let report = resources::of_contract(resolved, registry, &key, &place, watched.stop())
        .map_err(Failure::unready)?;
    match report.stopped.and(watched.exit()) {
        Some(exit) => Ok(Err(exit)),
        None => Ok(Ok(resources::seen(&report))),
    }
}

/// Refuses a source that a later run could not find, and a contract in the place of its source.
pub(crate) fn check_paths(source: &Path, output: &Path) -> Result<(), Failure> {
    if source == Path::new("-") {
        return Err(Failure::usage(
            "a contract needs a source that a later run can find",
            "save it to a file and name that with `-f FILE`",
        ));
    }
    let same = |path: &Path| path.canonicalize().ok();
    if same(source).is_some_and(|source| same(output) == Some(source)) {
        return Err(Failure::usage(
            format!("`{}` is the source of the contract", output.display()),
            "write the contract to a file of its own: `-o FILE.plan`",
        ));
    }
    Ok(())
}

fn signer(context: &Context<'_>, options: &PlanOptions) -> Result<Option<SigningKey>, Failure> {
    let Some(name) = &options.sign else { return Ok(None) };
    let root = context.needed_root(options.root.as_ref())?;
    Credentials::new(&root).signing_key(name).map(Some).map_err(Failure::key)
}

fn provenance(
    context: &Context<'_>,
    subject: &Subject<'_>,
    options: &PlanOptions,
    now: i64,
) -> Result<Provenance, Failure> {
    let path = &subject.loaded.path;
    let near = relative(path)?;
    let commit = planning::commit(path);
    Ok(Provenance {
        compiler: env!("CARGO_PKG_VERSION").into(),
        source: Some(Source { path: near, absolute: absolute(path) }),
        sources: sources(subject, options.algorithm.unwrap_or_default())?,
        modified: commit.is_some() && planning::is_modified(path) != Some(false),
        commit,
        options: kept_options(context, options, &subject.arguments),
        generated_by: context.ambient.user.clone(),
        host: Some(planning::host()),
        expires: options.expires.map(|after| now + (after.as_nanos() / 1_000_000_000).max(1)),
        once: options.once,
        ..Provenance::default()
    })
}

/// The options that change a run, or that a new contract needs as well, and that no hash has. Paths
/// are absolute: the next command may be typed elsewhere.
fn kept_options(
    context: &Context<'_>,
    options: &PlanOptions,
    arguments: &BTreeMap<String, Value>,
) -> BTreeMap<String, Vec<String>> {
    let root = options.root.as_ref().or(context.typed.root.as_ref());
    let file_or = |text: &String| match Path::new(text).exists() || text.contains('/') {
        true => absolute(Path::new(text)),
        false => text.clone(),
    };
    let mut kept: BTreeMap<String, Vec<String>> = [
        ("env-file", options.env_files.iter().map(|file| absolute(file)).collect()),
        ("recipient", options.recipients.iter().map(file_or).collect()),
        ("root", root.into_iter().map(|root| absolute(root)).collect()),
        ("sign", options.sign.iter().map(file_or).collect()),
        ("skip-preflight", skipped_preflight(arguments).into_iter().collect()),
    ]
    .into_iter()
    .map(|(name, values): (&str, Vec<String>)| (name.to_owned(), values))
    .collect();
    kept.retain(|_, values| !values.is_empty());
    kept
}

/// Why the preflight of a module was skipped, where it was.
fn skipped_preflight(arguments: &BTreeMap<String, Value>) -> Option<String> {
    arguments.get(MODULE)?;
    match arguments.get(module::run::SKIP) {
        Some(Value::String(reason)) => Some(reason.to_string()),
        _ => None,
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// The source from here, so that another checkout finds its own.
pub(super) fn relative(path: &Path) -> Result<String, Failure> {
    if path.is_relative() {
        return Ok(path.display().to_string());
    }
    let here = planning::here()?;
    let mut up = PathBuf::new();
    for above in here.ancestors() {
        if let Ok(below) = path.strip_prefix(above) {
            return Ok(up.join(below).display().to_string());
        }
        up.push("..");
    }
    Ok(path.display().to_string())
}

/// Replaces the file in one move: a reader sees the old contract or the new one. A pipe or a
/// device is written to as it is, since a rename would put a file in its place.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let shown = format!("`{}`", path.display());
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let file = std::fs::OpenOptions::new().write(true).open(path);
        let written = file.and_then(|mut file| file.write_all(bytes));
        return written.map_err(|error| Failure::unwritable(&shown, &error));
    }
    let failed = |error: std::io::Error| Failure::unreplaced(&shown, &error);
    // A link stays one: what it names is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    put(&path, bytes).map_err(failed)
}

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let usual = atomic::usual_mode(atomic::directory_of(path)?)?;
    let mut file = Unfinished::beside(path)?;
    file.write_all(bytes)?;
    file.file().set_permissions(PermissionsExt::from_mode(0o644 & usual))?;
    file.file().sync_all()?;
    Ok(file.replace(rustix::fs::CWD, path)?)
}

/// `ephemeral` is why this machine has no runner key, where it has none.
fn unmade(unmade: Unmade, ephemeral: Option<&str>) -> Failure {
    match unmade {
        Unmade::Key(error) => Failure::key(error),
        Unmade::Seal(error) => {
            let why = ephemeral.map_or(String::new(), |why| format!(": {why}"));
            Failure::new(Exit::Write, format!("{error}{why}"), error.help())
        }
        Unmade::Format(error) => {
            let help = match (error.kind, error.section) {
                (FormatErrorKind::TooLarge, _) => "make a contract of a smaller task",
                (_, Section::Header) => "check the clock of this machine",
                (_, Section::Provenance) => "give the task simpler arguments",
                _ => "without `-o` the plan is shown: look there for what is named",
            };
            Failure::new(Exit::Source, error.to_string(), help)
        }
    }
}

/// The bytes of a contract, `-` from standard input.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One more than there may be, so that a file that is too long is seen as one.
    let limit = MAX_BYTES as u64 + 1;
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        regular::open_given(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        let failure = Failure::unreadable(path, &error);
        // Its help is about sources.
        let help = "name a contract, as `opal plan TASK -o FILE` makes one";
        Failure { help: vec![help.to_owned()], ..failure }
    })?;
    Ok(bytes)
}

/// Opens a contract for this runner.
pub(crate) fn open(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
    bytes: &[u8],
) -> Result<Opened, Failure> {
    let runner = planning::runner(context, options).map_err(Failure::key)?;
    opal_ops::contract::open(bytes, &runner)
        .map_err(|refusal| refused(path, refusal, Some(&runner.recipient().to_string())))
}

/// A contract to look at. Whoever reviews one need not be able to run it, and is told then; what
/// this runner can open and is not whole is refused.
pub(crate) fn look(
    context: &Context<'_>,
    options: &PlanOptions,
    path: &Path,
) -> Result<(Contract, Option<String>), Failure> {
    let bytes = read_file(path)?;
    if let Some(runner) = planning::known_runner(context, options).map_err(Failure::key)? {
        match opal_ops::contract::open(&bytes, &runner) {
            Ok(opened) => return Ok((opened.contract, None)),
            Err(Refusal::SealedToOthers) => {}
            Err(refusal) => return Err(refused(path, refusal, None)),
        }
    }
    let contract = contracts::peek(&bytes).map_err(|why| refused(path, why.into(), None))?;
    let shown = path.display();
    let note = format!("this runner cannot open `{shown}`, so it is not known to be whole");
    Ok((contract, Some(note)))
}

/// The words for a file that is not a contract for this runner, whose public key is `own`.
fn refused(path: &Path, refusal: Refusal, own: Option<&str>) -> Failure {
    Refused { path, own, again: &|| None }.failure(&refusal)
}

pub(crate) fn unix_time() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use opal_core::contract::FormatError;

    use super::*;

    #[test]
    fn only_what_is_too_large_is_to_be_made_smaller() {
        let help = |kind, section| {
            let reason = "a name is too large a word".to_owned();
            let error = FormatError { kind, section, offset: None, unpacked: false, reason };
            unmade(Unmade::Format(error), None).help.join("\n")
        };
        assert!(help(FormatErrorKind::TooLarge, Section::Steps).contains("smaller"));
        for section in [Section::Header, Section::Provenance, Section::Steps] {
            let help = help(FormatErrorKind::Invalid, section);
            assert!(!help.contains("smaller"), "{section:?}");
        }
    }
}
