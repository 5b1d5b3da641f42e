//! Commands in sessions on this machine: what they end with, print, see and leave.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;

use opal_testing::processes::{eventually, is_alive};

use crate::session::support::{Done, Heard, Only, Place, SHELLS, work};
use opal_core::context::{Context, Place as At};
use opal_core::resolver::{ScriptPart, TroubleKind};
use opal_core::shell::Shell;
use opal_core::stream::{Closed, Stream};
use opal_core::{Data, Secret};
use opal_session::stop::Stop;
use opal_session::{Input, Output, Session, Taker, pipe};

fn text(text: &str) -> ScriptPart {
    ScriptPart::Text(text.to_owned())
}

fn word(value: &str) -> ScriptPart {
    ScriptPart::Data(Data::text(value), Context::new(At::Word))
}

#[test]
fn a_command_ends_with_its_own_code() {
    for only in SHELLS {
        let place = Place::new(only);
        for (text, code) in [
            ("true", 0),
            ("false", 1),
            ("exit 7", 7),
            ("", 0),
            ("cd /; ls $X \\", 0),
            ("  # nothing\n", 0),
            ("( exit 9 )", 9),
            ("test a = b", 1),
            ("true && exit 3", 3),
            ("printf x >/dev/null; false", 1),
            ("exec sleep 0", 0),
            ("exec 1>&- 2>&-; false", 1),
            ("exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exit 4", 4),
            ("ls /nosuchdirectory", 2),
            ("nosuchprogram", 127),
            ("nosuchprogram $X", 127),
            ("./nosuchprogram", 127),
            ("set -e; false; true", 1),
            ("env sh -c 'kill -TERM $$' || exit $?", if only == Only::Dash { 143 } else { 127 }),
            ("true", 0),
        ] {
            assert_eq!(place.run(text).code(), code, "{only:?} {text}");
        }
    }
}

#[test]
fn a_command_that_kills_its_shell_ends_by_that_signal_and_the_next_one_runs() {
    for only in SHELLS {
        let place = Place::new(only);
        for _ in 0..3 {
            assert_eq!(place.run("kill -9 $$; sleep 5").code(), 137, "{only:?}");
            assert_eq!(place.run("echo again; exit 3").out(), "again\n");
        }
        assert_eq!(place.run("sleep 9 & kill -9 $!; wait $!").code(), 137);
    }
    let place = Place::new(Only::Bash);
    let done = place.run("echo secret-text >/dev/null; kill -9 $BASHPID");
    assert_eq!((done.code(), done.out(), done.err()), (137, String::new(), String::new()));
}

#[test]
fn nothing_that_is_printed_confuses_the_shell() {
    for only in SHELLS {
        let place = Place::new(only);
        let junk =
            "for n in 3 4 5 6 7 8 9; do printf '1:0\\0007:7\\000' >&$n; done 2>/dev/null; exit 5";
        let moving = "cd /; printf '1:0\\0002:0\\0003:0\\000' >&9 2>/dev/null; exit 6";
        assert_eq!(place.run(junk).code(), 5);
        assert_eq!(place.run(moving).code(), 6);
        assert_eq!(place.run("printf '0\\000\\n2:0\\000'; exit 7").code(), 7);
    }
}

#[test]
fn a_step_may_use_every_descriptor() {
    for only in SHELLS {
        let place = Place::new(only);
        let text = "exec 3>f3 7>f7 8>f8 9>f9; echo a >&3; echo b >&7; echo c >&8; echo d >&9";
        assert_eq!(place.run(text).code(), 0);
        assert_eq!(place.run("cat f3 f7 f8 f9").out(), "a\nb\nc\nd\n");
        // The tests themselves may have been given some.
        let given = inherited();
        for text in [
            "ls /proc/self/fd",
            "X=1 ls /proc/self/fd",
            "ls /proc/self/fd; exit 0",
            "cd .; ls /proc/self/fd",
            ": $$; ls /proc/self/fd; exit 0",
            "cd .; : $$; ls /proc/self/fd",
        ] {
            let found = numbers(&place.run(text).out());
            assert!(found.is_subset(&given), "{only:?} {text}: {found:?} of {given:?}");
        }
    }
}

fn numbers(listing: &str) -> BTreeSet<i32> {
    listing.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

#[expect(clippy::disallowed_methods, reason = "what a program gets without a session")]
fn inherited() -> BTreeSet<i32> {
    let look = || {
        let output = std::process::Command::new("/bin/ls").arg("/proc/self/fd").output().unwrap();
        numbers(&String::from_utf8(output.stdout).unwrap())
    };
    // Another test may be starting a shell, with descriptors that are meant for it. One that has some
    // for longer makes this more than a program gets, and never less.
    (0..20).map(|_| look()).reduce(|all, more| &all & &more).unwrap()
}

#[test]
fn state_of_a_step_does_not_reach_the_next() {
    for only in SHELLS {
        let place = Place::new(only);
        let change = "X=1; export Y=2; f() { :; }; set -f; umask 077; trap 'echo bye' EXIT; cd /";
        assert_eq!(place.run(change).out(), "bye\n");
        let look =
            "echo \"$X-$Y-$-\" | tr -d 'hBc'; umask; f 2>/dev/null || echo none; echo \"$#\"";
        let first = Place::new(only).run(look).out();
        assert_eq!(place.run(look).out(), first);
        assert!(first.starts_with("--") && first.ends_with("none\n0\n"), "{first}");
    }
}

#[test]
fn variables_of_a_step_are_exported_to_it_alone() {
    for only in SHELLS {
        let place = Place::with(only, &[("KEPT", "k")]);
        let names = [("A", "it's $(x)\n"), ("PATHLIKE", ""), ("UID", "77"), ("odd.name", "o")];
        let all: BTreeMap<String, Secret> =
            names.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
        for count in [2, names.len()] {
            let some = all
                .iter()
                .filter(|(name, _)| count > 2 || !["UID", "odd.name"].contains(&&***name));
            let some: BTreeMap<_, _> =
                some.map(|(name, value)| (name.clone(), value.clone())).collect();
            for script in ["printenv A KEPT", "X=1 printenv A KEPT"] {
                let done = place.work(&[text(script)], &place.path(), &some, &Stop::new());
                assert_eq!(done.out(), "it's $(x)\n\nk\n", "{only:?} {script}");
            }
        }
        assert_eq!(place.run("X=1 printenv A").code(), 1);
        assert_eq!(place.run("printenv A").code(), 1);
    }
}

#[test]
fn a_program_sees_the_same_with_and_without_a_shell() {
    let place = Place::with(Only::Bash, &[("SHLVL", "4"), ("LANG", "C"), ("X", "a b")]);
    fs::write(place.path().join("script"), "#!/bin/dash\necho \"$0 $#\"\n").unwrap();
    fs::set_permissions(place.path().join("script"), PermissionsExt::from_mode(0o755)).unwrap();
    let sorted = |done: Done| {
        let mut lines: Vec<String> = done.out().lines().map(str::to_owned).collect();
        lines.sort();
        (lines, done.err(), done.code())
    };
    for command in
        ["env", "./script a b", "printenv PWD _ SHLVL", "ls nosuch", "cat /proc/self/cmdline"]
    {
        let direct = sorted(place.run(command));
        let last = sorted(place.run(&format!("X='a b' {command}")));
        assert_eq!(direct, last, "{command}");
    }
}

#[test]
fn functions_and_start_up_files_of_the_environment_are_heeded() {
    let shout = [("BASH_FUNC_echo%%", "() { builtin echo \"LOUD $*\"; }")];
    assert_eq!(Place::with(Only::Bash, &shout).run("echo hi").out(), "LOUD hi\n");
    let ls = [("BASH_FUNC_ls%%", "() { builtin echo listed; }")];
    assert_eq!(Place::with(Only::Bash, &ls).run("ls").out(), "listed\n");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "ls() { echo from-file; }\n").unwrap();
    let place = Place::with(Only::Bash, &[("BASH_ENV", file.path().to_str().unwrap())]);
    assert_eq!(place.run("ls").out(), "from-file\n");
}

#[test]
fn what_cannot_be_run_says_so_as_a_shell_does() {
    let place = Place::new(Only::Bash);
    let done = place.run("nosuch a b");
    assert_eq!(
        (done.code(), done.err()),
        (127, "bash: line 1: nosuch: command not found\n".to_owned())
    );
    fs::write(place.path().join("plain"), "echo ran \"$1\"\n").unwrap();
    let denied = place.run("./plain");
    assert_eq!(denied.code(), 126);
    assert!(denied.err().contains("Permission denied"), "{}", denied.err());
    assert_eq!(place.run("/").code(), 126);
    fs::set_permissions(place.path().join("plain"), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(place.run("./plain x").out(), "ran x\n");
    let none = Place::new(Only::None);
    assert_eq!(none.session.shell(), None);
    assert_eq!(none.run("ls /").code(), 0);
    let trouble = none.run("ls / | cat").ended.unwrap_err();
    assert!(trouble.message.contains("no shell"), "{}", trouble.message);
}

#[test]
fn the_shell_of_a_session_is_known() {
    assert_eq!(Place::new(Only::Bash).session.shell(), Some(Shell::Bash));
    assert_eq!(Place::new(Only::Dash).session.shell(), Some(Shell::Sh));
    assert_eq!(Place::new(Only::Bash).run("false | true").code(), 1);
}

#[test]
fn long_values_reach_builtins_and_heredocs_and_arguments_say_their_limit() {
    let long = "'\"\\$(x)\n".repeat(128 * 1024);
    for only in SHELLS {
        let place = Place::new(only);
        let done = place.parts(&[text("printf %s "), word(&long), text(" | cat")]);
        assert!(done.out() == long, "{only:?}");
        let done = place.parts(&[text("printf %s "), word(&long)]);
        assert!(done.out() == long, "{only:?}");
        let heredoc = ScriptPart::Data(Data::text(long.as_str()), Context::new(At::Heredoc));
        let done = place.parts(&[text("cat <<E\n"), heredoc, text("\nE\n")]);
        assert!(done.out() == format!("{long}\n"), "{only:?}");
        let trouble = place.parts(&[text("cat "), word(&long)]).ended.unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::TooLarge);
        assert!(trouble.message.contains("128 KiB") && trouble.help[0].contains("heredoc"));
    }
}

#[test]
fn bytes_that_are_not_text_come_through() {
    for only in SHELLS {
        let place = Place::new(only);
        let bytes = vec![0xff, 0xfe, 0, b'\n', 0x80];
        fs::write(place.path().join("bytes"), &bytes).unwrap();
        assert_eq!(place.run("cat bytes").stdout, bytes);
        assert_eq!(place.run("cat bytes >&2; true").stderr, bytes);
    }
}

#[test]
fn descriptors_that_are_given_are_used_and_closed() {
    for only in SHELLS {
        let place = Place::new(only);
        for script in ["cat", "cat; true", "cat | cat"] {
            let ((from, feed), (read, to)) = (pipe().unwrap(), pipe().unwrap());
            rustix::io::write(&feed, b"fed").unwrap();
            drop(feed);
            let (parts, path) = ([text(script)], place.path());
            let mut work = work(&parts, &path);
            (work.stdin, work.stdout) = (Input::From(from), Output::To(to));
            place.session.run(work, &Stop::new(), &mut Heard::default()).unwrap();
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut fs::File::from(read), &mut bytes).unwrap();
            assert_eq!(bytes, b"fed", "{only:?} {script}");
        }
    }
}

#[test]
fn what_stays_in_the_background_blocks_nothing_and_goes_on() {
    for only in SHELLS {
        let place = Place::new(only);
        let done = place.run("sleep 1000 & echo $!");
        let pid = done.out().trim().to_owned();
        assert_eq!(place.run("echo next").out(), "next\n");
        assert!(is_alive(&pid));
        let done = place.run("(yes >/dev/null & echo $!)");
        assert!(is_alive(done.out().trim()));
        place.session.end_all(std::time::Duration::from_secs(5), &Stop::new());
        eventually("ended", || !is_alive(&pid) && !is_alive(done.out().trim()));
    }
}

#[test]
fn a_reader_that_wants_no_more_is_passed_on() {
    struct Once(usize);
    impl Taker for Once {
        fn take(&mut self, _: Stream, bytes: &[u8]) -> Result<(), Closed> {
            self.0 += bytes.len();
            Err(Closed)
        }
    }
    for only in SHELLS {
        let place = Place::new(only);
        for script in ["yes", "yes; exit 9", "yes | cat"] {
            let (parts, path) = ([text(script)], place.path());
            let work = work(&parts, &path);
            let ended = place.session.run(work, &Stop::new(), &mut Once(0)).unwrap();
            assert_eq!(ended.code, if script.contains('9') { 9 } else { 141 }, "{only:?} {script}");
        }
        assert_eq!(place.run("echo fine").out(), "fine\n");
    }
}

#[test]
fn every_step_that_asks_has_a_shell_with_a_number_of_its_own() {
    for only in SHELLS {
        let place = Place::new(only);
        let number = |text: &str| place.run(text).out();
        assert_ne!(number("echo $$"), number("echo ${$}"), "{only:?}");
        let done = place.run("kill -TERM $$; echo still");
        assert_eq!((done.code(), done.out(), done.err()), (143, String::new(), String::new()));
        let done = place.run("trap 'echo heard; exit 5' TERM; kill -TERM $$; sleep 9");
        assert_eq!((done.code(), done.out().as_str()), (5, "heard\n"), "{only:?}");
        let done = place.run("cd / && : $$ && pwd; exit_later() { return 4; }; exit_later");
        assert_eq!((done.code(), done.out().as_str()), (4, "/\n"), "{only:?}");
        assert_eq!(done.ended.unwrap().directory.unwrap().to_str(), Some("/"));
        let unknown = place.run(": $$; nosuchprogram").err();
        assert_eq!(unknown.contains("line 1: nosuch"), only == Only::Bash, "{unknown}");
    }
    assert_eq!(Place::new(Only::Bash).run(": $$; false | true").code(), 1);
}

#[test]
fn a_shell_of_its_own_gets_values_as_data_and_its_standard_input() {
    for only in SHELLS {
        let place = Place::new(only);
        let long = "'; touch pwned $(x)\n".repeat(20_000);
        for value in ["'; touch pwned; $(touch pwned)\n\n", &long] {
            let parts = [
                text("cat; : $$; printf '[%s]' "),
                word(value),
                text("; printf %s \"$A\"; exit 3"),
            ];
            let (from, feed) = pipe().unwrap();
            rustix::io::write(&feed, b"fed").unwrap();
            drop(feed);
            let path = place.path();
            let environment = BTreeMap::from([("A".to_owned(), Secret::new("a'b"))]);
            let mut work = work(&parts, &path);
            (work.stdin, work.environment) = (Input::From(from), &environment);
            let mut heard = Heard::default();
            let ended = place.session.run(work, &Stop::new(), &mut heard).unwrap();
            let out = String::from_utf8(heard.stdout).unwrap();
            assert!(out == format!("fed[{value}]a'b"), "{only:?} {}", &out[..out.len().min(99)]);
            assert_eq!(ended.code, 3);
        }
        let killed = place.parts(&[text(": "), word("x"), text("; kill -9 $$; echo still")]);
        assert_eq!(
            (killed.code(), killed.out(), killed.err()),
            (137, String::new(), String::new())
        );
        let moved = place.parts(&[text(": $$; cd "), word("/"), text(" && ls /proc/self/fd")]);
        let (found, given) = (numbers(&moved.out()), inherited());
        assert!(found.is_subset(&given), "{only:?}: {found:?} of {given:?}");
        assert_eq!(moved.ended.unwrap().directory.unwrap().to_str(), Some("/"));
        let pasted = place.parts(&[text("printf %s "), ScriptPart::Raw(Secret::new("a; echo $$"))]);
        assert!(pasted.out().starts_with('a') && pasted.code() == 0, "{}", pasted.err());
    }
}
