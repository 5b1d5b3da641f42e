//! What is easy to get wrong around a run.

use super::main_of;
use crate::support::Opal;
use opal_testing::processes::{eventually, signal};

#[test]
fn no_failure_names_a_secret() {
    let secret = "/srv/hunter22hunter22";
    for step in [
        "@workdir(@secret.env.PLACE) { true }",
        "echo x > @file.write(@secret.env.PLACE + \"/a/b\")",
        "@shell(\"true\", workdir=@secret.env.PLACE)",
        "@shell(\"true\", shell=@secret.env.PLACE)",
        "cat < @file.read(@secret.env.PLACE)",
    ] {
        let text = format!("fun main() {{\n    {step}\n}}\n");
        let opal = Opal::machine(&text).env("PLACE", secret);
        for more in [&[][..], &["--json"], &["-v"], &["--debug=detailed"], &["--events", "-"]] {
            let ran = opal.call(&[&["main"], more].concat());
            assert_ne!(ran.code, 0, "{step}: {ran:#?}");
            ran.hides("hunter22");
        }
        let ran = opal.call_with(&[("GITHUB_ACTIONS", "true")], &["main"]);
        ran.hides("hunter22");
    }
}

#[test]
fn text_around_a_short_secret_hides_it_all_the_same() {
    let text = "var TOKEN = \"tok_\" + @secret.env.PIN\n\nfun main() {\n    echo @var.TOKEN\n}\n";
    let ran = Opal::machine(text).env("PIN", "9x7q").args(["main"]).run();
    ran.code(0).hides("9x7q");
}

#[test]
fn text_around_a_secret_stays_readable_however_short_the_secret_is() {
    for secret in ["host.internal", "9x7q", "k7"] {
        let text = "fun main() {\n    @log(\"deploying to @env.API_KEY for @env.USER\")\n}\n";
        let opal = Opal::machine(text).env("API_KEY", secret).env("USER", "ada");
        let shown = format!("deploying to <{}:", secret.len());
        opal.call(&["main"]).code(0).hides(secret).says(&shown).says("> for ada");
    }
}

#[test]
fn what_is_said_about_going_on_goes_on() {
    let text = "echo one @args\ntest -e go\necho three\n";
    let opal = Opal::machine("").file("s.opl", text);
    let ran = opal.call(&["s.opl", "a b", "--x"]);
    let hint = ran.code(1).stderr.lines().find_map(|line| line.split_once("run `opal "));
    let hint = hint.unwrap().1.trim_end_matches('`');
    opal.write("go", "");
    let words = ["-c", &format!("\"$0\" {hint}"), crate::support::binary().to_str().unwrap()];
    let mut command = opal.command();
    let environment: Vec<_> =
        command.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
    command = bash();
    command.current_dir(opal.path()).args(words).env_clear();
    command.envs(environment.into_iter().filter_map(|(k, v)| Some((k, v?))));
    let ran = crate::support::Ran::from(command.output().unwrap());
    ran.code(0).stdout("three\n");
}

#[expect(clippy::disallowed_methods, reason = "a hint is for a shell")]
fn bash() -> std::process::Command {
    std::process::Command::new("bash")
}

#[test]
fn a_reader_that_does_not_read_does_not_keep_a_run_from_ending() {
    let text = "fun main() {\n    try { yes } finally { touch cleaned }\n}\n";
    let opal = Opal::machine(text).args(["main", "-q"]);
    let mut child = opal.interruptible().spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let held = || rustix::io::ioctl_fionread(&stdout).unwrap();
    let mut before = 0;
    eventually("the pipe is full", || {
        // Nothing more arrives in it.
        let now = held();
        std::mem::replace(&mut before, now) == now && now >= 4096
    });
    signal(&child, "TERM");
    eventually("it ends", || child.try_wait().unwrap().is_some());
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(143));
    assert!(opal.path().join("cleaned").exists());
}

#[test]
fn a_task_without_steps_runs() {
    main_of("fun main() {\n    if false { echo no }\n}\n").code(0).stdout("");
}

#[test]
fn without_bash_pipes_are_warned_about() {
    let opal =
        Opal::machine("fun main() {\n    false | cat\n}\n\nfun other() {\n    true || cat\n}\n");
    std::fs::create_dir(opal.path().join("bin")).unwrap();
    for (name, program) in [("sh", "dash"), ("cat", "cat")] {
        let link = opal.path().join("bin").join(name);
        std::os::unix::fs::symlink(format!("/bin/{program}"), link).unwrap();
    }
    let path = opal.path().join("bin").display().to_string();
    let environment = [("PATH", path.as_str())];
    opal.call_with(&environment, &["main"]).code(0).says("bash is not installed");
    opal.call_with(&environment, &["other"]).code(0).hides("bash is not installed");
}

#[test]
fn every_way_to_a_plan_can_be_traced() {
    let opal = Opal::machine("fun main() {\n    echo one\n}\n");
    let options = ["--debug=paths", "--telemetry=timing"];
    let all = |line: &[&str]| opal.call(&[line, &options].concat());
    let line = [&["plan", "-o", "c.plan"], &options[..], &["main"]].concat();
    opal.call(&line).code(0).says("debug: planner: main.shell[0]").says("tokens");
    let ran = all(&["run", "--plan", "c.plan"]);
    ran.code(0)
        .says("debug: planner: main.shell[0]")
        .says("debug: executor: ends")
        .says("peak memory");
}
