//! `@git.repo` starts git and ssh, and no program that an address names.

use crate::support::Opal;

#[test]
fn an_address_that_would_start_a_program_is_refused_in_every_command() {
    for address in ["ext::sh -c touch% ran", "fd::0", "hg::./x", "rsync://host/x"] {
        let config = format!(
            "version: 1\nsteps:\n  - {{id: a, type: repo, url: \"{address}\", destination: d}}\n"
        );
        let opal = Opal::machine("").file("a.yaml", config);
        for args in [
            &["verify", "a.yaml"][..],
            &["apply", "a.yaml", "-y"],
            &["apply", "a.yaml", "--dry-run"],
        ] {
            let ran = opal.call(args);
            assert_ne!(ran.code, 0, "{address} {args:?}");
            ran.says("unsupported transport");
            assert!(!opal.path().join("ran").exists(), "{address} {args:?}");
        }
    }
}

#[test]
fn a_setting_of_git_does_not_lead_to_another_transport() {
    let opal = Opal::machine("")
        .file("home/.gitconfig", "[url \"ext::sh -c touch% ran% \"]\n\tinsteadOf = https://example.invalid/\n\
               [protocol \"ext\"]\n\tallow = always\n")
        .file("a.yaml", "version: 1\nsteps:\n  - {id: a, type: repo, url: \"https://example.invalid/x\", destination: d}\n");
    for env in [&[][..], &[("GIT_ALLOW_PROTOCOL", "ext:https")]] {
        let ran = opal.call_with(env, &["verify", "a.yaml"]);
        assert_ne!(ran.code, 0);
        assert!(!opal.path().join("ran").exists(), "{ran:#?}");
    }
}
