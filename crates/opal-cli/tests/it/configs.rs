//! Declarative configurations as sources: checked, planned, kept as contracts.

use crate::support::{Opal, assert_plan_schema};

const CONFIG: &str = "\
version: 1
steps:
  - {id: dir, type: directory, path: out}
  - {id: conf, type: copy, source: app.conf, destination: out/app.conf, depends_on: [dir]}
";

fn config() -> Opal {
    Opal::machine("").file("a.yaml", CONFIG).file("app.conf", "x\n")
}

#[test]
fn mistakes_are_shown_with_their_lines_for_people_programs_and_github() {
    let opal = config();
    opal.call(&["check", "a.yaml"]).code(0).says("no problems found");
    opal.write("a.yaml", CONFIG.replace("path: out", "pth: out"));
    opal.call(&["check", "a.yaml"])
        .code(65)
        .says("a.yaml:3:")
        .says("pth: out")
        .says("did you mean");
    opal.call(&["check", "a.yaml", "--format", "github"])
        .code(65)
        .says("::error file=a.yaml,line=3");
    let document = opal.call(&["check", "a.yaml", "--json"]).code(65).json();
    assert_eq!(document["files"][0]["diagnostics"][0]["span"]["start"]["line"], 3);
    opal.call(&["plan", "a.yaml"]).code(65).says("a.yaml:3:");
    opal.write("a.yaml", [0xff, 0xfe, b'a']);
    opal.call(&["check", "a.yaml"]).code(65);
    opal.call(&["verify", "a.yaml"]).code(2);
    opal.call(&["check", "gone.yaml"]).code(66);
}

#[test]
fn a_step_without_a_type_says_which_key_may_be_meant() {
    let opal = config();
    opal.write("a.yaml", CONFIG.replace("type: directory", "typ: directory, nonsense: 1"));
    let ran = opal.call(&["check", "a.yaml"]);
    ran.code(65).says("a step needs `type`").says("did you mean `type`?").says("`nonsense`");
    opal.write("a.yaml", CONFIG.replace("type: directory", "<<: {type: directory}"));
    opal.call(&["check", "a.yaml"]).code(65).says("a step needs `type`").says("no merge key `<<`");
}

#[test]
fn a_configuration_is_planned_like_any_source() {
    let opal = config();
    opal.call(&["plan", "a.yaml"]).code(0).says("@file.copy(").says("Plan Hash: ");
    let document = opal.call(&["plan", "a.yaml", "--json"]).code(0).json();
    assert_plan_schema(&document);
    opal.call(&["plan", "a.yaml", "word"]).code(2).says("takes no arguments");
}

#[test]
fn a_contract_of_a_configuration_runs_and_knows_its_source() {
    let opal = config();
    opal.call(&["plan", "a.yaml", "-o", "a.plan"]).code(0).says("wrote a.plan");
    opal.call(&["run", "--plan", "a.plan", "--strict-source"]).code(0);
    assert_eq!(opal.read("out/app.conf"), "x\n");
    opal.call(&["run", "--plan", "a.plan"]).code(0).says("already satisfied");
    opal.write("a.yaml", format!("# another word\n{CONFIG}"));
    opal.call(&["run", "--plan", "a.plan"]).code(0).says("the source has changed");
    opal.call(&["run", "--plan", "a.plan", "--strict-source"]).code(76).says("source_changed");
    opal.write("a.yaml", CONFIG.replace("path: out", "path: other"));
    opal.call(&["run", "--plan", "a.plan"]).code(76).says("opal plan -o a.plan a.yaml");
}

#[test]
fn relative_paths_begin_beside_the_configuration() {
    let text = format!(
        "{CONFIG}  - {{id: say, type: command, command: echo here > out/say, depends_on: [conf]}}\n"
    );
    let opal = Opal::machine("").file("deep/a.yml", text).file("deep/app.conf", "x\n");
    opal.call(&["apply", "deep/a.yml"]).code(0);
    assert_eq!(opal.read("deep/out/app.conf"), "x\n");
    assert_eq!(opal.read("deep/out/say"), "here\n");
}

#[test]
fn a_configuration_has_no_tasks_and_traces_its_own_stages() {
    let opal = config();
    opal.call(&["-f", "a.yaml", "list"]).code(0);
    opal.call(&["plan", "a.yaml", "--debug", "paths"]).code(0).says("debug: config: a.yaml: ");
    opal.call(&["plan", "a.yaml", "--telemetry", "timing"]).code(0).says("steps");
}

#[test]
fn a_variable_in_braces_is_an_error_that_shows_how_to_write_it() {
    let of = |step: &str| {
        let text = format!("version: 1\nname: x\nvars: {{port: 80}}\nsteps:\n  - {step}\n");
        Opal::machine("").file("a.yaml", text)
    };
    for (step, says) in [
        ("{id: a, type: copy, content: 'p={{ port }}', destination: f}", "write `@var.port`"),
        ("{id: a, type: directory, path: 'd/{{item}}', for_each: [x]}", "write `@var.item`"),
        ("{id: a, type: command, command: 'echo {{ port }}'}", "write `$PORT`"),
        ("{id: a, type: template, source: t, destination: f, vars: {p: '{{port}}'}}", "@var.port"),
    ] {
        for args in [["check", "a.yaml"], ["verify", "a.yaml"]] {
            let ran = of(step).call(&args);
            ran.says("E1005").says("is not replaced").says(says);
            assert_ne!(ran.code, 0, "{step}");
        }
    }
    let other = "{id: a, type: command, command: \"docker ps --format '{{.ID}} {{ name }}'\"}";
    of(other).call(&["check", "a.yaml"]).code(0);
}

#[test]
fn the_check_of_a_command_is_read_by_the_shells_parser() {
    for command in ["command: 'echo (', check: 'true'", "command: 'true', check: 'test ( x'"] {
        let text =
            format!("version: 1\nname: x\nsteps:\n  - {{id: a, type: command, {command}}}\n");
        let opal = Opal::machine("").file("a.yaml", text);
        opal.call(&["check", "a.yaml"]).code(65).says("E0901");
    }
}
