//! Files that a file names become part of the same program.

use opal_convert::{Conversion, Files, Format, Options, convert};

use super::{assert_program, options, registry};

/// The first file is the one that is converted; `!` instead of a text is why it cannot be read.
fn of_files(format: Format, files: &[(&str, &str)]) -> Conversion {
    let registry = registry();
    let read = |path: &str| match files.iter().find(|(name, _)| *name == path) {
        Some((_, text)) if text.starts_with('!') => Err(text[1..].to_owned()),
        Some((_, text)) => Ok(Some((*text).to_owned())),
        None => Ok(None),
    };
    let options = Options { files: Files(&read), ..options(&registry) };
    let converted =
        convert(files[0].1, format, options).unwrap_or_else(|found| panic!("{found:?}"));
    assert_program(&converted, &registry);
    converted
}

fn report(converted: &Conversion) -> Vec<String> {
    let line = |it: &opal_convert::Outcome| {
        let file = it.file.as_deref().unwrap_or("main");
        format!("{} {file}:{} {}: {}", it.grade.name(), it.line, it.name, it.why.join("; "))
    };
    converted.outcomes.iter().map(line).collect()
}

#[track_caller]
fn assert_has(converted: &Conversion, texts: &[&str]) {
    for text in texts {
        assert!(converted.source.contains(text), "{text}\n{}", converted.source);
    }
}

#[test]
fn imports_of_a_justfile_are_in_the_same_namespace() {
    let converted = of_files(
        Format::Just,
        &[
            (
                "justfile",
                "import 'ci/all.just'\nimport? 'none.just'\nx := 'own'\nbuild:\n    make {{x}}\n",
            ),
            (
                "ci/all.just",
                "import 'deep.just'\nx := 'other'\nci: build lint\n    echo {{x}}\nbuild:\n    shadowed\n",
            ),
            ("ci/deep.just", "lint:\n    eslint\n"),
        ],
    );
    assert_has(
        &converted,
        &["var x = \"own\"", "@needs.build()\n    @needs.lint()", "make @var.x"],
    );
    assert!(!converted.source.contains("shadowed"), "{}", converted.source);
    let expected =
        ["exact main:4 build: ", "exact ci/all.just:3 ci: ", "exact ci/deep.just:1 lint: "];
    assert_eq!(report(&converted), expected);
}

#[test]
fn modules_of_a_justfile_have_a_prefix_and_start_in_their_directory() {
    let converted = of_files(
        Format::Just,
        &[
            (
                "justfile",
                "mod docs\nmod ops 'tools/ops.just'\nx := '1'\nall: docs::serve ops::up\n    echo {{x}}\n",
            ),
            (
                "docs/justfile",
                "mod api\nx := '2'\nserve x=x: build api::gen\n    mkdocs {{x}}\nbuild:\n    mkdocs build {{x}}\n",
            ),
            ("docs/api.just", "gen:\n    sphinx\n"),
            ("tools/ops.just", "[working-directory: 'deep']\nup:\n    terraform apply\n"),
        ],
    );
    assert_has(
        &converted,
        &[
            "@needs.docs-serve()\n    @needs.ops-up()",
            "var docs_x = \"2\"",
            "fun docs-serve(x: String = docs_x) {",
            "@needs.docs-build()\n    @needs.docs-api-gen()",
            "@workdir(\"docs\") {\n        mkdocs build @var.docs_x",
            "@workdir(\"tools/deep\") {",
        ],
    );
    assert!(
        report(&converted).iter().all(|it| it.starts_with("exact")),
        "{:?}",
        report(&converted)
    );
}

#[test]
fn included_taskfiles_have_a_prefix_and_share_variables() {
    let converted = of_files(
        Format::Task,
        &[
            (
                "Taskfile.yml",
                "version: '3'\nenv: {A: root}\nvars: {V: root}\nincludes:\n  docs: ./docs\n  lib: {taskfile: lib.yml, dir: ./lib, vars: {W: given}}\n  flat: {taskfile: flat.yml, flatten: true, excludes: [no]}\n  gone: {taskfile: gone.yml, optional: true}\ntasks:\n  main:\n    deps: [docs, 'lib:test']\n    cmds: ['echo {{.V}}']\n",
            ),
            (
                "docs/Taskfile.yml",
                "version: '3'\nenv: {B: sub}\nvars: {V: sub}\ntasks:\n  default: mkdocs {{.V}}\n  up: [{task: default}, {task: ':main'}]\n",
            ),
            ("lib.yml", "version: '3'\nvars: {W: own}\ntasks:\n  test: cargo test {{.W}}\n"),
            ("flat.yml", "version: '3'\ntasks:\n  fmt: gofmt\n  no: nothing\n"),
        ],
    );
    assert_has(
        &converted,
        &[
            "var V = \"sub\"",
            "@needs.docs-default()\n    @needs.lib-test()",
            "@cmd.docs-default()",
            "@cmd.main()",
            "@environ(A=@env.A(default=\"root\"), B=@env.B(default=\"sub\"))",
            "fun fmt()",
            "cargo test @var.W",
            "@workdir(\"lib\", create=true)",
        ],
    );
    assert!(!converted.source.contains("nothing"), "{}", converted.source);
}

#[test]
fn what_cannot_be_read_is_reported_with_the_reason() {
    let converted = of_files(
        Format::Just,
        &[
            (
                "justfile",
                "import 'gone.just'\nimport '../out.just'\nmod secret\nmod loop\nimport 'odd' + 'x'\na:\n    echo a\n",
            ),
            ("secret.just", "!a symlink leads out of this directory"),
            ("loop.just", "mod loop 'loop.just'\nimport 'loop.just'\nb:\n    echo b\n"),
        ],
    );
    let report = report(&converted);
    let has = |text: &str| assert!(report.iter().any(|it| it.contains(text)), "{text}: {report:?}");
    has("import 'gone.just': the file is not there");
    has("import '../out.just': its path is not below this directory");
    has("mod secret: a symlink leads out of this directory");
    has("files are nested more than 8 deep");
    has("exact main:6 a: ");
    let remote = "version: '3'\nincludes:\n  a: https://example.com/x.yml\n  b: '{{OS}}.yml'\n  c: ./none\ntasks: {t: echo}\n";
    let converted = of_files(Format::Task, &[("Taskfile.yml", remote)]);
    let report = self::report(&converted);
    let has = |text: &str| assert!(report.iter().any(|it| it.contains(text)), "{text}: {report:?}");
    has("includes: a: it is on another machine");
    has("includes: b: its path is computed");
    has("includes: c: the file is not there");
}

#[test]
fn many_files_are_not_all_read() {
    let imports: String = (0..200).map(|n| format!("import 'f{n}.just'\n")).collect();
    let opened = std::cell::Cell::new(0);
    let read = |_: &str| {
        opened.set(opened.get() + 1);
        Ok(Some("a:\n    echo a\n".to_owned()))
    };
    let registry = registry();
    let options = Options { files: Files(&read), ..options(&registry) };
    convert(&imports, Format::Just, options).expect("it is read");
    assert_eq!(opened.get(), 64);
}

#[test]
fn files_of_variables_are_imported() {
    let just = |settings: &str| {
        let text = format!("{settings}\na:\n    echo a\n");
        of_files(Format::Just, &[("justfile", &text)])
    };
    for (settings, import) in [
        ("set dotenv-load", "import? \".env\"\n"),
        ("set dotenv-load := true\nset dotenv-filename := '.env.dev'", "import? \".env.dev\"\n"),
        ("set dotenv-required", "import \".env\"\n"),
        ("set dotenv-path := 'conf/app.env'", "import? \"conf/app.env\"\n"),
    ] {
        let converted = just(settings);
        assert_has(&converted, &[import]);
        assert!(report(&converted)[0].starts_with("exact"), "{settings}: {:?}", report(&converted));
    }
    assert!(!just("set dotenv-load := false").source.contains("import"));
    for settings in [
        "set dotenv-filename := 'settings'",
        "set dotenv-path := '/etc/.env'",
        "set dotenv-path := env('X')",
    ] {
        let converted = just(settings);
        assert!(!converted.source.contains("import"), "{}", converted.source);
        assert!(
            report(&converted)[0].contains("is not loaded; use `--env-file`"),
            "{:?}",
            report(&converted)
        );
    }
    let task = "version: '3'\ndotenv: ['.env.local', '.env']\ntasks: {t: echo}\n";
    let converted = of_files(Format::Task, &[("Taskfile.yml", task)]);
    // The first wins there, the last here.
    assert_has(&converted, &["import? \".env\"\nimport? \".env.local\"\n"]);
}

#[test]
fn a_path_around_the_path_of_the_environment_is_set_in_each_step() {
    let text = "export PATH := './bin:' + env('PATH')\na:\n    tool\nb:\n    #!/usr/bin/env bash\n    tool\nc:\n    #!/usr/bin/env python3\n    x\n";
    let converted = of_files(Format::Just, &[("justfile", text)]);
    assert_has(
        &converted,
        &[
            "    export PATH=\"./bin:$PATH\"; tool\n",
            "        export PATH=\"./bin:$PATH\"\n        tool\n",
        ],
    );
    let report = report(&converted);
    assert!(report[0].starts_with("exact") && report[1].starts_with("exact"), "{report:?}");
    assert!(report[2].contains("`PATH` is not set"), "{report:?}");
    let computed = "x := `pwd`\nexport PATH := x + ':' + env('PATH')\na:\n    tool\n";
    assert!(
        of_files(Format::Just, &[("justfile", computed)]).outcomes[0].why[0]
            .contains("`PATH` is not set")
    );
    let hostile = "export PATH := '$(touch x)`id`\"' + env('PATH')\na:\n    tool\n";
    let converted = of_files(Format::Just, &[("justfile", hostile)]);
    assert!(!converted.source.contains("export PATH"), "{}", converted.source);
}

#[test]
fn a_default_that_is_a_variable_of_the_same_name_is_that_variable() {
    let text = "port := '80'\nserve port=port host=port:\n    run {{port}} {{host}}\nother:\n    run {{port}}\n";
    let converted = of_files(Format::Just, &[("justfile", text)]);
    assert_has(
        &converted,
        &[
            "var port_default = \"80\"",
            "fun serve(port: String = port_default, host: String = port) {",
            "run @var.port_default",
        ],
    );
    let lost = of_files(Format::Just, &[("justfile", "serve port=port:\n    run {{port}}\n")]);
    assert!(report(&lost)[0].contains("refers to itself"), "{:?}", report(&lost));
}

#[test]
fn files_that_decide_whether_a_task_runs_are_below_the_directory_of_the_include() {
    let converted = of_files(
        Format::Task,
        &[
            (
                "Taskfile.yml",
                "version: '3'\nincludes: {lib: {taskfile: lib.yml, dir: lib}}\ntasks: {t: echo}\n",
            ),
            (
                "lib.yml",
                "version: '3'\ntasks:\n  build:\n    sources: [src/*.c]\n    generates: [out.o]\n    cmds: [cc]\n",
            ),
        ],
    );
    assert_has(
        &converted,
        &["inputs=[\"lib/src/*.c\", \"commands.opl\"], outputs=[\"lib/out.o\"]"],
    );
}

#[test]
fn aliases_of_an_included_taskfile_are_names_of_its_tasks() {
    let converted = of_files(
        Format::Task,
        &[
            (
                "Taskfile.yml",
                "version: '3'\nincludes:\n  docs:\n    taskfile: ./docs\n    aliases: [d]\ntasks:\n  \
                 all:\n    deps: [d:build]\n    cmds: [{task: 'd:s'}]\n",
            ),
            (
                "docs/Taskfile.yml",
                "version: '3'\ntasks:\n  build: mkdocs build\n  serve:\n    aliases: [s]\n    cmds: [mkdocs serve]\n",
            ),
        ],
    );
    assert_has(
        &converted,
        &[
            "@needs.d-build()\n    @cmd.d-s()",
            "# Alias of `docs:build`.\nfun d-build() {\n    @cmd.docs-build()",
            "# Alias of `docs:serve`.\nfun d-s() {\n    @cmd.docs-serve()",
        ],
    );
    let report = report(&converted);
    assert!(report.iter().all(|it| it.starts_with("exact ")), "{report:#?}");
    assert!(report.contains(&"exact docs/Taskfile.yml:3 d:build: ".to_owned()), "{report:#?}");
}
