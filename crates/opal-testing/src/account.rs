//! Accounts of this machine that exist for one test.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::FlockOperation;

use crate::needs;

/// Homes of tests: a helper is not used below a directory that others can write, as `/tmp`.
const HOMES: &str = "/var/lib/opal-tests";

static LAST: AtomicUsize = AtomicUsize::new(0);

/// A user with a home of its own. Both are gone when it is dropped.
#[derive(Debug)]
pub struct Account {
    pub name: String,
    pub home: PathBuf,
}

impl Account {
    /// A user with this login shell; none where the tests do not run as root.
    ///
    /// # Panics
    /// If it cannot be created.
    #[must_use]
    pub fn new(shell: &str) -> Option<Self> {
        if !needs::root() {
            return None;
        }
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("opal-t{}-{number}", std::process::id());
        let home = Path::new(HOMES).join(&name);
        std::fs::create_dir_all(HOMES).unwrap();
        // No password, and not locked: a server without PAM refuses locked accounts.
        let account = ["--password", "*", "--create-home", "--user-group", "--shell", shell];
        let home_text = home.to_str().unwrap();
        change(&[&["useradd", "--home-dir", home_text][..], &account, &[&name]].concat());
        Some(Self { name, home })
    }

    /// Sets its password.
    ///
    /// # Panics
    /// If it cannot be set.
    pub fn set_password(&self, password: &str) {
        let hash = run(&["openssl", "passwd", "-6", password]);
        change(&["usermod", "--password", hash.trim(), &self.name]);
    }

    /// A rule of `sudo`, with `USER` for the account.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn may(&self, rule: &str) -> SudoRule {
        let path = Path::new("/etc/sudoers.d").join(&self.name);
        std::fs::write(&path, format!("{}\n", rule.replace("USER", &self.name))).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o440)).unwrap();
        SudoRule(path)
    }

    /// A rule of `sudo`: it becomes whom it likes, and is not asked.
    #[must_use]
    pub fn may_be_anyone(&self) -> SudoRule {
        self.may("USER ALL=(ALL) NOPASSWD: ALL")
    }

    /// Everything that it runs is ended.
    pub fn end_all(&self) {
        let _ = command(&["pkill", "-KILL", "-u", &self.name]).status();
    }

    #[must_use]
    pub fn uid(&self) -> u32 {
        run(&["id", "-u", &self.name]).trim().parse().unwrap()
    }
}

/// It is gone when it is dropped.
#[derive(Debug)]
pub struct SudoRule(PathBuf);

impl Drop for SudoRule {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.end_all();
        let lock = lock();
        let _ = command(&["userdel", "--force", "--remove", &self.name]).status();
        drop(lock);
    }
}

/// One change of the accounts at a time, of all test programs.
fn lock() -> File {
    let lock = File::create(std::env::temp_dir().join("opal-tests.lock")).unwrap();
    rustix::fs::flock(lock.as_fd(), FlockOperation::LockExclusive).unwrap();
    lock
}

fn change(words: &[&str]) {
    let lock = lock();
    run(words);
    drop(lock);
}

fn run(words: &[&str]) -> String {
    let output = command(words).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[expect(clippy::disallowed_methods, reason = "accounts are made by the programs of the system")]
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}
