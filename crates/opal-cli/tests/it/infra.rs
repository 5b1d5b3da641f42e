//! Contracts with resources: what was seen when they were made is held against what is seen now.

use std::fs;

use crate::support::{Opal, Ran};

const PROJECT: &str = "\
fun setup(fail: Bool = false) {
    @file.directory(\"site\")
    @file.copy(\"page.html\", \"site/page.html\", overwrite=true)
    if fail {
        test -e go
    }
    @file.line(\"hosts\", \"10.0.0.1 db\")
    @file.line(\"hosts\", \"10.0.0.2 web\")
}
";

fn project() -> Opal {
    Opal::machine(PROJECT).file("page.html", "hello\n").file("hosts", "127.0.0.1 localhost\n")
}

fn planned(words: &[&str]) -> Opal {
    let opal = project();
    opal.call(&[&["plan", "-o", "c.plan", "setup"], words].concat()).code(0);
    opal
}

fn run(opal: &Opal) -> Ran {
    opal.call(&["run", "--plan", "c.plan"])
}

#[track_caller]
fn refused(opal: &Opal, code: &str, path: &str) {
    run(opal).code(76).says(code).says(path).says("nothing was run");
    let document = opal.call(&["run", "--plan", "c.plan", "--json"]).code(76).json();
    assert_eq!(document["code"], code, "{document:#}");
    assert_eq!(document["differences"][0]["change"], "resource", "{document:#}");
    assert_eq!(document["may_be_forced"], true);
    opal.call(&["plan", "diff", "c.plan"]).code(1).says(code);
}

#[test]
fn a_contract_shows_what_its_resources_were() {
    let opal = planned(&[]);
    opal.call(&["plan", "show", "c.plan"]).code(0).says("Resources: 2 missing, 2 drifted");
    let document = opal.call(&["plan", "show", "c.plan", "--format", "json"]).code(0).json();
    let resources = &document["provenance"]["resources"];
    assert_eq!(resources[0]["status"], "missing", "{document:#}");
    assert_eq!(resources[0]["path"], "setup.file.directory[0]");
}

#[test]
fn a_second_run_finds_everything_satisfied() {
    let opal = planned(&[]);
    run(&opal).code(0);
    assert_eq!(opal.read("site/page.html"), "hello\n");
    let hosts = opal.read("hosts");
    assert_eq!(hosts, "127.0.0.1 localhost\n10.0.0.1 db\n10.0.0.2 web\n");
    run(&opal).code(0);
    assert_eq!(opal.read("hosts"), hosts);
}

#[test]
fn what_others_have_brought_about_is_no_drift() {
    let opal = planned(&[]);
    fs::create_dir(opal.path().join("site")).unwrap();
    run(&opal).code(0);
}

#[test]
fn what_was_satisfied_and_is_gone_is_infra_missing() {
    let opal = project();
    opal.call(&["setup"]).code(0);
    opal.call(&["plan", "-o", "c.plan", "setup"]).code(0);
    fs::remove_file(opal.path().join("site/page.html")).unwrap();
    refused(&opal, "infra_missing", "setup.file.copy[0]");
    run(&opal).says("and is now missing: ").says("site/page.html").says("`opal verify -v setup`");
    opal.call(&["run", "--plan", "c.plan", "--force"]).code(0).says("infra_missing");
    assert_eq!(opal.read("site/page.html"), "hello\n");
}

#[test]
fn what_differs_in_another_way_is_infra_mutated() {
    let opal = project().file("site/page.html", "old\n");
    opal.call(&["plan", "-o", "c.plan", "setup"]).code(0);
    run(&opal).code(0);
    let opal = project().file("site/page.html", "old\n");
    opal.call(&["plan", "-o", "c.plan", "setup"]).code(0);
    opal.write("site/page.html", "older\n");
    refused(&opal, "infra_mutated", "setup.file.copy[0]");
}

#[test]
fn a_run_that_failed_in_the_middle_is_not_refused_for_what_it_did() {
    let opal = planned(&["--fail"]);
    run(&opal).code(1);
    opal.write("go", "");
    run(&opal).code(0);
    assert_eq!(opal.read("hosts"), "127.0.0.1 localhost\n10.0.0.1 db\n10.0.0.2 web\n");
}

#[test]
fn a_run_that_undoes_its_own_resource_is_not_refused_for_it() {
    let opal = Opal::machine(
        "fun setup() {\n    @file.line(\"hosts\", \"10.0.0.1 db\")\n    echo more >> hosts\n    \
         sed -i /10.0.0.1/d hosts\n}\n",
    )
    .file("hosts", "127.0.0.1 localhost\n");
    opal.call(&["plan", "-o", "c.plan", "setup"]).code(0);
    run(&opal).code(0);
    run(&opal).code(0);
    opal.write("hosts", "something else\n");
    refused(&opal, "infra_mutated", "setup.file.line[0]");
}

#[test]
fn what_would_be_written_is_held_too() {
    let opal = Opal::machine(
        "fun setup() {\n    @file.template(\"t.j2\", \"out\")\n    \
         @file.copy(\"tree\", \"copy\", recursive=true)\n}\n",
    )
    .file("t.j2", "a=1\n")
    .file("tree/a", "old\n");
    opal.call(&["plan", "-o", "c.plan", "setup"]).code(0);
    opal.write("t.j2", "a=2\n");
    refused(&opal, "infra_mutated", "setup.file.template[0]");
    opal.write("t.j2", "a=1\n");
    opal.write("tree/a", "new\n");
    refused(&opal, "infra_mutated", "setup.file.copy[0]");
    opal.write("tree/a", "old\n");
    run(&opal).code(0);
}

#[test]
fn every_byte_of_a_source_is_held_however_large_it_is() {
    let opal = Opal::machine(
        "fun setup() {\n    @file.copy(\"image\", \"copy\", overwrite=true)\n    \
         @file.copy(\"images\", \"copies\", recursive=true)\n}\n",
    )
    .file("images/small", "small\n");
    let large = |name: &str, end: &str| {
        let file = fs::File::create(opal.path().join(name)).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, end.as_bytes(), 65 << 20).unwrap();
    };
    large("image", "one");
    large("images/large", "one");
    opal.call(&["plan", "-o", "c.plan", "setup"]).code(0);
    for (name, path) in [("image", "file.copy[0]"), ("images/large", "file.copy[1]")] {
        large(name, "two");
        refused(&opal, "infra_mutated", &format!("setup.{path}"));
        large(name, "one");
    }
    run(&opal).code(0);
}

#[test]
fn a_line_that_looks_like_the_header_of_a_diff_is_held_too() {
    let opal = Opal::machine(
        "fun setup() {\n    @file.line(\"f\", \"new\", match=r\"^\\+\\+ actual: \")\n}\n",
    )
    .file("f", "++ actual: one\n");
    opal.call(&["plan", "-o", "c.plan", "setup"]).code(0);
    opal.write("f", "++ actual: two\n");
    refused(&opal, "infra_mutated", "setup.file.line[0]");
    opal.write("f", "++ actual: one\n");
    run(&opal).code(0);
}

#[test]
fn a_contract_holds_in_another_checkout_with_the_same_files() {
    let opal = project();
    for checkout in ["one", "two"] {
        let folder = opal.path().join(checkout);
        fs::create_dir_all(folder.join("site")).unwrap();
        fs::write(folder.join("commands.opl"), PROJECT).unwrap();
        fs::write(folder.join("page.html"), "hello\n").unwrap();
        fs::write(folder.join("site/page.html"), "old\n").unwrap();
        fs::write(folder.join("hosts"), "127.0.0.1 localhost\n").unwrap();
    }
    let call = |checkout: &str, words: &[&str]| {
        let mut command = opal.command();
        command.current_dir(opal.path().join(checkout)).args(words);
        command.output().unwrap()
    };
    let made = call("one", &["plan", "-o", "../c.plan", "setup"]);
    assert!(made.status.success(), "{made:?}");
    let ran = call("two", &["run", "--plan", "../c.plan"]);
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(opal.read("two/site/page.html"), "hello\n");
}

#[test]
fn a_run_that_was_cut_off_leaves_nothing_to_be_held_against_until_the_next_one() {
    let opal = planned(&[]);
    run(&opal).code(0);
    let summaries = walk(&opal.path()).into_iter().filter(|path| path.ends_with("summary.json"));
    summaries.for_each(|path| fs::remove_file(path).unwrap());
    opal.write("hosts", "other\n");
    run(&opal).code(0).says("cut off");
    opal.write("hosts", "another\n");
    refused(&opal, "infra_mutated", "setup.file.line[0]");
}

fn walk(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found
}
