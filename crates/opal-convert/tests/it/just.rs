//! Justfiles.

use opal_convert::{Format, Grade};

use crate::{assert_result, converted, reasons};

fn assert_just(text: &str, expected: &str, grades: &str) {
    assert_result(Format::Just, text, expected, grades);
}

#[test]
fn recipes_are_functions_with_their_parameters_and_dependencies() {
    assert_just(
        "# Build it.\nbuild target='debug':\n    cargo build --profile {{target}}\n\n\
         test filter: build (lint \"x\") && clean\n    cargo test {{filter}}\n\n\
         lint what:\n    cargo clippy {{what}}\n\nclean:\n    -rm -r out\n\nalias t := test\n",
        "# Build it.\nfun build(target: String = \"debug\") {\n    cargo build --profile @var.target\n}\n\n\
         fun test(filter: String) {\n    @needs.build()\n    @needs.lint(\"x\")\n    \
         cargo test @var.filter\n    @cmd.clean()\n}\n\n\
         fun lint(what: String) {\n    cargo clippy @var.what\n}\n\n\
         fun clean() {\n    rm -r out || true\n}\n\n\
         # Alias of `test`.\nfun t(filter: String) {\n    @cmd.test(filter)\n}\n",
        "exact exact exact exact exact",
    );
}

#[test]
fn variables_keep_their_meaning() {
    assert_just(
        "version := \"1.2\"\nflags := \"--all --locked\"\ncommit := `git rev-parse HEAD`\n\
         tag := version + \"-\" + env_var_or_default(\"TAG\", \"dev\")\n\n\
         show:\n    echo {{version}} {{flags}} \"{{tag}}\" '{{commit}}' {{tag}}.txt\n",
        "var version = \"1.2\"\nvar flags = [\"--all\", \"--locked\"]\n\
         var commit = @shell.output(\"git rev-parse HEAD\")\n\
         var tag = version + \"-\" + @env.TAG(default=\"dev\")\n\n\
         fun show() {\n    echo @var.version @var.flags \"@var.tag\" ''@var.commit'' @var.tag().txt\n}\n",
        "exact",
    );
}

#[test]
fn conditions_are_statements() {
    assert_just(
        "sudo := if `id -u` == \"0\" { \"doas\" } else { \"sudo\" }\n\n\
         install:\n    {{sudo}} cp app /usr/bin\n",
        "fun install() {\n    var sudo = \"\"\n    if @shell.output(\"id -u\") == \"0\" {\n        \
         sudo = \"doas\"\n    } else {\n        sudo = \"sudo\"\n    }\n    @var.sudo cp app /usr/bin\n}\n",
        "exact",
    );
}

#[test]
fn what_would_not_be_the_same_word_is_pasted_and_reported() {
    let text = "test filter='':\n    cargo test {{filter}}\n\ndeploy host cmd:\n    ssh {{host}} '{{cmd}}'\n";
    assert_just(
        text,
        "fun test(filter: String = \"\") {\n    cargo test @raw(filter)\n}\n\n\
         fun deploy(host: String, cmd: String) {\n    ssh @raw(host) ''\"@raw(cmd)\"''\n}\n",
        "adapted adapted",
    );
    let converted = converted(Format::Just, text);
    assert!(reasons(&converted, "test").1.contains("`filter` is pasted into a command as text"));
}

#[test]
fn lines_that_are_not_steps_of_opal_are_in_parentheses() {
    assert_just(
        "a:\n    cd web && npm ci\n    if [ -f x ]; then \\\n        echo x; \\\n    fi\n    \
         for f in *; do echo $f; done\n    cd last\n",
        "fun a() {\n    ( cd web && npm ci )\n    ( if [ -f x ]; then \\\n    echo x; \\\nfi )\n    \
         ( for f in *; do echo $f; done )\n    cd last\n}\n",
        "exact",
    );
}

#[test]
fn calls_of_just_are_calls() {
    assert_just(
        "default:\n    @just --list\n\nci:\n    just build release\n    just build && just x\n\n\
         build kind:\n    make {{kind}}\n\nx:\n    true\n",
        "fun default() {\n    opal list\n}\n\nfun ci() {\n    @cmd.build(\"release\")\n    \
         just build && just x\n}\n\nfun build(kind: String) {\n    make @var.kind\n}\n\n\
         fun x() {\n    true\n}\n",
        "adapted adapted exact exact",
    );
}

#[test]
fn rest_parameters_are_words() {
    assert_just(
        "run *args:\n    cargo run -- {{args}}\n    echo \"{{args}}\"\n\n\
         watch +args='test':\n    cargo watch {{args}}\n",
        "fun run(args...) {\n    var value = join(args, \" \")\n    cargo run -- @var.args\n    \
         echo \"@var.value\"\n}\n\n\
         fun watch(args...) {\n    var args_2 = args\n    if args.length == 0 {\n        \
         args_2 = [\"test\"]\n    }\n    cargo watch @var.args_2\n}\n",
        "exact exact",
    );
}

#[test]
fn a_default_of_a_rest_parameter_is_read_as_a_shell_reads_it() {
    assert_just(
        "test *args=\"-E '!test(a)' --x=\\\"b c\\\"\":\n    cargo test {{args}}\n",
        "fun test(args...) {\n    var args_2 = args\n    if args.length == 0 {\n        \
         args_2 = [\"-E\", \"!test(a)\", \"--x=b c\"]\n    }\n    cargo test @var.args_2\n}\n",
        "exact",
    );
    let found = converted(Format::Just, "layout *files='*.rs \"$X\"':\n    rustfmt {{files}}\n");
    let (grade, why) = reasons(&found, "layout");
    assert_eq!(grade, Grade::Adapted);
    assert_eq!(why, "the default of `files` is one word, which no shell reads");
}

#[test]
fn attributes_and_settings_are_blocks() {
    assert_just(
        "export LEVEL := \"debug\"\n\n[confirm(\"Really?\")]\n[working-directory: 'web']\n\
         deploy:\n    ./deploy\n\n[linux]\nopen:\n    xdg-open x\n\n[macos]\nopen:\n    open x\n\n\
         [windows]\nopen:\n    start x\n",
        "var LEVEL = \"debug\"\n\nfun deploy() {\n    @confirm(\"Really?\")\n    \
         @environ(LEVEL=LEVEL) {\n        @workdir(\"web\") {\n            ./deploy\n        }\n    }\n}\n\n\
         fun open() {\n    @environ(LEVEL=LEVEL) {\n        if @os.name == \"linux\" {\n            \
         xdg-open x\n        } else {\n            if @os.name == \"macos\" {\n                open x\n            \
         } else {\n                @fail(\"`open` is not available on this system\")\n            }\n        }\n    }\n}\n",
        "exact adapted",
    );
}

#[test]
fn what_cannot_be_converted_is_a_comment_and_its_callers_fail() {
    let text = "a: b\n    echo a\n\nb:\n    echo {{sha256('x')}}\n\nmod web\n";
    let converted = converted(Format::Just, text);
    assert_eq!(reasons(&converted, "b").0, Grade::Omitted);
    assert_eq!(reasons(&converted, "mod web").0, Grade::Omitted);
    let (grade, why) = reasons(&converted, "a");
    assert_eq!((grade, why.as_str()), (Grade::Adapted, "it runs `b`, which is omitted"));
    assert!(converted.source.contains("# b:\n#     echo {{sha256('x')}}\n"));
    assert!(
        converted.source.contains("@fail(\"`b` was not converted; see the comment above it\")")
    );
}

#[test]
fn bodies_with_an_interpreter_are_scripts() {
    assert_just(
        "version := '1'\nhello name:\n    #!/usr/bin/env bash\n    set -e\n    if true; then\n        \
         echo \"{{name}}\" '{{version}}'\n    fi\n\npy:\n    #!/usr/bin/env python3\n    print({\n        'a': 1,\n    })\n",
        "var version = \"1\"\n\nfun hello(name: String) {\n    \
         @script(\"bash\", env={name: name, version: version}) {\n        set -e\n        if true; then\n            \
         echo \"${name}\" ''\"${version}\"''\n        fi\n    }\n}\n\n\
         fun py() {\n    @script(\"python3\") {\n        print({\n            'a': 1,\n        })\n    }\n}\n",
        "adapted exact",
    );
}

#[test]
fn a_task_is_not_exact_if_what_it_runs_is_omitted_or_its_order_changes() {
    let found =
        converted(Format::Just, "a:\n    echo {{sha256(\"x\")}}\nc: a\n    true\nd: c\n    true\n");
    let adapted = |why: &str| (Grade::Adapted, why.to_owned());
    assert_eq!(reasons(&found, "c"), adapted("it runs `a`, which is omitted"));
    assert_eq!(reasons(&found, "d"), adapted("it runs `c`, which runs an omitted task"));
    let found = converted(
        Format::Just,
        "gen:\n    mkdir gen\nbuild: gen\n    ls gen\nall:\n    rm -rf gen\n    just build\nfirst:\n    just build\n",
    );
    let why = "what `build` needs runs before everything else";
    assert_eq!(reasons(&found, "all"), adapted(why));
    assert_eq!(reasons(&found, "first"), (Grade::Exact, String::new()));
}

#[test]
fn a_variable_that_names_just_is_just() {
    assert_just(
        "just := just_executable()\ndefault:\n    @{{just}} --list\na:\n    {{just}} b\nb:\n    {{just}} -f other c\n",
        "var just = \"just\"\n\nfun default() {\n    opal list\n}\n\nfun a() {\n    @cmd.b()\n}\n\n\
         fun b() {\n    just -f other c\n}\n",
        "adapted exact adapted",
    );
}

#[test]
fn groups_are_headings() {
    assert_just(
        "[group('ship it')]\na:\n    echo a\nb:\n    echo b\n[group: 'lint']\n[group('ci')]\nc:\n    echo c\n\
         # Docs.\n[group('ship it')]\nd: a\n    echo d\nalias e := d\n",
        "fun b() {\n    echo b\n}\n\n# # ship it\n\nfun a() {\n    echo a\n}\n\n# Docs.\n\
         fun d() {\n    @needs.a()\n    echo d\n}\n\n# Alias of `d`.\nfun e() {\n    @cmd.d()\n}\n\n\
         # # lint\n\nfun c() {\n    echo c\n}\n",
        "exact exact exact exact exact",
    );
    // A title is a comment, whatever it says.
    let found = converted(Format::Just, "[group(\"a\\r\\nfun x() = rm\")]\na:\n    echo a\n");
    assert!(!found.source.contains("fun x"), "{}", found.source);
    let found =
        converted(Format::Just, "[group('@secret.env(X) \u{2028} \"\"\"')]\na:\n    echo a\n");
    assert!(found.source.contains("\nfun a() {"), "{}", found.source);
}
