use opal_core::resource::Status;

use super::*;

fn package(wanted: &str, installed: &[Installed]) -> Package {
    let (name, version) = match wanted.split_once('=') {
        Some((name, version)) => (name, Some(version.to_owned())),
        None => (wanted, None),
    };
    let wanted = Wanted { name: name.to_owned(), version };
    Package { wanted, installed: installed.to_vec() }
}

fn there(version: &str) -> Installed {
    let (names, versions) = (vec!["any".to_owned()], vec![version.to_owned()]);
    Installed { names, versions, unfinished: None, is_held: false }
}

fn half(version: &str) -> Installed {
    Installed { unfinished: Some("half-configured"), ..there(version) }
}

#[test]
fn each_state_of_packages_has_its_status() {
    let fine = || package("fine", &[there("1")]);
    for (packages, status, message) in [
        (vec![], Status::Satisfied, "all packages are installed"),
        (vec![fine()], Status::Satisfied, "the package is installed"),
        (vec![package("a=1", &[there("1")])], Status::Satisfied, "the package is installed"),
        (
            vec![package("a=1", &[there("2"), there("1")]), fine()],
            Status::Satisfied,
            "all packages are installed",
        ),
        (vec![fine(), package("a", &[])], Status::Missing, "not installed: `a`"),
        (vec![package("a=2", &[there("1")])], Status::Drifted, "installed in another version: `a`"),
        (vec![package("a", &[half("1")])], Status::Drifted, "only partly installed: `a`"),
        (
            vec![package("a=2", &[there("1")]), package("b", &[]), package("c", &[half("3")])],
            Status::Missing,
            "not installed: `b`; installed in another version: `a`; only partly installed: `c`",
        ),
    ] {
        let finding = decide(&packages).unwrap();
        assert_eq!((finding.status, finding.message.expose()), (status, message));
        assert_eq!(finding.details.is_some(), status != Status::Satisfied, "{message}");
    }
}

#[test]
fn the_diff_tells_expected_and_actual_of_what_differs() {
    let packages = [
        package("fine", &[there("7")]),
        package("old=2", &[there("1")]),
        package("gone", &[]),
        package("half", &[half("3")]),
    ];
    let finding = decide(&packages).unwrap();
    let details = finding.details.unwrap().report();
    let lines: Vec<_> = details.lines().filter(|line| !line.starts_with("@@")).collect();
    let expected = [
        "--- expected: packages",
        "+++ actual: packages",
        " fine 7",
        "-old 2",
        "-gone",
        "-half 3",
        "+old 1",
        "+half 3 (half-configured)",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_held_package_is_left_alone() {
    let held = Installed { is_held: true, ..there("1") };
    assert_eq!(
        decide(&[package("a", std::slice::from_ref(&held))]).unwrap().status,
        Status::Satisfied
    );
    let trouble = decide(&[package("a=2", &[held])]).unwrap_err();
    assert_eq!(trouble.message, "`a` is held at 1, but another version is required");
}
