//! `import ".env"`: variables for plans and steps, and contracts that compare them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::files::Case;
use crate::support::Opal;

const TASK: &str = "import \".env\"\nimport? \".env.local\"\n\nfun paint() {\n    \
                    echo planned=@env.COLOUR(public=true)\n    \
                    sh -c 'echo \"given=$COLOUR size=$SIZE\"'\n}\n\nfun other() = echo other\n";

fn painter() -> Opal {
    Opal::machine(TASK).file("opal.mod", "name = \"x\"\n").file(".env", "COLOUR=green\nSIZE=1\n")
}

#[test]
fn the_environment_wins_then_files_of_the_command_line_then_later_imports() {
    let opal = painter();
    let given = |args: &[&str], env: &[(&str, &str)]| {
        let ran = opal.call_with(env, &[&["-q", "paint"], args].concat());
        ran.code(0);
        ran.stdout.clone()
    };
    assert_eq!(given(&[], &[]), "planned=green\ngiven=green size=1\n");
    opal.write(".env.local", "SIZE=2\n");
    assert_eq!(given(&[], &[]), "planned=green\ngiven=green size=2\n");
    opal.write("more", "SIZE=3\n");
    assert_eq!(given(&["--env-file", "more"], &[]), "planned=green\ngiven=green size=3\n");
    let size = [("SIZE", "4"), ("COLOUR", "red")];
    assert_eq!(given(&["--env-file", "more"], &size), "planned=red\ngiven=red size=4\n");
    // Steps of imported files get them too.
    opal.write("lib.opl", "fun b() {\n    echo @env.COLOUR(public=true) $SIZE\n}\n");
    opal.write("commands.opl", "import \".env\"\nimport \"lib.opl\"\nfun paint() = @cmd.lib.b()\n");
    assert_eq!(given(&[], &[]), "green 1\n");
}

#[test]
fn values_have_the_classes_of_the_environment() {
    let opal = Opal::machine("import \".env\"\nfun leak() {\n    echo @env.API_TOKEN\n}\n")
        .file(".env", "API_TOKEN=s3cret-t0ken-of-file\n");
    opal.call(&["leak"]).code(0).hides("s3cret-t0ken-of-file");
    opal.call(&["plan", "leak", "-o", "c.plan"]).code(0).hides("s3cret-t0ken-of-file");
    let bytes = opal.bytes("c.plan");
    assert!(!bytes.windows(20).any(|it| it == b"s3cret-t0ken-of-file"));
}

#[test]
fn every_way_in_which_a_file_of_variables_is_wrong_has_its_code_and_no_value() {
    let table: [Case; 9] = [
        ("import \".env\"\n", &[], "E1203", "`.env` does not exist"),
        ("import \"../.env\"\n", &[], "E1205", "outside the project"),
        ("import \".env\" as x\n", &[(".env", "A=1\n")], "E1207", "has no namespace"),
        ("import \".env\"\n", &[(".env", "A=1\nB='hunter22\n")], "E1212", ".env:2:3: unterminated"),
        ("import \"a.env\"\n", &[("a.env", "no variable hunter22\n")], "E1212", "a.env:1:"),
        (
            "import \".env\"\n",
            &[(".env", "A=1\nLD_PRELOAD=hunter22\n")],
            "E1213",
            ".env:2:1: `LD_PRELOAD`",
        ),
        ("import \".env.x\"\n", &[(".env.x", "PATH=hunter22\n")], "E1213", "`PATH`"),
        ("import \".env\"\n", &[(".env", "OPAL_ROOT=hunter22\n")], "E1213", "`OPAL_ROOT`"),
        (
            "import \"lib.opl\"\n",
            &[("lib.opl", "import \".env\"\nfun b() = echo b\n"), (".env", "A=1\n")],
            "E1211",
            "lib.opl:1:8",
        ),
    ];
    for (imports, files, code, words) in table {
        let uses = if imports.contains("lib") { "@cmd.lib.b()" } else { "touch ran" };
        let mut opal = Opal::machine(&format!("{imports}fun a() = {uses}\n"))
            .file("opal.mod", "name = \"x\"\n");
        for (name, content) in files {
            opal = opal.file(name, content);
        }
        for args in [&["check"][..], &["a"], &["plan", "a"], &["plan", "a", "-o", "c.plan"]] {
            let ran = opal.call(args);
            ran.code(65).says(&format!("error[{code}]")).says(words).hides("hunter22");
        }
        assert!(!opal.path().join("ran").exists());
        // Lists need no variables.
        let listed = opal.call(&["list"]);
        assert!(listed.stdout.contains("    a"), "{imports}");
    }
}

#[test]
fn a_pipe_a_device_and_a_huge_file_are_refused_at_once() {
    let opal = Opal::machine("import \".env\"\nfun a() = touch ran\n");
    let path = opal.path().join(".env");
    let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
    opal.call(&["a"]).code(65).says("E1203").says("a named pipe");
    fs::remove_file(&path).unwrap();
    fs::File::create(&path).unwrap().set_len(100 * 1024 * 1024).unwrap();
    opal.call(&["a"]).code(65).says("E1212").says("larger than 1 MiB");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/proc/self/environ", &path).unwrap();
    opal.call(&["a"]).code(65).says("E1205");
    assert!(!opal.path().join("ran").exists());
}

#[test]
fn a_file_of_variables_that_others_can_write_is_not_used() {
    let opal = painter();
    fs::set_permissions(opal.path().join(".env"), Permissions::from_mode(0o666)).unwrap();
    opal.call(&["paint"]).code(77).says(".env").says("writable by other users").hides("given");
    opal.call(&["check"]).code(77);
    opal.call(&["list"]).code(0);
}

#[test]
fn what_the_source_imports_an_imported_project_may_import_too() {
    let opal = Opal::machine("import \"web/.env\"\nimport \"web\"\nfun a() = @cmd.web.b()\n")
        .file("opal.mod", "name = \"x\"\n")
        .file("web/.env", "A=1\n")
        .file("web/commands.opl", "import \".env\"\nfun b() = sh -c 'echo \"A=$A\"'\n");
    opal.call(&["-q", "a"]).code(0).stdout("A=1\n");
    opal.call(&["check"]).code(0);
    opal.write("commands.opl", "import \"web\"\nfun a() = @cmd.web.b()\n");
    opal.call(&["a"]).code(65).says("E1211").says("`import \"web/.env\"`");
}

/// A contract of `paint`, and what a run of it says after a change.
fn refused(change: impl Fn(&Opal), args: &[&str], words: &[&str]) {
    let opal = painter();
    opal.call(&[&["plan", "paint", "-o", "c.plan"], args].concat()).code(0);
    opal.call(&[&["run", "--plan", "c.plan"], args].concat()).code(0).says("given=");
    change(&opal);
    let ran = opal.call(&[&["run", "--plan", "c.plan"], args].concat());
    ran.code(76).says("env_changed").hides("given=");
    for word in words {
        ran.says(word);
    }
}

#[test]
fn a_contract_compares_every_line_of_the_files() {
    let write = |text: &'static str| move |opal: &Opal| opal.write(".env", text);
    // No step names it, and node would run what it says.
    let added = "COLOUR=green\nSIZE=1\nNODE_OPTIONS=--require=./evil.js\n";
    refused(write(added), &[], &["env.NODE_OPTIONS"]);
    refused(write("COLOUR=green\nSIZE=2\n"), &[], &["env.SIZE"]);
    refused(write("COLOUR=green\n"), &[], &["env.SIZE"]);
    refused(write("COLOUR=red\nSIZE=1\n"), &[], &["env.COLOUR"]);
    refused(|opal: &Opal| opal.write(".env.local", "EXTRA=1\n"), &[], &["env.EXTRA"]);
    // Comments and the order of lines are nothing that a step gets.
    let opal = painter();
    opal.call(&["plan", "paint", "-o", "c.plan"]).code(0);
    opal.write(".env", "# more\nSIZE=1\n\nCOLOUR=green\n");
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    // What the environment overrides is compared as steps get it.
    opal.write(".env", "SIZE=7\nCOLOUR=green\n");
    opal.call_with(&[("SIZE", "1")], &["run", "--plan", "c.plan"]).code(0);
    opal.call_with(&[("SIZE", "7")], &["run", "--plan", "c.plan"]).code(76).says("env_changed");
}

#[test]
fn a_contract_compares_files_of_the_command_line_likewise() {
    let opal = painter();
    opal.write("x", "DEBUG=1\n");
    let args = ["--env-file", "x"];
    opal.call(&[&["plan", "paint", "-o", "c.plan"][..], &args].concat()).code(0);
    let run = [&["run", "--plan", "c.plan"][..], &args].concat();
    opal.call(&run).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(76).says("env_changed").says("env.DEBUG");
    opal.write("x", "DEBUG=2\n");
    opal.call(&run).code(76).says("env_changed");
    opal.write("x", "DEBUG=1\nMORE=1\n");
    opal.call(&run).code(76).says("env.MORE");
    opal.write("x", "DEBUG=1\nLD_PRELOAD=./evil.so\n");
    opal.call(&run).code(65).says("E1213").hides("given=");
    // Forced, the steps of the contract run with the current values.
    opal.write("x", "DEBUG=2\n");
    opal.call(&[&run[..], &["--force"]].concat()).code(0).says("given=");
}

#[test]
fn a_variable_that_a_loader_reads_stops_a_contract_before_its_first_step() {
    let opal = painter();
    opal.call(&["plan", "paint", "-o", "c.plan"]).code(0);
    opal.write(".env", "COLOUR=green\nSIZE=1\nLD_PRELOAD=./evil.so\n");
    opal.call(&["run", "--plan", "c.plan"]).code(65).says("E1213").hides("given=");
    opal.call(&["paint"]).code(65).says("E1213").hides("given=");
}

#[test]
fn a_short_password_that_no_step_reads_is_no_obstacle() {
    let opal = Opal::machine("import \".env\"\nfun a() = sh -c 'echo ${#DB_PASSWORD}'\n")
        .file(".env", "DB_PASSWORD=abc\n");
    opal.call(&["-q", "a"]).code(0).stdout("3\n");
    opal.call(&["plan", "a", "-o", "c.plan"]).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    opal.write(".env", "DB_PASSWORD=abd\n");
    opal.call(&["run", "--plan", "c.plan"]).code(76).says("env.DB_PASSWORD").hides("abd");
}
