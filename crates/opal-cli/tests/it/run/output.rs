//! What comes out of steps: live, untouched, and without any secret.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use super::main_of;
use crate::support::{Opal, binary};

#[test]
fn bytes_that_are_no_text_come_through() {
    let opal =
        Opal::machine("fun main() {\n    printf '\\377\\000\\200x'\n}\n").args(["main", "-q"]);
    let output = opal.command().output().unwrap();
    assert_eq!(output.stdout, [0xff, 0, 0x80, b'x']);
}

#[test]
fn output_is_live() {
    let opal = Opal::machine("fun main() {\n    echo first; read -r line; echo \"got $line\"\n}\n");
    let opal = opal.args(["main", "-q"]);
    let mut child = opal.command().stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"more\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "got more");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_goes_away_ends_the_step_as_it_ends_any_program() {
    let text = "fun main() {\n    try { yes } finally { touch cleaned }\n}\n";
    let opal = Opal::machine(text).args(["main", "-q"]);
    let mut child = opal.command().spawn().unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(141));
    assert!(opal.path().join("cleaned").exists());
}

#[test]
fn what_is_closed_at_the_start_is_never_a_file_of_opals() {
    let text = "fun main() {\n    echo out; echo err >&2; cat\n}\n";
    for closing in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let opal = Opal::machine(text).args(["main", "--events", "told"]);
        let closed = format!("exec \"$0\" \"$@\" {closing}");
        let words = ["/bin/sh".as_ref(), "-c".as_ref(), OsStr::new(&closed), binary().as_os_str()];
        let output = opal.started_by(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{closing} {output:?}");
        let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
        assert!(opal.read("told").lines().all(is_json), "{closing}");
        assert_eq!(opal.read("commands.opl"), text, "{closing}");
        let opal = opal.args(Vec::<String>::new());
        opal.call(&["runs", "show", "--json"]).code(0).says("\"executed\"");
    }
}

#[test]
fn much_output_comes_through_whole_and_is_kept_in_part() {
    let ran = main_of("fun main() = seq 1 2000000\n");
    ran.code(0);
    assert_eq!(ran.stdout.lines().count(), 2_000_000);
}

#[test]
fn no_value_is_seen_in_any_of_its_forms() {
    let secret = "canary \"4711\" & 100% sure";
    let text = "fun main() {\n    printf '%s\\n' @env.API_TOKEN\n    \
                printf '%s\\n' @env.API_TOKEN | base64\n    \
                printf '%s' @env.API_TOKEN | od -An -tx1\n    \
                printf '%q\\n' @env.API_TOKEN\n    \
                printf '%s' @env.API_TOKEN | python3 -c 'import sys, json; print(json.dumps(sys.stdin.read()))'\n    \
                python3 -c 'import sys, time; [(sys.stdout.write(c), sys.stdout.flush()) for c in sys.argv[1]]' @env.API_TOKEN\n    \
                sh -c 'echo \"$0\" >&2; exit 3' @env.API_TOKEN\n}\n";
    let opal = Opal::machine(text).env("API_TOKEN", secret).args(["main", "-v"]);
    let ran = opal.run();
    ran.code(3).hides("4711").hides("Y2FuYXJ5").hides("63 61 6e 61").says("<25:sha256:");
    let mut kept = String::new();
    let mut open = vec![opal.path().join("home/.opal/logs")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                kept.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
            }
        }
    }
    assert!(kept.contains("<25:sha256:"), "{kept}");
    for leak in ["4711", "Y2FuYXJ5", "63 61 6e 61"] {
        assert!(!kept.contains(leak), "{leak} in {kept}");
    }
}

#[test]
fn a_direct_run_goes_on_without_its_record_unless_it_needs_one() {
    let opal = Opal::machine("fun main() = touch ran\n").file("blocked", "");
    let ran = opal.call(&["main", "--root", "blocked", "--sync"]);
    ran.code(74).says("nothing was run").says("--no-record");
    assert!(!opal.path().join("ran").exists());
    opal.call(&["main", "--root", "blocked"]).code(0).says("this run has no record");
    assert!(opal.path().join("ran").exists());
    opal.call(&["main", "--root", "blocked", "--no-record"]).code(0).hides("no record");
}

/// The arguments of a program can be seen by everybody on the machine.
#[test]
fn echo_with_a_value_is_the_one_of_the_shell_and_not_a_program() {
    use std::os::unix::fs::PermissionsExt as _;
    let source = "var T = @env.LETTERS\n\nfun main() {\n    echo @var.T\n}\n";
    let opal =
        Opal::machine(source).file("bin/echo", "#!/bin/sh\nprintf 'a program: %s\\n' \"$@\"\n");
    let program = opal.path().join("bin/echo");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", opal.path().join("bin").display());
    let ran = opal.env("LETTERS", "a-value").env("PATH", &path).call(&["main"]);
    ran.code(0).stdout("a-value\n");
}
