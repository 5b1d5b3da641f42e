//! A value that a program could take for an option, a setting or a command, as somebody sees it who
//! runs opal.

use crate::support::Opal;

fn is_quiet(opal: &Opal) -> bool {
    !opal.path().join("pwned").exists()
}

/// Each is refused with this variable of the environment, wherever the command is written.
#[test]
fn a_list_from_the_environment_is_no_command_of_a_wrapper() {
    let table: &[(&str, &str)] = &[
        ("command @var.W", "eval touch${IFS}pwned"),
        ("command @var.W.*", "eval touch${IFS}pwned"),
        ("command @var.W[0] @var.W[1]", "eval touch${IFS}pwned"),
        ("builtin @var.W", "eval touch${IFS}pwned"),
        ("jobs -x @var.W", "eval touch${IFS}pwned"),
        ("env -- @var.W", "bash -c touch${IFS}pwned"),
        ("timeout -- 5 @var.W", "bash -c touch${IFS}pwned"),
        ("nice -- @var.W", "bash -c touch${IFS}pwned"),
        ("nohup -- @var.W", "bash -c touch${IFS}pwned"),
        ("exec -- @var.W", "bash -c touch${IFS}pwned"),
        ("su root -- @var.W", "-c touch${IFS}pwned"),
        ("env @var.W bash -c true", "BASH_ENV=./evil"),
        ("env \"@env.WORDS\" bash -c true", "BASH_ENV=./evil"),
        ("env -- \"@env.WORDS\" bash -c true", "BASH_ENV=./evil"),
    ];
    for (line, words) in table {
        let quoted = line.replace('"', "\\\"");
        let captured = line.replace("@var.W.*", "@let.a").replace("@var.W", "@let.a");
        for text in [
            (*line).to_owned(),
            format!("@shell(\"{quoted}\")"),
            format!("echo @shell.output(\"{quoted}\")"),
            format!("@shell(\"touch done\", check=\"{quoted}\")"),
            format!(
                "let.a = @shell(\"python3 -c 'import json, os; \
                 print(json.dumps(os.environ[\\\"WORDS\\\"].split()))'\", json=true)\n    {captured}"
            ),
        ] {
            let source = format!(
                "fun go() {{\n    var W = split(@env.WORDS, \" \")\n    true -- @var.W\n    {text}\n}}\n"
            );
            let opal = Opal::project(&source).env("WORDS", words).file("evil", "touch pwned\n");
            let ran = opal.call(&["go"]);
            assert!(ran.code != 0, "{source} {ran:#?}");
            assert!(is_quiet(&opal), "{source}");
            opal.call(&["verify", "go"]);
            assert!(is_quiet(&opal), "{source}");
        }
    }
}

/// What the command line gives is a constant of the plan, and no code.
#[test]
fn an_argument_of_a_task_is_no_option_that_is_code() {
    let table: &[(&str, &str, &[&str])] = &[
        ("x: String", "printf @var.x hello", &["-va[$(touch pwned)]"]),
        ("words...", "printf @var.words", &["-v", "a[$(touch pwned)]", "x"]),
        ("words...", "test @var.words", &["x", "-o", "-v", "a[$(touch pwned)]"]),
        ("words...", "[ @var.words ]", &["x", "-o", "-v", "a[$(touch pwned)]"]),
        ("x: String", "env @var.x", &["-Stouch pwned"]),
        ("x: String", "su @var.x", &["-ctouch pwned"]),
        ("x: String, y: String", "bash @var.x @var.y", &["-c", "touch pwned"]),
        ("words...", "command @var.words", &["eval", "touch pwned"]),
        ("words...", "true && @var.words", &["eval", "touch pwned"]),
        ("x: String", "ssh @var.x uptime", &["-oProxyCommand=touch pwned"]),
        ("words...", "env @var.words bash -c true", &["BASH_ENV=./evil"]),
        // Where it came from is not lost on the way.
        ("x: String", "var w = split(@var.x, \",\")\n    command @var.w", &["eval,touch pwned"]),
        ("words...", "command @var.words[0] @var.words[1]", &["eval", "touch pwned"]),
        ("x: String", "var w = \"-c@var.x\"\n    su @var.w", &["touch pwned"]),
        ("words...", "var w = [\"-x\"] + @var.words\n    bash @var.w", &["-c", "touch pwned"]),
        ("words...", "for w in [@var.words] { command @var.w }", &["eval", "touch pwned"]),
    ];
    for (params, line, words) in table {
        let source = format!("fun go({params}) {{\n    {line}\n}}\n");
        let opal = Opal::project(&source).file("evil", "touch pwned\n");
        let args: Vec<&str> = ["go", "--"].into_iter().chain(words.iter().copied()).collect();
        let ran = opal.call(&args);
        assert!(ran.code == 65, "{source} {ran:#?}");
        assert!(is_quiet(&opal), "{source}");
    }
}

/// Options that somebody gives on purpose reach a program that does not run them.
#[test]
fn an_argument_of_a_task_may_be_an_option() {
    for (line, words, out) in [
        ("printf %s @var.words", &["-v", "a"][..], "-va"),
        ("echo @var.words", &["-n", "a"], "a"),
        ("command @var.words", &["printf", "%s", "a"], "a"),
        ("env @var.words printenv A", &["A=b"], "b\n"),
        (
            "var w = [\"bash\", \"-c\", \"echo $1\", \"_\"] + @var.words\n    true && @var.w",
            &["$(touch pwned)"],
            "$(touch pwned)\n",
        ),
    ] {
        let opal = Opal::project(&format!("fun go(words...) {{\n    {line}\n}}\n"));
        let args: Vec<&str> = ["go", "--"].into_iter().chain(words.iter().copied()).collect();
        opal.call(&args).code(0).stdout(out);
        assert!(is_quiet(&opal), "{line}");
    }
}

/// What begins a text says whether it begins with `-`, however the text was put together.
#[test]
fn only_what_a_text_begins_with_counts_for_a_leading_dash() {
    const DRAWN: &str = "@random.password(length=8, alphabet=\"a-z\")";
    const DASHED: &str = "@random.password(length=8, alphabet=\"a-z-\")";
    let run = |value: &str| {
        let source = format!(
            "fun go() {{\n    var x = {value}\n    echo @var.x > out\n    ls @var.x || true\n}}\n"
        );
        Opal::project(&source).env("PREFIX", "--zzz=").env("EMPTY", "").call(&["go"]).code
    };
    for value in [
        format!("@env.PREFIX + {DRAWN}"),
        format!("join([@env.PREFIX, {DRAWN}], \"\")"),
        format!("join([\"\", {DRAWN}], @env.PREFIX)"),
        format!("\"@env.PREFIX()\" + {DRAWN}"),
        format!("@env.EMPTY(default=\"\") + (@env.PREFIX + {DRAWN})"),
        format!("path(@env.PREFIX, {DRAWN})"),
        format!("{DASHED} + \"x\""),
        format!("join([{DASHED}, \"x\"], \"\")"),
    ] {
        assert_eq!(run(&value), 65, "{value}");
    }
    for value in [
        format!("\"x\" + {DASHED}"),
        format!("join([\"x\", {DASHED}], \"\")"),
        format!("join([\"\", {DASHED}], \"x\")"),
        format!("path(\"x\", {DASHED})"),
        format!("{DRAWN} + @env.PREFIX"),
        format!("upper({DRAWN})"),
    ] {
        assert_eq!(run(&value), 0, "{value}");
    }
}

/// The program that a text is for counts by its parameter, named or not.
#[test]
fn the_text_of_another_program_is_its_own_wherever_the_program_is_named() {
    for call in [
        "@shell(\"print(1) # it's\", \"true\", \"python3\")",
        "@shell(\"print(1) # it's\", shell=\"python3\")",
    ] {
        let opal = Opal::project(&format!("fun go() {{\n    {call}\n}}\n"));
        opal.call(&["check"]).code(0);
        opal.call(&["plan", "go"]).code(0).says("it's");
    }
}
