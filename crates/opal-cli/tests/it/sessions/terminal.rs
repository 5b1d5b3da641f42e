//! Steps on a target that one sits in front of.

use std::path::Path;

use opal_testing::processes::eventually;
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::Person;
use crate::servers::servers;

fn on_web1(steps: &str) -> String {
    format!("fun task() {{\n    @ssh.host(\"web1\") {{\n        {steps}\n    }}\n}}\n")
}

#[test]
fn a_step_on_a_host_has_a_terminal_and_gets_what_is_typed() {
    let steps = "test -t 0 && test -t 1 && test -t 2\n        \
                 read -p na''me'? ' name; echo \"hello $name on $TERM\"\n        \
                 stty size; tty < /dev/tty > /dev/null\n        exit 7";
    let Some((_sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    let opal = opal.env("TERM", "xterm-256color").args(["task"]);
    let mut person = Person::before(opal);
    let before = tcgetattr(&person.own).unwrap().local_modes;
    person.sees("name? ").types(b"ann\x7fa\n");
    let (_, shown) = {
        person.sees("hello ana on xterm-256color\r\n").sees("24 80\r\n");
        let own = person.own.try_clone().unwrap();
        let (code, shown) = person.ends();
        assert_eq!(code, 7, "{shown}");
        // The terminal is as it was.
        assert_eq!(tcgetattr(&own).unwrap().local_modes, before);
        assert!(before.contains(LocalModes::ICANON));
        (code, shown)
    };
    assert!(!shown.contains("\x1b[?"), "{shown}");
}

#[test]
fn a_new_size_of_the_terminal_reaches_a_step_on_a_host() {
    let steps = "trap 'stty size' WINCH; echo be''gun; until test -e over; do sleep 0.05; done";
    let Some((sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    let mut person = Person::before(opal.args(["task"]));
    person.sees("begun");
    let size = Winsize { ws_row: 50, ws_col: 132, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&person.own, size).unwrap();
    // The terminal of the test controls nobody, so nobody is told by the system.
    opal_testing::processes::signal(&person.child, "WINCH");
    person.sees("50 132\r\n");
    std::fs::write(sshd.account().home.join("over"), "").unwrap();
    let (code, shown) = person.ends();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn ctrl_c_ends_a_step_on_a_host_and_the_run() {
    let steps = "sh -c 'trap \"touch heard; exit 1\" INT; echo $$ > pid; echo be\"\"gun; while :; do sleep 0.05; done'\n        \
                 echo not''reached";
    let Some((sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    let home = sshd.account().home.clone();
    let mut person = Person::before(opal.args(["task"]));
    person.sees("begun").types(b"\x03");
    let (code, shown) = person.ends();
    assert_eq!(code, 130, "{shown}");
    assert!(home.join("heard").exists() && !shown.contains("notreached"), "{shown}");
    let pid = std::fs::read_to_string(home.join("pid")).unwrap();
    eventually("it has ended", || !opal_testing::processes::is_alive(pid.trim()));
}

#[test]
fn a_program_on_a_host_that_takes_single_keys_gets_them_all() {
    let steps = "stty raw -echo; printf rea''dy; head -c 3 | cat -v; stty sane";
    let Some((_sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    let mut person = Person::before(opal.args(["task"]));
    person.sees("ready").types(b"\x03\x1aq").sees("^C^Zq");
    let (code, shown) = person.ends();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_full_screen_program_on_a_host_draws_and_takes_its_keys() {
    if !opal_testing::needs::has("`less`", Path::new("/usr/bin/less").exists()) {
        return;
    }
    let steps = "seq 200 | LESS= /usr/bin/less\n        echo left";
    let Some((_sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    let mut person = Person::before(opal.env("TERM", "xterm").args(["task"]));
    person.sees("\r\n23\r\n").types(b"q").sees("left\r\n");
    let (code, shown) = person.ends();
    assert!(code == 0 && !shown.contains("150"), "{shown}");
}

#[test]
fn what_a_host_writes_to_the_terminal_cannot_set_the_clipboard_or_ask_it_anything() {
    let steps = "printf 'a\\033]52;c;aGk=\\007b\\033]0;title\\007c\\033[6nd\\033[1mbold\\033[0m\\033[ce\\n'";
    let Some((_sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    let mut person = Person::before(opal.args(["task"]));
    person.sees("abcd\x1b[1mbold\x1b[0me\r\n");
    let (code, shown) = person.ends();
    // What opal prints itself begins with the text of the step, where nothing is a sequence.
    assert!(code == 0 && !shown.contains("\x1b]") && !shown.contains("\x1b[6n"), "{shown:?}");
}

#[test]
fn a_fleet_and_a_run_without_a_terminal_have_neither_keys_nor_a_terminal() {
    let source = "fun task() {\n    @ssh.hosts([\"web1\"]) {\n        test -t 0 || test -t 1 || echo no''ne\n        cat\n    }\n}\n";
    let Some((_sshd, opal)) = servers(&["web1"], source) else { return };
    let mut person = Person::before(opal.args(["task"]));
    person.sees("none");
    let (code, shown) = person.ends();
    assert_eq!(code, 0, "{shown}");
    let steps = "test -t 0 || test -t 1 || echo no''ne\n        cat";
    let Some((_sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    assert_eq!(opal.stdin("typed\n").call(&["task"]).code(0).stdout, "none\n");
}

#[test]
fn another_user_on_a_host_has_the_terminal_too() {
    let steps = "@as(\"root\") {\n            test -t 0; read -p wh''o'? ' who; echo \"$who is $(id -un)\"\n        }";
    let Some((sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    if !opal_testing::needs::has("sudo", Path::new("/usr/bin/sudo").exists()) {
        return;
    }
    let _rule = sshd.account().may_be_anyone();
    let mut person = Person::before(opal.args(["task"]));
    person.sees("who? ").types(b"it\n");
    let (code, shown) = person.ends();
    assert!(code == 0 && shown.contains("it is root\r\n"), "{shown}");
}

#[test]
fn what_is_typed_ahead_reaches_the_step_that_reads_it() {
    let steps = "until test -e typed; do sleep 0.05; done; read word; echo \"got-$word\"";
    let Some((sshd, opal)) = servers(&["web1"], &on_web1(steps)) else { return };
    let mut person = Person::before(opal.args(["task"]));
    // Opal says so before it starts the step.
    person.sees("until test -e").types(b"it\n");
    std::fs::write(sshd.account().home.join("typed"), "").unwrap();
    person.sees("got-it\r\n");
    assert_eq!(person.ends().0, 0);
}
