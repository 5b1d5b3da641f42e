//! Helper programs: found beside `opal` and nowhere else, and used only if nobody else can write there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use opal_testing::processes::{eventually, signal_group};

use crate::module;
use crate::support::{Opal, Ran, binary};

const JUSTFILE: &str = "build:\n    cargo build\n";
const CONVERTED: &str = "fun build() {\n    cargo build\n}\n";

/// A project with its own installation of opal in `bin`.
struct Installed(Opal);

impl Installed {
    fn new() -> Self {
        Self::of(
            Opal::machine("fun page() {\n    echo @http.get(\"http://127.0.0.1:1/\")\n}\n")
                .file("justfile", JUSTFILE),
        )
    }

    fn of(opal: Opal) -> Self {
        let installed = Self(opal.file("bin/.keep", ""));
        installed.mode("bin", 0o755);
        copy(binary(), &installed.path("bin/opal"));
        for helper in ["opal-commands", "opal-extra"] {
            copy(&binary().with_file_name(helper), &installed.path("bin").join(helper));
        }
        installed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn call(&self, program: &str, args: &[&str]) -> Ran {
        let program = self.path(program);
        Ran::from(self.0.started_by(&[program.as_os_str()]).args(args).output().unwrap())
    }

    fn convert(&self) -> Ran {
        self.call("bin/opal", &["convert", "justfile"])
    }

    /// A helper that is a script.
    fn helper(&self, name: &str, script: &str) {
        let _ = fs::remove_file(self.path(name));
        fs::write(self.path(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        self.mode(name, 0o755);
    }
}

/// The same file where that is possible: it is large.
fn copy(from: &Path, to: &Path) {
    if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).unwrap();
    }
}

#[test]
fn a_missing_helper_is_told_and_nothing_else_needs_it() {
    let installed = Installed::new();
    assert!(installed.convert().code(0).stdout.ends_with(CONVERTED));
    fs::remove_file(installed.path("bin/opal-extra")).unwrap();
    installed.call("bin/opal", &["list"]).code(0);
    installed
        .convert()
        .code(69)
        .stdout("")
        .says("the helper `opal-extra` is not in `")
        .says("cargo install --path crates/opal-cli");
    installed.call("bin/opal", &["page", "--dry-run"]).code(0);
    installed.call("bin/opal", &["page"]).code(69).says("the helper `opal-extra` is not in `");
}

#[test]
fn a_module_with_a_schema_says_that_the_helper_is_missing() {
    let schema = "rel/modules/core/net/inputs.schema.json";
    let installed = Installed::of(module::release());
    fs::remove_file(installed.path("bin/opal-extra")).unwrap();
    installed.call("bin/opal", &module::validate(&[])).code(0);
    fs::write(installed.path(schema), "{}").unwrap();
    let ran = installed.call("bin/opal", &module::validate(&[]));
    ran.code(69)
        .says("inputs.schema.json` cannot be used: the helper `opal-extra` is not in `")
        .says("help: install it with opal")
        .hides("remove it");
}

#[test]
fn a_helper_is_never_looked_for_elsewhere() {
    let installed = Installed::new();
    fs::create_dir(installed.path("path")).unwrap();
    fs::rename(installed.path("bin/opal-extra"), installed.path("true-helper")).unwrap();
    for name in ["path/opal-extra", "opal-extra"] {
        installed.helper(name, "touch ran");
    }
    let path = format!("{}:/usr/bin:/bin", installed.path("path").display());
    let program = installed.path("bin/opal");
    let mut command = installed.0.started_by(&[program.as_os_str()]);
    let ran = command.args(["convert", "justfile"]).env("PATH", path).output().unwrap();
    Ran::from(ran).code(69);
    // A link beside it could lead anywhere.
    symlink(installed.path("true-helper"), installed.path("bin/opal-extra")).unwrap();
    installed.convert().code(69);
    assert!(!installed.path("ran").exists());
}

#[test]
fn templates_start_no_more_helpers_than_there_are_processors() {
    let installed = Installed::of(
        Opal::machine(
            "fun main() {\n    for i in 1...64 {\n        \
             @file.template(\"t\", \"@var.i().out\", vars={x: i})\n    }\n}\n",
        )
        .file("t", "{{ x }}"),
    );
    let helper = installed.path("true-helper");
    fs::rename(installed.path("bin/opal-extra"), &helper).unwrap();
    let starts = installed.path("starts");
    let script = format!("echo >> '{}'\nexec '{}'", starts.display(), helper.display());
    installed.helper("bin/opal-extra", &script);
    installed.call("bin/opal", &["verify", "main"]).code(1);
    let started = fs::read_to_string(&starts).unwrap().lines().count();
    let processors = std::thread::available_parallelism().unwrap().get();
    assert!((1..=processors).contains(&started), "{started} helpers");
}

#[test]
fn a_link_to_opal_finds_the_helper_of_its_installation() {
    let installed = Installed::new();
    fs::create_dir(installed.path("links")).unwrap();
    symlink("../bin/opal", installed.path("links/opal")).unwrap();
    installed.helper("links/opal-extra", "touch ran");
    let ran = installed.call("links/opal", &["convert", "justfile"]);
    assert!(ran.code(0).stdout.ends_with(CONVERTED));
    assert!(!installed.path("ran").exists());
}

#[test]
fn a_helper_that_others_can_write_is_not_started() {
    let installed = Installed::new();
    let script = installed.path("bin/opal-extra");
    installed.helper("bin/opal-extra", "touch ran");
    for mode in [0o777, 0o757] {
        installed.mode("bin/opal-extra", mode);
        let help = format!("chmod go-w '{}'", script.canonicalize().unwrap().display());
        installed.convert().code(77).says("other users can write to").says(&help);
        installed.mode("bin/opal-extra", 0o755);
        installed.mode("bin", mode);
        installed.convert().code(77).says("other users can write to").says("bin'");
        installed.call("bin/opal", &["page"]).code(77);
        installed.mode("bin", 0o755);
    }
    assert!(!installed.path("ran").exists());
}

#[test]
fn a_helper_of_another_build_is_not_asked() {
    let installed = Installed::new();
    let hello = |text: &str| {
        let length = text.len();
        format!("printf '\\0\\0\\0\\0\\{length:03o}\\0\\0\\0%s' '{text}'; cat > asked")
    };
    installed.helper("bin/opal-extra", &hello(r#"{"build":"0.0.1+old\u001b"}"#));
    installed
        .convert()
        .code(69)
        .says("`opal-extra` is of another build: it is 0.0.1+old, and opal is ");
    let asked = installed.path("asked");
    assert!(fs::read(&asked).is_ok_and(|bytes| bytes.is_empty()) || !asked.exists());
    for script in [hello("{}"), "exit 0".to_owned(), "echo hello".to_owned()] {
        installed.helper("bin/opal-extra", &script);
        installed.convert().code(69).says("`opal-extra` ended without an answer");
    }
    installed.helper("bin/opal-extra", "");
    installed.mode("bin/opal-extra", 0o644);
    installed.convert().code(69).says("`opal-extra` cannot be started: permission denied");
}

#[test]
fn a_helper_that_somebody_types_says_what_it_is() {
    let opal = Opal::new();
    let helper = binary().with_file_name("opal-extra");
    let ran = opal.started_by(&[helper.as_os_str()]).arg("--help").output().unwrap();
    Ran::from(ran).code(2).stdout("").says("`opal-extra` is a helper").says("see `opal --help`");
}

#[test]
fn opal_becomes_opal_commands_for_commands_that_it_does_not_have() {
    let installed = Installed::of(Opal::machine("fun hello() = echo hello\n"));
    let call = |args: &[&str]| installed.call("bin/opal", args);
    call(&["hello"]).code(0).stdout("hello\n");
    call(&["runs", "list"]).code(0).says("hello");
    // The words are those that were typed, seen from where they were typed.
    fs::create_dir_all(installed.path("a/b")).unwrap();
    call(&["-C", "a", "-C", "b", "self", "init"]).code(0);
    assert!(installed.path("a/b/commands.opl").exists());
    call(&["-C", "a/b", "plan", "hello", "-o", "one.plan"]).code(0);
    call(&["-C", "a/b", "plan", "show", "one.plan"]).code(0).says("hello");
    fs::remove_file(installed.path("bin/opal-commands")).unwrap();
    call(&["hello"]).code(0).stdout("hello\n");
    for words in [&["runs", "list"][..], &["plan", "show", "a/b/one.plan"], &["explain", "E0101"]] {
        call(words)
            .code(69)
            .says("the helper `opal-commands` is not in `")
            .says("cargo install --path crates/opal-cli");
    }
    installed.helper("bin/opal-commands", "touch ran");
    installed.mode("bin/opal-commands", 0o757);
    call(&["runs", "list"]).code(77).says("other users can write to `");
    assert!(!installed.path("ran").exists());
}

#[test]
fn opal_commands_is_of_the_build_of_opal_or_refuses() {
    let opal = Opal::new();
    let program = binary().with_file_name("opal-commands");
    let call = |args: &[&str]| {
        Ran::from(opal.started_by(&[program.as_os_str()]).args(args).output().unwrap())
    };
    let all =
        [&[][..], &["runs", "list"], &["commands"], &["--help"], &["self", "syntax"], &["self"]];
    for typed in all {
        call(typed).code(2).stdout("").says("`opal-commands` is a helper");
    }
    call(&["commands", "0.0.1+old", "runs", "list"]).code(69).says("and opal is 0.0.1+old");
}

#[test]
fn what_cleans_up_after_ctrl_c_still_has_the_helper() {
    let opal = Opal::machine(
        "fun main() {\n    @file.template(\"t\", \"first\", vars={x: 1})\n    try {\n        \
         sh -c 'touch begun; exec sleep 600'\n    } finally {\n        \
         @file.template(\"t\", \"last\", vars={x: 2})\n    }\n}\n",
    );
    let opal = opal.file("t", "{{ x }}");
    // As a terminal does it: to all processes of the group.
    let child = opal.interruptible().arg("main").process_group(0).spawn().unwrap();
    eventually("the step begins", || opal.path().join("begun").exists());
    signal_group(&child, "INT");
    let ran = Ran::from(child.wait_with_output().unwrap());
    ran.code(130);
    assert_eq!((opal.read("first"), opal.read("last")), ("1".to_owned(), "2".to_owned()));
}
