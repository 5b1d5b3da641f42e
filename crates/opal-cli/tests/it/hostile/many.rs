//! Reports are bounded, whatever a file holds.

use crate::support::Opal;

#[test]
fn a_hundred_diagnostics_of_a_code_are_listed_and_the_rest_is_counted() {
    let table = [
        ("E0104", format!("echo a{}", "\r".repeat(500_000)), 500_000),
        ("E0103", format!("echo a{}\n", "\0".repeat(20_000)), 20_000),
        ("W0105", format!("# {}\necho a\n", "\u{202e}".repeat(5_000)), 5_000),
        ("E0303", "}\n".repeat(30_000), 30_000),
        ("E0401", "echo @var.nothing\n".repeat(3_000), 3_000),
    ];
    for (code, text, count) in table {
        let opal = Opal::project(&text);
        let human = opal.call(&["check"]);
        let more = format!("{} more {code} in this file are not listed", count - 100);
        assert!(human.stdout.contains(&more), "{code} {}", human.stdout.lines().last().unwrap());
        assert!(human.stdout.len() < 200_000, "{code} {} bytes", human.stdout.len());
        let github = opal.call(&["check", "--format", "github"]).stdout;
        assert!(github.contains(&more) && github.len() < 100_000, "{code}");
        let json = opal.call(&["check", "--json"]);
        assert!(json.stdout.len() < 500_000, "{code} {} bytes", json.stdout.len());
        let document = json.json();
        let file = &document["files"][0];
        let listed = file["diagnostics"].as_array().unwrap();
        assert_eq!(listed.iter().filter(|one| one["code"] == code).count(), 100, "{code}");
        assert_eq!(file["more"][code], count - 100, "{code}");
        let kind = if code.starts_with('W') { "warnings" } else { "errors" };
        assert!(document["summary"][kind].as_u64().unwrap() >= count, "{code}");
    }
}

#[test]
fn a_hundred_are_listed_without_a_word_about_more() {
    let opal = Opal::project(&"echo @var.nothing\n".repeat(100));
    opal.call(&["check"]).code(65).hides("not listed");
    assert!(opal.call(&["check", "--json"]).json()["files"][0].get("more").is_none());
}

#[test]
fn an_error_that_is_not_listed_still_stops_the_run_that_reaches_it() {
    let wrong = "    echo @var.nothing\n".repeat(150);
    let text = format!(
        "fun wrong() {{\n{wrong}}}\nfun late() = echo @var.nothing\nfun good() = echo fine\n"
    );
    let opal = Opal::machine(&text);
    opal.call(&["late"]).code(65).says("E0401").says("commands.opl:153").hides("not listed");
    opal.call(&["good"]).code(0).stdout("fine\n").says("151 errors in parts that `good`");
    opal.call(&["wrong"]).code(65).says("50 more E0401 in this file are not listed");
    opal.call(&["check"]).code(65).says("51 more E0401 in this file are not listed");
}

#[test]
fn a_run_of_such_a_file_is_bounded_too() {
    let opal = Opal::machine(&format!("fun up() = echo a\n{}", "}\n".repeat(30_000)));
    let ran = opal.call(&["up"]);
    ran.code(65).says("more E0303 in this file are not listed");
    assert!(ran.stderr.len() < 200_000, "{}", ran.stderr.len());
}

#[test]
fn a_command_of_many_programs_that_start_each_other_is_read_in_bounded_stack_and_time() {
    for word in ["sudo ", "env ", "x su ", "xargs env ", "find -exec ", "gcloud ssh -- ", "git -c "]
    {
        let text = format!("fun up() {{\n    true; {}@env.X\n}}\n", word.repeat(20_000));
        let ran = Opal::project(&text).args(["check"]).run();
        assert!(matches!(ran.code, 0 | 65), "{word}: {}", ran.code);
    }
}
