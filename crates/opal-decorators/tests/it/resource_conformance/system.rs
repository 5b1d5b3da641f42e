//! Commands, repositories, packages, services and accounts: with stand-ins for the programs of the
//! machine, which keep what they know in the directory of the case.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_core::Value;
use opal_core::resource::Status::{Blocked, Drifted, Missing, Satisfied, Unknown};
use opal_testing::conformance::Case;

use super::{Args, holds, text, within};

/// A program of this case, a script that may use `$HERE`.
fn program(folder: &Path, name: &str, script: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder.join("bin"))?;
    let path = folder.join("bin").join(name);
    fs::write(&path, format!("#!/bin/sh\nHERE='{}'\n{script}\n", folder.display()))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
}

#[test]
fn command() {
    fn args(check: &str) -> Args {
        Ok(vec![("cmd", text("echo made > made")), ("check", text(check))])
    }
    holds(
        "shell",
        &[
            Case { name: "to be done", status: Missing, prepare: |_| args("test -e made") },
            Case { name: "done", status: Satisfied, prepare: |_| args("true") },
            Case {
                name: "without a check",
                status: Unknown,
                prepare: |_| Ok(vec![("cmd", text("true")), ("id", text("it"))]),
            },
            Case {
                name: "no such shell",
                status: Blocked,
                prepare: |_| {
                    let mut args = args("true")?;
                    args.push(("shell", text("no-such-shell")));
                    Ok(args)
                },
            },
        ],
    );
}

#[test]
fn repository() {
    fn git(folder: &Path, script: &str) -> std::io::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "it makes the world of the case")]
        let mut shell = std::process::Command::new("sh");
        let script = format!(
            "set -e; export HOME=. GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b \
             GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; {script}"
        );
        let done = shell.arg("-c").arg(script).current_dir(folder).output()?;
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }
    fn args(folder: &Path) -> Args {
        git(
            folder,
            "git init -q -b main from; cd from; echo a > a; git add a; git commit -q -m a",
        )?;
        Ok(vec![("url", within(folder, "from")), ("destination", within(folder, "to"))])
    }
    fn cloned(folder: &Path) -> Args {
        let args = args(folder)?;
        git(folder, "git clone -q \"$PWD/from\" to")?;
        Ok(args)
    }
    holds(
        "git.repo",
        &[
            Case { name: "nothing there", status: Missing, prepare: args },
            Case { name: "a clone", status: Satisfied, prepare: cloned },
            Case {
                name: "older commits",
                status: Drifted,
                prepare: |folder| {
                    let args = cloned(folder)?;
                    git(folder, "cd from; echo b > b; git add b; git commit -q -m b")?;
                    Ok(args)
                },
            },
            Case {
                name: "no such server",
                status: Blocked,
                prepare: |folder| {
                    Ok(vec![("url", within(folder, "none")), ("destination", within(folder, "to"))])
                },
            },
        ],
    );
}

#[test]
fn package() {
    fn args(folder: &Path, installed: &str) -> Args {
        fs::write(folder.join("installed"), installed)?;
        program(
            folder,
            "dpkg-query",
            "for name; do :; done\nline=$(grep \"^$name$(printf '\\t')\" \"$HERE/installed\") || {\n\
             echo \"dpkg-query: no packages found matching $name\" >&2; exit 1; }\n\
             printf '%s\\n' \"$line\"",
        )?;
        program(
            folder,
            "apt-get",
            "for name; do :; done\n[ \"$name\" = -- ] || grep -q \"^$name$(printf '\\t')\" \"$HERE/installed\" || \
             printf '%s\\tamd64\\tii \\t1.0\\n' \"$name\" >> \"$HERE/installed\"",
        )?;
        program(folder, "id", "echo 0")?;
        let packages = Value::Array(vec![text("demo")]);
        Ok(vec![("packages", packages), ("manager", text("apt"))])
    }
    holds(
        "pkg.install",
        &[
            Case { name: "not installed", status: Missing, prepare: |it| args(it, "") },
            Case {
                name: "installed",
                status: Satisfied,
                prepare: |it| args(it, "demo\tamd64\tii \t1.0\n"),
            },
            Case {
                name: "no such manager",
                status: Blocked,
                prepare: |folder| {
                    let mut args = args(folder, "")?;
                    args[1].1 = text("pacman");
                    Ok(args)
                },
            },
        ],
    );
}

#[test]
fn service() {
    fn args(folder: &Path, load: &str, active: &str) -> Args {
        fs::write(folder.join("active"), active)?;
        program(
            folder,
            "systemctl",
            &format!(
                "case \"$*\" in\nshow*) printf 'LoadState={load}\\nActiveState=%s\\nSubState=\\n\
                 UnitFileState=enabled\\n' \"$(cat \"$HERE/active\")\" ;;\n\
                 *start*) printf active > \"$HERE/active\" ;;\n*) exit 1 ;;\nesac"
            ),
        )?;
        Ok(vec![("name", text("demo.service"))])
    }
    holds(
        "service.running",
        &[
            Case { name: "stopped", status: Drifted, prepare: |it| args(it, "loaded", "inactive") },
            Case { name: "running", status: Satisfied, prepare: |it| args(it, "loaded", "active") },
            Case {
                name: "unknown to systemd",
                status: Blocked,
                prepare: |it| args(it, "not-found", "inactive"),
            },
        ],
    );
}

#[test]
fn account() {
    fn args(folder: &Path, users: &str, groups: &[&str]) -> Args {
        fs::write(folder.join("passwd"), users)?;
        fs::write(folder.join("group"), "staff:x:50:\n")?;
        program(
            folder,
            "getent",
            "file=$1; shift; code=0\nfor key; do grep \"^$key:\" \"$HERE/$file\" || code=2; done\n\
             exit $code",
        )?;
        program(
            folder,
            "useradd",
            "for last; do :; done\necho \"$last:x:900:900::/srv/demo:/bin/sh\" >> \"$HERE/passwd\"",
        )?;
        program(
            folder,
            "usermod",
            "case \"$*\" in *--home*) sed -i 's,/home/demo,/srv/demo,' \"$HERE/passwd\" ;; esac",
        )?;
        program(folder, "id", "echo 0")?;
        let groups = Value::Array(groups.iter().map(|group| text(*group)).collect());
        Ok(vec![("name", text("demo")), ("home", text("/srv/demo")), ("groups", groups)])
    }
    holds(
        "user.present",
        &[
            Case { name: "nobody", status: Missing, prepare: |it| args(it, "", &[]) },
            Case {
                name: "another home",
                status: Drifted,
                prepare: |it| args(it, "demo:x:900:900::/home/demo:/bin/sh\n", &[]),
            },
            Case {
                name: "in the desired state",
                status: Satisfied,
                prepare: |it| args(it, "demo:x:900:900::/srv/demo:/bin/sh\n", &[]),
            },
            Case {
                name: "unknown group",
                status: Blocked,
                prepare: |it| args(it, "", &["nobodies"]),
            },
        ],
    );
}
