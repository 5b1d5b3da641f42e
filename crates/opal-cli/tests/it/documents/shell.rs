//! Shell blocks: they are run, and what they print is held against what they show.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use opal_testing::account::Account;
use opal_testing::needs;
use opal_testing::sshd::Sshd;
use tempfile::TempDir;

use super::block::{blocks, pages};
use crate::support::{binary, repository};

/// Blocks of other tools, and their files.
const FOREIGN: [(&str, &str); 6] = [
    ("just", "justfile"),
    ("make", "Makefile"),
    ("taskfile", "Taskfile.yml"),
    ("json", "package.json"),
    ("json terraform.tfstate", "terraform.tfstate"),
    ("ini", "hosts.ini"),
];

/// Runs the commands behind `$ ` and holds what they print against the other lines.
///
/// The blocks of a section share a directory, with the `opl` block above as `commands.opl`, each block
/// `opl file NAME` as that file, the `yaml` block as `config.yaml`, and blocks of other tools under the
/// names of their files. A block `sh providers` may use the provider `local`. A block `sh servers` reaches [`HOSTS`] over SSH, and cannot reach [`AWAY`].
pub(super) fn shell_blocks(folder: &str) {
    let mut count = 0;
    for page in pages(folder) {
        let mut machine = Machine::new();
        let mut section = 0;
        let mut project = String::new();
        for block in blocks(&fs::read_to_string(&page).unwrap()) {
            if block.section != section {
                section = block.section;
                machine = Machine::new();
                machine.write(&project);
            }
            if let Some(name) = block.file() {
                machine.write_file(name, &block.text);
                continue;
            }
            if block.is_source() {
                project = block.text;
                machine.write(&project);
                continue;
            }
            if block.is_config() {
                machine.write_config(&block.text);
            }
            if let Some((_, name)) = FOREIGN.iter().find(|(info, _)| *info == block.info) {
                fs::write(machine.folder.path().join("shop").join(name), &block.text).unwrap();
            }
            let needs_servers = block.info == "sh servers";
            let needs_provider = block.info == "sh providers";
            if block.info != "sh" && !needs_servers && !needs_provider {
                continue;
            }
            if needs_provider && !machine.provide() {
                continue;
            }
            if needs_servers && !machine.serve() {
                continue;
            }
            count += 1;
            let commands: Vec<&str> =
                block.text.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
            let shown: Vec<&str> =
                block.text.lines().filter(|line| !line.starts_with("$ ")).collect();
            let (_, printed, _) = machine.bash(&format!("exec 2>&1\n{}\n", commands.join("\n")));
            let lines: Vec<&str> = printed.lines().collect();
            let shown_is_printed = fits(&shown, &lines);
            assert!(shown_is_printed, "{}:{} prints\n{printed}", page.display(), block.line);
        }
    }
    assert!(count > 0, "no block was run");
}

/// Whether lines are as shown; `…` stands for anything in its line, alone for any lines.
fn fits(shown: &[&str], lines: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (Some((&"…", rest)), _) => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        (Some((pattern, shown)), Some((line, lines))) => {
            line_fits(pattern, line) && fits(shown, lines)
        }
        (None, None) => true,
        _ => false,
    }
}

fn line_fits(pattern: &str, line: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('…') else { return pattern == line };
    let Some(mut line) = line.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('…').collect();
    let end = parts.pop().unwrap();
    for part in parts {
        let Some(at) = line.find(part) else { return false };
        line = &line[at + part.len()..];
    }
    line.ends_with(end)
}

#[test]
fn what_is_left_out_of_shown_output_is_left_out_and_nothing_else() {
    assert!(fits(&["a … c", "…", "z"], &["a b c", "d", "e", "z"]));
    assert!(fits(&["a", "…"], &["a"]));
    assert!(fits(&["…a…b…"], &["xaxbx"]));
    assert!(!fits(&["a … c"], &["a b d"]));
    assert!(!fits(&["a", "…", "z"], &["a", "b"]));
    assert!(!fits(&["ab…b"], &["ab"]));
    assert!(!fits(&["a"], &["a", "b"]));
}

/// Hosts of the pages: one real server, with an account for each of them.
const HOSTS: [&str; 4] = ["web1", "web2", "web3", "web4"];

/// A host that is not there.
const AWAY: &str = "web9";

/// A project in a directory of its own and a home without keys.
struct Machine {
    folder: TempDir,
    server: Option<Sshd>,
    accounts: Vec<Account>,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "shop", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        // What the pages deploy to is not there.
        for name in ["bin/kubectl", "shop/warm-up.sh"] {
            let path = folder.path().join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder, server: None, accounts: Vec::new() }
    }

    fn write(&self, project: &str) {
        fs::write(self.folder.path().join("shop/commands.opl"), project).unwrap();
    }

    fn write_file(&self, name: &str, text: &str) {
        let path = self.folder.path().join("shop").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn write_config(&self, text: &str) {
        fs::write(self.folder.path().join("shop/config.yaml"), text).unwrap();
    }

    /// Starts the server, once; whether there is one.
    fn serve(&mut self) -> bool {
        let helper = binary().with_file_name("opal-target");
        if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists())
            || !needs::has("sudo", Path::new("/usr/bin/sudo").exists())
        {
            return false;
        }
        if self.server.is_none() {
            let Some(mut server) = Sshd::start() else { return false };
            server.configure(&format!("Host {AWAY}\nHostName 127.0.0.1\nPort 1\n"));
            for host in HOSTS {
                let Some(account) = Account::new("/bin/sh") else { return false };
                let (port, user) = (server.port(), &account.name);
                server.configure(&format!(
                    "Host {host}\nHostName 127.0.0.1\nPort {port}\nUser {user}\n"
                ));
                self.accounts.push(account);
            }
            self.server = Some(server);
        }
        true
    }

    /// Has the provider `local` accepted for the project, once; whether there is one.
    fn provide(&self) -> bool {
        let built = repository().join("target/tools/providers/terraform-provider-local");
        if !needs::has("terraform-provider-local (`cargo xtask providers`)", built.is_file()) {
            return false;
        }
        let shop = self.folder.path().join("shop");
        if shop.join("opal.mod").exists() {
            return true;
        }
        let bytes = fs::read(&built).unwrap();
        let digest = opal_core::hash::Algorithm::Sha256.digest(&[&bytes]).hex();
        fs::create_dir_all(shop.join("bin")).unwrap();
        fs::write(shop.join("bin/local"), bytes).unwrap();
        fs::set_permissions(shop.join("bin/local"), fs::Permissions::from_mode(0o755)).unwrap();
        let wanted = "name = \"shop\"\n\n[plugins]\n\"terraform/hashicorp/local\" = { path = \"bin/local\" }\n";
        fs::write(shop.join("opal.mod"), wanted).unwrap();
        let list = format!(
            "version = 1\n\n[[accepted]]\nname = \"terraform/hashicorp/local\"\nversion = \"local\"\n\
             checksum = \"sha256:{digest}\"\ncapabilities = []\n"
        );
        fs::write(self.folder.path().join("accepted.toml"), list).unwrap();
        let (code, _, said) = self.bash("opal plugin install --accept ../accepted.toml");
        assert_eq!(code, 0, "{said}");
        true
    }

    /// Runs a script in the project, with `opal` on the path.
    #[expect(clippy::disallowed_methods, reason = "a document's shell block is run by the shell")]
    fn bash(&self, script: &str) -> (i32, String, String) {
        let stubs = self.folder.path().join("bin");
        let opal = binary().parent().unwrap();
        let others = self.server.as_ref().map_or("/usr/local/bin:/usr/bin:/bin".into(), Sshd::path);
        let others = others.display();
        let path = format!("{}:{}:{others}", opal.display(), stubs.display());
        let output = Command::new("bash")
            .args(["-c", script])
            .current_dir(self.folder.path().join("shop"))
            .env_clear()
            .env("PATH", path)
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", self.folder.path().join("home"))
            .output()
            .unwrap();
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }
}

/// Runs a script in an empty directory of its own.
pub(super) fn bash(script: &str) -> (i32, String, String) {
    Machine::new().bash(script)
}
