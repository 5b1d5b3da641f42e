//! `--env-file`: variables for plans and steps.

use crate::support::Opal;

const TASK: &str = "fun paint() {\n    echo planned=@env.COLOUR(public=true)\n    \
                    sh -c 'echo \"given=$COLOUR size=$SIZE\"'\n}\n";

#[test]
fn plans_and_steps_read_the_file() {
    let opal =
        Opal::machine(TASK).file(".env", "COLOUR=green # note\nexport SIZE=\"${COLOUR}er\"\n");
    let ran = opal.call(&["paint", "--env-file", ".env"]);
    ran.code(0).stdout("planned=green\ngiven=green size=greener\n");
    let plan = opal.call(&["paint", "--dry-run", "--env-file=.env"]);
    plan.code(0).says("planned=green");
    opal.call(&["plan", "--env-file", ".env", "paint"]).code(0).says("planned=green");
}

#[test]
fn the_environment_wins_over_files_and_later_files_over_earlier_ones() {
    let opal = Opal::machine(TASK).file("a.env", "COLOUR=a\nSIZE=a\n").file("b.env", "SIZE=b\n");
    let line = ["--env-file", "a.env", "paint", "--env-file", "b.env"];
    opal.call(&line).code(0).says("given=a size=b");
    opal.call_with(&[("COLOUR", "mine")], &line).code(0).says("planned=mine\ngiven=mine size=b");
}

#[test]
fn what_is_wrong_with_a_file_is_told_before_anything_runs_and_without_its_values() {
    let opal = Opal::machine(TASK)
        .file("bad.env", "COLOUR=x\nSIZE='hunter22\n")
        .file("large.env", "#".repeat(1024 * 1024 + 1));
    let ran = opal.call(&["paint", "--env-file", "bad.env"]);
    ran.code(65).stdout("").says("error[E1212]: bad.env:2:6: unterminated quote").hides("hunter22");
    opal.call(&["paint", "--env-file", "gone.env"])
        .code(66)
        .says("the file `gone.env` does not exist");
    opal.call(&["paint", "--env-file", "."]).code(66).says("is a directory");
    opal.call(&["paint", "--env-file", "large.env"]).code(65).says("larger than 1 MiB");
}

#[test]
fn values_of_a_file_are_hidden_as_those_of_the_environment_are() {
    let task = "fun leak() {\n    echo @env.API_TOKEN\n}\n";
    let opal = Opal::machine(task).file(".env", "API_TOKEN=s3cret-t0ken\n");
    opal.call(&["leak", "--env-file", ".env"]).code(0).hides("s3cret-t0ken");
}

#[test]
fn a_file_cannot_make_a_shell_or_the_loader_run_code() {
    for (line, why) in [
        ("LD_PRELOAD=./evil.so", "the loader takes libraries from it"),
        ("BASH_ENV=evil.sh", "bash expands it and runs the file it names"),
        ("PATH=evil:/usr/bin:/bin", "programs are looked up in it"),
        ("OPAL_ROOT=evil", "opal itself reads it"),
        ("OPAL_IDENTITY=cmd:touch ran", "opal itself reads it"),
    ] {
        let opal = Opal::machine("fun main() = touch ran\n")
            .file(".env", format!("A=1\n{line}\n"))
            .file("evil.sh", "touch ran\n");
        let (name, _) = line.split_once('=').unwrap();
        for words in [
            &["main", "--env-file", ".env"][..],
            &["main", "--dry-run", "--env-file", ".env"],
            &["plan", "main", "-o", "p.plan", "--env-file", ".env"],
            &["verify", "main", "--env-file", ".env"],
        ] {
            let ran = opal.call(words);
            let code = if words[0] == "verify" { 2 } else { 65 };
            ran.code(code).stdout("").says(&format!(".env:2:1: `{name}` cannot be set")).says(why);
        }
        assert!(!opal.path().join("ran").exists(), "{line}");
    }
}
