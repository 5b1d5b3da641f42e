//! What a project is called.

use crate::support::Opal;

/// A checkout whose origin is `address`, and what its contract says.
fn checkout(address: &str) -> Opal {
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = \"{address}\"\n"
    );
    Opal::machine("fun deploy() {\n    echo @env.REPLICAS\n}\n")
        .env("REPLICAS", "31337")
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".git/objects/.keep", "")
        .file(".git/refs/.keep", "")
        .file(".git/config", config)
}

#[test]
fn a_token_in_the_address_of_the_origin_stays_there() {
    for address in [
        "https://ci:canary-token-5150@git.example/team/shop.git",
        "https://canary-token-5150@git.example/team/shop",
        "https://git.example/team/shop.git?token=canary-token-5150",
        "ssh://ci:canary-token-5150@git.example/team/shop",
        "ci:canary-token-5150@git.example:team/shop",
    ] {
        let opal = checkout(address);
        let made = opal.call(&["plan", "deploy", "-o", "c.plan"]);
        made.code(0).hides("canary");
        let bytes = opal.bytes("c.plan");
        assert!(!bytes.windows(6).any(|window| window == b"canary"), "{address}");
        let tree = opal.call(&["plan", "show", "c.plan"]);
        tree.code(0).says("git.example/team/shop").hides("canary");
        let json = opal.call(&["plan", "show", "c.plan", "--json"]);
        let project = &json.code(0).hides("canary").json()["provenance"]["project"];
        assert_eq!(project, "git.example/team/shop");
        opal.call(&["plan", "deploy", "--json"]).code(0).hides("canary");
    }
}

#[test]
fn a_token_that_changes_with_every_job_is_no_other_project() {
    let opal = checkout("https://ci:first@git.example/team/shop.git");
    opal.call(&["plan", "deploy", "-o", "one.plan"]).code(0);
    for address in ["https://ci:second@git.example/team/shop.git", "git@git.example:team/shop"] {
        let config = opal.read(".git/config");
        let (before, _) = config.split_once("url = ").unwrap();
        opal.write(".git/config", format!("{before}url = {address}\n"));
        opal.call(&["plan", "deploy", "-o", "two.plan"]).code(0);
        let same = opal.call(&["plan", "diff", "one.plan", "two.plan"]);
        same.code(0).says("the plans are the same").hides("not compared");
    }
}
