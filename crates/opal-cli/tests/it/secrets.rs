//! No secret is in anything that opal prints or writes.

use std::fs;
use std::path::Path;

use crate::support::Opal;

const CANARY: &str = "canary7f3a";

const PROJECT: &str = "\
var NUMBER = @env.NUMBER(secret=true)
var SECRET = @secret.env.SECRET
var FROM_FILE = @secret.file(\"world/secret\")
var FROM_COMMAND = @secret.cmd(\"cat world/secret\")
var OUTPUT = @shell.output(\"cat world/secret; cat world/secret >&2\")
var PARTS = split(@env.LIST(secret=true), \",\")

fun use() {
    echo @var.SECRET \"@var.FROM_FILE\" @var.FROM_COMMAND @var.OUTPUT
    echo @file.read(\"world/secret\") @file.hash(\"world/secret\")
    for part in PARTS { echo \"x-@var.part\" }
    if @env.LIST(secret=true) == \"no\" { echo no }
    @log(\"with @var.SECRET\")
    @environ(A=@var.SECRET) { printenv A }
    no-such-client --password=@random.password(length=20)
}

fun bad-number() = echo @var.NUMBER @shell.output(\"exit @env.NUMBER(secret=true)\")
fun bad-int() {
    var n = int(@env.SECRET)
    echo @var.n
}
fun bad-command() = echo @shell.output(\"cat world/secret >&2; cat world/secret; exit 3\")
fun bad-secret-command() = echo @secret.cmd(\"cat world/secret >&2; exit 3\")
fun bad-index() = echo @var.PARTS[9]
fun bad-flag() = rm @env.DASH
fun bad-when() {
    when @env.SECRET {
        \"x\" -> echo x
    }
}
fun bad-path() = cat @file.read(@env.SECRET)
fun bad-git() = echo @git.commit
fun bad-range() {
    for i in 1...int(@env.SECRET) { echo @var.i }
}
fun bad-divide() {
    var n = 10 / int(@env.ZERO)
    echo @var.n
}
";

fn machine() -> Opal {
    let with = |text: &str| text.replace('%', CANARY);
    let opal = Opal::machine(PROJECT).file("world/secret", with("%-file"));
    let secret = opal.path().join("world/secret");
    fs::set_permissions(secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let opal = opal.env("SECRET", &with("%-env")).env("NUMBER", &with("%-number"));
    let opal = opal.env("LIST", &with("%-one,%-two")).env("DASH", &with("-%"));
    opal.env("ZERO", "0").env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full")
}

#[test]
fn no_command_prints_a_value_whether_it_works_or_not() {
    let opal = machine();
    opal.call(&["keys", "generate", "release"]).code(0);
    opal.call(&["plan", "use", "-o", "c.plan", "--sign", "release"]).code(0).hides(CANARY);
    opal.call(&["plan", "use", "-o", "d.plan"]).code(0).hides(CANARY);
    for line in [
        &["use", "--dry-run"][..],
        &["use", "--dry-run", "--json"],
        &["use", "--dry-run", "--resolve", "--format", "tree"],
        &["use", "--dry-run", "--resolve"],
        &["plan", "use", "--resolve", "--json"],
        &["plan", "use", "--format", "cmd:cat"],
        &["plan", "show", "c.plan"],
        &["plan", "show", "c.plan", "--json"],
        &["plan", "verify", "c.plan", "--json"],
        &["plan", "diff", "c.plan", "d.plan"],
        &["plan", "diff", "c.plan", "--json"],
        &["run", "--plan", "c.plan"],
        &["use"],
        &["check"],
    ] {
        for colour in ["never", "always"] {
            let ran = opal.call(&[&["--color", colour], line].concat());
            assert!(matches!(ran.code, 0 | 1 | 127), "{line:?}: {ran:?}");
            ran.hides(CANARY);
        }
    }
    let other = format!("{CANARY}-changed");
    for changed in ["SECRET", "LIST"] {
        for more in [&[][..], &["--json"], &["--force"]] {
            let line = [&["run", "--plan", "c.plan"], more].concat();
            let ran = opal.call_with(&[(changed, &other)], &line);
            assert!(matches!(ran.code, 76 | 127), "{ran:?}");
            ran.says(changed).hides(CANARY);
        }
    }
    assert_written_nowhere(&opal.path());
}

#[test]
fn no_error_holds_the_value_that_led_to_it() {
    let opal = machine();
    for task in [
        "bad-number",
        "bad-int",
        "bad-command",
        "bad-secret-command",
        "bad-index",
        "bad-flag",
        "bad-when",
        "bad-path",
        "bad-git",
        "bad-range",
        "bad-divide",
    ] {
        for more in [&["--resolve", "--format=tree"][..], &["--json", "--resolve"], &["-o", "x"]] {
            let ran = opal.call(&[&["plan", task], more].concat());
            ran.hides(CANARY);
            // A `when` that nothing matches is a plan without that step.
            assert!(ran.code == 65 || task == "bad-when", "{task}: {ran:?}");
        }
    }
    assert_written_nowhere(&opal.path());
}

/// Only the world itself holds the canary.
fn assert_written_nowhere(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("world") {
            continue;
        }
        if path.is_dir() {
            assert_written_nowhere(&path);
        } else {
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

#[test]
fn what_dash_makes_of_backslashes_is_hidden() {
    let task = "var K = @secret.env.DEPLOY_KEY\nvar P = @env.PASSWORD\n\n\
                fun d() {\n    echo \"@var.K\"\n    echo \"@var.P\"\n    \
                printf '%b\\n' \"@var.K\"\n}\n";
    let opal = Opal::machine(task)
        .env("DEPLOY_KEY", r"KEY:\nMIIEvQIBADANBgkq\nEND")
        .env("PASSWORD", r"pa\\ss$w0rd!long");
    std::fs::create_dir(opal.path().join("bin")).unwrap();
    std::os::unix::fs::symlink("/bin/dash", opal.path().join("bin/sh")).unwrap();
    let path = opal.path().join("bin").display().to_string();
    for environment in [&[("PATH", path.as_str())][..], &[]] {
        let ran = opal.call_with(environment, &["d"]);
        ran.code(0).says("<").hides("MIIEvQIBADANBgkq").hides("ss$w0rd!long");
    }
    for line in [&["runs", "show", "--json"][..], &["runs", "show", "--logs"]] {
        opal.call(line).hides("MIIEvQIBADANBgkq").hides("ss$w0rd!long");
    }
}

#[test]
fn an_argument_that_is_a_value_too_is_hidden_wherever_a_run_is_told_of() {
    let task = "fun arg(token: String, name: String) {\n    echo one\n    \
                test -n @env.API_TOKEN -a -e again\n}\n";
    let (token, line) = ("t0ken-canary7f3a", ["arg", "t0ken-canary7f3a", "ada"]);
    let opal = Opal::machine(task).env("API_TOKEN", token);
    let ran = opal.call(&line);
    ran.code(1).hides(CANARY).says("ada --resume`, and fill in the hidden values");
    opal.call(&[&line[..], &["--json"]].concat()).code(1).hides(CANARY);
    opal.call(&[&line[..], &["--events", "-"]].concat()).code(1).hides(CANARY).says("run_started");
    for shown in [&["runs", "list", "--json"][..], &["runs", "show"], &["runs", "show", "--json"]] {
        opal.call(shown).code(0).hides(CANARY);
    }
    assert_written_nowhere(&opal.path().join("home"));
    opal.write("again", "");
    opal.call(&[&line[..], &["--resume"]].concat()).code(0).hides(CANARY).hides("one\n");
}

#[test]
fn what_a_run_learns_late_is_in_no_file_of_its_record() {
    let task = "fun late(name: String) {\n    echo before @var.name\n    \
                let.token = @shell(\"cat world/secret\")\n    test -n @let.token -a -e again\n}\n";
    let opal = Opal::machine(task).file("world/secret", CANARY);
    // It was no value yet when it was printed.
    opal.call(&["late", CANARY]).code(1).says(&format!("before {CANARY}"));
    opal.call(&["runs", "show", "--logs"]).code(0).hides(CANARY).says("before 🔒");
    assert_written_nowhere(&opal.path().join("home"));
    opal.call(&["late", CANARY, "--from", "step:2"]).code(1);
    assert_written_nowhere(&opal.path().join("home"));
}

#[test]
fn a_run_in_a_directory_that_is_a_value_can_be_taken_up() {
    let opal =
        Opal::machine("fun main() {\n    echo one @secret.env.PLACE\n    test -e again\n}\n");
    let place = opal.path().canonicalize().unwrap().display().to_string();
    let opal = opal.env("PLACE", &place);
    opal.call(&["main"]).code(1);
    let document = opal.call(&["runs", "show", "--json"]).json().to_string();
    let directory = document.split("\"directory\":").nth(1).unwrap();
    assert!(directory.starts_with("\"<"), "{directory}");
    opal.write("again", "");
    opal.call(&["main", "--resume"]).code(0).says("1 step, 1 skipped");
}

#[test]
fn a_run_that_has_learnt_where_it_is_can_be_taken_up_there_and_nowhere_else() {
    for command in ["pwd", "dirname $PWD"] {
        let task = format!(
            "fun main() {{\n    let.here = @shell(\"{command}\")\n    echo in @let.here\n    \
             test -e ../again\n}}\n"
        );
        let opal =
            Opal::machine("").file("one/commands.opl", &task).file("two/commands.opl", &task);
        let [one, two] = ["one/commands.opl", "two/commands.opl"];
        opal.call(&["-f", one, "main"]).code(1).says("--resume");
        let shown = opal.call(&["runs", "show", "--json"]).json();
        assert!(shown.to_string().contains("\"directory\":\"🔒 opal:h:"), "{shown}");
        opal.write("again", "");
        opal.call(&["-f", two, "main", "--resume"]).code(2).says("no earlier run");
        opal.call(&["-f", one, "main", "--resume"]).code(0).says("1 step, 2 skipped");
    }
}

#[test]
fn a_short_secret_that_comes_slowly_shows_less_than_half_of_itself() {
    let task = "var PIN = @secret.env.DOOR_PIN\n\nfun slow() {\n    \
                ( for c in 7 3 0 5; do printf $c; sleep 0.1; done; echo; test -n @var.PIN )\n}\n";
    let opal = Opal::machine(task).env("DOOR_PIN", "7305");
    opal.call(&["slow"]).code(0).says("<4:").hides("73<").hides("730");
}

#[test]
fn a_hidden_value_does_not_take_the_end_of_its_line_with_it() {
    let opal = Opal::machine(
        "fun main() {\n    let.token = @shell(\"printf 'hunter2-secret\\n'\")\n    \
         printf 'hunter2-secret\\nnext\\n'\n    printf 'hunter2-secret\\n' | base64\n}\n",
    );
    let ran = opal.call(&["main"]);
    let lines: Vec<&str> = ran.code(0).stdout.lines().collect();
    let [first, "next", encoded] = lines[..] else { panic!("{lines:?}") };
    assert!(first.starts_with("🔒") && encoded.starts_with("🔒"), "{lines:?}");
}
