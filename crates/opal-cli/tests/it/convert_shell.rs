//! A converted command does in opal's bash what it did in the shell of the other tool: an exact one
//! prints the same and ends in the same way, and what bash reads in another way is never exact.

use std::process::{Command, Output, Stdio};

use opal_testing::needs;

use crate::support::Opal;

/// Commands that mean the same in `sh` and in opal, as they are or as they are converted.
const EXACT: [&str; 86] = [
    "echo src/{js,css} {1..3} {a} {} x{,y} {a..c} {1..9..2} {1..b}",
    "echo a{b,c}d{1..2} {a,b}{c,d} {a,{b,c}}",
    r#"echo {a,"b c"} {$HOME,x} \{e,f\} "{c,d}" 'it''s {a,b}'"#,
    r#"echo {"a":1,"b":2} héllo{é,x} \\{a,b}"#,
    "for i in {1..3} a{b,c}; do echo $i{x,y}; done",
    "if [ -f one ]; then echo {y,z}; else echo no; fi",
    "true && { echo {a,b}; }; ! [ a = b ] && echo {c,d}",
    "echo $(echo {a,b}) `echo {c,d}` \"$(echo {e,f})\" \"`echo {g,h}`\"",
    "x={a,b}; echo $x ${y:-{a,b}} ${y-c,d}",
    "mkdir -p d/{x,y}; ls d",
    "echo a > out{1,2}.txt; ls",
    "exec echo {a,b}",
    "case x in {x,y}) echo brace;; *) echo no;; esac",
    "case ab in [^x]b) echo neg;; *) echo no;; esac",
    "echo [^x]* [!x]*",
    "find . -name one -exec echo {} \\;",
    "echo A=~/x --p=~/x X=a:~/b; export Y=~/z; echo $Y",
    "env A=~/b printenv A",
    "echo ~+ ~-",
    r#"echo "a\nb" 'c\td' "e\\nf" g\nh i\\nj"#,
    r#"echo "\033[1mx\033[0m" "\e[1my""#,
    r#"echo "\e[1m" '\x41' '\033a'"#,
    r#"echo '\x41' "\u0041""#,
    r#"echo 'a\cb'"#,
    r#"echo -n "a\n"; echo -n b; echo c"#,
    r#"echo "$HOME\n" "${x:-a\nb}""#,
    r#"for l in a; do echo "$l\n"; done"#,
    r#"echo "say \"hi\" \$HOME \`x\`""#,
    r#"echo 'a\' b"#,
    r#"command echo "a\nb""#,
    r#"printf '%s\n' "a\tb" 'c\td'; printf 'a\tb\n\033[1m%s\n' x"#,
    r#"awk 'BEGIN { print "a,b"; x["{a,b}"] = 1; $1 = "[[ source" }'"#,
    "echo a | sed 's/\\(a\\)/\\1{2,3}/'",
    "echo x # [[ source {a,b} <(c)",
    "cat <<E\n[[ {a,b} $HOME $(echo {c,d}) source\nE",
    "cat <<'E'\n[[ {a,b} $HOME $(echo {c,d}) `x`\nE",
    "eval 'echo {a,b}'; eval 'echo hi'",
    "sh -c 'echo {a,b}'; bash -c 'echo {a,b}'",
    ". ./nosuch || echo fallback",
    ". ./nosuch; echo more",
    ". ./script && echo $FROM_SCRIPT",
    "X=1 :; echo $X",
    "X=1 printenv X; X=2; echo $X",
    "b='x y'; export a=$b; readonly c=$b; echo \"$a\" \"$c\"",
    "f() { local a=$1; echo \"$a\"; }; f 'x y'",
    "type ls; type nosuch 2>/dev/null || echo none",
    "command -v ls > /dev/null && echo there",
    "ulimit -u 2>/dev/null || echo none",
    "shift 2; echo after",
    "set -- a b; echo $# $1",
    "set -eu; echo hi; false; echo no",
    "trap 'echo bye' EXIT; echo hi",
    "echo a > out 2>&1; cat out; echo b >&2; echo c 2>&1 >&2",
    "exec 3>&1; echo hi >&3; exec 3>&-",
    "echo $((0x10)) $((010)) $((1 + 2 * 3)) $((5 > 3 ? 1 : 2))",
    "x=abc.d; echo ${#x} ${x%.d} ${x##a} ${x:-y} ${x:+z} ${z:=w} $#",
    "[ a = a -a -n x ] && [ a != b ] && test 1 -lt 2 && echo ok",
    "[ a \\< b ]; echo $?",
    "read -p 'x? ' v < /dev/null; echo $?",
    "echo 'a b' | { read -r x y; echo \"$y $x\"; }",
    "( (echo a); echo b )",
    "( cd / && pwd ); false; echo x",
    "false && true; echo x",
    "false | true; echo piped",
    "while false; do :; done; echo w",
    "f() { false; echo f; }; f",
    "x=$(false; echo inner); echo \"$x\"",
    "exit 3",
    "exit 256",
    "false",
    "ls *.nomatch 2>/dev/null || echo none",
    "umask 022; umask -S",
    "sleep 0 & wait; echo $?",
    "unset -v nope; echo $?",
    "getopts ab v; echo $?",
    "echo $UNSET_VARIABLE; echo after",
    "echo \"${UNSET_VARIABLE:-d}\" \"${UNSET_VARIABLE}\"",
    "echo $1",
    "x=1; echo $x ${x%1}",
    "kill -0 $$ && kill -s TERM $$",
    "echo \"it's\" 'a \"b\"' \"c 'd'\"",
    "printf '%d\\n' \"'a\"",
    "[ -n \"$HOME\" ] && echo \"home is ${HOME##*/}\" | tr a-z A-Z",
    "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); printf '%s ' $i; done; echo",
    "echo one two | (read a b; echo $b)",
    "echo a; echo b && echo c || echo d",
];

/// Commands that work in bash, and not in `sh`, with what the report calls them.
const ADAPTED: [(&str, &str); 47] = [
    ("[[ a < b && abc =~ ^a(.){1,2}c$ ]] && echo {x,y}", "`[[`"),
    ("echo $'a\\nb'", "`$'…'`"),
    ("echo $\"a\"", "`$\"…\"`"),
    ("cat <(echo hi)", "`<(…)`"),
    ("echo hi > >(cat)", "`<(…)`"),
    ("source ./script", "`source`"),
    (". script", "`. FILE` without a `/`"),
    ("function f { echo hi; }; f", "`function`"),
    ("a-b() { echo hi; }; a-b", "a function name"),
    ("echo a &> out", "`&>`"),
    ("echo a &>> out", "`&>>`"),
    ("echo a >& out", "`>& FILE`"),
    ("echo a |& cat", "`|&`"),
    ("a=(1 2 3); echo ${a[@]}", "arrays"),
    ("a[0]=1; echo $a", "arrays"),
    ("x=1; x+=2; echo $x", "`x+=…`"),
    ("read -r a b <<< 'x y z'; echo $b", "`<<<`"),
    ("((x=1)); echo $x", "`((…))`"),
    ("for ((i=0;i<2;i++)); do echo $i; done", "`((…))`"),
    ("echo -e 'a\\tb'", "`echo -e`"),
    ("echo -ne a", "`echo -ne`"),
    ("x=abc; echo ${x:0:2}", "`${x:1:2}`"),
    ("x=abc; echo ${x//b/z}", "`${x/a/b}`"),
    ("x=abc; echo ${x^^}", "`${x^^}`"),
    ("y=x; x=1; echo ${!y}", "`${!x}`"),
    ("time true", "`time`"),
    ("let x=1; echo $x", "`let`"),
    ("declare x=1; echo $x", "`declare`"),
    ("[ a == a ] && echo eq", "`==` in `[`"),
    ("test -v HOME && echo v", "`-v` in `test`"),
    ("printf '%q\\n' 'a b'", "`%q` in `printf`"),
    ("printf 'a\\x41\\n'", "`\\x` in `printf`"),
    ("type -t ls", "`type -t`"),
    ("read -s -n 1 x < /dev/null", "`read -s`"),
    ("set -o pipefail; echo a", "`set -o pipefail`"),
    ("set -euo pipefail; echo a", "`set -o pipefail`"),
    ("echo $RANDOM", "`$RANDOM`"),
    ("echo $UID", "`$UID`"),
    ("trap 'echo err' ERR; false", "`trap … ERR`"),
    ("trap 'echo x' SIGINT; echo $?", "`trap … SIGINT`"),
    ("echo $((2**3))", "`**` in `$((…))`"),
    ("x=1; echo $((x++))", "`++` in `$((…))`"),
    ("echo $[1+1]", "`$[…]`"),
    ("pushd / > /dev/null", "`pushd`"),
    ("case ab in a*) echo 1;;& *b) echo 2;; esac", "`;;&`"),
    ("echo \"$(< one)\"", "`$(<FILE)`"),
    ("echo a 10> /dev/null", "`10>`"),
];

/// A directory with a file for patterns and one to read.
fn machine() -> Opal {
    Opal::machine("").file("one", "1\n").file("^x", "").file("script", "FROM_SCRIPT=yes\n")
}

fn name(index: usize) -> String {
    format!("r{index}")
}

/// Lines of a recipe.
fn indented(text: &str, indent: &str) -> String {
    text.lines().map(|line| format!("{indent}{line}\n")).collect()
}

/// Runs a program in the directory as opal runs its steps: without input.
#[expect(clippy::disallowed_methods, reason = "the other shell is a program")]
fn other(opal: &Opal, program: &str, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(opal.path()).stdin(Stdio::null()).env("HOME", "/home/me");
    command.env_remove("OLDPWD").output().unwrap()
}

/// Converts a file, and compares every task that is exact with what `run` does; the lines of the report.
#[track_caller]
fn compare(
    file: &str,
    text: &str,
    texts: &[&str],
    run: &dyn Fn(&Opal, &str, &str) -> Output,
) -> Vec<String> {
    let opal = machine().file(file, text).env("HOME", "/home/me");
    let converted = opal.call(&["convert", file, "-o", "commands.opl", "--inline", "--force"]);
    converted.says("0 omitted");
    opal.call(&["check"]).code(0);
    let mut lines = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let task = name(index);
        let mut report = converted.stderr.lines();
        let is_it = |line: &&str| {
            let rest = line.split_once(": ").map_or("", |(_, rest)| rest);
            rest == task || rest.starts_with(&format!("{task}: "))
        };
        let line = report.find(is_it).unwrap_or_else(|| panic!("{task} in {}", converted.stderr));
        lines.push(line.to_owned());
        if !line.starts_with("exact") {
            continue;
        }
        // Each in a directory of its own: some write files.
        let (theirs, ours) =
            (machine().file(file, opal.read(file)), machine().file(file, opal.read(file)));
        let ours = ours.file("commands.opl", opal.read("commands.opl")).env("HOME", "/home/me");
        let theirs = run(&theirs, &task, text);
        let ours = ours.call(&["-q", "run", &task]);
        let shown = opal.read("commands.opl");
        let shown = shown.split(&format!("fun {task}(")).nth(1).unwrap_or_default();
        let shown = shown.split("\nfun ").next().unwrap_or_default();
        assert_eq!(
            (ours.stdout.as_str(), ours.code == 0),
            (&*String::from_utf8_lossy(&theirs.stdout), theirs.status.success()),
            "{text}\n{shown}\n{}",
            String::from_utf8_lossy(&theirs.stderr)
        );
    }
    lines
}

#[track_caller]
fn assert_all_exact(lines: &[String], texts: &[&str]) {
    for (line, text) in lines.iter().zip(texts) {
        assert!(line.starts_with("exact"), "{text}: {line}");
    }
}

fn justfile(texts: &[&str]) -> String {
    let recipe = |(index, text): (usize, &&str)| {
        // Lines of a heredoc are lines of one shell only in a script.
        let body = indented(&text.replace("{{", "{{{{"), "    ");
        match text.contains('\n') {
            true => format!("{}:\n    #!/usr/bin/env -S sh -u\n{body}", name(index)),
            false => format!("{}:\n{body}", name(index)),
        }
    };
    texts.iter().enumerate().map(recipe).collect()
}

#[test]
fn commands_of_just_do_what_dash_does() {
    if !needs::program("dash") {
        return;
    }
    let run = |opal: &Opal, _: &str, text: &str| other(opal, "dash", &["-cu", text]);
    let lines = compare("justfile", &justfile(&EXACT), &EXACT, &run);
    assert_all_exact(&lines, &EXACT);
}

#[test]
fn what_only_bash_reads_is_adapted_with_its_name() {
    let texts: Vec<&str> = ADAPTED.iter().map(|it| it.0).collect();
    let never = |_: &Opal, _: &str, text: &str| -> Output { panic!("`{text}` is exact") };
    let scripts: serde_json::Map<String, serde_json::Value> =
        texts.iter().enumerate().map(|(index, it)| (name(index), (*it).into())).collect();
    let package = serde_json::json!({ "scripts": scripts }).to_string();
    for (file, text) in [("justfile", justfile(&texts)), ("package.json", package)] {
        let lines = compare(file, &text, &texts, &never);
        for (line, (text, what)) in lines.iter().zip(ADAPTED) {
            let said = format!("it uses {what}");
            assert!(line.starts_with("adapted") && line.contains(&said), "{text}: {line}");
            assert!(line.contains("a plain sh "), "{text}: {line}");
        }
    }
}

#[test]
fn nothing_is_different_where_the_file_names_bash() {
    let texts: Vec<&str> = ADAPTED.iter().map(|it| it.0).collect();
    let run = |opal: &Opal, _: &str, text: &str| other(opal, "bash", &["-c", text]);
    // A random number is not the same each time, and nothing waits for `>(…)`.
    let is_steady = |it: &&str| !it.contains("RANDOM") && !it.contains(">(");
    let texts: Vec<&str> = texts.into_iter().filter(is_steady).collect();
    let just = |shell: &str| format!("set shell := [{shell}]\n{}", justfile(&texts));
    let make = |shell: &str| format!("SHELL := {shell}\n{}", makefile(&texts));
    assert_all_exact(&compare("justfile", &just("'bash', '-c'"), &texts, &run), &texts);
    assert_all_exact(&compare("Makefile", &make("bash"), &texts, &run), &texts);
    let others = [
        ("justfile", just("'/usr/bin/env', 'bash', '-c'")),
        ("Makefile", make("/bin/bash")),
        ("Makefile", make("/usr/bin/env bash")),
        ("Makefile", make("$(shell which bash)")),
    ];
    for (file, text) in others {
        let opal = machine().file(file, text);
        opal.call(&["convert", file]).code(0).says(" 0 adapted, 0 omitted");
    }
}

fn makefile(texts: &[&str]) -> String {
    let rule = |(index, text): (usize, &&str)| {
        format!(".PHONY: {0}\n{0}:\n\t@{1}\n", name(index), text.replace('$', "$$"))
    };
    texts.iter().enumerate().map(rule).collect()
}

/// Lines of a heredoc are lines of one shell nowhere in make.
fn lines_of_make() -> Vec<&'static str> {
    let all = EXACT.into_iter().chain(ADAPTED.map(|it| it.0));
    all.filter(|it| !it.contains('\n')).collect()
}

#[test]
fn commands_of_make_do_what_they_did() {
    let sh = std::path::Path::new("/bin/sh").canonicalize().unwrap();
    if !needs::program("make") || !needs::has("dash as `sh`", sh.ends_with("dash")) {
        return;
    }
    let texts = lines_of_make();
    let run = |opal: &Opal, task: &str, _: &str| other(opal, "make", &["-s", task]);
    let lines = compare("Makefile", &makefile(&texts), &texts, &run);
    for (line, text) in lines.iter().zip(&texts).filter(|(_, it)| EXACT.contains(it)) {
        assert!(line.starts_with("exact"), "{text}: {line}");
    }
    // make starts these without a shell, and the programs know what bash knows.
    let direct = ["echo -ne a", "echo -e 'a\\tb'", "printf 'a\\x41\\n'"];
    for (line, text) in lines.iter().zip(&texts) {
        let is_adapted = !EXACT.contains(text) && !direct.contains(text);
        assert!(!is_adapted || line.starts_with("adapted"), "{text}: {line}");
    }
}

#[test]
fn commands_of_npm_do_what_they_did() {
    if !needs::program("dash") {
        return;
    }
    // The arguments of the script follow the last word.
    let plain = |it: &&str| !it.ends_with([')', ';']) && !it.contains('#') && !it.contains('\n');
    let texts: Vec<&str> = EXACT.into_iter().filter(plain).collect();
    let scripts: serde_json::Map<String, serde_json::Value> =
        texts.iter().enumerate().map(|(index, it)| (name(index), (*it).into())).collect();
    let text = serde_json::json!({ "scripts": scripts }).to_string();
    let run = |opal: &Opal, _: &str, text: &str| other(opal, "dash", &["-c", text]);
    let lines = compare("package.json", &text, &texts, &run);
    let exact = lines.iter().filter(|it| it.starts_with("exact")).count();
    assert!(exact * 3 > texts.len() * 2, "{lines:#?}");
}

/// Commands of Task that mean the same in opal.
const TASK: [&str; 22] = [
    "false; echo x",
    "true; false || true; echo end",
    "for i in 1 2; do false; echo $i; done",
    "if true; then false; echo in; fi",
    "if false; then echo a; elif true; then echo b; else echo c; fi",
    "( false; echo sub )",
    "false | true; echo piped",
    "f() { false; echo f; }; f",
    "cd nosuch\necho there",
    "echo one\ncd /\npwd",
    "x=1; echo $x; [[ abc =~ ^a(.)c$ ]] && echo {a,b} ${BASH_REMATCH[1]}",
    "i=x; echo $i{a,b} ${i}{a,b}",
    "echo A=~/x ~+",
    "echo -e 'a\\tb' \"c\\nd\" $'e\\tf'",
    "a=(1 2 3); echo ${a[@]:1} ${#a[@]}",
    "cat <(echo hi); read -r a b <<< 'x y z'; echo $b",
    "((x=1)); echo $x $((2**3)) $((x++))",
    "x=abc; echo ${x:0:2} ${x//b/z} ${x^^}",
    "echo a &> out; cat out; echo b |& cat",
    "source ./script; echo $FROM_SCRIPT",
    "[ a == a ] && echo eq; test -v HOME && echo v",
    "echo {1..3} [^x]* $UNSET_VARIABLE",
];
/// Commands that the shell of Task refuses, or does in another way.
const NOT_TASK: [(&str, &str); 12] = [
    ("kill -0 1", "`kill`"),
    ("umask 022", "`umask`"),
    ("ulimit -n", "`ulimit`"),
    ("echo -ne a", "`echo -ne`"),
    ("printf '%q\\n' 'a b'", "`%q` in `printf`"),
    ("printf '%d\\n' \"'a\"", "`printf` of the number"),
    ("echo a 3>&1", "a redirection of other numbers"),
    ("trap 'echo x' SIGINT", "`trap … SIGINT`"),
    ("echo $SECONDS", "`$SECONDS`"),
    ("time true", "`time`"),
    ("x=a; echo ${x@Q}", "`${x@Q}`"),
    ("echo a | while read l; do z=$l; done; echo ${z:-none}", "a loop at the end of a pipe"),
];

fn taskfile(texts: &[&str]) -> String {
    let tasks: serde_json::Map<String, serde_json::Value> = texts
        .iter()
        .enumerate()
        .map(|(index, it)| (name(index), serde_json::json!({ "cmds": [it] })))
        .collect();
    serde_json::json!({ "version": "3", "silent": true, "tasks": tasks }).to_string()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "only starting it shows whether it is there")]
fn commands_of_task_do_what_they_did() {
    let has_task = Command::new("task").arg("--version").output().is_ok();
    let run = |opal: &Opal, task: &str, text: &str| match has_task {
        true => other(opal, "task", &[task]),
        // It stops at a failure, keeps `$x` and `{a,b}` apart, and reads some `~` as text.
        false => {
            let text = text.replace("$i{", "${i}{").replace("=~/", "=\\~/").replace(" ~+", " \\~+");
            other(opal, "bash", &["-ec", &text])
        }
    };
    let lines = compare("Taskfile.yml", &taskfile(&TASK), &TASK, &run);
    assert_all_exact(&lines, &TASK);
    let texts: Vec<&str> = NOT_TASK.iter().map(|it| it.0).collect();
    let lines = compare("Taskfile.yml", &taskfile(&texts), &texts, &run);
    for (line, (text, what)) in lines.iter().zip(NOT_TASK) {
        let said = format!("it uses {what}");
        assert!(line.starts_with("adapted") && line.contains(&said), "{text}: {line}");
    }
}

#[test]
fn a_value_in_a_command_stays_a_value() {
    let text = "n := '3'\nr0 x='one':\n    echo {{x}}{a,b} \"{{x}}\\n\" {1..{{n}}} {{{{a,b}}\n";
    let run = |opal: &Opal, _: &str, _: &str| {
        other(opal, "dash", &["-cu", "echo one{a,b} \"one\\n\" {1..3} {{a,b}}"])
    };
    let lines = compare("justfile", text, &["values"], &run);
    assert!(lines[0].starts_with("exact"), "{lines:?}");
}

#[test]
fn a_variable_that_needs_bash_is_said_at_the_tasks_that_use_it() {
    let justfile = "x := `echo {a,b}`\ny := `[[ a ]] && echo y`\nz := y + 'z'\na:\n    echo {{x}} > a.txt\nb:\n    echo {{z}}\n";
    let opal = Opal::machine("").file("justfile", justfile);
    let converted = opal.call(&["convert", "justfile", "-o", "commands.opl", "--force"]);
    converted.says("exact   justfile:4: a\n");
    converted.says("b: the variable `y`: it uses `[[` of bash; a plain sh does not have it\n");
    opal.call(&["-q", "run", "a"]).code(0);
    assert_eq!(opal.read("a.txt"), "{a,b}\n");
}
