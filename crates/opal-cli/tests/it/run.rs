//! Running is not part of this version, and says so; mistakes are found first.

use crate::support::Opal;

#[test]
fn a_correct_task_says_that_running_comes_later() {
    let ran = Opal::project("fun hello() = echo hello\n").args(["hello"]).run();
    ran.code(69).stdout("").says("running is not part of this version");
}

#[test]
fn a_wrong_task_shows_its_errors_on_stderr() {
    let ran = Opal::project("fun hello() = echo @var.X\n").args(["hello"]).run();
    ran.code(65).stdout("").says("error[E0401]");
}

#[test]
fn a_file_is_a_script() {
    let opal = Opal::new().file("backup.opl", "#!/usr/bin/env opal\necho @args\n");
    let opal = opal.args(["backup.opl", "x"]);
    opal.run().code(69).says("the script");
    opal.args(["run", "./backup.opl"]).run().code(69).says("the script");
    Opal::new().args(["run", "gone.opl"]).run().code(66).says("there is no file `gone.opl`");
}

#[test]
fn run_takes_a_function_where_the_word_is_no_file() {
    Opal::project("fun a() = echo a\n")
        .args(["run", "b"])
        .run()
        .code(2)
        .says("there is no task `b`");
    Opal::new().args(["run", "b"]).run().code(66).says("commands.opl");
}
