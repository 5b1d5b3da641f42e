//! Packages of git repositories: the real `git`, over a real SSH server and from files.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

use std::fs;
use std::path::Path;
use std::process::Command;

use opal_testing::sshd::Sshd;

use super::shelf::Shelf;
use crate::support::Opal;

const HI: &str = "fun hi() = @kube.hello()\n";

struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("repository").tempdir().unwrap();
        let found = Self { folder };
        found.git(&["init", "--quiet", "--initial-branch=main", "."]);
        found
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, words: &[&str]) -> String {
        let settings =
            ["-c", "user.name=a", "-c", "user.email=a@example", "-c", "protocol.file.allow=always"];
        let ran = Command::new("git")
            .args(settings)
            .args(words)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    /// Writes the package, and commits it with a tag.
    fn release(&self, version: &str) -> String {
        let package = Shelf::package("team/kube", version, &[]);
        for (path, _, bytes) in package.files() {
            let file = self.path().join(path.as_str());
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        fs::write(self.path().join("Makefile"), "all:\n").unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "-m", version]);
        self.git(&["tag", "-a", "-m", version, &format!("v{version}")]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn key(&self) -> String {
        format!("file://{}", self.path().display())
    }
}

fn list(version: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let checksum = Shelf::package("team/kube", version, &[]).checksum().hex();
    let file = folder.path().join("accepted.toml");
    let text = format!(
        "version = 1\n[[accepted]]\nname = \"team/kube\"\nversion = \"{version}\"\n\
         checksum = \"sha256:{checksum}\"\ncapabilities = [\"shell\"]\n"
    );
    fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    (folder, file)
}

fn project() -> Opal {
    super::rooted(HI).file("opal.mod", "name = \"shop\"\n")
}

#[test]
fn a_tag_a_short_tag_a_branch_and_a_commit_are_locked_by_commit() {
    let repository = Repository::new();
    let first = repository.release("1.2.0");
    let second = repository.release("1.2.5");
    repository.release("1.3.0");
    let third = repository.release("2.0.0");
    let key = repository.key();
    for (reference, version, commit, source) in [
        ("v1.2.0", "1.2.0", &first, "tag=v1.2.0"),
        ("v1.2", "1.2.5", &second, "tag=v1.2.5"),
        ("v1", "1.3.0", &repository.git(&["rev-parse", "v1.3.0^{commit}"]), "tag=v1.3.0"),
        ("main", "2.0.0", &third, "branch=main"),
        (&second[..8], "1.2.5", &second, "rev="),
        (&second, "1.2.5", &second, "rev="),
    ] {
        let opal = project();
        let (_folder, list) = list(version);
        let ran = opal.call(&["plugin", "add", &format!("{key}@{reference}"), "--accept", &list]);
        ran.code(0).says(&format!("added team/kube {version}"));
        let lock = opal.read("opal.lock");
        assert!(
            lock.contains(source) && lock.contains(&format!("#{commit}\"")),
            "{reference}: {lock}"
        );
        assert!(
            opal.read("opal.mod").contains(&format!("\"{key}\" = \"{reference}\"")),
            "{reference}"
        );
        opal.call(&["hi"]).code(0).stdout(&format!("team/kube {version}\n"));
        let place = repository.path().display();
        opal.call(&["-n", "hi"]).code(0).says(&format!("(git:{place}@{commit})"));
    }
}

#[test]
fn a_branch_moves_only_with_an_update_and_a_moved_tag_is_refused() {
    let repository = Repository::new();
    let commit = repository.release("1.0.0");
    let key = repository.key();
    let (_one, first) = list("1.0.0");
    let (branch, tag) = (project(), project());
    branch.call(&["plugin", "add", &format!("{key}@main"), "--accept", &first]).code(0);
    tag.call(&["plugin", "add", &format!("{key}@v1.0.0"), "--accept", &first]).code(0);
    repository.release("1.1.0");
    branch.call(&["plugin", "install"]).code(0);
    assert!(branch.read("opal.lock").contains(&commit));
    branch.call(&["plugin", "update"]).code(0);
    branch.call(&["hi"]).code(0).stdout("team/kube 1.1.0\n");
    repository.git(&["tag", "--force", "v1.0.0"]);
    tag.call(&["plugin", "update"]).code(77).says("the tag v1.0.0").says("was moved from");
    tag.call(&["hi"]).code(0).stdout("team/kube 1.0.0\n");
    fs::remove_dir_all(tag.path().join(".opal/plugins")).unwrap();
    tag.call(&["plugin", "install"]).code(77).says("was moved from");
}

#[test]
fn what_a_repository_could_run_is_not_run_and_what_is_no_file_is_refused() {
    let marker = tempfile::tempdir().unwrap();
    let touched = marker.path().join("touched");
    let script = format!("#!/bin/sh\ntouch {}\n", touched.display());
    let hook = |repository: &Repository| {
        let file = repository.path().join(".git/hooks/post-checkout");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &script).unwrap();
        Command::new("chmod").arg("+x").arg(file).status().unwrap();
        fs::write(repository.path().join(".gitattributes"), "*.opl filter=evil\n").unwrap();
    };
    let other = Repository::new();
    other.release("1.0.0");
    type Change = dyn Fn(&Path);
    let attacks: [(&str, &Change); 4] = [
        ("is a symlink", &|top: &Path| {
            std::os::unix::fs::symlink("/etc/passwd", top.join("decorators/x.opl")).unwrap();
        }),
        ("is a symlink", &|top: &Path| {
            fs::remove_dir_all(top.join("decorators")).unwrap();
            std::os::unix::fs::symlink("/etc", top.join("decorators")).unwrap();
        }),
        ("is in Git LFS", &|top: &Path| {
            let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
            fs::write(top.join("decorators/x.opl"), pointer).unwrap();
        }),
        ("is not allowed in a package", &|top: &Path| {
            fs::write(top.join("decorators/a\nb.opl"), "").unwrap();
        }),
    ];
    for (says, attack) in attacks {
        let repository = Repository::new();
        hook(&repository);
        repository.release("0.9.0");
        attack(repository.path());
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "--quiet", "-m", "x"]);
        let ran = project().call(&["plugin", "add", &format!("{}@main", repository.key())]);
        ran.code(65).says(says);
    }
    let repository = Repository::new();
    hook(&repository);
    repository.release("1.0.0");
    let url = other.path().display().to_string();
    repository.git(&["submodule", "--quiet", "add", &url, "plugins"]);
    repository.git(&["commit", "--quiet", "-m", "x"]);
    let ran = project().call(&["plugin", "add", &format!("{}@main", repository.key())]);
    ran.code(65).says("is a submodule");
    assert!(!touched.exists());
}

#[test]
fn an_address_never_becomes_an_option_or_a_helper_of_git() {
    let marker = tempfile::tempdir().unwrap();
    let touched = marker.path().join("touched");
    let run = format!("touch${{IFS}}{}", touched.display());
    for address in [
        format!("ext::sh -c {run}@v1"),
        format!("ext::{run}@main"),
        format!("--upload-pack={run}@v1"),
        format!("-u{run}@v1"),
        format!("git@-oProxyCommand={run}:o/r.git@v1"),
        format!("-oProxyCommand={run}@host:o/r.git"),
        format!("git.example/o/--upload-pack={run}@v1"),
        format!("git.example/o/r@--upload-pack={run}"),
        "git.example/../r@v1".to_owned(),
        "file:///srv/../etc@v1".to_owned(),
        "http://git.example/o/r@v1".to_owned(),
    ] {
        let opal = project();
        opal.call(&["plugin", "add", "--", &address]).code(2);
        let key = address.rsplit_once('@').map_or(address.as_str(), |(key, _)| key);
        opal.write("opal.mod", format!("[plugins]\n'{key}' = \"--upload-pack=x\"\n"));
        opal.call(&["plugin", "install"]).code(78);
    }
    assert!(!touched.exists());
}

#[test]
fn a_repository_is_fetched_over_ssh() {
    let Some(mut sshd) = Sshd::start() else { return };
    sshd.name_hosts(&["git.test"]);
    sshd.know_host();
    let repository = Repository::new();
    repository.release("1.0.0");
    // The account must be able to read it.
    let bare = sshd.account().home.join("kube.git");
    repository.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let name = &sshd.account().name;
    Command::new("chown").args(["-R", name, bare.to_str().unwrap()]).status().unwrap();
    let opal = project().env("PATH", sshd.path().to_str().unwrap());
    let (_folder, list) = list("1.0.0");
    let key = format!("{name}@git.test:kube.git");
    let ran = opal.call(&["plugin", "add", &format!("{key}@v1.0.0"), "--accept", &list]);
    ran.code(0).says("added team/kube 1.0.0");
    assert!(opal.read("opal.lock").contains(&format!("source = \"git+{key}?tag=v1.0.0#")));
    opal.call(&["hi"]).code(0).stdout("team/kube 1.0.0\n");
}
