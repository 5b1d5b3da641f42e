//! Planning twice always verifies: examples, fixtures, and a bit of everything.

use std::fs;
use std::path::PathBuf;

use crate::drift::shell;
use crate::support::{Opal, assert_plan_schema, repository};

/// Plans, and holds the contract against the same day.
#[track_caller]
fn verifies(opal: &Opal, env: &[(&str, &str)], line: &[&str]) {
    let made = opal.call_with(env, &[&["plan", "-o", "c.plan"], line].concat());
    made.code(0);
    for _ in 0..2 {
        let ran = opal.call_with(env, &["run", "--plan", "c.plan", "--strict-source", "--dry-run"]);
        assert_eq!(ran.code, 0, "{line:?}: {ran:#?}");
    }
}

#[test]
fn every_example_verifies() {
    let examples = repository().join("examples");
    let read = |name: &str| fs::read_to_string(examples.join(name)).unwrap();
    let opal = Opal::machine("").file("hello.opl", read("hello.opl"));
    let opal = opal.file("backup.opl", read("backup.opl"));
    verifies(&opal, &[], &["-f", "hello.opl", "hello"]);
    verifies(&opal, &[], &["-f", "hello.opl", "hello", "--loud", "--name", "you"]);
    let token = [("BACKUP_TOKEN", "canary-token")];
    verifies(&opal, &token, &["backup.opl"]);
    verifies(&opal, &token, &["backup.opl", "users", "orders"]);
    let opal = Opal::machine(&read("deploy.opl"));
    commit(&opal);
    for line in [
        &["deploy", "staging"][..],
        &["deploy", "production", "--replicas", "5"],
        &["build"],
        &["build", "--tag", "v1"],
        &["restart-workers"],
    ] {
        verifies(&opal, &[], line);
    }
}

/// Makes the project a repository with one commit.
fn commit(opal: &Opal) {
    let line = "git init -q && git add commands.opl && \
                git -c user.name=a -c user.email=a@example.com commit -q -m a";
    shell(opal, &[], line).code(0);
}

#[test]
fn every_fixture_whose_world_can_be_made_real_verifies() {
    let folder = repository().join("crates/opal-plan/test_data/plan");
    let mut done = Vec::new();
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "opl")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let source = fs::read_to_string(path).unwrap();
        let expected = fs::read_to_string(path.with_extension("plan")).unwrap();
        let is_errors = expected.split(": ").nth(1).is_some_and(|code| code.starts_with("E0"));
        if is_errors {
            continue;
        }
        let mut opal = Opal::machine(&source).file("task.opl", &source);
        commit(&opal);
        let mut env = Vec::new();
        let (mut target, mut arguments) = (vec!["task.opl"], Vec::new());
        for line in source.lines().map_while(|line| line.strip_prefix("//@ ")) {
            let (word, rest) = line.split_once(' ').unwrap();
            let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
            match word {
                "target" => target = vec![first],
                "arg" => arguments.push(second),
                "env" => env.push((first, second)),
                "file" => opal = opal.file(first, second),
                _ => {}
            }
        }
        verifies(&opal, &env, &[&target[..], &arguments].concat());
        done.push(name.to_owned());
    }
    assert!(done.len() >= 3, "{done:?}");
}

#[test]
fn everything_that_a_language_can_say_verifies() {
    let source = "\
var TABLE = {b: @env.A, a: \"x\"}
var NAMES = split(@env.LIST, \",\")

fun helper(what, times = 2) {
    echo @var.what @var.times
}

fun all(env: \"x\" | \"y\" = \"x\", rest...) {
    let.out = @shell(\"echo @env.A\")
    echo @let.out \"@let.out.stdout\" @var.TABLE.b @var.NAMES[0]
    for name in NAMES { @cmd.helper(@var.name, times=3) }
    for k, v in TABLE { echo @var.k @var.v }
    when env { \"x\" -> echo x
        else -> echo y }
    var left = 3
    while left > 0 {
        echo @var.left
        left--
    }
    try { false } catch { echo caught } finally { echo done }
    @parallel(max=2) {
        sleep 1
        @retry(3, delay=1s) { curl https://example.com/@env.A }
    }
    make && @cmd.helper(\"x\") || echo failed > @file.write(\"log\", append=true)
    @workdir(\"home\") { ls }
    @environ(A=@env.A, B=\"@random.password(length=20)\") { printenv }
    echo @file.hash(\"commands.opl\") @os.name @os.arch @os.hostname @git.commit @git.branch
    echo @file.exists(\"secret\") @file.glob(\"*.opl\")
    echo @secret.file(\"secret\") @secret.cmd(\"cat secret\") @secret.env.A
    echo -- @crypto.generate_key(type=\"ed25519\") @env.NOT_SET(default=\"d\") @env.P(public=true)
    cat <<END
value: @env.A
END
    echo @var.rest
}
";
    let opal = Opal::machine(source).file("secret", "canary-secret");
    commit(&opal);
    let secret = opal.path().join("secret");
    fs::set_permissions(secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let env = [("A", "canary-a"), ("LIST", "canary-1,canary-2"), ("P", "public")];
    verifies(&opal, &env, &["all", "--env", "y", "one", "two"]);
    verifies(&opal, &env, &["--hash-algo", "blake3", "all"]);
    let shown = opal.call_with(&env, &["plan", "show", "c.plan", "--json"]);
    assert_plan_schema(&shown.code(0).hides("canary").json());
}
