mod git;
mod place;
mod update;
mod url;

use std::path::PathBuf;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::git::Remote;
use opal_core::hash::Algorithm;
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Details, Finding, Verify};
use opal_core::{Data, Secret, Type};

use self::place::{Place, Repository, Tip};
use super::properties::{Property, compared, differing};
use super::{paths, ways};
use crate::common::{DEPENDS_ON, ID, NAME, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "git.repo",
    summary: "a clone of a git repository",
    docs: "Keeps a working copy with the given origin, on the given branch, at the commit that \
           the branch has on the server. Without `branch` it follows the default branch of the \
           server.\n\n\
           `depth` clones only the latest commits, which is faster for large histories; later \
           runs fetch only new commits. Submodules are not fetched, hooks do not run, and git \
           never asks for a password: use a credential helper or a key.\n\n\
           Local work is never lost. If the directory contains other files, or the working copy \
           has commits that the server does not have, the step fails and says so; the branch only \
           moves forward. Uncommitted changes are drift, and are discarded only with \
           `force=true`; without it the step fails and names them. Untracked files are ignored: \
           builds and editors create them.\n\n\
           ## Statuses\n\n\
           - `satisfied`: origin and branch are as given, the commit is the commit of the server, \
           and no file has uncommitted changes.\n\
           - `missing`: nothing exists at the destination.\n\
           - `drifted`: origin, branch or commit differ, files have uncommitted changes, or the \
           destination is not a working copy.\n\
           - `blocked`: the server does not answer or does not have the branch; git is not \
           installed, cannot read the working copy, or does not trust its owner.",
    params: &[
        Param::required("url", "the address of the repository"),
        Param::required("destination", "the directory of the working copy"),
        Param::optional("branch", "the branch to follow"),
        Param {
            name: "depth",
            ty: Type::Int,
            presence: Presence::Optional,
            range: Some((1, 1_000_000)),
            docs: "how many commits of the history to fetch; all by default",
            ..Param::BASE
        },
        Param::flag("force", "discard uncommitted changes"),
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
        NAME,
    ],
    resource: Some(Resource { yaml: "repo", key: &["destination"], verify: &GitRepo }),
    capabilities: &[
        Capability::FilesRead,
        Capability::FilesWrite,
        Capability::Network,
        Capability::Processes,
    ],
    examples: &[Example {
        title: "keep a tool up to date",
        source: "fun tools() {\n    \
                 @git.repo(\"https://example.com/tools.git\", \"/opt/tools\", \
                 branch=\"stable\", depth=1)\n}\n",
    }],
    action: Some(&GitRepo),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct GitRepo;

impl Verify for GitRepo {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let (wanted, place, tip) = inspect(inputs, probe)?;
        Ok(decide(&wanted, &place, &tip))
    }
}

impl Action for GitRepo {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let inspected = inspect(inputs, &*stage.probe());
        let (wanted, place, tip) = inspected.map_err(|trouble| stage.fail(1, trouble))?;
        let own = ways::demand_own(&wanted.path, &*stage.probe());
        own.map_err(|trouble| stage.fail(1, trouble))?;
        match place {
            Place::Nothing | Place::EmptyDirectory => update::clone(&wanted, &tip, stage)?,
            Place::Repository(repository) => update::forward(&wanted, &repository, &tip, stage)?,
            Place::Other(what) => return Err(stage.fail(1, occupied(&wanted, what))),
        }
        Ok(Data::Null)
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
struct Wanted {
    /// As it is written, perhaps with a login.
    url: Secret,
    remote: Remote,
    /// Whole.
    path: PathBuf,
    depth: Option<i64>,
    force: bool,
}

fn inspect(inputs: &Inputs, probe: &dyn Probe) -> Result<(Wanted, Place, Tip), Trouble> {
    let url = url::whole(inputs.text("url").unwrap_or_default(), probe)?;
    let path = paths::path(inputs, "destination", probe)?;
    let depth = match inputs.data("depth") {
        Some(Data::Int(depth)) => Some(*depth),
        _ => None,
    };
    let branch = inputs.text("branch");
    if let Some(branch) = branch.filter(|it| it.is_empty() || it.starts_with('-')) {
        let message = format!("invalid branch name `{branch}`");
        return Err(Trouble::new(
            TroubleKind::Invalid,
            message,
            "name a branch that the server has",
        ));
    }
    let place = place::inspect(&path, probe)?;
    let remote = Remote::new(&url);
    let tip = place::tip(&remote, branch, probe)?;
    if let Place::Repository(repository) = &place {
        place::demand_free(&path, repository, &tip, probe)?;
    }
    let force = inputs.is_true("force");
    Ok((Wanted { url: Secret::new(url), remote, path, depth, force }, place, tip))
}

impl Wanted {
    /// A login in the settings of a repository stays if it is the one that is given; opal writes
    /// none there.
    fn is_origin(&self, origin: &str) -> bool {
        origin == self.remote.url || origin == self.url.expose()
    }
}

fn decide(wanted: &Wanted, place: &Place, tip: &Tip) -> Finding {
    let path = wanted.path.display();
    let repository = match place {
        Place::Nothing => {
            let content = Algorithm::Sha256.digest(&[tip.branch.as_bytes(), tip.commit.as_bytes()]);
            let Tip { branch, commit } = tip;
            let origin = url::without_credentials(&wanted.remote.url);
            let details = format!("origin {origin}\nbranch {branch}\ncommit {commit}\n");
            let missing = Finding::missing(format!("`{path}` does not exist"));
            return missing.with_details(Details::words(details)).with_content(content);
        }
        Place::EmptyDirectory => {
            return Finding::drifted(format!("`{path}` is empty, not a repository"));
        }
        Place::Other(what) => {
            let finding = Finding::drifted(format!("`{path}` is {what}, not a repository"));
            return finding.with_refusal(Some(occupied(wanted, what)));
        }
        Place::Repository(repository) => repository,
    };
    let properties = properties(wanted, repository, tip);
    let different = differing(&properties);
    if different.is_empty() {
        let Tip { branch, commit } = tip;
        let commit = commit.get(..10).unwrap_or(commit);
        return Finding::satisfied(format!("`{branch}` is at {commit}, as on the server"));
    }
    let finding = Finding::drifted(format!("`{path}` differs: {different}"));
    let details = compared(&wanted.path.to_string_lossy(), &properties);
    finding.with_details(details).with_refusal(unforced(wanted, repository))
}

/// Changes that nobody has allowed to discard.
fn unforced(wanted: &Wanted, repository: &Repository) -> Option<Trouble> {
    let changes = &repository.changes;
    if changes.count == 0 || wanted.force {
        return None;
    }
    let (path, words) = (wanted.path.display(), changes.words());
    let message = format!("`{path}` has changes that are not committed: {words}");
    let help = "commit, stash or revert them, or discard them with `force=true`";
    Some(Trouble::new(TroubleKind::Failed, message, help))
}

fn properties(wanted: &Wanted, repository: &Repository, tip: &Tip) -> [Property; 4] {
    let none = || "none".to_owned();
    let expected = url::without_credentials(&wanted.remote.url);
    let actual = match repository.origin.as_deref() {
        None => none(),
        Some(origin) if wanted.is_origin(origin) => expected.clone(),
        Some(origin) => match url::without_credentials(origin) {
            same if same == expected => format!("{same} (with other credentials)"),
            other => other,
        },
    };
    let branch = repository.branch.clone().unwrap_or_else(none);
    let commit = repository.commit.clone().unwrap_or_else(none);
    [
        Property::new("origin", expected, actual),
        Property::new("branch", &*tip.branch, branch),
        Property::new("commit", &*tip.commit, commit),
        Property::new("uncommitted changes", "none", repository.changes.words()),
    ]
}

fn occupied(wanted: &Wanted, what: &str) -> Trouble {
    let message = format!("`{}` is {what}; opal does not delete it", wanted.path.display());
    Trouble::new(TroubleKind::Failed, message, "move it away, or choose another destination")
}

#[cfg(test)]
mod tests {
    use opal_core::resource::Status;

    use super::*;

    fn wanted(url: &str) -> Wanted {
        Wanted {
            url: Secret::new(url),
            remote: Remote::new(url),
            path: "/opt/tools".into(),
            depth: None,
            force: false,
        }
    }

    fn there(origin: &str, branch: Option<&str>, commit: Option<&str>) -> Place {
        Place::Repository(Repository {
            origin: (!origin.is_empty()).then(|| origin.to_owned()),
            branch: branch.map(str::to_owned),
            commit: commit.map(str::to_owned),
            changes: place::Changes::default(),
        })
    }

    #[test]
    fn each_state_of_a_place_has_its_status() {
        let url = "https://example.com/tools.git";
        for (place, status, message) in [
            (Place::Nothing, Status::Missing, "`/opt/tools` does not exist"),
            (Place::EmptyDirectory, Status::Drifted, "`/opt/tools` is empty, not a repository"),
            (Place::Other("a file"), Status::Drifted, "`/opt/tools` is a file, not a repository"),
            (
                there(url, Some("main"), Some("abc")),
                Status::Satisfied,
                "`main` is at abc, as on the server",
            ),
            (
                there("", Some("main"), Some("abc")),
                Status::Drifted,
                "`/opt/tools` differs: origin none, expected https://example.com/tools.git",
            ),
            (
                there(url, None, Some("abc")),
                Status::Drifted,
                "`/opt/tools` differs: branch none, expected main",
            ),
            (
                there(url, Some("main"), Some("def")),
                Status::Drifted,
                "`/opt/tools` differs: commit def, expected abc",
            ),
            (
                there("/other", Some("x"), None),
                Status::Drifted,
                "`/opt/tools` differs: origin /other, expected https://example.com/tools.git; branch x, \
                 expected main; commit none, expected abc",
            ),
        ] {
            let tip = Tip { branch: "main".into(), commit: "abc".into() };
            let finding = decide(&wanted(url), &place, &tip);
            assert_eq!((finding.status, finding.message.expose()), (status, message));
        }
    }

    #[test]
    fn other_credentials_are_drift_and_not_shown() {
        let place = there("https://ann:old-5150@example.com/x", Some("main"), Some("abc"));
        let tip = Tip { branch: "main".into(), commit: "abc".into() };
        let finding = decide(&wanted("https://ann:new-5150@example.com/x"), &place, &tip);
        assert_eq!(finding.status, Status::Drifted);
        let details = finding.details.unwrap().report();
        let lines = "-origin: https://example.com/x\n+origin: https://***@example.com/x\n";
        assert!(details.contains(lines), "{details}");
        assert!(!details.contains("5150"), "{details}");
        let tokens = ["old", "new"].map(|token| format!("https://example.com/x?token={token}"));
        let finding =
            decide(&wanted(&tokens[1]), &there(&tokens[0], Some("main"), Some("abc")), &tip);
        let details = finding.details.unwrap().report();
        assert!(details.contains("+origin: https://example.com/x?*** (with other"), "{details}");
    }

    #[test]
    fn a_login_is_not_part_of_the_origin() {
        let tip = Tip { branch: "main".into(), commit: "abc".into() };
        for origin in ["https://ann:pw-5150@example.com/x", "https://example.com/x"] {
            let place = there(origin, Some("main"), Some("abc"));
            let finding = decide(&wanted("https://ann:pw-5150@example.com/x"), &place, &tip);
            assert_eq!(finding.status, Status::Satisfied);
        }
    }
}
