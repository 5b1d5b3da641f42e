//! `packages/vault` and a real Vault: its policies, versions and errors. `cargo xtask test --long` builds it.

#![expect(clippy::disallowed_methods, reason = "the server ends with its standard input")]

use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use opal_testing::guest;
use serde_json::Value;

use crate::needs;
use crate::support::Opal;

/// A Vault with a store of version 2 at `secret`. A token may read and write below `app`, another one may nothing.
struct Vault {
    server: Child,
    says: Value,
}

impl Vault {
    /// None where it could not be built.
    fn start() -> Option<Self> {
        let program = guest::build_directory().join("tools/vault/vault-server");
        if !needs::has("`vault-server` in target/tools/vault", program.is_file()) {
            return None;
        }
        let mut server = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = server.stdout.take().unwrap();
        std::io::BufReader::new(stdout).read_line(&mut line).unwrap();
        Some(Self { server, says: serde_json::from_str(&line).unwrap() })
    }

    fn text(&self, name: &str) -> &str {
        self.says[name].as_str().unwrap()
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

fn project(vault: &Vault) -> Opal {
    let url = vault.text("address");
    let of = |path: &str, rest: &str| format!("@vault.kv(\"{path}\", server=\"{url}\"{rest})");
    let password = of("app/database", ", field=\"password\"");
    let first = of("app/database", ", field=\"password\", version=1");
    let source = format!(
        "fun write() {{\n    let.r = @vault.put(\"app/database\", value=@secret.env.NEW, server=\"{url}\", \
         field=\"password\")\n    echo \"@let.r.version @let.r.changed\" > written\n}}\n\
         fun user() {{\n    @vault.put(\"app/database\", value=@secret.env.NEW, server=\"{url}\", field=\"user\")\n}}\n\
         fun read() {{\n    printf %s {password} | sha256sum > now\n}}\n\
         fun before() {{\n    printf %s {first} | sha256sum > before\n}}\n\
         fun shown() {{\n    echo \"it is {password}\"\n}}\n\
         fun field() {{\n    echo {}\n}}\n\
         fun gone() {{\n    echo {}\n}}\n\
         fun forbidden() {{\n    echo {}\n}}\n\
         fun mount() {{\n    echo {}\n}}\n",
        of("app/database", ", field=\"colour\""),
        of("app/gone", ""),
        of("other/database", ""),
        of("app/database", ", mount=\"nowhere\""),
    );
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/vault");
    let mut opal = Opal::project(&source).file("opal.mod", "name = \"shop\"\n");
    for file in ["opal.toml", "dim.yaml"] {
        let text = std::fs::read_to_string(own.join(file)).unwrap();
        opal = opal.file(&format!("packages/vault/{file}"), text);
    }
    let opal = opal.file("packages/vault/plugins/vault.wasm", guest::package("vault"));
    let root = opal.path().join(".opal").display().to_string();
    let opal = opal.env("OPAL_ROOT", &root).env("VAULT_TOKEN", vault.text("token"));
    opal.call(&["plugin", "trust", "packages"]).code(0);
    let net = format!("net:{url} private");
    opal.call(&["plugin", "add", "./packages/vault", "--allow", &net]).code(0);
    opal
}

/// What `sha256sum` says about a text.
fn sum(of: &str) -> String {
    use opal_core::hash::Algorithm;
    format!("{}  -\n", Algorithm::Sha256.digest(&[of.as_bytes()]).hex())
}

#[test]
fn secrets_of_a_real_vault_are_written_and_read_and_never_shown() {
    let Some(vault) = Vault::start() else { return };
    let opal = project(&vault);
    let write = |task: &str, value: &str| {
        opal.call_with(&[("NEW", value)], &[task]).code(0).hides("canary");
    };
    opal.call(&["gone"]).code(65).says("there is no secret `secret/app/gone`");
    write("write", "canary-\"one\"-ü");
    assert_eq!(opal.read("written"), "1 true\n");
    write("write", "canary-\"one\"-ü");
    assert_eq!(opal.read("written"), "1 false\n", "what is there already is not written again");
    write("user", "canary-user");
    write("write", "canary-two");
    assert_eq!(opal.read("written"), "3 true\n");
    opal.call(&["read"]).code(0).hides("canary");
    opal.call(&["before"]).code(0).hides("canary");
    assert_eq!(opal.read("now"), sum("canary-two"));
    assert_eq!(opal.read("before"), sum("canary-\"one\"-ü"));
    for args in [&["shown"][..], &["-n", "shown"], &["plan", "shown", "-o", "c.plan"]] {
        opal.call(args).code(0).hides("canary");
    }
    // A contract holds: the secret is the same, and then it is another one.
    opal.call(&["run", "--plan", "c.plan"]).code(0).hides("canary");
    write("write", "canary-three");
    opal.call(&["run", "--plan", "c.plan"]).code(76).hides("canary");
    opal.call(&["field"]).code(65).says("has no field `colour`").says("password, user");
    opal.call(&["mount"]).code(65).says("nowhere/app/database").hides("canary");
}

#[test]
fn a_real_vault_decides_what_a_token_may_do() {
    let Some(vault) = Vault::start() else { return };
    let opal = project(&vault);
    let forbidden = opal.call(&["forbidden"]);
    forbidden.code(65).says("the token may not use `secret/other/database`");
    let other = vault.text("other").to_owned();
    for (token, task) in [(other.as_str(), "read"), ("s.made-up-token", "read")] {
        let ran = opal.call_with(&[("VAULT_TOKEN", token)], &[task]);
        ran.code(65).says("the token may not use `secret/app/database`").hides(token);
    }
    let ran = opal.call_with(&[("VAULT_TOKEN", &other), ("NEW", "canary-four")], &["write"]);
    assert_ne!(ran.code, 0);
    ran.says("the token may not use `secret/app/database`").hides("canary").hides(&other);
}
