//! Writing the contract of a plan.

use std::path::Path;

use opal_core::contract::{FormatErrorKind, Section, plan_hash};
use opal_ops::making::{self, NotMade, Origin, Request, Terms, Typed};
use opal_ops::planning::Subject;
use opal_plan::plan::Resolved;
use opal_trust::contracts::{self, OwnKeys, Unmade};
use opal_trust::keys::{Credentials, Recipient, SigningKey, recipients};

use super::file::{refused, write_file};
use super::show;
use crate::clock::unix_time;
use crate::commands::execute::unchecked;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::planning;
use crate::signals::Watched;
use crate::view;

/// Who signs a contract and who may open it: known before anything is asked of the world.
#[derive(Debug)]
pub(super) struct Parties {
    signer: Option<SigningKey>,
    recipients: Vec<Recipient>,
}

impl Parties {
    pub(super) fn load(context: &Context<'_>, options: &PlanOptions) -> Result<Self, Failure> {
        let mut others: Vec<Recipient> = Vec::new();
        for recipient in &options.recipients {
            others.extend(recipients(recipient).map_err(Failure::key)?);
        }
        Ok(Self { signer: signer(context, options)?, recipients: others })
    }
}

/// What is written, for whom.
pub(super) struct Writing<'w> {
    pub(super) context: &'w Context<'w>,
    pub(super) subject: &'w Subject<'w>,
    pub(super) options: &'w PlanOptions,
    pub(super) parties: &'w Parties,
    pub(super) watched: &'w Watched,
}

impl Writing<'_> {
    /// Writes the contract of `resolved` to a file, or else to standard output.
    pub(super) fn write(
        &self,
        resolved: Resolved,
        keys: &mut OwnKeys<'_>,
        file: Option<&Path>,
    ) -> Result<Exit, Failure> {
        let &Self { context, subject, options, .. } = self;
        let steps = view::plan::count(&resolved.plan.steps);
        let values = resolved.plan.values.len();
        let hash =
            format!("{}:{}", resolved.plan.algorithm.name(), plan_hash(&resolved.plan).hex());
        let unchecked = unchecked(context, &resolved.plan)?;
        let request = Request {
            subject,
            registry: &context.registry,
            terms: &self.terms(),
            origin: &self.origin(),
            place: &planning::place(subject, context, options)?,
            here: &planning::here()?,
            time: unix_time(),
            stop: self.watched.stop(),
        };
        let bytes = match making::make(resolved, keys, &request) {
            Ok(bytes) => bytes,
            Err(why) => return self.not_made(why),
        };
        if !unchecked.is_empty() {
            view::plan::account_not_checked(&unchecked);
        }
        let Some(path) = file else { return view::print_bytes(&bytes) };
        write_file(path, &bytes)?;
        view::plan::written(path, steps, values, &hash);
        if options.format.is_none() {
            return Ok(Exit::Done);
        }
        let contract = contracts::peek(&bytes).map_err(|why| refused(path, why.into(), None))?;
        show::show(context, &contract, options, Vec::new())
    }

    fn terms(&self) -> Terms<'_> {
        let options = self.options;
        let root = options.root.as_ref().or(self.context.typed.root.as_ref());
        Terms {
            expires: options.expires,
            once: options.once,
            recipients: &self.parties.recipients,
            signer: self.parties.signer.as_ref(),
            typed: Typed {
                env_files: &options.env_files,
                recipients: &options.recipients,
                root: root.map(|root| root.as_path()),
                sign: options.sign.as_deref(),
            },
        }
    }

    fn origin(&self) -> Origin {
        let path = &self.subject.loaded.path;
        let commit = planning::commit(path);
        Origin {
            compiler: env!("CARGO_PKG_VERSION").into(),
            user: self.context.ambient.user.clone(),
            host: Some(planning::host()),
            modified: commit.is_some()
                && planning::is_modified(&self.subject.loaded.files()) != Some(false),
            commit,
        }
    }

    fn not_made(&self, why: NotMade) -> Result<Exit, Failure> {
        match why {
            NotMade::Key(error) => Err(Failure::key(error)),
            NotMade::Unready(trouble) => Err(Failure::unready(trouble)),
            NotMade::Target(trouble) => Err(Failure::target(trouble)),
            NotMade::Source(trouble) => {
                Err(Failure { exit: Exit::NoFile, ..Failure::unready(trouble) })
            }
            NotMade::Unmade { why, ephemeral } => Err(unmade(why, ephemeral.as_deref())),
            NotMade::Stopped => Ok(self.watched.exit().unwrap_or(Exit::Step(124))),
        }
    }
}

/// Refuses a source that a later run could not find, and a contract in the place of its source.
pub(super) fn check_paths(source: &Path, output: &Path) -> Result<(), Failure> {
    if source == Path::new("-") {
        return Err(Failure::usage(
            "a contract needs a source that a later run can find",
            "save it to a file, and name the file with `-f FILE`",
        ));
    }
    let same = |path: &Path| path.canonicalize().ok();
    if same(source).is_some_and(|source| same(output) == Some(source)) {
        return Err(Failure::usage(
            format!("`{}` is the source of the contract", output.display()),
            "write the contract to another file: `-o FILE.plan`",
        ));
    }
    Ok(())
}

fn signer(context: &Context<'_>, options: &PlanOptions) -> Result<Option<SigningKey>, Failure> {
    let Some(name) = &options.sign else { return Ok(None) };
    let root = context.needed_root(options.root.as_ref())?;
    Credentials::new(&root).signing_key(name).map(Some).map_err(Failure::key)
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
                _ => "show the plan without `-o`, and find the step there",
            };
            Failure::new(Exit::Source, error.to_string(), help)
        }
    }
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
