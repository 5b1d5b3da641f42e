//! Taskfiles.

use opal_convert::{Format, Grade};

use crate::{assert_result, converted, reasons};

fn assert_task(text: &str, expected: &str, grades: &str) {
    assert_result(Format::Task, text, expected, grades);
}

#[test]
fn tasks_are_functions() {
    assert_task(
        "version: '3'\nvars:\n  BIN: app\n  COMMIT: {sh: git rev-parse HEAD}\ntasks:\n  \
         tf:init:\n    desc: Prepare.\n    dir: infra\n    cmds:\n      - terraform init {{.CLI_ARGS}}\n  \
         build:\n    deps: [tf:init]\n    cmds:\n      - go build -o {{.BIN}}\n      - task: pack\n        \
         vars: {KIND: zip}\n  pack:\n    cmds: [\"tar {{.KIND}} {{.COMMIT}}\"]\n",
        "var BIN = \"app\"\nvar COMMIT = @shell.output(\"git rev-parse HEAD\")\n\n\
         # Prepare.\nfun tf-init(cli_args...) {\n    @workdir(\"infra\", create=true) {\n        \
         terraform init @var.cli_args\n    }\n}\n\n\
         fun build(cli_args...) {\n    @needs.tf-init(@var.cli_args.*)\n    go build -o @var.BIN\n    @cmd.pack(KIND=\"zip\")\n}\n\n\
         fun pack(KIND: String = @env.KIND(default=\"\")) {\n    tar @raw(KIND) @var.COMMIT\n}\n",
        "exact exact adapted",
    );
}

#[test]
fn required_variables_are_parameters_and_defaults_are_defaults() {
    assert_task(
        "version: '3'\ntasks:\n  deploy:\n    requires: {vars: [ENV]}\n    prompt: Deploy?\n    vars:\n      \
         TAG: '{{.TAG | default \"latest\"}}'\n      IMAGE: app:{{.TAG}}\n    cmds:\n      \
         - docker push {{.IMAGE}} {{.ENV}}\n",
        "fun deploy(ENV: String, TAG: String = \"latest\") {\n    var IMAGE = \"app:\" + TAG\n    \
         @confirm(\"Deploy?\")\n    docker push @var.IMAGE @var.ENV\n}\n",
        "exact",
    );
}

#[test]
fn loops_platforms_errors_and_deferred_commands() {
    assert_task(
        "version: '3'\ntasks:\n  a:\n    cmds:\n      - for: [x, y]\n        cmd: echo {{.ITEM}}\n      \
         - cmd: open\n        platforms: [darwin]\n      - cmd: start\n        platforms: [windows]\n      \
         - cmd: false\n        ignore_error: true\n      - defer: rm -f tmp\n      - |\n        cd x\n        make\n",
        "fun a() {\n    try {\n        echo x\n        echo y\n        if @os.name == \"macos\" {\n            \
         open\n        }\n        false || true\n        ( set -e\ncd x\nmake )\n    } finally {\n        \
         rm -f tmp || true\n    }\n}\n",
        "adapted",
    );
}

#[test]
fn caches_and_tasks_elsewhere_are_reported() {
    let text = "version: '3'\nincludes: {docs: ./docs}\ntasks:\n  a:\n    deps: [docs:build]\n    \
                sources: ['*.go']\n    generates: [app]\n    cmds: [go build]\n";
    let converted = converted(Format::Task, text);
    let (grade, why) = reasons(&converted, "a");
    assert_eq!(grade, Grade::Adapted);
    assert!(why.contains("it always does") && why.contains("it still calls `task`"), "{why}");
    assert!(
        converted.source.contains("    task docs:build\n    go build\n"),
        "{}",
        converted.source
    );
    assert_eq!(reasons(&converted, "includes: docs").0, Grade::Omitted);
}

#[test]
fn sources_and_generates_are_cached_where_that_can_be_compared() {
    let task = |lines: &str| {
        let text = format!("version: '3'\ntasks:\n  a:\n    cmds: [go build]\n{lines}");
        let converted = converted(Format::Task, &text);
        let (grade, why) = reasons(&converted, "a");
        assert_eq!(grade, Grade::Adapted, "{why}");
        (converted.source, why)
    };
    for (lines, decorator) in [
        (
            "    sources: ['**/*.go', go.mod]\n    generates: [bin/app]\n",
            "@cached(inputs=[\"**/*.go\", \"go.mod\"], outputs=[\"bin/app\"]) {",
        ),
        ("    sources: [a.md]\n", "@cached(inputs=[\"a.md\"]) {"),
        (
            "    dir: web\n    sources: [./src/**]\n    generates: [dist]\n",
            "@cached(inputs=[\"web/src/**\", \"commands.opl\"], outputs=[\"web/dist\"]) {",
        ),
    ] {
        let (source, why) = task(lines);
        assert!(source.contains(decorator), "{source}");
        assert!(why.contains("`@cached` decides whether it runs"), "{why}");
    }
    for lines in [
        "    sources: ['{{.X}}/*']\n",
        "    sources: [{exclude: x}]\n",
        "    sources: [../x]\n",
        "    sources: ['*.go']\n    generates: [gen.go]\n",
        "    sources: [a]\n    method: timestamp\n",
        "    sources: [a]\n    status: [test -e b]\n",
        "    sources: [a]\n    preconditions: [test -e b]\n",
        "    sources: [a]\n    dir: '{{.X}}'\n",
        "    generates: [a]\n",
    ] {
        let (source, why) = task(lines);
        assert!(
            !source.contains("@cached") && why.contains("the task always runs"),
            "{lines}: {why}"
        );
    }
}

#[test]
fn a_call_starts_where_the_file_is() {
    assert_task(
        "version: '3'\ntasks:\n  a:\n    dir: web\n    cmds: [ls, {task: b}]\n  b:\n    dir: web\n    cmds: [ls]\n",
        "var project_directory = @shell.output(\"pwd\", public=true)\n\n\
         fun a() {\n    @workdir(\"web\", create=true) {\n        ls\n        \
         @workdir(project_directory) {\n            @cmd.b()\n        }\n    }\n}\n\n\
         fun b() {\n    @workdir(\"web\", create=true) {\n        ls\n    }\n}\n",
        "exact exact",
    );
}

#[test]
fn a_dependency_that_task_would_run_again_is_reported() {
    let text = |run: &str| {
        format!(
            "version: '3'\ntasks:\n  a: {{deps: [c], cmds: [{{task: b}}]}}\n  b: {{deps: [c], cmds: [b]}}\n  c: {{{run}cmds: [c]}}\n"
        )
    };
    let again = converted(Format::Task, &text(""));
    let why = "`c` runs once, and in Task each time";
    assert_eq!(reasons(&again, "a"), (Grade::Adapted, why.to_owned()));
    assert_eq!(reasons(&again, "b").0, Grade::Exact);
    assert_eq!(reasons(&converted(Format::Task, &text("run: once, ")), "a").0, Grade::Exact);
}

#[test]
fn a_directory_has_one_spelling() {
    for (dir, expected) in
        [("./web/", "@workdir(\"web\", create=true)"), (".", "fun a() {\n    ls\n}")]
    {
        let text = format!("version: '3'\ntasks:\n  a: {{dir: {dir}, cmds: [ls]}}\n");
        let source = converted(Format::Task, &text).source;
        assert!(source.contains(expected), "{source}");
    }
}

#[test]
fn commands_of_a_status_decide_whether_the_others_run() {
    assert_task(
        "version: '3'\ntasks:\n  a:\n    deps: [b]\n    status:\n      - test -f out\n      - test -d {{.DIR}}\n    \
         vars: {DIR: made}\n    cmds:\n      - touch out\n      - cmd: mkdir {{.DIR}}\n        ignore_error: true\n  \
         b: echo b\n",
        "fun a() {\n    var DIR = \"made\"\n    @needs.b()\n    \
         ( test -f out ) >/dev/null 2>&1 && ( test -d @var.DIR ) >/dev/null 2>&1 || (\n        \
         ( touch out ) &&\n        ( ( mkdir @var.DIR ) || true )\n    )\n}\n\nfun b() {\n    echo b\n}\n",
        "exact exact",
    );
    for task in [
        "status: [test -f out]\n    cmds: [{task: b}]",
        "status: [test -f out]\n    sources: [x]\n    cmds: [make]",
        "status: [test -f out]\n    prompt: Sure?\n    cmds: [make]",
        "status: ['test -f out # done']\n    cmds: [make]",
        "status: ['{{.CHECK}}']\n    cmds: [make]",
        "status: [test -f out]\n    cmds: [\"cd x\\nmake\"]",
        "status: []\n    cmds: [make]",
    ] {
        let text = format!("version: '3'\ntasks:\n  a:\n    {task}\n  b: echo b\n");
        let (grade, why) = reasons(&converted(Format::Task, &text), "a");
        assert_eq!(grade, Grade::Adapted, "{task}");
        assert!(why.contains("`status` is omitted"), "{task}: {why}");
        assert_eq!(why.matches("so the task always runs").count(), 1, "{task}: {why}");
    }
}
