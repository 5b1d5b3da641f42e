//! Values that a program could take for an option, a setting or a command: either they are refused,
//! or nothing of them runs.

use opal_core::Data;
use opal_core::context::Context;
use opal_core::resolver::{ScriptPart, TroubleKind};

use super::places::parts;
use crate::session::support::{Only, Place};

/// Where a value came from.
type Origin = fn(Context) -> Context;

/// From the world, and allowed to begin with `-`.
const DASHED: Origin = |context| context.dash(true);
const WORLD: Origin = |context| context;
const GIVEN: Origin = Context::given;
const SOURCE: Origin = Context::constant;

fn list(words: &[&str]) -> Data {
    Data::Array(words.iter().map(|word| Data::text(*word)).collect())
}

/// Whether it is refused; if not, it has run.
fn is_refused(place: &Place, line: &str, value: &Data, origin: Origin) -> bool {
    let parts: Vec<ScriptPart> = parts(line, value)
        .into_iter()
        .map(|part| match part {
            ScriptPart::Data(data, context) => ScriptPart::Data(data, origin(context)),
            part => part,
        })
        .collect();
    match place.parts(&parts).ended {
        Err(trouble) => {
            assert_eq!(trouble.kind, TroubleKind::Invalid, "{line} {trouble:?}");
            true
        }
        Ok(_) => false,
    }
}

#[track_caller]
fn assert_all(lines: &[&str], values: &[&[&str]], origins: &[Origin], refused: bool) {
    let place = Place::new(Only::Bash);
    let mut wrong = Vec::new();
    for line in lines {
        for words in values {
            for (number, origin) in origins.iter().enumerate() {
                let mut forms = vec![list(words)];
                forms.extend(words.first().filter(|_| words.len() == 1).map(|it| Data::text(*it)));
                for value in &forms {
                    if is_refused(&place, line, value, *origin) != refused {
                        wrong.push(format!("{line} with {words:?}, origin {number}"));
                    }
                    let pwned = place.path().join("pwned").exists();
                    assert!(!pwned, "{line} with {words:?}, origin {number}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Programs that run another command, with and without `--`.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "command", "command --", "builtin", "exec", "exec --", "exec -a x", "jobs -x", "env", "env --", "env -i", "env A=b", "nohup",
    "nohup --", "nice", "nice --", "nice -n 5", "setsid --", "setsid -w", "timeout 5", "timeout -- 5", "xargs", "xargs --",
    "stdbuf -oL --", "flock lock", "flock -- lock", "unshare --", "setpriv --", "setpriv --reuid 0 --", "ionice --", "taskset -- 1",
    "chrt -- 1", "prlimit --", "runuser -u root --", "nsenter --", "sudo", "sudo --", "sudo -u root", "doas", "time", "chroot /",
    "xargs -n 1", "command env", "sudo nice -n 5 timeout 5", "@env.Y", "docker exec app", "kubectl exec pod --", "setarch linux64",
];

#[test]
fn a_list_that_names_the_command_of_a_wrapper_is_read_as_a_command() {
    let lines: Vec<String> = WRAPPERS.iter().map(|it| format!("{it} @var.x")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let values: &[&[&str]] = &[
        &["bash", "-c", "touch pwned"],
        &["/bin/bash", "-ec", "touch pwned"],
        &["env", "bash", "-c", "touch pwned"],
        &["env", "-S", "bash -c 'touch pwned'"],
        &["sudo", "bash", "-c", "touch pwned"],
        &["timeout", "5", "bash", "-c", "touch pwned"],
        &["su", "-c", "touch pwned"],
    ];
    assert_all(&lines, values, &[WORLD, DASHED, GIVEN], true);
    let builtins =
        ["command @var.x", "builtin @var.x", "jobs -x @var.x", "@var.x", "command -- @var.x"];
    let values: &[&[&str]] = &[
        &["eval", "touch pwned"],
        &["eval", "touch${IFS}pwned"],
        &["printf", "-v", "a[$(touch pwned)]", "x"],
        &["test", "-v", "a[$(touch pwned)]"],
        &["trap", "touch pwned", "EXIT"],
        &["declare", "-a", "a=($(touch pwned))"],
        &["read", "a[$(touch pwned)]"],
    ];
    assert_all(&builtins, values, &[WORLD, DASHED, GIVEN], true);
}

/// Commands, and values that would be code in them.
const CODE: &[(&[&str], &[&[&str]])] = &[
    (
        &[
            "su @var.x",
            "su root -- @var.x",
            "su root @var.x",
            "runuser root -- @var.x",
            "su - -- @var.x",
        ],
        &[&["-c", "touch pwned"], &["-ctouch pwned"], &["--command=touch pwned"], &["-c"]],
    ),
    (
        &[
            "env @var.x bash -c true",
            "env -- @var.x bash -c true",
            "env A=b @var.x bash -c true",
            "sudo @var.x true",
            "doas @var.x true",
        ],
        &[
            &["BASH_ENV=./evil"],
            &["A=b", "BASH_ENV=./evil"],
            &["LD_PRELOAD=./evil.so"],
            &["PATH=."],
        ],
    ),
    (
        &["env @var.x", "env -i @var.x"],
        &[
            &["-Stouch pwned"],
            &["-S", "touch pwned"],
            &["--split-string=touch pwned"],
            &["-iStouch pwned"],
        ],
    ),
    (
        &["printf @var.x hello", "printf @var.x", "printf \"@var.x\" hello"],
        &[&["-va[$(touch pwned)]"]],
    ),
    (&["printf @var.x"], &[&["-v", "a[$(touch pwned)]", "x"]]),
    (
        &["test @var.x", "[ @var.x ]", "test -- @var.x", "test a -o @var.x"],
        &[
            &["x", "-o", "-v", "a[$(touch pwned)]"],
            &["-v", "a[$(touch pwned)]"],
            &["-R", "a[$(touch pwned)]"],
            &["-v"],
        ],
    ),
    (
        &[
            "bash @var.x",
            "bash -x @var.x",
            "docker exec app bash @var.x",
            "bash @env.Y @var.x",
            "sudo bash @var.x",
        ],
        &[&["-c", "touch pwned"], &["-c"], &["-ec", "touch pwned"], &["-xc"]],
    ),
    (&["bash @var.x @var.y"], &[&["-c"]]),
    (&["wait @var.x"], &[&["-pa[$(touch pwned)]"], &["-n", "-p", "a[$(touch pwned)]"]]),
    (
        &["flock lock @var.x", "flock @var.x"],
        &[&["-c", "touch pwned"], &["lock", "-c", "touch pwned"]],
    ),
    (&["script @var.x"], &[&["-ctouch pwned"], &["log", "-c", "touch pwned"]]),
    (&["ssh @var.x"], &[&["host", "touch pwned"]]),
    (&["hash @var.x ls"], &[&["-p", "./evil"]]),
    (&["sudo @var.x echo @var.y"], &[&["-s"], &["-i"], &["-iu"]]),
    (&["env -u @var.x bash -c true", "ssh -p @var.x host"], &[&["A", "BASH_ENV=./evil"]]),
    (&["su -g @var.x root", "su -g @var.x"], &[&["root", "-c", "touch pwned"]]),
    (&["git -C @var.x"], &[&[".", "-c", "alias.x=!touch pwned", "x"]]),
];

/// Words of a user's shell, settings, and options whose value is code.
#[test]
fn a_value_chooses_no_option_and_no_setting_that_is_code() {
    for (lines, values) in CODE {
        assert_all(lines, values, &[WORLD, DASHED, GIVEN], true);
    }
}

/// A program that is not a shell may run what an option says: who gives the value may not choose it,
/// unless the source allows options.
#[test]
fn a_value_chooses_an_option_that_a_program_runs_only_where_the_source_allows_options() {
    let table: &[(&str, &[&str])] = &[
        ("ssh @var.x uptime", &["-oProxyCommand=touch pwned"]),
        ("ssh @var.x host uptime", &["-o", "ProxyCommand=touch pwned"]),
        ("git @var.x x", &["-c", "alias.x=!touch pwned"]),
        ("tar @var.x -cf a b", &["-I", "touch pwned"]),
        ("tar -cf a @var.x", &["--use-compress-program=touch pwned"]),
        ("perl @var.x f", &["-e", "1"]),
        ("env @var.x git fetch", &["GIT_SSH_COMMAND=touch pwned"]),
    ];
    for (line, words) in table {
        let place = Place::new(Only::None);
        for origin in [WORLD, GIVEN] {
            assert!(is_refused(&place, line, &list(words), origin), "{line} {words:?}");
        }
        let is_admitted = |origin: Origin| {
            parts(line, &list(words)).iter().all(|part| match part {
                ScriptPart::Data(data, context) => {
                    opal_core::script::admit(origin(*context), data).is_ok()
                }
                _ => true,
            })
        };
        assert!(is_admitted(DASHED) && is_admitted(SOURCE), "{line} {words:?}");
    }
}

/// What is data stays allowed: false refusals are faults too.
#[test]
fn words_that_are_data_are_allowed() {
    let dashed: &[(&str, &[&str])] = &[
        ("ls @var.x", &["-la", "."]),
        ("printf @var.x", &["%s", "a"]),
        ("printf %s @var.x", &["-v", "a"]),
        ("test @var.x", &["-n", "a"]),
        ("[ @var.x ]", &["a", "=", "a"]),
        ("env @var.x printenv A", &["A=b"]),
        ("env @var.x", &["-u", "A", "printenv", "PATH"]),
        ("command @var.x", &["ls", "-la"]),
        ("command @var.x", &["printf", "%s", "$(touch pwned)"]),
        ("@var.x", &["echo", "eval", "touch pwned"]),
        ("nohup @var.x", &["bash", "-x", "nosuch"]),
        ("bash nosuch @var.x", &["-c", "touch pwned"]),
        ("bash -c 'echo \"$1\"' _ @var.x", &["-c", "touch pwned"]),
        ("cat -- @var.x", &["bash", "sudo"]),
        ("timeout @var.x ls", &["-k", "5", "5"]),
        ("sort @var.x", &["-r", "/dev/null"]),
        ("git @var.x", &["log", "--oneline"]),
        ("cargo test @var.x", &["--release", "name"]),
        ("ssh @var.x", &["-p", "22", "host"]),
        ("env FOO_@var.x=y printenv", &["a"]),
        ("sudo @var.x/tool a", &["/opt/a"]),
    ];
    let place = Place::new(Only::Bash);
    for (line, words) in dashed {
        for origin in [DASHED, GIVEN, SOURCE] {
            let value = if words.len() == 1 { Data::text(words[0]) } else { list(words) };
            assert!(!is_refused(&place, line, &value, origin), "{line} {words:?}");
            assert!(!place.path().join("pwned").exists(), "{line} {words:?}");
        }
    }
    // The source may say everything.
    for line in ["command @var.x", "env -- @var.x", "@var.x"] {
        let place = Place::new(Only::Bash);
        let code = list(&["bash", "-c", "touch pwned"]);
        assert!(!is_refused(&place, line, &code, SOURCE), "{line}");
        assert!(place.path().join("pwned").exists(), "{line}");
    }
}
