//! Where opal starts: `-C DIR`, the tasks of `-g`, and `@cli.directory`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::Opal;

const GLOBAL: &str = "home/.config/opal/commands.opl";

/// A machine with tasks of its user, and two directories without any.
fn machine(global: &str) -> Opal {
    let opal = Opal::machine("fun where() {\n    pwd\n    echo @cli.directory\n}\n");
    let opal = opal.file(GLOBAL, global).file("one/.keep", "").file("two/.keep", "");
    for folder in ["home/.config/opal", "home/.config", "home"] {
        fs::set_permissions(opal.path().join(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(opal.path().join(GLOBAL), fs::Permissions::from_mode(0o644)).unwrap();
    opal
}

fn inside(opal: &Opal, name: &str) -> String {
    opal.path().canonicalize().unwrap().join(name).display().to_string()
}

#[test]
fn a_task_starts_beside_its_file_and_knows_where_opal_was_called() {
    let opal = machine("");
    let (top, one) = (inside(&opal, ""), inside(&opal, "one"));
    let top = top.trim_end_matches('/');
    opal.call(&["-C", "one", "where"]).code(0).stdout(&format!("{top}\n{one}\n"));
    opal.call(&["-Cone", "-C", "../two", "where"])
        .code(0)
        .stdout(&format!("{top}\n{}\n", inside(&opal, "two")));
    opal.call(&["where"]).code(0).stdout(&format!("{top}\n{top}\n"));
}

#[test]
fn all_that_is_typed_is_seen_from_the_directory_of_c() {
    let opal =
        machine("").file("one/x.opl", "fun t() = echo @env.FROM\n").file("one/v.env", "FROM=one\n");
    opal.call(&["-C", "one", "-f", "x.opl", "--env-file", "v.env", "t"]).code(0).stdout("one\n");
    opal.call(&["-C", "one", "-f", "x.opl", "plan", "--env-file", "v.env", "t", "-o", "c.plan"])
        .code(0);
    assert!(opal.path().join("one/c.plan").is_file());
    // A variable that says otherwise is corrected, as by every shell.
    let opal = machine("").file("commands.opl", "fun pwd() = echo @env.PWD(public=true)\n");
    let top = opal.path().display().to_string();
    opal.call_with(&[("PWD", &top)], &["-C", "one", "pwd"])
        .code(0)
        .stdout(&format!("{}\n", inside(&opal, "one")));
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let opal = machine("");
    opal.call(&["-C", "three", "where"]).code(66).says("`three`").says("`-C DIR`");
    opal.call(&["-C", "commands.opl", "where"]).code(66).says("`commands.opl`");
    opal.call(&["-C"]).code(2).says("`-C` needs a value");
}

#[test]
fn hints_repeat_the_directory_and_the_tasks_of_the_user() {
    let opal = machine("fun fails() = false\n").file("one/commands.opl", "fun fails() = false\n");
    opal.call(&["-C", "one", "fails"]).code(1).says("opal -C one fails --resume");
    opal.call(&["-g", "fails"]).code(1).says("opal -g fails --resume");
    opal.call(&["-g", "fails", "--resume"]).code(1);
}

#[test]
fn the_tasks_of_the_user_start_where_opal_was_called() {
    let opal = machine("// Says where.\nfun here() {\n    pwd\n    echo @cli.directory\n}\n");
    let one = inside(&opal, "one");
    for words in [&["-C", "one", "-g", "here"][..], &["-C", "one", "-g", "run", "here"]] {
        opal.call(words).code(0).stdout(&format!("{one}\n{one}\n"));
    }
    opal.call(&["-C", "one", "run", "-g", "here"]).code(0).stdout(&format!("{one}\n{one}\n"));
    opal.call(&["-g"]).code(0).says("here").says("Says where.");
    opal.call(&["list", "-g"]).code(0).says("here");
    opal.call(&["-g", "where"]).code(2).says("unknown task");
    opal.call(&["-g", "check"]).code(0);
    opal.call(&["check", "-g", "commands.opl"]).code(2).says("omit `-g`");
}

#[test]
fn of_two_sources_one_is_too_many() {
    let opal = machine("fun here() = pwd\n");
    opal.call(&["-g", "-f", "commands.opl", "here"]).code(2).says("two source files");
    opal.call(&["-g", "list", "-f", "commands.opl"]).code(2).says("two source files");
    opal.call(&["-g", "run", "./x.opl"]).code(2).says("`./x.opl` is a file");
    opal.call(&["-g", "x.opl"]).code(2).says("`x.opl` is a file");
}

#[test]
fn without_a_file_for_the_user_its_name_is_said() {
    let opal = Opal::machine("fun here() = pwd\n");
    opal.call(&["-g", "here"]).code(66).says(".config/opal/commands.opl").says("create it");
    Opal::project("").args(["-g"]).run().code(66).says("home directory");
}

#[test]
fn tasks_of_the_user_that_others_can_write_are_not_used() {
    let opal = machine("fun here() = pwd\n");
    for (name, mode) in [(GLOBAL, 0o666), ("home/.config/opal", 0o777)] {
        let path = opal.path().join(name);
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        opal.call(&["-g", "here"]).code(77).stdout("").says("the file of `-g`").says("`-f ");
        fs::set_permissions(&path, before).unwrap();
    }
    opal.call(&["-g", "here"]).code(0);
}

#[test]
fn a_contract_that_reads_the_directory_is_refused_in_another_one() {
    let opal = machine("");
    opal.call(&["-C", "one", "plan", "where", "-o", "../c.plan"]).code(0);
    opal.call(&["-C", "one", "run", "--plan", "../c.plan"]).code(0);
    let (one, two) = (inside(&opal, "one"), inside(&opal, "two"));
    let ran = opal.call(&["-C", "two", "run", "--plan", "../c.plan"]);
    ran.code(76).stdout("").says("cli.directory").says(&format!("{one} in the contract"));
    ran.says(&format!("{two} now")).says(&format!("`cd {one}`")).says("nothing was run");
}

#[test]
fn a_contract_of_the_users_tasks_starts_only_where_it_was_made() {
    let opal = machine("fun clean() = touch cleaned\n");
    opal.call(&["-C", "one", "-g", "plan", "clean", "-o", "../c.plan"]).code(0);
    let (one, two) = (inside(&opal, "one"), inside(&opal, "two"));
    let ran = opal.call(&["-C", "two", "run", "--plan", "../c.plan"]);
    ran.code(76).stdout("").says(&format!("{one} in the contract")).says(&format!("{two} now"));
    ran.says("opal -C two -g plan -o ../c.plan clean");
    assert!(!opal.path().join("two/cleaned").exists());
    opal.call(&["-C", "one", "run", "--plan", "../c.plan"]).code(0);
    assert!(opal.path().join("one/cleaned").is_file());
    assert!(!opal.path().join("home/.config/opal/cleaned").exists());
}

#[test]
fn completion_knows_the_tasks_of_the_user_and_of_another_directory() {
    let opal = machine("fun mine() = pwd\n").file("one/commands.opl", "fun theirs() = pwd\n");
    let complete = |words: &[&str]| {
        let words = [&["--", "opal"], words].concat();
        opal.call_with(&[("OPAL_COMPLETE", "bash")], &words).stdout
    };
    assert!(complete(&["-g", "mi"]).contains("mine"));
    assert!(complete(&["-g", "run", "mi"]).contains("mine"));
    assert!(complete(&["run", "-g", "mi"]).contains("mine"));
    assert!(complete(&["-C", "one", "th"]).contains("theirs"));
    assert!(!complete(&["-C", "one", "wh"]).contains("where"));
}
