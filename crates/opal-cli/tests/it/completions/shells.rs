//! Completion in the shells themselves: a person types, presses Tab and Enter.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use crate::needs;
use crate::pty::start;
use crate::run::terminal::read_until;
use crate::support::{Opal, binary};

const PROJECT: &str = "import \"parts/db.opl\"\n\n// Deploys: the service, to \\`one\\` place.\n\
    fun deploy(env: \"staging\" | \"production\", tag = \"x\", stage: \"alpha\" | \"beta\" = \"beta\") {\n    \
    echo @var.env @var.tag @var.stage\n}\n\
    fun publish(file, more...) = echo @var.file @var.more\n\
    fun check() = true\n\
    fun twice() = true\n\
    fun twice(env: \"one\") = echo @var.env\n";

/// A shell that shows the words of a command line instead of running it. Only its completion calls
/// the real opal.
struct Shell {
    program: &'static str,
    args: &'static [&'static str],
    /// What prints `READY` once it can be typed to.
    setup: &'static str,
}

const SHELLS: [Shell; 3] = [
    Shell {
        program: "bash",
        args: &["--norc", "--noprofile", "-i"],
        setup: "bind 'set bell-style none'; source <(command opal completions bash); \
                opal() { if [ -n \"$OPAL_COMPLETE\" ]; then command opal \"$@\"; \
                else printf 'words: '; printf '[%s]' \"$@\"; echo; fi; }; echo REA''DY",
    },
    Shell {
        program: "zsh",
        args: &["-f", "-i"],
        setup: "unsetopt beep; autoload -Uz compinit; compinit -u -D; \
                source <(command opal completions zsh); \
                opal() { if [ -n \"$OPAL_COMPLETE\" ]; then command opal \"$@\"; \
                else printf 'words: '; printf '[%s]' \"$@\"; echo; fi; }; echo REA''DY",
    },
    Shell {
        program: "fish",
        args: &["--no-config", "-i"],
        setup: "command opal completions fish | source; \
                function opal; if set -q OPAL_COMPLETE; command opal $argv; \
                else; printf 'words: '; printf '[%s]' $argv; echo; end; end; echo REA''DY",
    },
];

/// What is typed, with Tab as `\t`, and the words that the shell then has.
const TYPED: [(&str, &str); 17] = [
    ("opal dep\tpr\t", "[deploy][production]"),
    ("opal deploy --env=pr\t", "[deploy][--env=production]"),
    ("opal deploy --env st\t", "[deploy][--env][staging]"),
    ("opal deploy staging x al\t", "[deploy][staging][x][alpha]"),
    ("opal deploy staging --stage=al\t", "[deploy][staging][--stage=alpha]"),
    ("opal -n deploy pr\t", "[-n][deploy][production]"),
    ("opal run che\t", "[run][check]"),
    ("opal twi\t", "[twice]"),
    ("opal publish two\t", "[publish][two words.txt]"),
    ("opal publish sub/in\t", "[publish][sub/inner.txt]"),
    ("opal publish sub/inner.txt two\t", "[publish][sub/inner.txt][two words.txt]"),
    ("opal -f other.opl mig\t", "[-f][other.opl][migrate]"),
    ("opal ./oth\t", "[./other.opl]"),
    ("opal db.mig\tthr\t", "[db.migrate][three]"),
    ("opal deploy staging --ta\tx", "[deploy][staging][--tag][x]"),
    ("opal pick --sh\tfi\t", "[pick][--shell][fish]"),
    ("opal -C elsewhere wal\t", "[-C][elsewhere][walk]"),
];

/// The same where there is a home.
const AT_HOME: [(&str, &str); 1] = [("opal -g swi\t", "[-g][swim]")];

fn project() -> Opal {
    Opal::machine(PROJECT)
        .file("other.opl", "fun migrate() = true\n")
        .file("parts/db.opl", "fun migrate(to: \"two\" | \"three\") = echo @var.to\n")
        .file("elsewhere/commands.opl", "fun walk() = true\n")
        .file("home/.config/opal/commands.opl", "fun swim() = true\n")
        .file("two words.txt", "")
        .file("sub/inner.txt", "")
        .env("TERM", "xterm")
        .env("PS1", "$ ")
        .env("PATH", &format!("{}:/usr/bin:/bin", binary().parent().unwrap().display()))
}

impl Shell {
    /// Types every line of the table to one shell, which `words` start.
    fn type_all(&self, opal: &Opal, words: &[&str], more: &[(&str, &str)]) {
        let words = [words, &[self.program], self.args].concat();
        let words = ["/usr/bin/setsid", "--ctty", "--wait"].into_iter().chain(words);
        let words: Vec<&OsStr> = words.map(OsStr::new).collect();
        let (mut child, mut own) = start(opal.started_by(&words));
        let mut shown = String::new();
        own.write_all(format!("{}\n", self.setup).as_bytes()).unwrap();
        read_until(&mut own, &mut shown, "READY");
        for (typed, expected) in TYPED.iter().chain(more) {
            shown.clear();
            own.write_all(format!("{typed}\n").as_bytes()).unwrap();
            read_until(&mut own, &mut shown, "]\r\n");
            let found = shown.rsplit_once("words: ").and_then(|(_, after)| after.lines().next());
            assert_eq!(found, Some(*expected), "{}: {typed:?} shows {shown:?}", self.program);
        }
        own.write_all(b"exit\n").unwrap();
        drop(own);
        child.wait().unwrap();
    }
}

#[test]
fn what_is_completed_is_what_the_shell_then_has() {
    for shell in &SHELLS {
        if needs::program(shell.program) {
            shell.type_all(&project(), &[], &AT_HOME);
        }
    }
}

#[test]
fn completion_works_where_nothing_can_be_written() {
    if !needs::root() {
        return;
    }
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let opal = project().env("HOME", "/nonexistent");
    fs::set_permissions(opal.path(), fs::Permissions::from_mode(0o555)).unwrap();
    for shell in &SHELLS {
        if needs::program(shell.program) {
            shell.type_all(&opal, &nobody, &[]);
        }
    }
    fs::set_permissions(opal.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

/// What fish lists for a command line, in its order.
fn listed_by_fish(opal: &Opal, line: &str) -> Vec<String> {
    let script = format!("opal completions fish | source; complete -C '{line}'");
    let words = ["fish", "--no-config", "-c", &script].map(OsStr::new);
    let output = opal.started_by(&words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_shell_lists_the_tasks_own_things_first() {
    if !needs::program("fish") {
        return;
    }
    let opal = project();
    let listed = listed_by_fish(&opal, "opal ");
    // The task `check` is reserved: `opal check` is opal's own.
    assert_eq!(listed[..4], ["db.migrate", "deploy", "publish", "twice"], "{listed:?}");
    assert_eq!(listed_by_fish(&opal, "opal deploy "), ["staging", "production"]);
    let listed = listed_by_fish(&opal, "opal deploy --");
    assert_eq!(listed[..3], ["--env", "--tag", "--stage"], "{listed:?}");
    assert!(listed.contains(&"--dry-run".into()), "{listed:?}");
}
