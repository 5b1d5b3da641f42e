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

/// Everybody on a machine can read the words of a command, and the settings of a repository often.
#[test]
fn a_password_in_an_address_is_no_word_of_a_command_of_git() {
    let task = "fun here() {\n    @git.repo(@env.FROM, \"w\")\n}\n";
    let git = "#!/bin/sh\necho \"$@\" >> words\necho \"$OPAL_GIT_USERNAME $OPAL_GIT_PASSWORD\" >> login\n\
               printf 'ref: refs/heads/main\\tHEAD\\nabc\\tHEAD\\n'\n";
    let address = "http://bob:hunter2222@127.0.0.1:9/x.git";
    let opal = Opal::machine(task).env("FROM", address).file("bin/git", git);
    let bin = opal.path().join("bin");
    std::fs::set_permissions(bin.join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    for words in [&["verify", "here", "--verbose"][..], &["here"]] {
        opal.call_with(&[("PATH", &path)], words).hides("hunter2222");
    }
    let words = opal.read("words");
    assert!(words.contains(" clone ") && words.contains(" ls-remote "), "{words}");
    assert!(!words.contains("hunter2222") && !words.contains("bob"), "{words}");
    assert!(opal.read("login").contains("bob hunter2222\n"));
}
