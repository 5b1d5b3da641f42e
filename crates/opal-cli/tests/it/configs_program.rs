//! `vars`, `when` and `for_each` of configurations.

use serde_json::Value;

use crate::support::Opal;

fn config(text: &str) -> Opal {
    Opal::machine("").file("a.yaml", format!("version: 1\n{text}"))
}

/// What was written, which a configuration does not have.
fn forget_notes(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget_notes),
        Value::Object(fields) => {
            fields.remove("note");
            fields.values_mut().for_each(forget_notes);
        }
        _ => {}
    }
}

/// The same plan as its conversion, up to the name of the file.
#[track_caller]
fn converts(opal: &Opal) {
    opal.call(&["convert", "a.yaml", "-o", "a.opl", "--force"]).code(0);
    let plan = |file: &str| {
        let mut plan = opal.call(&["plan", file, "--json"]).code(0).json();
        forget_notes(&mut plan["steps"]);
        plan["steps"].clone()
    };
    assert_eq!(plan("a.yaml"), plan("a.opl"), "{}", opal.read("a.opl"));
}

#[test]
fn variables_are_used_in_texts_and_as_values() {
    let opal = config(
        "vars: {root: out, mode: \"0750\", port: 80, hosts: [a, b], app: {name: web}}\nsteps:\n\
         \x20 - {id: dir, type: directory, path: \"@var.root\", mode: \"@var.mode\"}\n\
         \x20 - {id: conf, type: template, source: t, destination: \"@var.root/conf.@var.app.name\", \
         vars: {port: \"@var.port\", hosts: \"@var.hosts\", mail: \"me@@var.app.name\"}, depends_on: [dir]}\n\
         \x20 - {id: raw, type: copy, content: 'a \\@var.port b', destination: raw}\n\
         \x20 - {id: run, type: command, command: 'echo \"$PORT\" > ran', env: {PORT: \
             \"@var.port\"}}\n",
    );
    opal.write("t", "{{ port + 1 }} {{ hosts | length }} {{ mail }}\n");
    opal.call(&["apply", "a.yaml"]).code(0);
    assert_eq!(opal.read("out/conf.web"), "81 2 me@web\n");
    assert_eq!(opal.read("raw"), "a @var.port b");
    assert_eq!(opal.read("ran"), "80\n");
    converts(&opal);
}

#[test]
fn a_step_is_there_where_its_condition_holds() {
    let opal = config(
        "vars: {stage: prod}\nsteps:\n\
         \x20 - {id: prod, type: directory, path: p, when: '@var.stage == \"prod\"'}\n\
         \x20 - {id: test, type: directory, path: t, when: '@var.stage == \"test\"'}\n\
         \x20 - {id: os, type: directory, path: o, when: '@os.name == \"linux\" && @env.DO(default=\"no\") == \"yes\"'}\n\
         \x20 - {id: last, type: directory, path: l, depends_on: [prod, test]}\n",
    );
    opal.call(&["apply", "a.yaml"]).code(0).says("done: 2 steps");
    let there = |name: &str| opal.path().join(name).is_dir();
    assert!(there("p") && there("l") && !there("t") && !there("o"));
    opal.call_with(&[("DO", "yes")], &["apply", "a.yaml"]).code(0);
    assert!(there("o"));
    opal.call(&["verify", "a.yaml"]).code(0).says("2 resources: 2 satisfied");
    converts(&opal);
}

#[test]
fn a_step_is_repeated_for_each_element_and_others_depend_on_all_of_them() {
    let opal = config(
        "vars: {sites: [{name: one, port: 80}, {name: two, port: 81}]}\nsteps:\n\
         \x20 - {id: dir, type: directory, path: \"d/@var.item\", for_each: [a, b]}\n\
         \x20 - {id: site, type: copy, content: \"@var.item.port\", destination: \"d/a/@var.item.name\", \
         for_each: \"@var.sites\", when: '@var.item.port > 80', depends_on: [dir]}\n",
    );
    opal.call(&["verify", "a.yaml"])
        .code(1)
        .says("dir.a")
        .says("dir.b")
        .says("site.two")
        .hides("site.one");
    opal.call(&["apply", "a.yaml", "--only", "dir"]).code(0).says("done: 2 steps");
    opal.call(&["apply", "a.yaml"]).code(0);
    assert_eq!(opal.read("d/a/two"), "81");
    assert!(!opal.path().join("d/a/one").exists());
    converts(&opal);
}

#[test]
fn what_is_wrong_is_said_with_the_way_out() {
    for (text, expected) in [
        ("when: '@var.satge == \"x\"'", "did you mean `stage`?"),
        ("when: '@file.read(\"x\") == \"\"'", "`@file.read` cannot be used here"),
        ("when: '@var.xs[@shell.output(\"id\")] == \"a\"'", "`@shell.output` cannot be used here"),
        ("when: '@var.xs[@var.xs[@file.read(\"x\")]] == \"a\"'", "`@file.read` cannot be used"),
        ("when: '[1, 2][@file.read(\"x\")] == 1'", "`@file.read` cannot be used here"),
        ("when: '@var.xs[satge] == \"a\"'", "undeclared variable `satge`"),
        ("when: '[1, 2][satge] == 1'", "undeclared variable `satge`"),
        ("when: 'a ='", "`when` is not an expression"),
        ("when: [a]", "`when` must be an expression"),
        ("for_each: x", "`for_each` must be a list"),
        ("for_each: [a, a]", "every element of `for_each` needs a unique name"),
        ("for_each: [{port: 1}]", "every element of `for_each` needs a unique name"),
        ("wehn: 'true'", "did you mean `when`?"),
        ("mode: \"@var.sage\"", "undeclared variable `sage`"),
    ] {
        let opal = config(&format!(
            "vars: {{stage: prod, xs: [a]}}\nsteps:\n  - {{id: a, type: directory, path: p, {text}}}\n"
        ));
        opal.call(&["verify", "a.yaml"]).code(2).says(expected);
    }
    let command = "vars: {x: 1}\nsteps:\n  - {id: a, type: command, command: 'echo @var.x'}\n";
    config(command).call(&["verify", "a.yaml"]).code(2).says("env: {X: \"@var.x\"}");
    for vars in ["{item: 1}", "{a-b: 1}", "[a]"] {
        let text = format!("vars: {vars}\nsteps:\n  - {{id: a, type: directory, path: p}}\n");
        config(&text).call(&["verify", "a.yaml"]).code(2);
    }
    // Without variables a text is a text.
    let plain = config("steps:\n  - {id: a, type: directory, path: \"@var.x\"}\n");
    plain.call(&["apply", "a.yaml"]).code(0);
    assert!(plain.path().join("@var.x").is_dir());
}
