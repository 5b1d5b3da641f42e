use opal_core::Secret;

use super::*;

fn wanted(names: &[&str]) -> Vec<Wanted> {
    let wanted = |name: &&str| Wanted { name: (*name).to_owned(), version: None };
    names.iter().map(wanted).collect()
}

#[test]
fn auto_takes_the_manager_that_the_machine_has() {
    assert_eq!(Manager::choose("auto", &["brew", "apt-get"]), Ok(Manager::Apt));
    assert_eq!(Manager::choose("auto", &["brew"]), Ok(Manager::Brew));
    assert_eq!(Manager::choose("brew", &["brew", "apt-get"]), Ok(Manager::Brew));
    assert_eq!(Manager::choose("auto", &[]).unwrap_err().kind, TroubleKind::Missing);
}

#[test]
fn a_manager_that_is_not_there_is_named() {
    for name in ["apt", "dnf", "apk", "brew", "pacman"] {
        let trouble = Manager::choose(name, &[]).unwrap_err();
        let message = format!("the package manager `{name}` is not on this machine");
        assert_eq!(trouble.kind, TroubleKind::Missing);
        assert_eq!(trouble.message, message);
    }
}

#[test]
fn states_of_dpkg_are_distinguished() {
    for (state, there) in [
        ("ii ", Some((None, false))),
        ("hi ", Some((None, true))),
        ("ri ", Some((None, false))),
        ("iW ", Some((None, false))),
        ("it ", Some((None, false))),
        ("iU ", Some((Some("unpacked"), false))),
        ("iF ", Some((Some("half-configured"), false))),
        ("iHR", Some((Some("half-installed"), false))),
        ("rc ", None),
        ("pc ", None),
        ("un ", None),
    ] {
        let found = of_dpkg(&format!("nginx\tamd64\t{state}\t1.22.1-9"));
        assert_eq!(found.as_ref().map(|it| (it.unfinished, it.is_held)), there, "{state}");
        if let Some(found) = found {
            assert_eq!(found.names, ["nginx", "nginx:amd64"]);
            assert_eq!(found.versions, ["1.22.1-9"]);
        }
    }
}

#[test]
fn a_version_of_rpm_may_leave_out_epoch_and_release() {
    let found = of_rpm("vim\tx86_64\t2\t9.0\t1.el9").unwrap();
    assert_eq!(found.names, ["vim", "vim.x86_64"]);
    assert_eq!(found.versions, ["9.0-1.el9", "9.0", "2:9.0-1.el9", "2:9.0"]);
    assert_eq!(of_rpm("package nope is not installed"), None);
}

#[test]
fn a_name_of_apk_ends_where_its_version_begins() {
    let all = wanted(&["py3", "py3-pip", "pip"]);
    let line = |whole: &str| format!("{whole} x86_64 {{origin}} (MIT) [installed]");
    let found = of_apk(&line("py3-pip-23.1.2-r0"), &all).unwrap();
    assert_eq!((&*found.names[0], &*found.versions[0]), ("py3-pip", "23.1.2-r0"));
    assert_eq!(of_apk(&line("py3-pip-doc-23.1.2-r0"), &all), None);
    assert_eq!(of_apk("py3-pip-23.1.2-r0 x86_64 {py3-pip} (MIT)", &all), None);
}

#[test]
fn brew_keeps_several_versions_and_leaves_out_taps() {
    let found = of_brew("python@3.12 3.12.1_1 3.12.0", &wanted(&["user/tap/python@3.12"])).unwrap();
    assert_eq!(found.names, ["user/tap/python@3.12"]);
    assert_eq!(found.versions, ["3.12.1_1", "3.12.0", "3.12.1"]);
}

#[test]
fn a_manager_that_fails_is_not_taken_for_one_that_has_nothing() {
    let answer =
        |code, stderr: &str| Answer { code, stdout: Secret::new(""), stderr: Secret::new(stderr) };
    for (manager, code, stderr, reported) in [
        (Manager::Apt, 1, "dpkg-query: no packages found matching x\n", true),
        (Manager::Apt, 2, "dpkg-query: error: parsing file '/var/lib/dpkg/status'\n", false),
        (Manager::Apt, 1, "dpkg-query: no packages found matching x\nmore\n", false),
        (Manager::Dnf, 2, "", true),
        (Manager::Dnf, 1, "error: db5 error(13)\n", false),
        (Manager::Apk, 1, "", false),
        (Manager::Pacman, 1, "error: package 'x' was not found\n", true),
        (Manager::Pacman, 1, "error: failed to initialize alpm library\n", false),
        (Manager::Brew, 1, "", true),
        (Manager::Brew, 1, "Error: No such keg: /opt/homebrew/Cellar/x\n", true),
        (Manager::Brew, 1, "Error: Permission denied\n", false),
    ] {
        assert_eq!(
            manager.is_reported_by_code(&answer(code, stderr)),
            reported,
            "{manager:?}: {stderr}"
        );
    }
}

#[test]
fn each_manager_is_reported_in_its_own_way() {
    let versioned = Wanted { name: "vim".into(), version: Some("9.0".into()) };
    let all = [wanted(&["nginx"]).remove(0), versioned];
    for (manager, command) in [
        (
            Manager::Apt,
            "apt-get --quiet --yes -o APT::Cmd::Pattern-Only=true -o DPkg::Lock::Timeout=20 \
             -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold \
             --allow-downgrades install -- nginx vim=9.0",
        ),
        (Manager::Dnf, "dnf --assumeyes install nginx vim-9.0"),
        (Manager::Apk, "apk add nginx vim=9.0"),
        (Manager::Pacman, "pacman --noconfirm --needed --sync -- nginx vim=9.0"),
        (Manager::Brew, "brew install --quiet nginx vim=9.0"),
    ] {
        assert_eq!(manager.install(all.iter(), true).written(), command);
    }
    for (name, version, word) in [
        ("vim", "9.0-1.el9", "vim-9.0-1.el9"),
        ("vim", "2:9.0", "vim-2:9.0"),
        ("vim.x86_64", "9.0-1.el9", "vim-9.0-1.el9.x86_64"),
        ("vim.noarch", "2:9.0-1.el9", "vim-2:9.0-1.el9.noarch"),
        ("vim.x86_64", "9.0", "vim-9.0-*.x86_64"),
        ("python3.11", "3.11.4", "python3.11-3.11.4"),
        ("python3.11.aarch64", "3.11.4-1", "python3.11-3.11.4-1.aarch64"),
    ] {
        let wanted = Wanted { name: name.into(), version: Some(version.into()) };
        let written = Manager::Dnf.install([wanted].iter(), false).written();
        assert_eq!(written, format!("dnf --assumeyes install {word}"));
    }
    let plain = Manager::Apt.install(all.iter(), false).written();
    assert!(!plain.contains("--allow-downgrades"), "{plain}");
}
