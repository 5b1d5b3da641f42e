//! The key bindings in the shells themselves: Alt+O inserts, and only Enter runs.

use std::ffi::OsStr;
use std::io::Write as _;

use crate::needs;
use crate::pty::start;
use crate::run::terminal::read_until;
use crate::support::{Opal, binary};

const PROJECT: &str = "fun say(text: \"$(touch pwned)\" | \"plain\") = echo @var.text\n";

/// A shell with the bindings, in which `opal` shows its words instead of running them. Only the key
/// calls the real one.
const SHELLS: [(&str, &[&str], &str); 3] = [
    (
        "bash",
        &["--norc", "--noprofile", "-i"],
        "bind 'set bell-style none'; source <(command opal completions bash --keys); \
         opal() { if [ \"$1\" = self ]; then command opal \"$@\"; \
         else printf 'words: '; printf '[%s]' \"$@\"; echo; fi; }; echo REA''DY",
    ),
    (
        "zsh",
        &["-f", "-i"],
        "unsetopt beep; bindkey -e; source <(command opal completions zsh --keys); \
         opal() { if [ \"$1\" = self ]; then command opal \"$@\"; \
         else printf 'words: '; printf '[%s]' \"$@\"; echo; fi; }; echo REA''DY",
    ),
    (
        "fish",
        &["--no-config", "-i"],
        "command opal completions fish --keys | source; \
         function opal; if test \"$argv[1]\" = self; command opal $argv; \
         else; printf 'words: '; printf '[%s]' $argv; echo; end; end; echo REA''DY",
    ),
];

#[test]
fn a_key_inserts_what_was_picked_and_only_enter_runs_it() {
    for (shell, args, setup) in SHELLS {
        if !needs::program(shell) {
            continue;
        }
        let path = format!("{}:/usr/bin:/bin", binary().parent().unwrap().display());
        let opal = Opal::machine(PROJECT).env("TERM", "xterm").env("PS1", "$ ").env("PATH", &path);
        let words =
            ["/usr/bin/setsid", "--ctty", "--wait", shell].into_iter().chain(args.iter().copied());
        let words: Vec<&OsStr> = words.map(OsStr::new).collect();
        let (mut child, mut own) = start(opal.started_by(&words));
        let mut shown = String::new();
        own.write_all(format!("{setup}\n").as_bytes()).unwrap();
        read_until(&mut own, &mut shown, "READY");
        shown.clear();
        own.write_all(b"\x1bo").unwrap();
        read_until(&mut own, &mut shown, "task: ");
        own.write_all(b"sa\r").unwrap();
        read_until(&mut own, &mut shown, "plain");
        own.write_all(b"\r").unwrap();
        read_until(&mut own, &mut shown, "pwned)'");
        assert!(!shown.contains("words: "), "{shell} ran it: {shown:?}");
        own.write_all(b" x\n").unwrap();
        read_until(&mut own, &mut shown, "]\r\n");
        let found = shown.rsplit_once("words: ").and_then(|(_, after)| after.lines().next());
        assert_eq!(found, Some("[say][$(touch pwned)][x]"), "{shell}: {shown:?}");
        assert!(!opal.path().join("pwned").exists(), "{shell}");
        own.write_all(b"exit\n").unwrap();
        drop(own);
        child.wait().unwrap();
    }
}
