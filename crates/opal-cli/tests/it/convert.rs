//! `opal convert`: a configuration as source of the language.

use std::os::unix::fs::PermissionsExt;

use crate::support::Opal;

const CONFIG: &str = "\
version: 1
name: site
steps:
  - {id: dir, type: directory, path: out, mode: \"0755\"}
  - {id: say, type: command, command: \"echo 'a@b.example' > out/say\", check: test -e out/say, depends_on: [dir]}
validations:
  - {type: file_exists, path: out/say}
";

#[test]
fn the_converted_source_has_the_same_plan() {
    let opal = Opal::machine("").file("a.yaml", CONFIG);
    opal.call(&["convert", "a.yaml", "-o", "a.opl"]).code(0).says("wrote a.opl");
    let printed = opal.call(&["convert", "a.yaml"]).code(0).stdout.clone();
    assert_eq!(opal.read("a.opl"), printed);
    opal.call(&["check", "a.opl"]).code(0);
    opal.call(&["fmt", "--check", "a.opl"]).code(0);
    let hash = |file: &str| {
        let document = opal.call(&["plan", "--json", file]).code(0).json();
        document["header"]["plan_hash"].clone()
    };
    assert!(hash("a.yaml").is_string());
    assert_eq!(hash("a.yaml"), hash("./a.opl"));
    opal.call(&["run", "./a.opl"]).code(0);
    assert_eq!(opal.read("out/say"), "a@b.example\n");
}

#[test]
fn a_file_that_is_there_stays_unless_it_is_said() {
    let opal = Opal::machine("").file("a.yaml", CONFIG).file("a.opl", "mine\n");
    opal.call(&["convert", "a.yaml", "-o", "a.opl"]).code(74).says("--force");
    assert_eq!(opal.read("a.opl"), "mine\n");
    opal.call(&["convert", "a.yaml", "-o", "a.opl", "--force"]).code(0);
    assert_ne!(opal.read("a.opl"), "mine\n");
    opal.call(&["convert", "a.yaml", "-o", "./a.yaml", "--force"]).code(2).says("itself");
    assert_eq!(opal.read("a.yaml"), CONFIG);
}

#[test]
fn what_is_no_configuration_is_told() {
    let opal = Opal::machine("").file("a.yaml", "version: 1\nsteps:\n  - {id: a}\n");
    opal.call(&["convert", "a.yaml"])
        .code(2)
        .says("a.yaml:3:")
        .says("nothing was converted")
        .stdout("");
    opal.call(&["convert", "commands.opl"]).code(2).says(".yaml or .yml");
    opal.call(&["convert", "gone.yaml"]).code(2).says("the file `gone.yaml` does not exist");
    opal.call(&["fmt", "a.yaml"]).code(2).says("opal convert a.yaml");
}

#[test]
fn a_go_template_is_converted_once_and_then_rendered() {
    let task = "fun main() {\n    @file.template(source=\"a.j2\", destination=\"out\", \
                vars={port: 80, names: [\"x\", \"y\"]})\n}\n";
    let go = "port {{.port}}\n{{range $i, $n := .names}}{{$i}}={{$n}};{{end}}\n";
    let opal = Opal::machine(task).file("a.j2", go).file("a.conf.tmpl", go);
    opal.call(&["main"])
        .says("line 1: `{{ .port }}` is a tag of a Go template")
        .says("opal convert --from go-template FILE");
    let ran = opal.call(&["convert", "a.conf.tmpl", "-o", "b.j2"]);
    ran.code(0).says("warning: a.conf.tmpl:1: Go prints a Bool as `true`").says("wrote b.j2");
    ran.says("warning: a.conf.tmpl:2: `range .names` is written as a loop over a list");
    let by_flag = opal.call(&["convert", "--from", "go-template", "a.j2"]);
    by_flag.code(0).stdout(&opal.read("b.j2"));
    opal.call(&["convert", "--from", "go-template", "a.j2", "-o", "a.j2", "--force"])
        .code(2)
        .says("itself");
    opal.write("a.j2", opal.read("b.j2"));
    opal.call(&["main"]).code(0);
    assert_eq!(opal.read("out"), "port 80\n0=x;1=y;\n");
}

#[test]
fn a_template_that_cannot_be_converted_is_left_alone() {
    let opal = Opal::machine("").file("a.tmpl", "x\n{{with .a}}{{end}}\n");
    opal.call(&["convert", "a.tmpl", "-o", "b.j2"])
        .code(2)
        .says("error: a.tmpl:2: `with` of Go templates cannot be converted; write it as Jinja")
        .stdout("");
    assert!(!opal.path().join("b.j2").exists());
}

const JUSTFILE: &str = "\
level := 'a b'
build kind='debug' *args:
    make {{kind}} {{args}} {{level}}
    cd sub && make
    make \"{{kind}}@var.kind\" '{{kind}}'
all: (build 'x')
    make last
fmt:
    make fmt
";

/// What `make` was called with, and where.
const RECORDER: &str =
    "#!/bin/sh\nprintf '%s|' \"${PWD##*/}\" \"$@\" >> \"$LOG\"\nprintf '\\n' >> \"$LOG\"\n";

#[test]
fn a_converted_justfile_starts_the_same_programs() {
    let opal =
        Opal::machine("").file("justfile", JUSTFILE).file("bin/make", RECORDER).file("sub/x", "");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(opal.path().join("bin/make"), executable).unwrap();
    let ran = opal.call(&["convert", "justfile", "-o", "converted.opl"]);
    ran.code(0).says("exact   justfile:2: build").says("2 exact").says("opal run fmt");
    opal.call(&["check", "converted.opl"]).code(0);
    opal.call(&["fmt", "--check", "converted.opl"]).code(0);
    let path = format!("{}:/usr/bin:/bin", opal.path().join("bin").display());
    let log = opal.path().join("log");
    let env = [("PATH", path.as_str()), ("LOG", log.to_str().unwrap())];
    opal.call_with(&env, &["-f", "converted.opl", "all"]).code(0);
    let here = opal.path().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(
        opal.read("log"),
        format!("{here}|x|a|b|\nsub|\n{here}|x@var.kind|x|\n{here}|last|\n")
    );
}

#[test]
fn an_omitted_task_is_exit_1_and_is_in_the_report_of_json() {
    let opal = Opal::machine("").file("x.txt", "a:\n    echo {{sha1('x')}}\nb:\n    echo b\n");
    let ran = opal.call(&["convert", "--from", "justfile", "x.txt", "--json"]);
    let document = ran.code(1).json();
    assert_eq!(document["summary"], serde_json::json!({"exact": 1, "adapted": 0, "omitted": 1}));
    assert_eq!(document["tasks"][0]["outcome"], "omitted");
    assert!(document["source"].as_str().unwrap().contains("fun b() {\n    echo b\n}"));
    opal.call(&["convert", "--json", "commands.yaml"]).code(2).says("--json");
}

#[test]
fn files_that_are_not_what_they_seem_are_refused_and_nothing_runs() {
    let opal = Opal::machine("").file("bad/justfile", "\u{7f}ELF\0\0").file(
        "justfile",
        "x := `touch pwned`\na:\n    touch pwned\r@secret.env.X \"\"\"\n    echo \u{2028}\n",
    );
    opal.call(&["convert", "bad/justfile"]).code(2).says("NUL").stdout("");
    let ran = opal.call(&["convert", "justfile", "-o", "a.opl"]);
    ran.code(1);
    opal.call(&["check", "a.opl"]).code(0);
    assert!(!opal.path().join("pwned").exists());
    assert!(!opal.read("a.opl").contains(['\r', '\u{2028}']));
}

#[test]
fn files_that_a_file_names_are_converted_with_it_and_run_the_same() {
    let opal = Opal::machine("")
        .file("justfile", "set dotenv-load\nimport 'ci.just'\nmod docs\nall: docs::serve ci\n    echo $FROM_ENV\n")
        .file("ci.just", "ci:\n    echo ci\n")
        .file("docs/justfile", "serve:\n    basename \"$PWD\"\n")
        .file(".env", "FROM_ENV=value\n");
    let ran = opal.call(&["convert", "justfile", "-o", "a.opl"]);
    ran.code(0)
        .says("exact   ci.just:1: ci")
        .says("exact   docs/justfile:1: docs::serve (now `docs-serve`)");
    opal.call(&["-f", "a.opl", "all", "-q"]).code(0).stdout("docs\nci\nvalue\n");
    let document = opal.call(&["convert", "justfile", "--json"]).json();
    let files: Vec<&str> =
        document["tasks"].as_array().unwrap().iter().filter_map(|it| it["file"].as_str()).collect();
    assert_eq!(files, ["justfile", "ci.just", "docs/justfile"]);
}

#[test]
fn no_file_outside_the_directory_is_read() {
    let secret = "leaked:\n    echo canary-secret\n";
    let opal = Opal::machine("").file("outside.just", secret).file(
        "in/justfile",
        "import '../outside.just'\nimport 'link.just'\nmod folder\nimport '/etc/passwd'\na:\n    echo a\n",
    );
    std::os::unix::fs::symlink("../outside.just", opal.path().join("in/link.just")).unwrap();
    std::fs::create_dir(opal.path().join("away")).unwrap();
    std::fs::write(opal.path().join("away/justfile"), secret).unwrap();
    std::os::unix::fs::symlink("../away", opal.path().join("in/folder")).unwrap();
    let ran = opal.call(&["convert", "in/justfile"]);
    ran.code(1).hides("canary-secret").says("a symlink leads out of this directory");
    ran.says("its path is not below this directory");
    let piped = Opal::machine("")
        .args(["convert", "--from", "justfile", "-"])
        .stdin("mod x\na:\n    echo a\n");
    piped.run().code(1).says("the file comes from standard input");
}
