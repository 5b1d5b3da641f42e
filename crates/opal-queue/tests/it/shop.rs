//! A dispatcher with a project, runners of a pool, and the queue between them.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use opal_helper::BUILD;
use opal_testing::needs;
use opal_testing::processes::eventually;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nats::Nats;

/// A second of the helper's times, in milliseconds.
const SECOND: &str = "300";

pub(crate) struct Shop {
    pub(crate) top: TempDir,
    pub(crate) nats: Nats,
    /// A second of the helper's times, in milliseconds.
    pub(crate) second: &'static str,
    /// Where programs are found, if not where those of the test are.
    pub(crate) path: Option<OsString>,
    runners: usize,
}

/// What a program said, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn code(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text) || self.stdout.contains(text), "{text}: {self:#?}");
        self
    }
}

/// A program that runs. It is killed when it is dropped.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) log: PathBuf,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Started {
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let log = self.log.clone();
        eventually(&format!("{text} in {}", log.display()), || {
            fs::read_to_string(&log).is_ok_and(|it| it.contains(text))
        });
    }

    pub(crate) fn end(mut self) -> Ran {
        let status = self.child.wait().unwrap();
        let mut stdout = String::new();
        if let Some(mut out) = self.child.stdout.take() {
            out.read_to_string(&mut stdout).unwrap();
        }
        Ran { code: status.code().unwrap_or(-1), stdout, stderr: self.said() }
    }
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_opal-queue")).parent().unwrap().to_owned()
}

impl Shop {
    /// A project whose fleet has so many targets on this machine, and so many runners.
    pub(crate) fn open(count: usize, options: &str, runners: usize) -> Option<Self> {
        Self::with(count, options, "        echo canary-of-the-contract\n", runners)
    }

    pub(crate) fn with(count: usize, options: &str, block: &str, runners: usize) -> Option<Self> {
        let source = format!(
            "fun task() {{\n    @ssh.hosts(inventory=\"hosts.ini\", connections=[\"local\"]{options}) {{\n{block}    }}\n}}\n"
        );
        Self::of(&source, count, runners)
    }

    pub(crate) fn of(source: &str, count: usize, runners: usize) -> Option<Self> {
        let is_there = |name: &str| programs().join(name).exists();
        let both = is_there("opal") && is_there("opal-target");
        if !needs::has("`opal` and `opal-target` (`cargo build -p opal-cli -p opal-target`)", both)
        {
            return None;
        }
        let nats = Nats::start("")?;
        let shop =
            Self { top: tempfile::tempdir().unwrap(), nats, second: SECOND, path: None, runners };
        for folder in ["project/scripts", "standin/bin", "d/config", "tmp"] {
            fs::create_dir_all(shop.at(folder)).unwrap();
        }
        fs::write(shop.at("project/commands.opl"), source).unwrap();
        fs::write(shop.at("project/opal.mod"), "name = \"shop\"\n").unwrap();
        fs::write(
            shop.at("project/hosts.ini"),
            format!("[web]\nt[1:{count}] ansible_connection=local\n"),
        )
        .unwrap();
        fs::write(shop.at("project/scripts/deploy.sh"), "echo canary-of-the-sources\n").unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/share.py");
        fs::copy(fixture, shop.at("standin/bin/opal")).unwrap();
        let copy = shop.at("standin/bin/opal-queue");
        if fs::hard_link(env!("CARGO_BIN_EXE_opal-queue"), &copy).is_err() {
            fs::copy(env!("CARGO_BIN_EXE_opal-queue"), &copy).unwrap();
        }
        for folder in ["standin/bin", "d", "d/config"] {
            fs::set_permissions(shop.at(folder), fs::Permissions::from_mode(0o700)).unwrap();
        }
        shop.opal(&["keys", "generate", "ops", "--sign", "--root", &shop.name("d")]).code(0);
        let signer = shop.public("d", "ops");
        let mut pool = Vec::new();
        for number in 0..runners {
            let root = format!("r{number}");
            fs::create_dir_all(shop.at(&format!("{root}/config"))).unwrap();
            shop.policy(number, &format!("dispatchers = [\"{signer}\"]\n"));
            pool.push(
                shop.opal(&["runner", "--keys", "--root", &shop.name(&root)])
                    .code(0)
                    .stdout
                    .trim()
                    .to_owned(),
            );
        }
        let pool: Vec<String> = pool.iter().map(|it| format!("\"{it}\"")).collect();
        fs::write(
            shop.at("d/config/settings.toml"),
            format!("[queue.pools]\neu = [{}]\n", pool.join(", ")),
        )
        .unwrap();
        Some(shop)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.at(name).display().to_string()
    }

    pub(crate) fn policy(&self, runner: usize, text: &str) {
        let folder = self.at(&format!("r{runner}/config"));
        fs::write(folder.join("policy.toml"), text).unwrap();
        for path in [folder.parent().unwrap(), &folder] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
    }

    pub(crate) fn public(&self, root: &str, key: &str) -> String {
        fs::read_to_string(self.at(&format!("{root}/credentials/{key}.pub")))
            .unwrap()
            .trim()
            .to_owned()
    }

    fn recipients(&self) -> Vec<String> {
        let settings = fs::read_to_string(self.at("d/config/settings.toml")).unwrap();
        let words = settings.split(['"', ' ']).filter(|it| it.starts_with("age1"));
        words.map(str::to_owned).collect()
    }

    /// Makes a contract for all runners.
    pub(crate) fn contract(&self, name: &str, more: &[&str]) -> String {
        let (file, root, recipients) = (self.name(name), self.name("d"), self.recipients());
        let mut words = vec!["plan", "task", "-o", &file, "--root", &root];
        for recipient in &recipients {
            words.extend(["--recipient", recipient]);
        }
        words.extend(more);
        self.opal(&words).code(0);
        file
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(programs().join("opal"));
        command
            .args(words)
            .current_dir(self.at("project"))
            .env("HOME", self.top.path())
            .env("NATS_URL", self.nats.address())
            .env("OPAL_TEST_QUEUE_SECOND", self.second)
            .env("TMPDIR", self.at("tmp"))
            .env("STANDIN", self.at("standin"))
            .stdin(Stdio::null());
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        command
    }

    pub(crate) fn opal(&self, words: &[&str]) -> Ran {
        let done = self.command(words).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran {
            code: done.status.code().unwrap_or(-1),
            stdout: text(&done.stdout),
            stderr: text(&done.stderr),
        }
    }

    /// `opal dispatch` of a contract, to its end.
    pub(crate) fn dispatch(&self, file: &str, more: &[&str]) -> Ran {
        let root = self.name("d");
        let words = ["dispatch", file, "--pool", "eu", "--root", &root, "--insecure-queue"];
        self.opal(&[&words[..], more].concat())
    }

    pub(crate) fn start(&self, log: &str, words: &[&str]) -> Started {
        let mut command = self.command(words);
        self.spawn(&mut command, log)
    }

    fn spawn(&self, command: &mut Command, log: &str) -> Started {
        let log = self.at(log);
        let said = fs::File::create(&log).unwrap();
        let child = command.stdout(Stdio::piped()).stderr(said).spawn().unwrap();
        Started { child, log }
    }

    pub(crate) fn dispatching(&self, file: &str, more: &[&str]) -> Started {
        let root = self.name("d");
        let words = ["dispatch", file, "--pool", "eu", "--root", &root, "--insecure-queue"];
        self.start("dispatch.log", &[&words[..], more].concat())
    }

    /// A runner whose shares are run by the stand-in.
    pub(crate) fn runner(&self, number: usize) -> Started {
        self.runner_with(number, &self.nats.address(), &json!({}))
    }

    pub(crate) fn runner_with(&self, number: usize, server: &str, more: &Value) -> Started {
        let root = format!("r{number}");
        let mut options = json!({
            "root": self.name(&root), "pool": "eu", "server": server, "insecure": true, "capacity": 100,
        });
        for (name, value) in more.as_object().unwrap() {
            options[name] = value.clone();
        }
        let mut command = self.command(&[]);
        let mut own = Command::new(self.at("standin/bin/opal-queue"));
        own.args(["runner", BUILD, &options.to_string()])
            .current_dir(self.top.path())
            .stdin(Stdio::null());
        for (name, value) in command.get_envs() {
            own.env(name, value.unwrap_or_default());
        }
        command = own;
        self.spawn(&mut command, &format!("{root}.log"))
    }

    /// A runner whose shares are run by `opal` itself.
    pub(crate) fn real_runner(&self, number: usize) -> Started {
        let root = self.name(&format!("r{number}"));
        let words =
            ["runner", "--pool", "eu", "--root", &root, "--insecure-queue", "--capacity", "100"];
        self.start(&format!("r{number}.log"), &words)
    }

    pub(crate) fn all_runners(&self) -> Vec<Started> {
        (0..self.runners).map(|number| self.runner(number)).collect()
    }

    /// What the stand-in wrote down.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.at("standin/log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn logged(&self, start: &str) -> usize {
        self.log().iter().filter(|line| line.starts_with(start)).count()
    }

    /// The directories of shares.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.at("tmp")).unwrap().map(|it| it.unwrap().path());
        all.filter(|it| it.display().to_string().contains("/opal-share-")).collect()
    }

    pub(crate) fn flag(&self, name: &str, is_set: bool) {
        let path = self.at("standin").join(name);
        if is_set {
            fs::write(path, "").unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
}

/// The rows of a result table: the name and the status of each target.
pub(crate) fn table(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().skip_while(|line| !line.starts_with("TARGET")).skip(1);
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let (name, status) = (words.next()?, words.next()?);
            let number = name.strip_prefix('t')?;
            // What follows the table is about the run.
            number.parse::<u32>().is_ok().then_some((name, status))
        })
        .collect()
}
