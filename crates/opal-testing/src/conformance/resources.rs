//! The laws for what describes a state: each is verified and applied for real, in a directory of
//! its own.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use opal_core::decorator::Descriptor;
use opal_core::hash::{Algorithm, Digest};
use opal_core::plan::{Arg, Node, Piece, Plan};
use opal_core::resource::Status;
use opal_core::{Registry, Value};
use opal_vault::verification::Verification;

use super::actions::{plan_of, registry, step};
use super::{Findings, Law, Violation};
use crate::bare;
use opal_exec::execute::{Outcome, execute};
use opal_exec::verify::verify;
use opal_session::stop::Stop;
use opal_session::{LocalSession, Session, Setup};
use opal_vault::Vault;

/// A world in which a resource is tried.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// For messages.
    pub name: &'static str,
    /// What a first look finds in it.
    pub status: Status,
    /// Makes the world in an empty directory, and gives the arguments. Programs in `bin` there come
    /// before those of the machine; `home` is the home directory.
    pub prepare: fn(&Path) -> io::Result<Args>,
}

/// Constants by the names of parameters.
pub type Args = Vec<(&'static str, Value)>;

/// Every law of [`opal_core::resource`] that a resource breaks in one of the cases.
#[must_use]
pub fn check_resource(descriptor: &'static Descriptor, cases: &[Case]) -> Vec<Violation> {
    let mut found = Findings::default();
    if descriptor.resource.is_none() || descriptor.action.is_none() {
        found.add(Law::L1, "it must have a verification and an action");
        return found.0;
    }
    for case in cases {
        let mut here = Findings::default();
        if let Err(error) = try_case(descriptor, case, &mut here) {
            here.add(Law::L1, format!("the world cannot be made: {error}"));
        }
        found.0.extend(here.0.into_iter().map(|violation| Violation {
            message: format!("{}: {}", case.name, violation.message),
            ..violation
        }));
    }
    found.0
}

fn try_case(descriptor: &'static Descriptor, case: &Case, found: &mut Findings) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let args = (case.prepare)(folder.path())?;
    let Ok(registry) = registry(descriptor) else {
        found.add(Law::L1, "its path is taken");
        return Ok(());
    };
    let trial = Trial { plan: plan(descriptor, args), folder: folder.path(), registry: &registry };
    let before = tree(folder.path())?;
    let first = trial.look(found);
    let second = trial.look(found);
    let (Some(first), Some(second)) = (first, second) else { return Ok(()) };
    found.demand(Law::R1, first.status == case.status, || {
        let (status, message) = (first.status.name(), first.message.text());
        format!("it is {}, but verification reports {status}: {message}", case.status.name())
    });
    found.demand(Law::R1, same(&first, &second), || "two verifications differ".to_owned());
    found.demand(Law::R2, tree(folder.path())? == before, || {
        "a verification changes files".to_owned()
    });
    let outcome = trial.run(trial.registry);
    match first.status {
        Status::Blocked => {
            reasons(&first, found);
            let is_left = outcome.halt.is_some() && tree(folder.path())? == before;
            found.demand(Law::R5, is_left, || "it is acted on although it is blocked".to_owned());
        }
        Status::Satisfied => {
            let is_left = outcome.halt.is_none() && tree(folder.path())? == before;
            found.demand(Law::R4, is_left, || "what is satisfied is changed".to_owned());
        }
        Status::Missing | Status::Drifted | Status::Unknown => {
            reached(descriptor, &trial, &first, &outcome, found)?;
        }
    }
    Ok(())
}

/// R3 and R4.
fn reached(
    descriptor: &'static Descriptor,
    trial: &Trial<'_>,
    first: &Verification,
    outcome: &Outcome,
    found: &mut Findings,
) -> io::Result<()> {
    found.demand(Law::R3, outcome.halt.is_none(), || {
        let trouble = outcome.failed.as_ref().and_then(|failed| failed.trouble.as_ref());
        let why = trouble.map_or("", |trouble| &trouble.message);
        format!("it cannot be applied: {why}")
    });
    let Some(after) = trial.look(found) else { return Ok(()) };
    let is_reached = after.status == Status::Satisfied
        || (first.status, after.status) == (Status::Unknown, Status::Unknown);
    found.demand(Law::R3, is_reached, || {
        format!("after the action, verification reports {}", after.status.name())
    });
    if outcome.halt.is_some() || first.status == Status::Unknown {
        return Ok(());
    }
    let made = tree(trial.folder)?;
    let again = trial.run(trial.registry);
    found.demand(Law::R4, again.halt.is_none() && tree(trial.folder)? == made, || {
        "applied again, it changes something".to_owned()
    });
    // And where nobody looks before.
    let Ok(blind) = registry(blind(descriptor)) else { return Ok(()) };
    let again = trial.run(&blind);
    let without_times = |tree: &Tree| -> Vec<(String, Digest)> {
        tree.iter().map(|(path, (_, digest))| (path.clone(), *digest)).collect()
    };
    let is_same = without_times(&tree(trial.folder)?) == without_times(&made);
    found.demand(Law::R4, again.halt.is_none() && is_same, || {
        "a second action changes something, or fails".to_owned()
    });
    Ok(())
}

/// R6.
fn reasons(first: &Verification, found: &mut Findings) {
    let Some(blocked) = &first.blocked else { return };
    let error = blocked.error.text();
    found.demand(Law::R6, error.matches('`').count() >= 2 && !error.ends_with('.'), || {
        format!("it does not name the thing and the reason: {error}")
    });
    let helps = !blocked.help.is_empty() && blocked.help.iter().all(|it| !it.bytes().is_empty());
    found.demand(Law::R6, helps, || format!("it does not say what to do: {error}"));
}

fn same(a: &Verification, b: &Verification) -> bool {
    (a.status, &a.message, &a.details) == (b.status, &b.message, &b.details)
}

/// Its action alone.
fn blind(descriptor: &'static Descriptor) -> &'static Descriptor {
    Box::leak(Box::new(Descriptor {
        path: descriptor.path,
        subject: descriptor.subject,
        params: descriptor.params,
        action: descriptor.action,
        ..Descriptor::BASE
    }))
}

struct Trial<'t> {
    plan: Plan,
    folder: &'t Path,
    registry: &'t Registry,
}

impl Trial<'_> {
    fn session(&self) -> LocalSession {
        let path = format!(
            "{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            self.folder.join("bin").display()
        );
        let home = self.folder.join("home");
        LocalSession::new(Setup {
            environment: BTreeMap::from([
                ("PATH".into(), path.into()),
                ("HOME".into(), home.clone().into()),
            ])
            .into(),
            start: self.folder.to_owned(),
            home: Some(home),
            marker: format!("conformance-{}", self.folder.display()),
            terminal: None,
            entries: None,
            pages: None,
        })
    }

    fn look(&self, found: &mut Findings) -> Option<Verification> {
        let session: Arc<dyn Session + Send> = Arc::new(self.session());
        let (values, vault, stop) = (BTreeMap::new(), Vault::new(), Stop::new());
        let (plan, folder) = (&self.plan, self.folder);
        let survey = bare::survey(plan, &values, self.registry, &session, folder, &vault, &stop);
        let report = verify(&survey, &|_| {}).ok();
        let seen = report.and_then(|report| report.verifications.into_iter().next());
        if seen.is_none() {
            found.add(Law::L1, "there is nothing to verify");
        }
        seen
    }

    fn run(&self, registry: &Registry) -> Outcome {
        let (session, vault) = (self.session(), Vault::new());
        execute(&bare::job(&self.plan, registry, &session, self.folder, &vault, &Stop::new()))
    }
}

fn plan(descriptor: &Descriptor, args: Args) -> Plan {
    let mut step = step(Node::decorator(descriptor.path), "trial.it");
    for (name, value) in args {
        let is_command = descriptor.param(name).is_some_and(|param| param.shell);
        let arg = match value {
            Value::String(text) if is_command => Arg::Shell(vec![Piece::Text((*text).into())]),
            value => Arg::Const(value),
        };
        // What runs is called the same in every step.
        let is_main = descriptor.path == "shell" && name == "cmd";
        step.args.push((if is_main { "command" } else { name }.into(), arg));
    }
    step.args.sort_by(|a, b| a.0.cmp(&b.0));
    plan_of(vec![step])
}

/// By path: when each entry was written, and all else about it.
type Tree = BTreeMap<String, ((i64, i64), Digest)>;

fn tree(folder: &Path) -> io::Result<Tree> {
    let mut tree = Tree::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let found = fs::symlink_metadata(&path)?;
        let content = if found.is_symlink() {
            fs::read_link(&path)?.into_os_string().into_encoded_bytes()
        } else if found.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
            Vec::new()
        } else if found.is_file() {
            fs::read(&path)?
        } else {
            Vec::new()
        };
        let about = format!("{:o} {} {}\n", found.mode(), found.uid(), found.gid());
        let digest = Algorithm::Sha256.digest(&[about.as_bytes(), &content]);
        let times = (found.mtime(), found.mtime_nsec());
        tree.insert(path.to_string_lossy().into_owned(), (times, digest));
    }
    Ok(tree)
}
