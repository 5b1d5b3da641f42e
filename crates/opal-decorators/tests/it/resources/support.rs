//! A real directory, and resources in it that are verified and applied.

use std::collections::BTreeMap;
use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use opal_core::files::Files;
use opal_core::resource::Status;
use opal_exec::execute;
use opal_exec::verify::{self};
use opal_session::stop::Stop;
use opal_session::{Session, Setup};
use opal_vault::Vault;
use opal_vault::verification::Verification;

use crate::served::serve;
use opal_testing::bare;
use opal_testing::planning::Project;
use opal_testing::running::{Ran, Running};

/// A directory of its own. Relative paths of resources begin in it.
pub(crate) struct Site {
    folder: tempfile::TempDir,
    session: Arc<dyn Session + Send>,
}

impl Site {
    pub(crate) fn new() -> Self {
        opal_testing::render_here();
        let folder = tempfile::tempdir().unwrap();
        let variable = |name: &str, value: &str| (name.into(), value.into());
        let session = serve(Setup {
            environment: BTreeMap::from([
                variable("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
                variable("HOME", &folder.path().to_string_lossy()),
            ])
            .into(),
            start: folder.path().to_owned(),
            home: Some(folder.path().to_owned()),
            terminal: None,
            entries: None,
            pages: None,
            marker: format!("run-test-{}", folder.path().display()),
        });
        Self { folder, session: Arc::new(session) }
    }

    /// What changes files, without a resource around it.
    pub(crate) fn files(&self) -> Box<dyn Files + '_> {
        self.session.files(&Stop::new())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file, with the directories above it.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn link(&self, name: &str, to: impl AsRef<Path>) -> PathBuf {
        let path = self.path(name);
        std::os::unix::fs::symlink(to, &path).unwrap();
        path
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        self.found(name).mode() & 0o7777
    }

    pub(crate) fn found(&self, name: &str) -> Metadata {
        fs::symlink_metadata(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// What verifying the resources of a source finds, in their order.
    pub(crate) fn verify_all(&self, source: &str) -> Vec<Verification> {
        let project = Project::read(source);
        let resolved = Running::on(project, &*self.session, self.folder.path()).plan();
        let vault = Vault::new();
        execute::register(&vault, &resolved.showing);
        let registry = opal_decorators::registry();
        let (values, folder, stop) = (&resolved.secrets, self.folder.path(), Stop::new());
        let (plan, session) = (&resolved.plan, &self.session);
        let survey = bare::survey(plan, values, &registry, session, folder, &vault, &stop);
        verify::verify(&survey, &|_| {}).unwrap().verifications
    }

    /// What verifying one resource finds; a second time finds the same, and neither changes
    /// anything.
    pub(crate) fn verify(&self, call: &str) -> Verification {
        let before = self.tree();
        let [first, second] = [(); 2].map(|()| self.verify_all(&format!("{call}\n")));
        assert_eq!(self.tree(), before, "a verification changed something: {call}");
        let [first] = <[_; 1]>::try_from(first).unwrap();
        assert_eq!(words(&first), words(&second[0]), "{call}");
        first
    }

    pub(crate) fn status(&self, call: &str) -> Status {
        self.verify(call).status
    }

    /// Why it is blocked: what is wrong, and what to do.
    #[track_caller]
    pub(crate) fn blocked(&self, call: &str) -> String {
        let found = self.verify(call);
        assert_eq!(found.status, Status::Blocked, "{}", words(&found));
        let blocked = found.blocked.unwrap();
        let help: Vec<_> = blocked.help.iter().map(|help| help.text().into_owned()).collect();
        assert!(!help.is_empty());
        let before = self.tree();
        self.apply(call).failure();
        assert_eq!(self.tree(), before, "what is blocked was acted on: {call}");
        format!("{}; {}", blocked.error.text(), help.join("; "))
    }

    pub(crate) fn apply(&self, call: &str) -> Ran {
        let project = Project::read(&format!("{call}\n"));
        Running::on(project, &*self.session, self.folder.path()).run()
    }

    /// Brings it about from a status, and once more, which changes nothing.
    #[track_caller]
    pub(crate) fn applies(&self, call: &str, from: Status) {
        assert_eq!(self.status(call), from, "{call}");
        self.apply(call).ok();
        assert_eq!(self.status(call), Status::Satisfied, "{call}");
        let before = self.tree();
        self.apply(call).ok();
        assert_eq!(self.tree(), before, "done twice, it does something: {call}");
    }

    /// Everything below, with contents, modes, owners and times.
    pub(crate) fn tree(&self) -> Vec<String> {
        tree(self.folder.path())
    }
}

/// Something that is mounted as long as this lives.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// None where the tests may not mount anything.
    #[expect(clippy::disallowed_methods, reason = "only a program mounts without unsafe code")]
    pub(crate) fn new(options: &[&str], from: &Path, to: &Path) -> Option<Self> {
        let mounted = Command::new("mount").args(options).arg(from).arg(to).output();
        mounted.is_ok_and(|it| it.status.success()).then(|| Self(to.to_owned()))
    }
}

impl Drop for Mount {
    #[expect(clippy::disallowed_methods, reason = "only a program unmounts without unsafe code")]
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Everything below a directory, with contents, modes, owners and times.
pub(crate) fn tree(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(path) = todo.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let content = match found.file_type() {
            it if it.is_symlink() => fs::read_link(&path).unwrap().display().to_string(),
            it if it.is_file() => format!("{:?}", fs::read(&path).unwrap()),
            _ => String::new(),
        };
        if found.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let changed = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
        let (mode, owner, group) = (found.mode(), found.uid(), found.gid());
        lines.push(format!("{} {mode:o} {owner}:{group} {changed:?} {content}", path.display()));
    }
    lines.sort();
    lines
}

pub(crate) fn words(found: &Verification) -> String {
    let details = found.details.as_ref().map(|it| it.text().into_owned());
    let error = found.blocked.as_ref().map(|it| it.error.text().into_owned());
    format!("{}: {} {details:?} {error:?}", found.status.name(), found.message.text())
}

pub(crate) fn details(found: &Verification) -> String {
    found.details.as_ref().map_or_else(String::new, |it| it.text().into_owned())
}
