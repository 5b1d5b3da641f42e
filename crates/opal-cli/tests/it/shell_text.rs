//! Values never become code, as somebody sees it who runs opal.

use opal_core::script::INTERPRETED;

use crate::support::Opal;

/// Each runs `touch pwned` where a shell reads it again.
const HOSTILE: [&str; 4] =
    ["x$(touch pwned)", "a[$(touch pwned)]", "; touch pwned", "`touch pwned`"];

fn is_quiet(opal: &Opal) -> bool {
    !opal.path().join("pwned").exists()
}

/// The word after `>&` is expanded twice, also in a check that only looks.
#[test]
fn a_redirection_that_copies_a_descriptor_runs_nothing_in_any_command() {
    let source = "fun build() {\n    make all >& logs/@env.X().log\n}\n\
                  fun state() {\n    @shell(\"true\", check=\"true >& @env.X\")\n}\n";
    for value in HOSTILE {
        let opal = Opal::project(source).env("X", value);
        for args in [
            &["check"][..],
            &["build"],
            &["build", "--dry-run"],
            &["state", "--dry-run"],
            &["verify", "state"],
            &["verify", "-f", "commands.opl"],
            &["state"],
            &["plan", "state"],
        ] {
            let ran = opal.call(args);
            assert_ne!(ran.code, 0, "{args:?}");
            assert!(is_quiet(&opal), "{args:?} {value}");
        }
        opal.call(&["check"]).code(65).says("bash expands the word after `>&` and `<&` twice");
    }
}

/// What is given on the command line is a value like any other.
#[test]
fn an_argument_of_the_command_line_is_not_a_command() {
    for step in
        ["@shell(x)", "@shell(\"echo \" + x)", "echo @shell.output(x)", "@shell(\"true\", check=x)"]
    {
        let opal = Opal::project(&format!("fun t(x: String) {{\n    {step}\n}}\n"));
        for args in [
            &["t", "touch pwned"][..],
            &["t", "touch pwned", "--dry-run"],
            &["plan", "t", "touch pwned"],
        ] {
            opal.call(args).code(65).says("E0701");
            assert!(is_quiet(&opal), "{step} {args:?}");
        }
    }
    let opal = Opal::project("fun t(x = \"echo hello\") {\n    @shell(x)\n}\n");
    opal.call(&["t"]).code(0).says("hello");
}

/// Each step runs the variable `X` of its environment.
const RUN_X: [&str; 8] = [
    "eval \"$X\"",
    "bash -c \"echo $X\"",
    "sh -c 'eval \"$X\"'",
    "echo \"$X\" | sh",
    "n=X; eval \"${!n}\"",
    "echo $((X + 1))",
    "true >& \"$X\"",
    "f() { trap \"$X\" EXIT; }; f",
];

#[test]
fn a_step_does_not_run_a_value_of_its_environment() {
    for step in RUN_X {
        let inside = |step: &str| {
            format!("fun t() {{\n    @environ(X=@env.V) {{\n        {step}\n    }}\n}}\n")
        };
        let sources = [
            inside(step),
            inside(&format!("@shell(\"false\", check={step:?})")),
            format!("{}fun u() {{\n    {step}\n}}\n", inside("@cmd.u()")),
            format!("var v = @env.V\n{}", inside(step).replace("@env.V", "v")),
            format!("fun t() {{\n    @shell({step:?}, env={{X: @env.V}})\n}}\n"),
        ];
        for (source, value) in sources.iter().flat_map(|it| HOSTILE.map(|value| (it, value))) {
            let opal = Opal::project(source).env("V", value);
            for args in [&["t"][..], &["t", "--dry-run"], &["plan", "t", "-o", "t.plan"]] {
                assert_eq!(opal.call(args).code, 65, "{source} {args:?}");
            }
            opal.call(&["verify", "t"]);
            assert!(is_quiet(&opal), "{source} {value}");
        }
    }
}

#[test]
fn an_argument_in_the_environment_of_a_step_is_judged_as_a_value() {
    let source = "fun t(x: String) {\n    @environ(X=x) {\n        eval \"$X\"\n    }\n}\n";
    let opal = Opal::project(source);
    opal.call(&["t", "touch pwned"]).code(65).says("`$X` would become code: `eval` runs it");
    assert!(is_quiet(&opal));
}

/// Nobody sees whether what a step captured is harmless, so it must not matter.
#[test]
fn captured_output_in_the_environment_is_not_split_into_a_command() {
    let source = "fun t() {\n    let.o = @shell(\"echo touch pwned\")\n    \
                  @environ(X=@let.o) {\n        $X\n    }\n}\n";
    let opal = Opal::project(source);
    opal.call(&["t"]).code(65).says("`$X` could become code");
    assert!(is_quiet(&opal));
}

#[test]
fn what_a_step_only_reads_from_its_environment_is_any_value() {
    let steps = "        printf '%s\\n' \"$X\" $X\n        bash -c 'printf \"%s\\n\" \"$X\"'\n        \
                 @environ(X=\"echo own\") { eval \"$X\" }\n        echo $((N + 1))\n        \
                 eval \"$(echo echo unrelated)\"\n";
    let source = format!("fun t() {{\n    @environ(X=@env.V, N=@env.N) {{\n{steps}    }}\n}}\n");
    for value in HOSTILE {
        let opal = Opal::project(&source).env("V", value).env("N", "41");
        opal.call(&["t"]).code(0).says(value).says("own\n").says("42\n").says("unrelated\n");
        assert!(is_quiet(&opal));
    }
}

#[test]
fn interpreted_variables_take_no_reference_in_environ() {
    for row in INTERPRETED {
        let name = row.name.replace('*', "X");
        let of = |value: &str| {
            format!("var v = \"a\"\necho @var.v\n@environ({name}={value}) {{ true }}\n")
        };
        for value in ["@env.V", "v", "\"a@var.v\"", "\"a\" + v", "trim(v)"] {
            assert_eq!(Opal::codes(&of(value)), ["E0701"], "{name}={value}");
        }
        assert_eq!(Opal::codes(&of("\"a\"")), [""; 0], "{name}");
    }
    assert_eq!(Opal::codes("@environ(MY_PATH=@env.V) { true }\n"), [""; 0]);
}

#[test]
fn text_of_another_program_arrives_word_for_word() {
    let source = "fun go() {\n    @shell(\"print('it is', 7 // 2) # don't\", shell=\"python3\")\n    \
                  @shell(\"\"\"\n        x = {'a': \"b } c\"}\n        if x:\n            print(x['a'], '$HOME `x` (')\n    \
                  \"\"\", shell=\"python3\")\n}\n";
    Opal::project(source).args(["check"]).run().code(0);
    Opal::project(source).args(["go"]).run().code(0).says("it is 3").says("b } c $HOME `x` (");
}

/// What a shell runs by itself before its text does not run because a plan is made.
#[test]
fn planning_and_verifying_start_no_code_of_the_environment() {
    let source = "fun show() {\n    echo @shell.output(\"printf a\")\n}\n\
                  fun state() {\n    @shell(\"true\", check=\"true\")\n}\n";
    let opal = Opal::project(source).file("start", "touch \"$PWNED\"\n");
    let (start, pwned) = (opal.path().join("start"), opal.path().join("pwned"));
    let (start, pwned) =
        (start.to_string_lossy().into_owned(), pwned.to_string_lossy().into_owned());
    let env = [
        ("BASH_ENV", start.as_str()),
        ("ENV", start.as_str()),
        ("BASH_FUNC_printf%%", "() { touch \"$PWNED\"; }"),
        ("BASH_FUNC_true%%", "() { touch \"$PWNED\"; }"),
        ("PWNED", pwned.as_str()),
    ];
    opal.call_with(&env, &["show"]).code(0);
    // The step of the run itself has the environment as it is.
    std::fs::remove_file(opal.path().join("pwned")).unwrap();
    opal.call_with(&env, &["show", "--dry-run"]).code(0);
    assert!(is_quiet(&opal));
    opal.call_with(&env, &["verify", "state"]);
    assert!(is_quiet(&opal));
}

#[test]
fn a_program_that_runs_its_option_is_warned_about() {
    for line in
        ["ssh -o ProxyCommand=@env.X h uptime", "tar -I @env.X -cf a b", "git -c alias.x=@env.X x"]
    {
        assert_eq!(Opal::codes(&format!("{line}\n")), ["W0706"], "{line}");
    }
    for line in [
        "@environ(GIT_SSH_COMMAND=@env.X) { git fetch }",
        "NODE_OPTIONS=@env.X node app.js",
        "python3 <<< @env.X",
        "git config alias.x @env.X",
    ] {
        assert_eq!(Opal::codes(&format!("{line}\n")), ["W0706"], "{line}");
    }
    assert_eq!(Opal::codes("git commit -m @env.X\n"), [""; 0]);
}

/// A program sees no code in a number, in a member of a closed set and in a plain word of the source.
#[test]
fn values_that_cannot_be_code_are_not_warned_about() {
    for (params, line) in [
        ("n: Int", "sed -n \"@var.n()p\" f"),
        ("n: Int", "jq \".[@var.n]\" f"),
        ("n: Bool", "make V=@var.n"),
        ("n: \"a\" | \"b\"", "make @var.n"),
        ("n: Duration", "make T=@var.n"),
    ] {
        let source = format!("/// A task.\nfun show({params}) {{\n    {line}\n}}\n");
        assert_eq!(Opal::codes(&source), [""; 0], "{source}");
    }
    let codes = |source: &str| Opal::codes(source);
    assert_eq!(codes("var n = \"a-1.2\"\nmake V=@var.n\n"), [""; 0]);
    assert_eq!(codes("var n = \"$(shell id)\"\nmake V=@var.n\n"), ["W0706"]);
    assert_eq!(codes("var n = \"a\"\nn = @env.X\nmake V=@var.n\n"), ["W0706"]);
    assert_eq!(codes("/// A task.\nfun show(n: String) {\n    make V=@var.n\n}\n"), ["W0706"]);
}

/// What follows something that ends is an address; a path that exists is a reference all the same.
#[test]
fn an_at_after_brackets_and_quotes_is_text_unless_something_provides_its_path() {
    for line in [
        "git config user.email \"${ACTOR}@users.noreply.github.com\"",
        "git config user.email \"github-actions[bot]@users.noreply.github.com\"",
        "git clone \"https://oauth2:${TOKEN}@gitlab.example.com/a.git\"",
        "ssh \"$USER\"@host.example.com ls",
        "ssh 'user'@host.example.com ls",
        "ssh $(whoami)@host.example.com ls",
        "createdb \"postgres://@env.USER()@db.example.com/x\"",
    ] {
        let codes = Opal::codes(&format!("{line}\n"));
        assert!(codes.iter().all(|code| code == "N0412"), "{line}: {codes:?}");
    }
    for line in [
        "echo @foo.bar.baz",
        "echo \"@foo.bar.baz\"",
        "echo \"'@foo.bar.baz'\"",
        "echo ${A}@foo.bar(1)",
        "echo \"$A\"@vra.X",
        "cat <<E\n\"@foo.bar.baz\"\nE",
    ] {
        assert_eq!(Opal::codes(&format!("{line}\n")), ["E0406"], "{line}");
    }
    assert_eq!(Opal::codes("echo \"${A}@env.HOME\" \"$A\"@env.HOME@env.HOME\n"), [""; 0]);
}

/// A value in a command's name is checked by what it is.
#[test]
fn a_value_that_names_a_shell_is_refused_where_values_follow() {
    let source = "fun edit(file: String) {\n    @env.TOOL @env.WHAT\n}\n";
    let opal = Opal::project(source).env("WHAT", "touch pwned");
    for tool in ["eval", "bash", "/bin/sh", "sudo", "env"] {
        opal.call_with(&[("TOOL", tool)], &["edit", "a"]).code(65).says("E0701");
        assert!(is_quiet(&opal), "{tool}");
    }
    opal.call_with(&[("TOOL", "echo")], &["edit", "a"]).code(0);
    assert!(is_quiet(&opal));
}

/// What a shell, a loader or opal interprets takes no value, wherever a variable can be set.
#[test]
fn an_interpreted_variable_takes_no_value_however_it_is_set() {
    let names = opal_core::script::INTERPRETED.iter().map(|row| row.name.replace('*', "X"));
    let places = [
        "@environ(NAME=@env.X) { bash -c : }",
        "@shell(\"bash -c :\", env={NAME: @env.X})",
        "@shell(\"bash -c :\", env={\"NAME\": \"a@env.X\"})",
        "@shell(\"bash -c :\", env={A: \"a\", NAME: upper(@env.X)})",
        "@shell(\"bash -c :\", check=\"bash -c :\", env={NAME: @env.X})",
        "var m = {NAME: @env.X}\n    @shell(\"bash -c :\", env=m)",
        "let.x = @shell(\"echo a\")\n    @shell(\"bash -c :\", env={NAME: @let.x})",
        "NAME=@env.X bash -c :",
        "env NAME=@env.X bash -c :",
    ];
    for name in names {
        for place in places {
            let source = format!("fun main() {{\n    {}\n}}\n", place.replace("NAME", &name));
            let opal = Opal::project(&source).env("X", "$(touch pwned)");
            let ran = opal.call(&["main"]);
            assert!(ran.code != 0, "{source} {ran:#?}");
            ran.says("E0701");
            opal.call(&["verify", "main"]);
            assert!(is_quiet(&opal), "{source}");
        }
    }
    let captured = "let.m = @shell(\"echo '{}'\", json=true)\n@shell(\"true\", env=@let.m)\n";
    Opal::project(captured).args(["run", "commands.opl"]).run().code(65).says("BASH_ENV");
    let constant = "@shell(\"echo $PATHS $LD_X\", env={PATHS: @env.X, LD_X: \"b\"})\n";
    let opal = Opal::project(constant).env("X", "a").args(["run", "commands.opl"]).run();
    opal.code(0).stdout("a b\n");
    let yaml = "version: 1\nvars: {x: \"@env.X\"}\nsteps:\n  - id: a\n    type: command\n    \
                command: bash -c true\n    check: bash -c false\n    env: {BASH_ENV: \"@var.x\"}\n";
    // The variables of a configuration are constants: nothing is read for them.
    let opal = Opal::machine("").file("c.yaml", yaml).env("X", "$(touch pwned)");
    for command in ["verify", "apply"] {
        opal.call(&[command, "c.yaml"]);
        assert!(is_quiet(&opal), "{command}");
    }
}

/// What opal takes for quotes is what the shell takes for them.
#[test]
fn quotes_of_a_step_end_where_the_shell_ends_them() {
    let source = r#"
fun moved(x) {
    echo "@var.x"; cd build
    pwd
}

fun delimited() {
    cat <<"it's"
body
it's
}

fun dedented() {
    @print("""
        a\n  b
      c\n
    """)
}
"#;
    let opal = Opal::machine(source);
    std::fs::create_dir(opal.path().join("build")).unwrap();
    let build = opal.path().join("build");
    opal.call(&["moved", "v"]).code(0).stdout(&format!("v\n{}\n", build.display()));
    opal.call(&["delimited"]).code(0).stdout("body\n");
    // Only the lines of the source are indented.
    opal.call(&["dedented"]).code(0).stdout("  a\n  b\nc\n\n");
}

/// After `(…)` a new word begins, after `$(…)` the word goes on: as in bash.
#[test]
fn a_hash_after_a_parenthesis_is_a_comment_only_where_bash_reads_one() {
    for (text, printed) in [
        ("echo $(echo a)#b", "a#b\n"),
        ("echo `echo a`#b", "a#b\n"),
        ("echo $((1))#b", "1#b\n"),
        ("(echo a)#b", "a\n"),
        ("(echo a) #b", "a\n"),
    ] {
        let opal = Opal::machine(&format!("fun t() {{\n    {text}\n}}\n"));
        opal.call(&["t", "-q"]).code(0).stdout(printed);
    }
}

/// The help of a refusal is accepted.
#[test]
fn a_refusal_shows_how_the_value_is_passed_as_data_there() {
    for (refused, help, accepted) in [
        (
            "ssh web1 \"deploy @env.X\"",
            "printf '%s\\n' @var.NAME | ssh HOST 'read -r v; deploy \"$v\"'",
            "printf '%s\\n' @env.X | ssh web1 'read -r v; deploy \"$v\"'",
        ),
        (
            "trap \"rm -rf @env.X\" EXIT; make",
            "d=@var.NAME; trap 'rm -rf \"$d\"' EXIT",
            "d=@env.X; trap 'rm -rf \"$d\"' EXIT; make",
        ),
        ("watch \"ls @env.X\"", "watch -x PROGRAM @var.NAME", "watch -x ls @env.X"),
    ] {
        let opal = Opal::project(&format!("{refused}\n"));
        opal.call(&["check"]).code(65).says(help);
        assert_eq!(Opal::codes(&format!("{accepted}\n")), [""; 0], "{accepted}");
    }
}
