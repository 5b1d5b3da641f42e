//! No value is in the arguments or the environment of opal, of what leads to a target, of the helper and
//! of the shell: all processes of both sides are read every 5 ms while a run uses values in every way.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use opal_testing::needs;
use opal_testing::podman::{NAME, Podman};
use opal_testing::sampling::{Sampler, Seen};
use opal_testing::sshd::Sshd;

use crate::support::{Opal, binary};

const TOKEN: &str = "canary-token-7f31";
const INSIDE: &str = "canary-inside-04b8";
const WORD: &str = "canary-word-c2aa";
const READ: &str = "canary-read-90de";
const LETTERS: &str = "canary-letters-5d1c";
const NAMED: &str = "canary-named-e77b";
const PLAIN: &str = "canary-plain-3f90";

/// The step's own programs: they get what the step gives them.
const PROGRAMS: [&str; 4] = ["cat", "env", "printf", "sleep"];

#[track_caller]
fn assert_unseen(seen: &Seen, required: &[&str]) {
    let leaks: Vec<_> =
        seen.sights.iter().filter(|it| !PROGRAMS.contains(&it.program.as_str())).collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
    for program in required {
        assert!(seen.programs.contains_key(*program), "{program} in {:?}", seen.programs);
    }
    // A value that may be seen was seen, so the others would have been.
    assert!(seen.sights.iter().any(|it| it.program == "sleep"), "{seen:?}");
    assert!(seen.rounds > 20, "{}", seen.rounds);
}

/// Everything in the files below a directory.
fn content(folder: &Path, text: &mut String) {
    // What is temporary may go meanwhile.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        match kind {
            kind if kind.is_dir() => content(&entry.path(), text),
            kind if kind.is_file() => {
                let bytes = fs::read(entry.path()).unwrap_or_default();
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
            _ => {}
        }
    }
}

/// The same of everything that a user has in directories for what is temporary.
fn temporary(uid: u32, text: &mut String) {
    let runtime = format!("/run/user/{uid}");
    for folder in ["/tmp", "/var/tmp", "/dev/shm", &runtime] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata().map(|it| (it.uid(), it.file_type())) else { continue };
            match found {
                (of, kind) if of == uid && kind.is_dir() => content(&entry.path(), text),
                (of, kind) if of == uid && kind.is_file() => {
                    let bytes = fs::read(entry.path()).unwrap_or_default();
                    text.push_str(&String::from_utf8_lossy(&bytes));
                }
                _ => {}
            }
        }
    }
}

const SOURCE: &str = r#"var TOKEN = @secret.file("token")
var WORD = @secret.file("word")

fun task() {
    @ssh.host("web1", password=WORD, env={KEY: TOKEN}) {
        cat > token <<< @var.TOKEN
        printf '%s\n' @var.TOKEN "$KEY" > again && sleep 0.2
        env printf '%s\n' @var.TOKEN > /dev/null
        sleep 0.3 || : @var.TOKEN
        @file.copy(destination="conf", content="token=@var.TOKEN\n")
        let.own = @shell("cat token")
        : @let.own && sleep 0.2
        : @file.read("read") && sleep 0.2
        @as("root", password=WORD) {
            : @var.TOKEN @var.WORD && sleep 0.3
        }
    }
    @ssh.host("web2", helper="none") {
        : @var.TOKEN && sleep 0.3
    }
}
"#;

#[test]
fn no_value_is_in_arguments_or_environments_on_either_side_of_a_connection() {
    let has_all = binary().with_file_name("opal-target").exists();
    let has_all = has_all && Path::new("/usr/bin/sudo").exists();
    if !needs::has("sudo, and the target helper (`cargo build -p opal-target`)", has_all) {
        return;
    }
    let lines = ["PasswordAuthentication yes"];
    let Some(mut sshd) = Sshd::start_with("/bin/sh", &lines) else { return };
    sshd.account().set_password(WORD);
    let _rule = sshd.account().may("USER ALL=(ALL) ALL");
    sshd.name_hosts(&["web1", "web2"]);
    sshd.configure("Host web1\n  PubkeyAuthentication no\n");
    let home = sshd.account().home.clone();
    fs::write(home.join("read"), format!("{READ}\n")).unwrap();
    let opal = Opal::project(SOURCE)
        .file("token", format!("{TOKEN}\n"))
        .file("word", format!("{WORD}\n"))
        .file("own/.keep", "")
        .env("PATH", sshd.path().to_str().unwrap());
    // Where opal may keep what is temporary.
    let own = opal.path().join("own");
    let (opal, own) = (opal.env("TMPDIR", own.to_str().unwrap()), own.to_str().unwrap());
    let opal = opal.env("XDG_RUNTIME_DIR", own);
    let sampler = Sampler::start(&[TOKEN, WORD, READ]);
    let ran = opal.call(&["--root", "root", "task"]);
    let seen = sampler.end();
    ran.code(0).hides(TOKEN).hides(WORD).hides(READ);
    let helper = fs::read_dir(home.join(".cache/opal")).unwrap().next().unwrap().unwrap();
    let helper = helper.file_name().into_string().unwrap();
    assert_unseen(&seen, &["opal", "ssh", "sshd", "sudo", "bash", &helper]);
    // The values have arrived, and are in no other file.
    assert_eq!(fs::read_to_string(home.join("again")).unwrap(), format!("{TOKEN}\n{TOKEN}\n"));
    for name in ["token", "again", "conf", "read"] {
        fs::remove_file(home.join(name)).unwrap();
    }
    let mut kept = String::new();
    content(&home, &mut kept);
    content(&opal.path().join("root"), &mut kept);
    content(Path::new(own), &mut kept);
    temporary(sshd.account().uid(), &mut kept);
    for value in [TOKEN, WORD, READ] {
        assert!(!kept.contains(value), "{value}");
    }
}

/// They are in the environment of opal itself, where the user has put them.
#[test]
fn a_variable_that_is_read_as_a_secret_is_not_passed_on_to_what_leads_to_a_target() {
    let has_sudo = Path::new("/usr/bin/sudo").exists();
    if !needs::has("`sudo`", has_sudo) {
        return;
    }
    let Some(mut sshd) = Sshd::start() else { return };
    sshd.name_hosts(&["web1"]);
    let _rule = sshd.account().may_be_anyone();
    let source = "var A = @secret.env.LETTERS\nvar B = @env.API_TOKEN\n\nfun task() {\n    \
                  @ssh.host(\"web1\") {\n        sleep 0.3 || : @var.A @var.B\n        @as(\"root\") {\n            \
                  sleep 0.3 || : @var.A\n        }\n    }\n    @as(\"nobody\") {\n        sleep 0.3 || : @var.A\n    }\n}\n";
    let opal = Opal::project(source)
        .env("PATH", sshd.path().to_str().unwrap())
        .env("LETTERS", LETTERS)
        .env("API_TOKEN", NAMED)
        .env("PLAIN", PLAIN);
    let sampler = Sampler::start(&[LETTERS, NAMED, PLAIN]);
    let ran = opal.call(&["--root", "root", "task"]);
    let seen = sampler.end();
    ran.code(0);
    let ways = seen.sights.iter().filter(|it| ["ssh", "sudo"].contains(&it.program.as_str()));
    let (plain, secret): (Vec<_>, Vec<_>) = ways.partition(|it| it.value == PLAIN);
    assert!(secret.is_empty(), "{secret:#?}");
    // Others are, so the sampler would have seen them.
    assert!(!plain.is_empty(), "{:?}", seen.programs);
}

#[test]
fn no_value_is_in_arguments_or_environments_on_the_way_into_a_container() {
    let helper = binary().with_file_name("opal-target");
    if !needs::has("the target helper (`cargo build -p opal-target`)", helper.exists()) {
        return;
    }
    let Some(podman) = Podman::start(&helper) else { return };
    let block = "echo @var.TOKEN > /token && sleep 1\n        sleep 1 || : @var.TOKEN";
    let options = "engine=\"podman\", env={KEY: TOKEN}";
    let source = format!(
        "var TOKEN = @secret.file(\"token\")\n\nfun task() {{\n    @container.exec(\"{NAME}\", {options}) {{\n        \
         {block}\n    }}\n    @container.run(\"{NAME}\", {options}, network=\"host\") {{\n        {block}\n    }}\n}}\n"
    );
    let path = podman.environment().into_values().next().unwrap();
    let opal = Opal::project(&source)
        .file("token", format!("{INSIDE}\n"))
        .env("PATH", path.to_str().unwrap());
    let sampler = Sampler::start(&[INSIDE]);
    let ran = opal.call(&["--root", "root", "task"]);
    let seen = sampler.end();
    ran.code(0).hides(INSIDE);
    // All programs of the image are one.
    let steps: Vec<_> = (seen.sights.iter())
        .filter(|it| it.program == "busybox" && it.line.starts_with("sh "))
        .collect();
    assert!(steps.is_empty(), "{steps:#?}");
    let own = |program: &str| PROGRAMS.contains(&program) || program == "busybox";
    let leaks: Vec<_> = seen.sights.iter().filter(|it| !own(&it.program)).collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
    assert!(seen.programs.contains_key("podman"), "{:?}", seen.programs);
}
