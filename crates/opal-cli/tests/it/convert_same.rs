//! A converted task does what it did in the other tool: what both write is compared, where that tool
//! is installed; the expected text was written by it in any case.

use std::process::Command;

use crate::support::Opal;

/// A task, its arguments, and the lines that it writes to `log`; `HERE` is the directory of the file.
struct Run<'r> {
    call: &'r [&'r str],
    env: &'r [(&'r str, &'r str)],
    log: &'r str,
}

fn run<'r>(call: &'r [&'r str], log: &'r str) -> Run<'r> {
    Run { call, env: &[], log }
}

/// Converts the first file, and runs tasks of it in both tools.
#[track_caller]
fn assert_same(tool: &str, files: &[(&str, &str)], runs: &[Run<'_>]) -> Opal {
    let mut opal = Opal::machine("");
    for (name, text) in files {
        opal = opal.file(name, text);
    }
    let name = files[0].0;
    let converted = opal.call(&["convert", name, "-o", "commands.opl", "--force"]);
    converted.says("0 omitted");
    opal.call(&["check"]).code(0);
    opal.call(&["fmt", "--check", "commands.opl"]).code(0);
    let here = opal.path().canonicalize().unwrap();
    let here = here.to_str().unwrap();
    let log = |opal: &Opal| opal.read("log").replace(here, "HERE");
    for Run { call, env, log: expected } in runs {
        opal.write("log", "");
        if other_tool(tool, &opal, call, env) {
            assert_eq!(log(&opal), *expected, "{tool} {call:?}");
            opal.write("log", "");
        }
        let task = call[0].replace("::", "-").replace(':', "-");
        let rest = call[1..].iter().copied().skip_while(|it| *it == "--");
        let args: Vec<&str> = ["-q", "run", task.as_str()].into_iter().chain(rest).collect();
        opal.call_with(env, &args).code(0);
        assert_eq!(log(&opal), *expected, "{call:?}\n{}", opal.read("commands.opl"));
    }
    opal
}

/// Runs a task in the other tool; whether that is installed.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the other tool is a program")]
fn other_tool(tool: &str, opal: &Opal, call: &[&str], env: &[(&str, &str)]) -> bool {
    let mut command = Command::new(tool);
    command.args(call).current_dir(opal.path()).envs(env.iter().copied());
    match command.output() {
        Ok(ran) => {
            assert!(
                ran.status.success(),
                "{tool} {call:?}: {}",
                String::from_utf8_lossy(&ran.stderr)
            );
            true
        }
        Err(_) => false,
    }
}

#[test]
fn all_taskfiles_share_their_variables_and_their_environment() {
    let main = "version: '3'\nvars: {NAME: main, DOCS: docs, WHO: {sh: echo who}}\nenv: {LEVEL: debug}\nincludes:\n  \
                docs: ./docs\n  lib: {taskfile: ./lib, dir: lib, vars: {KIND: given, WORD: x}}\ntasks:\n  \
                a: 'echo \"{{.LEVEL}} $LEVEL {{.OWN}}\" >> log'\n  e: {dir: docs, vars: {AT: {sh: pwd -L}}, cmds: ['echo {{.AT}} >> ../log']}\n  \
                f: {dir: '{{.DOCS}}', vars: {AT: {sh: 'pwd; true'}}, cmds: ['echo {{.AT}} >> ../log']}\n";
    let docs = "version: '3'\nvars: {OWN: 'own-{{.NAME}}'}\ntasks:\n  \
                b: 'echo \"{{.NAME}} {{.WHO}} {{.OWN}} {{.LEVEL}} $LEVEL {{.TASKFILE_DIR}} {{.ROOT_DIR}}\" >> log'\n";
    let lib = "version: '3'\nvars: {KIND: '{{.KIND | default \"none\"}}', PLACE: {sh: pwd}}\ntasks:\n  \
               c: 'echo \"{{.KIND}} {{.WORD}} {{.PLACE}} {{.TASKFILE}}\" >> ../log'\n  \
               d:\n    dir: deep\n    vars: {AT: {sh: pwd -P}}\n    cmds: ['echo {{.AT}} >> ../../log']\n";
    // Task runs each command for a value once, wherever it is, so they are not the same.
    let files = [
        ("Taskfile.yml", main),
        ("docs/Taskfile.yml", docs),
        ("lib/Taskfile.yml", lib),
        ("lib/deep/x", ""),
    ];
    let outer = Run { call: &["a"], env: &[("LEVEL", "outer")], log: "debug outer own-main\n" };
    let runs = [
        run(&["a"], "debug debug own-main\n"),
        outer,
        run(&["docs:b"], "main who own-main debug debug HERE/docs HERE\n"),
        run(&["lib:c"], "given x HERE/lib HERE/lib/Taskfile.yml\n"),
        run(&["lib:d"], "HERE/lib/deep\n"),
        run(&["e"], "HERE/docs\n"),
        run(&["f"], "HERE\n"),
    ];
    assert_same("task", &files, &runs);
}

#[test]
fn called_tasks_get_what_is_after_the_dashes_and_an_empty_precondition_holds() {
    let main = "version: '3'\ntasks:\n  a: [{task: c}, {task: c, vars: {CLI_ARGS: one two}}]\n  \
                b:\n    deps: [c]\n    cmds: ['echo b >> log']\n  \
                c:\n    vars: {KIND: '{{.KIND | default \"k\"}}'}\n    cmds: ['echo {{.KIND}} {{.CLI_ARGS}} >> log']\n  \
                d:\n    vars: {X: yes}\n    preconditions:\n      - {sh: '{{if eq .X \"no\"}}false{{end}}', msg: no}\n    \
                cmds: ['echo d >> log']\n";
    let runs = [
        run(&["a"], "k\nk one two\n"),
        run(&["a", "--", "x", "y"], "k x y\nk one two\n"),
        run(&["b", "--", "x"], "k x\nb\n"),
        run(&["d"], "d\n"),
    ];
    assert_same("task", &[("Taskfile.yml", main)], &runs);
}

#[test]
fn internal_tasks_and_private_recipes_are_not_listed() {
    let main = "version: '3'\ntasks:\n  a: [{task: hidden}]\n  hidden: {internal: true, cmds: ['echo h >> log']}\n";
    let opal = assert_same("task", &[("Taskfile.yml", main)], &[run(&["a"], "h\n")]);
    opal.call(&["list"]).code(0).says("    a").hides("hidden");
    let main = "mod m\n[private]\nhidden:\n    echo h >> log\n_under: hidden m::_in\na: _under\n    echo a >> log\n";
    let module = "_in:\n    echo in >> log\n";
    let opal = assert_same(
        "just",
        &[("justfile", main), ("m.just", module)],
        &[run(&["a"], "h\nin\na\n")],
    );
    opal.call(&["list"]).code(0).says("    a").hides("hidden").hides("under").hides("in\n");
}

#[test]
fn functions_of_just_know_where_their_file_is() {
    let main = "mod m\nimport 'i/more.just'\nx := source_directory()\na:\n    echo {{x}} {{source_file()}} {{justfile()}} >> log\n";
    let module = "y := `pwd`\nb:\n    echo {{source_directory()}} {{module_directory()}} {{module_file()}} {{justfile_directory()}} {{y}} >> ../log\n";
    let more = "z := source_file()\nc:\n    echo {{source_directory()}} {{z}} {{module_directory()}} >> log\n";
    let files = [("justfile", main), ("m/mod.just", module), ("i/more.just", more)];
    let runs = [
        run(&["a"], "HERE HERE/justfile HERE/justfile\n"),
        run(&["m::b"], "HERE/m HERE/m HERE/m/mod.just HERE HERE/m\n"),
        run(&["c"], "HERE/i HERE/i/more.just HERE\n"),
    ];
    assert_same("just", &files, &runs);
}

#[test]
fn functions_of_just_write_words_in_other_ways() {
    let mut justfile = "s := 'hello World-foo_barBaz2Go HTTPServer a1B A1B'\nall t=s:\n".to_owned();
    let expected = [
        ("snakecase", "hello_world_foo_bar_baz2_go_http_server_a1_b_a1b"),
        ("kebabcase", "hello-world-foo-bar-baz2-go-http-server-a1-b-a1b"),
        ("shoutysnakecase", "HELLO_WORLD_FOO_BAR_BAZ2_GO_HTTP_SERVER_A1_B_A1B"),
        ("shoutykebabcase", "HELLO-WORLD-FOO-BAR-BAZ2-GO-HTTP-SERVER-A1-B-A1B"),
        ("titlecase", "Hello World Foo Bar Baz2 Go Http Server A1 B A1b"),
        ("uppercamelcase", "HelloWorldFooBarBaz2GoHttpServerA1BA1b"),
        ("lowercamelcase", "helloWorldFooBarBaz2GoHttpServerA1BA1b"),
        ("capitalize", "Hello world-foo_barbaz2go httpserver a1b a1b"),
    ];
    for (function, _) in expected {
        justfile.push_str(&format!("    echo \"{{{{{function}(t)}}}}\" >> log\n"));
    }
    let log: String = expected.iter().map(|(_, line)| format!("{line}\n")).collect();
    assert_same("just", &[("justfile", &justfile)], &[run(&["all"], &log)]);
}

#[test]
fn a_pattern_of_an_argument_is_checked() {
    let justfile = "[arg('n', pattern='\\d+|all', help='how many')]\na n:\n    echo {{n}} >> log\n";
    let opal = assert_same(
        "just",
        &[("justfile", justfile)],
        &[run(&["a", "12"], "12\n"), run(&["a", "all"], "all\n")],
    );
    opal.call(&["a", "12x"]).code(1).says("`n` must match `\\d+|all`");
    opal.call(&["a", "-h"]).says("how many");
    assert_eq!(opal.read("log"), "all\n");
}

#[test]
fn a_program_that_a_pipe_stops_does_not_fail() {
    let justfile = "x := `yes a | head -n 1`\na:\n    echo {{x}} >> log\n    yes b | head -n 1 >> log\n    \
                    printf 'c\\nd\\n' | grep -v . | wc -l | tr -d ' ' >> log\n";
    assert_same("just", &[("justfile", justfile)], &[run(&["a"], "a\nb\n0\n")]);
    let makefile = "X := $(shell yes a | head -n 1)\na:\n\techo $(X) >> log\n";
    assert_same("make", &[("Makefile", makefile)], &[run(&["a"], "a\n")]);
    let strict =
        "set shell := ['bash', '-o', 'pipefail', '-c']\na:\n    echo a | head -n 1 >> log\n";
    let opal = assert_same("just", &[("justfile", strict)], &[run(&["a"], "a\n")]);
    assert!(!opal.read("commands.opl").contains("pipefail"), "{}", opal.read("commands.opl"));
}

#[test]
fn a_canned_recipe_of_make_does_what_it_did() {
    let makefile = "define say\n\t@echo \"$(1) of $@\" >> log\n\t-@false\n\n\t@echo 'x y' | awk '{print $$2}' >> log\n\
                    \tcd / ; pwd >> $(CURDIR)/log\nendef\ndefine two =\n@echo one \\\n  two >> log\n$(call say,$(NAME))\n@pwd >> log\nendef\n\
                    NAME = me\na:\n\t$(call say,a b)\nb:\n\t@$(two)\n\techo end >> log\n";
    let said = |name: &str| format!("{name}\ny\n/\n");
    let (a, b) = (said("a b of a"), format!("one two\n{}HERE\nend\n", said("me of b")));
    assert_same("make", &[("Makefile", makefile)], &[run(&["a"], &a), run(&["b"], &b)]);
}

#[test]
fn commands_of_a_status_decide_whether_a_task_runs() {
    let main = "version: '3'\nincludes: {docs: {taskfile: ./docs, aliases: [d]}}\ntasks:\n  \
                a:\n    status: ['echo asked | tee -a asked', test -e made]\n    vars: {NAME: made}\n    \
                cmds: ['echo making {{.NAME}} >> log', {cmd: 'false', ignore_error: true}, 'cd docs && touch ../{{.NAME}}']\n  \
                b: {deps: [a], status: [test -e made, 'exit 1'], cmds: ['echo b >> log', 'pwd >> log']}\n  \
                c: {dir: docs, status: [test -e Taskfile.yml], cmds: ['echo never >> ../log']}\n  \
                d: {cmds: [{task: 'd:s'}]}\n";
    let docs = "version: '3'\ntasks: {serve: {aliases: [s], cmds: ['echo served >> log']}}\n";
    let files = [("Taskfile.yml", main), ("docs/Taskfile.yml", docs)];
    for (call, log) in [(["b"], "making made\nb\nHERE\n"), (["c"], ""), (["d"], "served\n")] {
        assert_fresh("task", &files, &call, log);
    }
}

/// The same, in a directory of its own for each tool.
#[track_caller]
fn assert_fresh(tool: &str, files: &[(&str, &str)], call: &[&str], expected: &str) {
    let opal = assert_same(tool, files, &[]);
    opal.write("log", "");
    let log = |opal: &Opal| {
        opal.read("log").replace(opal.path().canonicalize().unwrap().to_str().unwrap(), "HERE")
    };
    opal.call(&[&["-q", "run"], call].concat()).code(0);
    assert_eq!(log(&opal), expected, "{call:?}\n{}", opal.read("commands.opl"));
    let other = assert_same(tool, files, &[]);
    other.write("log", "");
    if other_tool(tool, &other, call, &[]) {
        assert_eq!(log(&other), expected, "{tool} {call:?}");
    }
}

#[test]
fn a_task_runs_where_no_source_matches() {
    let main = "version: '3'\ntasks:\n  a: {sources: ['src/*.go'], generates: [out], cmds: ['touch out; echo a >> log']}\n";
    assert_same("task", &[("Taskfile.yml", main)], &[run(&["a"], "a\n")]);
}

#[test]
fn an_error_when_make_starts_is_a_check_of_every_task() {
    let makefile = "include common.mk\nifeq ($(X),bad)\n$(error X is bad, see: $(X))\nendif\n.PHONY: a\na: b\n\techo a $(WORD) >> log\n";
    let common = "WORD := word\n.PHONY: b\nb:\n\techo b >> log\n";
    let opal = assert_same(
        "make",
        &[("Makefile", makefile), ("common.mk", common)],
        &[run(&["a"], "b\na word\n")],
    );
    opal.call_with(&[("X", "bad")], &["a"]).code(1).says("X is bad, see: bad");
    assert_eq!(opal.read("log"), "b\na word\n");
    opal.call(&["list"]).hides("checks");
}

#[test]
fn the_report_says_what_is_left() {
    let justfile = "a:\n    echo \"run just b\" # just a comment\nb:\n    cd x && just a\nc:\n    -echo c # why\n";
    let report = |name: &str, text: &str| {
        let opal = Opal::machine("").file(name, text);
        opal.call(&["convert", name]).stderr.clone()
    };
    let said = report("justfile", justfile);
    assert!(said.contains("exact   justfile:1: a\n"), "{said}");
    assert!(said.contains("adapted justfile:3: b: it still calls `just`\n"), "{said}");
    assert!(said.contains("exact   justfile:5: c\n"), "{said}");
    let said = report("justfile", "a:\n    -echo '\n    echo b\n");
    assert!(said.contains("the line `echo '` cannot be one step"), "{said}");
    let said = report("Makefile", "a:\n\t$(GO) build\n\techo make it\n");
    let expected = "`GO` is not defined in this file: it comes from the environment, and is pasted";
    assert!(said.contains(expected) && !said.contains("still calls"), "{said}");
}

#[test]
fn a_rest_parameter_with_a_default_is_one_argument() {
    let justfile = "a *args='':\n    printf '<%s>' x {{args}} \"{{args}}\" {{quote(args)}} >> log\n\
                    [positional-arguments]\nb *args='':\n    printf '<%s>' \"$@\" >> log\n    echo $# >> log\n\
                    [positional-arguments]\nc *args='d e':\n    printf '<%s>' \"$@\" {{args}} >> log\n\
                    [positional-arguments]\nd *args:\n    echo $# >> log\n\
                    e *args='': (b args) (f args 'z')\nf x y:\n    printf '<%s>' \"{{x}}\" {{y}} >> log\n";
    let runs = [
        run(&["a"], "<x><><>"),
        run(&["a", "one", "two"], "<x><one><two><one two><one two>"),
        run(&["b"], "<>1\n"),
        run(&["b", "one", "two three"], "<one><two three>2\n"),
        run(&["c"], "<d e><d><e>"),
        run(&["c", "one"], "<one><one>"),
        run(&["d"], "0\n"),
        run(&["e"], "<>1\n<><z>"),
        run(&["e", "one", "two"], "<one two>1\n<one two><z>"),
    ];
    assert_same("just", &[("justfile", justfile)], &runs);
}
