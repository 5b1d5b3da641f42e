//! `import`: tasks of several files.
//!
//! | what | where |
//! |---|---|
//! | what may not be imported, and who may have written it | [`files`] |
//! | contracts of several files | [`contracts`] |
//! | files of variables | [`variables`] |

mod contracts;
mod files;
mod variables;

use crate::support::Opal;

const ROOT: &str = r#"import "tasks/db.opl"
import "apps/web" as front

var greeting = "root"

// Release everything.
fun release() {
    echo "@var.greeting"
    @cmd.front.build("prod")
    @cmd.db.migrate()
    basename $PWD
}

fun plain() = echo plain
"#;

const DB: &str = r#"var greeting = "db"

// Migrate the database.
fun migrate(steps: Int = 1) {
    basename $PWD
    @cmd._helper(@var.steps)
}

fun _helper(n: Int) {
    echo "@var.greeting @var.n"
}
"#;

const WEB: &str = r#"var version = @file.read("VERSION", public=true)

// Build the front end.
fun build(mode = "dev") {
    basename $PWD
    echo "web @var.version @var.mode"
}
"#;

/// A root file with a part and a project.
fn shop() -> Opal {
    Opal::machine(ROOT)
        .file("opal.mod", "name = \"shop\"\n")
        .file("tasks/db.opl", DB)
        .file("apps/web/commands.opl", WEB)
        .file("apps/web/VERSION", "1.2.3\n")
        .file("VERSION", "9.9.9\n")
}

/// The lines that the steps of a run print.
fn printed(opal: &Opal, args: &[&str]) -> Vec<String> {
    let ran = opal.call(&[&["-q"], args].concat());
    ran.code(0);
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_part_starts_with_the_source_and_a_project_in_its_own_directory() {
    let opal = shop();
    let here = opal.path().file_name().unwrap().to_str().unwrap().to_owned();
    let lines = printed(&opal, &["release"]);
    let expected = ["root", "web", "web 1.2.3 prod", &here, "db 1", &here];
    assert_eq!(lines, expected);
    assert_eq!(printed(&opal, &["db.migrate", "4"]), [&here, "db 4"]);
    assert_eq!(printed(&opal, &["front.build", "--mode=x"]), ["web", "web 1.2.3 x"]);
    assert_eq!(printed(&opal, &["run", "front.build"]), ["web", "web 1.2.3 dev"]);
}

#[test]
fn a_call_of_a_project_begins_in_its_directory_wherever_the_call_is() {
    let opal = shop();
    let source = ROOT.replace("    echo \"@var.greeting\"", "    cd tasks");
    opal.write("commands.opl", source);
    let lines = printed(&opal, &["release"]);
    assert_eq!(lines[..2], ["web", "web 1.2.3 prod"]);
    // A part starts where the call is.
    assert_eq!(lines[2], "tasks");
}

#[test]
fn a_run_reads_only_the_namespaces_that_its_target_uses() {
    let opal = shop();
    opal.write("apps/web/commands.opl", "fun build( {");
    assert_eq!(printed(&opal, &["plain"]), ["plain"]);
    assert_eq!(printed(&opal, &["db.migrate"])[1], "db 1");
    opal.call(&["release"]).code(65).says("apps/web/commands.opl:1:");
    std::fs::remove_file(opal.path().join("apps/web/commands.opl")).unwrap();
    assert_eq!(printed(&opal, &["db.migrate"])[1], "db 1");
    opal.call(&["release"]).code(65).says("E1203").says("commands.opl:2:8");
    opal.call(&["check"]).code(65).says("E1203");
    opal.call(&["list"]).code(65).says("db.migrate").says("E1203");
}

#[test]
fn variables_and_private_functions_stay_in_their_file() {
    let table = [
        ("fun a() = echo @var.secret\n", "E0401"),
        ("fun a() { @cmd.lib._hidden() }\n", "E1210"),
        ("fun a() { @cmd.hidden() }\n", "E0403"),
        ("fun a() { @cmd.lib.nothing() }\n", "E0403"),
        ("fun a() { @cmd.lob.open() }\n", "E0403"),
        ("fun a() { @cmd.lib.open(1) }\n", "E0502"),
        ("fun a() { @cmd.lib.typed(true) }\n", "E0505"),
    ];
    let lib = "var secret = 1\nfun open() = echo @var.secret\nfun _hidden() = echo x\n\
               fun typed(n: Int) = echo @var.n\n";
    for (text, code) in table {
        let opal = Opal::project(&format!("import \"lib.opl\"\n{text}")).file("lib.opl", lib);
        opal.call(&["check"]).code(65).says(&format!("error[{code}]"));
        opal.call(&["a"]).code(65).says(&format!("error[{code}]"));
    }
    let opal = Opal::project("import \"lib.opl\"\n").file("lib.opl", lib);
    opal.call(&["lib._hidden"]).code(2).says("`lib._hidden` is private to its file");
    opal.call(&["lib.opne"]).code(2).says("did you mean `lib.open`?");
}

#[test]
fn errors_name_the_file_that_they_are_in() {
    let opal = Opal::project("import \"lib.opl\"\nfun a() = @cmd.lib.b()\n")
        .file("lib.opl", "// A comment.\n\nfun b() {\n    echo @var.nowhere\n}\n");
    let ran = opal.call(&["check"]);
    ran.code(65).says("--> lib.opl:4:10").says("2 files checked: 1 error");
    opal.call(&["a"]).code(65).says("--> lib.opl:4:10");
    let document = opal.call(&["check", "--json"]).json();
    assert_eq!(document["files"][1]["file"], "lib.opl");
    assert_eq!(document["files"][1]["diagnostics"][0]["span"]["start"]["line"], 4);
    // So do steps that fail.
    opal.write("lib.opl", "fun b() {\n    true\n    exit_with() { return 7; }; exit_with\n}\n");
    let ran = opal.call(&["a", "--json"]);
    let failed = &ran.code(7).json()["failed"];
    assert_eq!((&failed["file"], &failed["line"]), (&"lib.opl".into(), &3.into()), "{failed}");
}

#[test]
fn lists_help_and_completion_know_the_functions_of_imports() {
    let opal = shop();
    opal.call(&[]).code(0).says("db.migrate [--steps=1]").says("# Build the front end.");
    let document = opal.call(&["list", "--json"]).json();
    let names: Vec<&str> = document["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["release", "plain", "db.migrate", "front.build"]);
    let build = &document["tasks"][3];
    assert_eq!(build["file"], "apps/web/commands.opl");
    assert_eq!((&build["line"], &build["namespace"]), (&4.into(), &"front".into()));
    opal.call(&["db.migrate", "-h"]).code(0).says("opal db.migrate [--steps=1]");
    opal.call(&["help", "front.build"]).code(0).says("Build the front end.");
    let index = ("_CLAP_COMPLETE_INDEX", "1");
    let asked = [("OPAL_COMPLETE", "zsh"), index];
    let words = opal.call_with(&asked, &["--", "opal", "db."]);
    words.code(0).says("db.migrate");
}

#[test]
fn a_file_that_is_imported_twice_is_one_file() {
    let opal = Opal::project("import \"lib.opl\"\nimport \"./lib.opl\" as other\nfun a() {\n    @cmd.lib.b()\n    @cmd.other.b()\n}\n")
        .file("lib.opl", "fun b() = echo once\nfun c() = echo @var.nowhere\n");
    assert_eq!(printed(&opal, &["a"]), ["once", "once"]);
    let ran = opal.call(&["check"]);
    ran.code(65).says("2 files checked: 1 error");
    // Files that share an import are no cycle.
    let opal = Opal::project(
        "import \"a.opl\"\nimport \"b.opl\"\nfun all() {\n    @cmd.a.x()\n    @cmd.b.x()\n}\n",
    )
    .file("a.opl", "import \"shared.opl\"\nfun x() { @cmd.shared.say(\"a\") }\n")
    .file("b.opl", "import \"shared.opl\" as s\nfun x() { @cmd.s.say(\"b\") }\n")
    .file("shared.opl", "fun say(name) = echo @var.name\n");
    opal.call(&["check"]).code(0).says("4 files checked, no problems found");
    assert_eq!(printed(&opal, &["all"]), ["a", "b"]);
    // Namespaces are those of the file: not of its imports.
    opal.call(&["shared.say", "x"]).code(2);
}

#[test]
fn a_script_may_import_functions_and_the_program_of_that_name_is_a_command() {
    let opal = Opal::new()
        .file("go.opl", "import \"lib.opl\"\n@cmd.lib.hi()\necho done\n")
        .file("lib.opl", "fun hi() = echo hi\n");
    let ran = opal.call(&["-q", "run", "go.opl"]);
    ran.code(0).stdout("hi\ndone\n");
    let opal = Opal::project("fun shot() = import -window root x.png\n");
    opal.call(&["check"]).code(0);
    opal.call(&["shot", "-n"]).code(0).says("import -window root x.png");
}

#[test]
fn the_same_path_in_two_projects_is_two_files() {
    let opal = shop();
    let source = "import \"apps/web\" as front\nvar v = @file.read(\"VERSION\", public=true)\n\
                  fun both() {\n    echo \"@var.v\"\n    @cmd.front.build()\n}\n";
    opal.write("commands.opl", source);
    assert_eq!(printed(&opal, &["both"]), ["9.9.9", "web", "web 1.2.3 dev"]);
    let tree = opal.call(&["plan", "both"]);
    tree.code(0).says("apps/web:file.read(path=\"VERSION\"").says("@cmd.front.build() in apps/web");
}

#[test]
fn resources_of_a_project_are_beside_its_file() {
    let opal = shop();
    let web = "fun set() { @file.line(\"conf\", line=\"a=1\") }\n";
    opal.write("apps/web/commands.opl", web);
    opal.write("apps/web/conf", "x=0\n");
    opal.call(&["verify", "front.set"]).code(1);
    opal.call(&["front.set"]).code(0);
    assert_eq!(opal.read("apps/web/conf"), "x=0\na=1\n");
    assert!(!opal.path().join("conf").exists());
    opal.call(&["verify", "front.set"]).code(0);
    // The same from a call, and it is not the file of that name beside the source.
    let root = "import \"apps/web\" as front\nfun all() {\n    @file.line(\"conf\", line=\"b=2\")\n    @cmd.front.set()\n}\n";
    opal.write("commands.opl", root);
    opal.write("conf", "");
    opal.call(&["verify", "all"]).code(1);
    opal.call(&["all"]).code(0);
    assert_eq!(opal.read("conf"), "b=2\n");
    opal.call(&["verify", "all"]).code(0);
}

#[test]
fn dependencies_of_other_files_start_where_their_files_start_and_run_once() {
    let opal = shop();
    opal.write(
        "commands.opl",
        "import \"tasks/db.opl\"\nimport \"apps/web\" as front\n\nfun release() {\n    \
         @needs.front.build(\"prod\")\n    @needs.db.migrate()\n    @needs.check_all()\n    \
         basename $PWD\n}\n\nfun check_all() {\n    @needs.front.build(\"prod\")\n    echo checked\n}\n",
    );
    opal.write(
        "apps/web/commands.opl",
        "import \"parts/css.opl\"\nfun build(mode) {\n    @needs.css.make()\n    @needs.prepare()\n    \
         echo \"build $(basename $PWD) @var.mode\"\n}\nfun prepare() = echo \"prepare $(basename $PWD)\"\n",
    );
    std::fs::create_dir(opal.path().join("apps/web/parts")).unwrap();
    opal.write("apps/web/parts/css.opl", "fun make() = echo \"css $(basename $PWD)\"\n");
    let here = opal.path().file_name().unwrap().to_str().unwrap().to_owned();
    let lines = printed(&opal, &["release"]);
    let expected = ["css web", "prepare web", "build web prod", &here, "db 1", "checked", &here];
    assert_eq!(lines, expected);
    let tree = opal.call(&["plan", "release"]);
    tree.code(0).says("@needs.front.build(\"prod\") in apps/web  (needed by release, check_all)");
    assert_eq!(printed(&opal, &["front.build", "x"]), ["css web", "prepare web", "build web x"]);
    opal.call(&["plan", "release", "-o", "c.plan"]).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    opal.call(&["check"]).code(0);
}

#[test]
fn formatting_keeps_imports_at_the_top() {
    let opal =
        Opal::project("import   \"a.opl\"   as   b // why\nimport 'c.opl'\nfun x() = echo x\n");
    opal.call(&["fmt"]).code(0);
    let formatted = "import \"a.opl\" as b // why\nimport 'c.opl'\n\nfun x() = echo x\n";
    assert_eq!(opal.read("commands.opl"), formatted);
}
