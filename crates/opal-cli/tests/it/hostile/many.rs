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
fn a_run_of_such_a_file_is_bounded_too() {
    let opal = Opal::machine(&format!("fun up() = echo a\n{}", "}\n".repeat(30_000)));
    let ran = opal.call(&["up"]);
    ran.code(65).says("more E0303 in this file are not listed");
    assert!(ran.stderr.len() < 200_000, "{}", ran.stderr.len());
}
