//! Terraform providers: getting, accepting, describing and locking them.

use std::collections::BTreeSet;
use std::path::Path;

use clap::ArgMatches;
use opal_core::data::Secret;
use opal_core::suggest;
use opal_helper::Parcel;
use opal_plugins::accept::Acceptances;
use opal_plugins::client::CallFailure;
use opal_plugins::client::failure::Why;
use opal_plugins::lock::{Lock, LockedProvider};
use opal_plugins::provider::bridge::{Session, platform};
use opal_plugins::provider::fetch::{Download, FetchError, Fetched, Wish, fetch, source};
use opal_plugins::provider::store::{Described, ProviderError, Undescribed};
use opal_plugins::provider::wanted::{Origin, WantedProvider, named};
use opal_plugins::provider::{ProjectSettings, Provider};
use opal_trust::policy::Settings;
use opal_vault::root::Root;
use serde_json::json;

use super::acceptance::{Question, unsaved};
use super::files::write;
use super::project::Project;
use super::reaching;
use crate::ambient::variable;
use crate::context::Context;
use crate::decorators::{project_settings, provider_failure};
use crate::failure::{Exit, Failure};
use crate::view::plugin::ProviderRow;
use crate::{helpers, view};

/// Whether a person means a provider.
pub(super) fn is_provider(given: &str) -> bool {
    given.starts_with("terraform/")
}

/// Gets providers on behalf of a project.
pub(super) struct Getting<'g> {
    pub(super) root: Root,
    settings: ProjectSettings,
    pub(super) mirrors: Settings,
    pub(super) locked: &'g [LockedProvider],
    trust: bool,
}

/// Downloads through the helper that has the network.
pub(super) struct Downloads<'d>(pub(super) &'d Root);

impl Downloads<'_> {
    fn ask(&self, url: &str, most: u64, into: Option<&Path>) -> Result<Parcel, Failure> {
        let into = into.map(|path| path.display().to_string());
        let mut document = json!({"url": url, "most": most, "into": into, "folder": "/"});
        let mut parcel = reaching::add(self.0, &mut document, Parcel::default())?;
        parcel.head = json!({"download": document});
        reaching::ask(&parcel, &mut |_| Parcel::default())
    }
}

impl Download for Downloads<'_> {
    type Error = Failure;

    fn document(&self, url: &str, most: u64) -> Result<Vec<u8>, Failure> {
        let answer = self.ask(url, most, None)?;
        answer.blobs.first().map(|bytes| bytes.to_vec()).ok_or_else(reaching::silent)
    }

    fn file(&self, url: &str, most: u64, into: &Path) -> Result<(), Failure> {
        self.ask(url, most, Some(into)).map(drop)
    }
}

/// `opal plugin add terraform/hashicorp/aws@6.47`.
pub(super) fn add(
    context: &Context<'_>,
    matches: &ArgMatches,
    project: &Project,
    given: &str,
    alias: Option<String>,
) -> Result<Exit, Failure> {
    let Some(mut one) = named(given, alias, &project.built_in) else {
        let message = format!("`{given}` is not the address of a provider");
        let help = "write it like `terraform/hashicorp/aws@6.47`, or with its host: \
                    `terraform/registry.example/acme/box@1.2`";
        return Err(Failure::usage(message, help));
    };
    if project.providers.iter().any(|it| it.key == one.key) {
        let message = format!("`{}` is in opal.mod already", one.key);
        let help = "change its version in opal.mod, and run `opal plugin update`";
        return Err(Failure::new(Exit::Configuration, message, help));
    }
    let near = project.providers.iter().find(|it| suggest::distance(&it.key, &one.key) == 1);
    let policy = super::Fetching::new(context, matches, project)?;
    let question = Question {
        context,
        matches,
        project,
        policy: policy.policy(),
        near: near.map(|it| it.key.as_str()),
        before: None,
    };
    let locked = Getting::new(context, matches, project)?.of_registry(&one, &question, false)?;
    if let Origin::Version(requirement) = &mut one.origin
        && requirement.to_string() == super::NEWEST
        && let Ok(fits) = format!("^{}", locked.version).parse()
    {
        *requirement = fits;
    }
    write(&project.file, &project.with_provider(&one)?)?;
    let mut lock = project.lock.clone().unwrap_or_default();
    let version = locked.version.to_string();
    lock.providers.push(locked);
    write(&project.lock_file(), &lock.write())?;
    view::plugin::added_provider(&one, &version, matches.get_flag("json"))
}

/// `opal plugin remove terraform/hashicorp/aws`.
pub(super) fn remove(project: &Project, given: &str, json: bool) -> Result<Exit, Failure> {
    if !project.providers.iter().any(|it| it.key == given) {
        let message = format!("`{given}` is not a provider of this project");
        return Err(Failure::usage(message, "see `[plugins]` of opal.mod"));
    }
    write(&project.file, &project.without(given)?)?;
    if let Some(lock) = &project.lock {
        let mut lock = lock.clone();
        lock.providers.retain(|it| it.name != given);
        write(&project.lock_file(), &lock.write())?;
    }
    view::plugin::removed(given, json)
}

impl<'g> Getting<'g> {
    pub(super) fn new(
        context: &Context<'_>,
        matches: &ArgMatches,
        project: &'g Project,
    ) -> Result<Self, Failure> {
        let root = context.needed_root(matches.get_one("root"))?;
        let mirrors = Settings::load(root.path())
            .map_err(|error| Failure::new(Exit::Configuration, error.to_string(), error.help()))?;
        let locked = project.lock.as_ref().map_or(&[][..], |lock| &lock.providers);
        let trust = matches.try_get_one::<bool>("trust").ok().flatten().copied();
        let settings = project_settings(&project.file)?;
        Ok(Self { root, settings, mirrors, locked, trust: trust.unwrap_or_default() })
    }

    /// What a list says about the providers of the project.
    pub(super) fn rows(&self, project: &Project, accepted: &Acceptances) -> Vec<ProviderRow> {
        let row = |one: &WantedProvider| {
            let found =
                Provider::find(&self.settings, one.clone(), &self.root, project.lock.as_ref());
            let (version, source, state) = match &found {
                Ok(found) => {
                    let is_accepted = accepted.accepts(&one.key, &found.digest, &BTreeSet::new());
                    let state = if is_accepted { "accepted" } else { "not accepted" };
                    (found.version().to_owned(), found.source(), state)
                }
                Err(ProviderError::NotLocked | ProviderError::OtherVersion(_)) => {
                    (String::new(), source(one), "not locked")
                }
                Err(_) => (String::new(), source(one), "not installed"),
            };
            ProviderRow { name: one.key.clone(), version, source, state }
        };
        project.providers.iter().map(row).collect()
    }

    /// Has all providers on this machine, accepted and described: how they are locked. `update`: versions
    /// may change.
    pub(super) fn all(
        &self,
        wanted: &[WantedProvider],
        question: &Question<'_>,
        update: bool,
    ) -> Result<Vec<LockedProvider>, Failure> {
        let mut locked = Vec::new();
        for one in wanted {
            match &one.origin {
                Origin::Local(path) => self.local(one, path, question)?,
                Origin::Version(_) => locked.push(self.of_registry(one, question, update)?),
            }
        }
        Ok(locked)
    }

    fn local(
        &self,
        one: &WantedProvider,
        path: &str,
        question: &Question<'_>,
    ) -> Result<(), Failure> {
        let found = Provider::find(&self.settings, one.clone(), &self.root, None);
        let found = found.map_err(|error| provider_failure(&one.key, error))?;
        let about = format!("{} from `{path}`, unsigned", one.key);
        question.accept_provider((&one.key, found.version()), &found.digest, &about)?;
        self.describe(&found).map(drop)
    }

    fn of_registry(
        &self,
        one: &WantedProvider,
        question: &Question<'_>,
        update: bool,
    ) -> Result<LockedProvider, Failure> {
        let Origin::Version(requirement) = &one.origin else {
            return Err(Failure::new(Exit::Bug, "a local provider has no version", "report this"));
        };
        let known = self.locked.iter().find(|it| it.name == one.key);
        let kept = known.filter(|it| !update && requirement.holds(&it.version));
        if let Some(kept) = kept
            && self.is_here(one, kept, question)?
        {
            return Ok(kept.clone());
        }
        let session = Session::start().map_err(|why| failed(one, why))?;
        let full = one.full_source();
        let mirror = self.mirrors.mirror(&full);
        let wish = Wish {
            wanted: one,
            requirement,
            locked: kept,
            signed_by: known.and_then(|it| it.signed_by.as_deref()),
            mirror,
            platform: &platform(),
            trust: self.trust,
            now: reaching::seconds(),
        };
        let fetched = fetch(wish, &session, &Downloads(&self.root), &self.root);
        let fetched = fetched.map_err(|error| unfetched(one, error))?;
        drop(session);
        let from = mirror.map_or_else(|| full.clone(), |mirror| format!("{full} of {mirror}"));
        self.keep(one, kept, fetched, question, &from)
    }

    /// Whether what is locked is on this machine already: that needs no network.
    fn is_here(
        &self,
        one: &WantedProvider,
        kept: &LockedProvider,
        question: &Question<'_>,
    ) -> Result<bool, Failure> {
        let lock = Lock { providers: vec![kept.clone()], ..Lock::default() };
        let found = Provider::find(&self.settings, one.clone(), &self.root, Some(&lock));
        let Ok(found) = found else { return Ok(false) };
        let about = format!("{} {} from {}", one.short(), kept.version, kept.source);
        question.accept_provider((&one.key, found.version()), &found.digest, &about)?;
        check(one, kept, self.describe(&found)?)?;
        Ok(true)
    }

    /// Has files that were checked accepted, and keeps them.
    fn keep(
        &self,
        one: &WantedProvider,
        kept: Option<&LockedProvider>,
        fetched: Fetched,
        question: &Question<'_>,
        from: &str,
    ) -> Result<LockedProvider, Failure> {
        let Fetched { version, signed_by, is_first_use, .. } = &fetched;
        let signed = match signed_by {
            Some(key) if *is_first_use => format!("signed by {key} (first use)"),
            Some(key) => format!("signed by {key}"),
            None => "unsigned".to_owned(),
        };
        let about = format!("{} {version} from {from}, {signed}", one.short());
        let strange = || failed(one, Why::Strange("its digest cannot be read".to_owned()));
        let digest = fetched.digest().ok_or_else(strange)?;
        question.accept_provider((&one.key, version), &digest, &about)?;
        let version = version.parse().map_err(|_| strange())?;
        let (mut hashes, signed_by) = (fetched.hashes.clone(), signed_by.clone());
        let provider = fetched.keep(&self.settings, one, &self.root);
        let provider = provider.map_err(|error| provider_failure(&one.key, error))?;
        let described = self.describe(&provider)?;
        if let Some(kept) = kept {
            check(one, kept, described)?;
            hashes.extend(kept.hashes.iter().cloned());
        }
        hashes.sort();
        hashes.dedup();
        Ok(LockedProvider {
            name: one.key.clone(),
            version,
            source: source(one),
            checksum: described.checksum,
            hashes,
            protocol: described.protocol,
            signed_by,
        })
    }

    /// Has an accepted provider describe itself, once.
    fn describe(&self, one: &Provider) -> Result<Described, Failure> {
        let path = variable("PATH").and_then(|path| path.into_string().ok());
        let environment = path.map(|path| ("PATH".to_owned(), Secret::new(path)));
        let described = one.describe(
            &self.root,
            environment.into_iter().collect(),
            helpers::private_folders(Some(&self.root)),
        );
        described.map_err(|why| match why {
            Undescribed::Root(error) => unsaved(error),
            Undescribed::Io(error) => {
                Failure::unwritable(&format!("`{}`", one.folder.display()), &error)
            }
            Undescribed::Call(why) => failed(&one.wanted, why),
        })
    }
}

/// Whether a provider describes itself as it did when it was locked.
fn check(one: &WantedProvider, kept: &LockedProvider, now: Described) -> Result<(), Failure> {
    if kept.checksum == now.checksum {
        return Ok(());
    }
    let message =
        format!("`{}` {} describes itself otherwise than it is locked", one.key, kept.version);
    Err(Failure::new(Exit::NotTrusted, message, "check who changed opal.lock, or the provider"))
}

pub(super) fn failed(one: &WantedProvider, why: Why) -> Failure {
    let exit = match &why {
        Why::Refused(refusal) => match refusal.kind {
            opal_core::protocol::Kind::Denied => Exit::NotTrusted,
            opal_core::protocol::Kind::Invalid => Exit::Source,
            _ => Exit::Unavailable,
        },
        _ => Exit::Unavailable,
    };
    let said = match &why {
        Why::Refused(refusal) => Some(refusal.message.expose().replace('\n', "; ")),
        _ => None,
    };
    let failure = CallFailure {
        plugin: one.key.clone(),
        version: "provider".to_owned(),
        decorator: format!("{}.provider", one.segment),
        why,
    };
    let trouble = failure.trouble();
    let help = trouble.help.first().map(ToString::to_string);
    let help =
        help.unwrap_or_else(|| "check its address, its version and who publishes it".to_owned());
    Failure::new(exit, said.unwrap_or_else(|| trouble.message.to_string()), help)
}

pub(super) fn unfetched(one: &WantedProvider, error: FetchError<Failure>) -> Failure {
    match error {
        FetchError::Call(why) => failed(one, why),
        FetchError::Download(failure) => {
            let message = format!("`{}` cannot be fetched: {}", one.key, failure.message);
            Failure { message, ..failure }
        }
        FetchError::NoVersion(all) => {
            let known: Vec<&str> = all.iter().take(3).map(String::as_str).collect();
            let message = format!("no version of `{}` fits", one.key);
            let help = match known.is_empty() {
                true => "it has none for this platform".to_owned(),
                false => format!("the newest are: {}", known.join(", ")),
            };
            Failure::new(Exit::Configuration, message, help)
        }
        FetchError::Io(error) => Failure::unwritable("the directory of providers", &error),
    }
}
