//! Asking a person, or a list that a person made elsewhere.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ArgMatches;
use opal_core::hash::Digest;
use opal_plugins::accept::{Acceptances, Accepted, MAX_BYTES};
use opal_plugins::installed::{Installed, NotAllowed};
use opal_plugins::lock::Lock;
use opal_plugins::provider::bridge;
use opal_trust::policy::PluginRules;
use opal_vault::root::{RootError, read_given};

use super::machine;
use super::project::Project;
use crate::ambient::variable;
use crate::context::Context;
use crate::decorators::not_allowed;
use crate::failure::{Exit, Failure};
use crate::{prompts, view};

pub(super) struct Question<'q> {
    pub(super) context: &'q Context<'q>,
    pub(super) matches: &'q ArgMatches,
    pub(super) project: &'q Project,
    pub(super) policy: &'q PluginRules,
    /// A package of the project whose name is one letter from this one.
    pub(super) near: Option<&'q str>,
    /// What was locked before an update.
    pub(super) before: Option<&'q Lock>,
}

impl Question<'_> {
    /// Has packages accepted on this machine: those that are accepted already ask nothing.
    pub(super) fn accept(&self, all: &[&Installed]) -> Result<(), Failure> {
        let mut known = machine(self.context, self.matches)?;
        let given = self.given()?;
        let mut is_changed = false;
        for one in all {
            let granted = one.granted();
            match one.judge(self.policy, &known) {
                Ok(()) if known.accepts(one.name(), &one.checksum, &granted) => continue,
                Err(
                    why @ (NotAllowed::Project(_)
                    | NotAllowed::Open(_)
                    | NotAllowed::Excess(_)
                    | NotAllowed::Policy(_)),
                ) => {
                    return Err(not_allowed(one, &why));
                }
                _ => {}
            }
            match &given {
                Some(list) if list.accepts(one.name(), &one.checksum, &granted) => {}
                Some(_) => return Err(not_in_list(one)),
                None if one.is_local() && known.trusts(&one.directory) => {}
                None if self.is_harmless(one, &known) => {}
                None => self.ask(one, &known)?,
            }
            known.accepted.insert(Accepted {
                name: one.name().to_owned(),
                version: one.version().to_string(),
                checksum: one.checksum,
                capabilities: granted,
            });
            is_changed = true;
        }
        if is_changed {
            let root = self.context.needed_root(self.matches.get_one("root"))?;
            known.save(&root).map_err(unsaved)?;
        }
        Ok(())
    }

    /// Has the files of a provider accepted on this machine. `about` says where they come from.
    pub(super) fn accept_provider(
        &self,
        (name, version): (&str, &str),
        digest: &Digest,
        about: &str,
    ) -> Result<(), Failure> {
        let root = self.context.needed_root(self.matches.get_one("root"))?;
        let (mut known, nothing) = (machine(self.context, self.matches)?, BTreeSet::new());
        if known.accepts(name, digest, &nothing) {
            return Ok(());
        }
        match self.given()? {
            Some(list) if list.accepts(name, digest, &nothing) => {}
            Some(_) => {
                let what = format!("sha256:{}", digest.hex());
                return Err(unlisted(&format!("{name} {version}"), &what));
            }
            None => {
                view::plugin::provider(about, digest, bridge::covers());
                if !prompts::can_ask(self.context) {
                    let message =
                        format!("{name} is not accepted, and there is no terminal to ask on");
                    let help = "run the command on a terminal, or pass a list: `--accept FILE`";
                    return Err(Failure::new(Exit::NotTrusted, message, help));
                }
                self.confirm(name, &format!("Accept {name} on this machine? [y/N] "))?;
                self.meant(name, name)?;
            }
        }
        known.accepted.insert(Accepted {
            name: name.to_owned(),
            version: version.to_owned(),
            checksum: *digest,
            capabilities: nothing,
        });
        known.save(&root).map_err(unsaved)
    }

    /// Whether an update only brings other files: the same publisher, and no capability more than those of
    /// the version that was locked and accepted here.
    fn is_harmless(&self, one: &Installed, known: &Acceptances) -> bool {
        let before = self.before.and_then(|lock| lock.get(one.name()));
        let Some(before) = before.filter(|_| !one.is_local()) else { return false };
        let is_same = before.signed_by == one.signed_by;
        let checksum = before.checksum.filter(|_| is_same);
        checksum.is_some_and(|checksum| known.accepts(one.name(), &checksum, &one.granted()))
    }

    /// The list of `--accept`. One that came with the project accepts nothing: whoever changed the project
    /// could have written it.
    fn given(&self) -> Result<Option<Acceptances>, Failure> {
        let Some(file) = self.matches.get_one::<PathBuf>("accept") else { return Ok(None) };
        let whole = file.canonicalize().map_err(|error| Failure::unreadable(file, &error))?;
        if whole.starts_with(self.project.checkout()) {
            let message =
                format!("`{}` is in the checkout whose packages it would accept", file.display());
            let help = "keep the list outside the checkout, where only you can write";
            return Err(Failure::new(Exit::NotTrusted, message, help));
        }
        let bytes = read_given(file, MAX_BYTES)
            .map_err(|error| Failure::new(Exit::NoFile, error.to_string(), error.help()))?;
        let text = String::from_utf8_lossy(&bytes);
        Acceptances::parse(&text).map(Some).map_err(|error| {
            let message = format!("{}:{}: {}", file.display(), error.line, error.message);
            Failure::new(
                Exit::Configuration,
                message,
                "write it with `opal plugin accepted > FILE`",
            )
        })
    }

    fn ask(&self, one: &Installed, known: &Acceptances) -> Result<(), Failure> {
        view::plugin::question(one, known, self.context.err());
        let before = self.before.and_then(|lock| lock.get(one.name()));
        if let Some(before) = before.filter(|it| it.signed_by != one.signed_by) {
            let was = before.signed_by.as_deref().unwrap_or("none");
            view::plugin::notes(&[format!("the publisher has changed: it was {was}")]);
        }
        let proxies = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
        if !one.hosts().is_empty() && proxies.into_iter().any(|it| variable(it).is_some()) {
            let note = "its requests go through your proxy: opal checks the names of hosts, and not their \
                        addresses";
            view::plugin::notes(&[note.to_owned()]);
        }
        if !prompts::can_ask(self.context) {
            let message = format!(
                "{} {} is not accepted, and nobody can be asked",
                one.name(),
                one.version()
            );
            let help = "run the command on a terminal, or pass a list: `--accept FILE`";
            return Err(Failure::new(Exit::NotTrusted, message, help));
        }
        let (name, version) = (one.name(), one.version());
        let one = format!("{name} {version}");
        self.confirm(&one, &format!("Accept {one} on this machine? [y/N] "))?;
        self.meant(&one, name)
    }

    /// A name that is nearly that of another package may be a typo.
    fn meant(&self, one: &str, name: &str) -> Result<(), Failure> {
        let Some(near) = self.near else { return Ok(()) };
        let label = format!("The name is one letter from {near}. Do you mean {name}? [y/N] ");
        self.confirm(one, &label)
    }

    fn confirm(&self, one: &str, label: &str) -> Result<(), Failure> {
        if prompts::confirm(self.context, label)? {
            return Ok(());
        }
        let message = format!("{one} is not accepted; nothing was changed");
        Err(Failure::new(Exit::NotTrusted, message, "see `opal plugin info`"))
    }
}

fn not_in_list(one: &Installed) -> Failure {
    let name = format!("{} {}", one.name(), one.version());
    unlisted(&name, &format!("sha256:{} and its capabilities", one.checksum.hex()))
}

fn unlisted(name: &str, what: &str) -> Failure {
    let message = format!("the list does not accept {name} with {what}");
    let help = "accept it on your own machine, and write a new list: `opal plugin accepted > FILE`";
    Failure::new(Exit::NotTrusted, message, help)
}

pub(super) fn unsaved(error: RootError) -> Failure {
    let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
    Failure::new(exit, error.to_string(), error.help())
}
