//! A release with one module, whose pack is a script; and what a run of it has left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Opal, Ran};

pub(super) const SPEC: &str = "\
api_version: hybridops/v1
kind: ModuleSpec
module_ref: core/net
inputs: {defaults: {size: small, network: {cidr: 10.0.0.0/8}}}
outputs: {publish: [name]}
requirements: {credentials: []}
execution: {driver: shell/script, profile: local@v1, pack_ref: {id: net}}
";

pub(super) const PROFILE: &str = "\
api_version: hybridops/v1
kind: DriverProfile
profile_ref: local@v1
driver: shell/script
";

/// Says what it does, and puts out a name of the size that it was given.
pub(super) const SCRIPT: &str = "\
. ./hyops.inputs.sh
echo \"$1 $input_size\"
echo \"{\\\"name\\\": \\\"net-$input_size\\\", \\\"other\\\": 1}\" > \"$HYOPS_OUTPUTS_FILE\"
";

const STACK: &str = "rel/packs/shell/script/net/stack";

/// The module `core/net`, with a machine of its own: what is kept of modules is in `root`, the records
/// of opal in `records`.
pub(super) struct Release(Opal);

impl Release {
    pub(super) fn new(script: &str) -> Self {
        let opal = Opal::machine("");
        let path = |name: &str| opal.path().join(name).display().to_string();
        let variables = [
            ("HYOPS_MODULES_ROOT", path("rel/modules")),
            ("HYOPS_RUNTIME_ROOT", path("root")),
            ("OPAL_ROOT", path("records")),
        ];
        let opal = variables.iter().fold(opal, |opal, (name, value)| opal.env(name, value));
        Self(opal)
            .file("rel/modules/core/net/spec.yml", SPEC)
            .file("rel/drivers/shell/script/profiles/local@v1.profile.yml", PROFILE)
            .script("net", script)
    }

    pub(super) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        Self(self.0.file(name, text))
    }

    pub(super) fn env(self, name: &str, value: &str) -> Self {
        Self(self.0.env(name, value))
    }

    /// The spec of `core/net` with these words in place of those.
    pub(super) fn spec(self, changes: &[(&str, &str)]) -> Self {
        self.file("rel/modules/core/net/spec.yml", changed(SPEC, changes))
    }

    pub(super) fn profile(self, more: &str) -> Self {
        let path = "rel/drivers/shell/script/profiles/local@v1.profile.yml";
        self.file(path, format!("{PROFILE}{more}"))
    }

    /// A pack with this script.
    pub(super) fn script(self, pack: &str, script: &str) -> Self {
        let name = format!("rel/packs/shell/script/{pack}/stack/run.sh");
        let release = self.file(&name, format!("#!/bin/sh\n{script}"));
        fs::set_permissions(release.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
        release
    }

    /// One more module, with a pack of its own name.
    pub(super) fn module(self, name: &str, changes: &[(&str, &str)], script: &str) -> Self {
        let pack = name.replace('/', "-");
        let (named, of_pack) = (format!("module_ref: {name}"), format!("id: {pack}"));
        let own = [("module_ref: core/net", named.as_str()), ("id: net", of_pack.as_str())];
        let spec = changed(SPEC, &[&own[..], changes].concat());
        self.file(&format!("rel/modules/{name}/spec.yml"), spec).script(&pack, script)
    }

    /// Credentials and the like, which nobody else may read.
    pub(super) fn private(self, name: &str, text: &str) -> Self {
        let release = self.file(name, text);
        fs::set_permissions(release.path(name), fs::Permissions::from_mode(0o600)).unwrap();
        release
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn stack(&self) -> PathBuf {
        self.path(STACK)
    }

    pub(super) fn opal(&self) -> &Opal {
        &self.0
    }

    /// The command line of a module command, for a test that watches it.
    pub(super) fn started(&self, words: &[&str]) -> Command {
        let mut command = self.0.interruptible();
        command.arg("module").args(words);
        command
    }

    /// `opal module …`.
    #[track_caller]
    pub(super) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(&[], words)
    }

    #[track_caller]
    pub(super) fn run_with(&self, env: &[(&str, &str)], words: &[&str]) -> Ran {
        self.0.call_with(env, &[&["module"], words].concat())
    }

    /// `opal module apply core/net …`.
    #[track_caller]
    pub(super) fn apply(&self, more: &[&str]) -> Ran {
        self.run(&[&["apply", "core/net"], more].concat())
    }

    /// The evidence of the last run of a module.
    #[track_caller]
    pub(super) fn evidence_of(&self, module_id: &str) -> PathBuf {
        last(&self.path("root/logs/module").join(module_id))
    }

    #[track_caller]
    pub(super) fn evidence(&self) -> PathBuf {
        self.evidence_of("core__net")
    }

    /// A document of the evidence.
    #[track_caller]
    pub(super) fn document(&self, name: &str) -> Value {
        json(&self.evidence().join(name))
    }

    /// The stack that the last run has left.
    #[track_caller]
    pub(super) fn work(&self) -> PathBuf {
        last(&self.path("root/work/core__net")).join("stack")
    }

    #[track_caller]
    pub(super) fn state(&self) -> Value {
        json(&self.path("root/state/modules/core__net/latest.json"))
    }

    pub(super) fn has_state(&self) -> bool {
        self.path("root/state/modules/core__net/latest.json").exists()
    }

    /// How many runs of `core/net` have left evidence.
    pub(super) fn runs(&self) -> usize {
        let runs = fs::read_dir(self.path("root/logs/module/core__net"));
        runs.map_or(0, Iterator::count)
    }
}

#[track_caller]
fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from:?} in {text}");
        text.replace(from, to)
    })
}

#[track_caller]
pub(super) fn json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap()
}

/// The newest directory: runs of one second are told apart by when they were made.
#[track_caller]
fn last(folder: &Path) -> PathBuf {
    let runs = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let made = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
    runs.map(|entry| entry.unwrap().path()).max_by_key(made).unwrap()
}

/// Everything below a directory, in order: what it is, its mode, when it was changed, what is in it.
pub(super) fn tree(folder: &Path) -> Vec<(PathBuf, u32, std::time::SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = match metadata.is_file() {
            true => fs::read(&path).unwrap(),
            false => fs::read_link(&path)
                .map(|to| to.into_os_string().into_encoded_bytes())
                .unwrap_or_default(),
        };
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push((
            path,
            metadata.permissions().mode() & 0o7777,
            metadata.modified().unwrap(),
            content,
        ));
    }
    found.sort();
    found
}
