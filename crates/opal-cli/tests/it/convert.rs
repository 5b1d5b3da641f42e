//! `opal convert`: a configuration as source of the language.

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
    opal.call(&["convert", "gone.yaml"]).code(2).says("there is no file `gone.yaml`");
    opal.call(&["fmt", "a.yaml"]).code(2).says("opal convert a.yaml");
}
