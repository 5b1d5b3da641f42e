//! Packages of registries: resolved, fetched, checked, locked, accepted; then used without a network.

use std::fs;

use super::shelf::Shelf;
use crate::support::Opal;

const HI: &str = "fun hi() = @vault.hello()\n";

/// A project with acme/vault 1.0.0, 1.1.0 and 2.0.0 in its registry.
fn shop() -> (Shelf, Opal) {
    let shelf = Shelf::new();
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        shelf.publish("acme/vault", version, &[]);
    }
    let opal = shelf.project(HI, &["acme"]);
    (shelf, opal)
}

#[test]
fn a_package_of_a_registry_is_locked_accepted_and_used_without_the_registry() {
    let (shelf, opal) = shop();
    let list = shelf.list();
    let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]);
    ran.code(0).says("added acme/vault 1.1.0").says("freshness not checked");
    assert!(opal.read("opal.mod").contains("[plugins]\n\"acme/vault\" = \"1\"\n"));
    let lock = opal.read("opal.lock");
    let source = format!("source = \"registry+{}\"\n", shelf.address());
    assert!(lock.contains(&source) && lock.contains("checksum = \"sha256:"), "{lock}");
    fs::remove_dir_all(shelf.path()).unwrap();
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.1.0\n");
    let plan = opal.call(&["-n", "hi"]);
    plan.code(0).says(&format!("acme/vault 1.1.0 (registry:{})", shelf.path().display()));
    opal.call(&["plugin", "list"]).code(0).says("accepted");
    opal.call(&["plugin", "install"]).code(0);
}

#[test]
fn adding_shows_where_a_package_is_from_and_needs_an_answer() {
    let (_shelf, opal) = shop();
    let before = opal.read("opal.mod");
    let ran = opal.call(&["plugin", "add", "acme/vault@1.0.0"]);
    ran.code(77).says("Source: registry:").says("Publisher: none").says("Verification: none");
    ran.says("shell: anything you can do").says("@vault.hello  Say who it is");
    ran.says("nobody can be asked");
    assert_eq!(opal.read("opal.mod"), before);
    assert!(!opal.path().join("opal.lock").exists());
}

#[test]
fn a_package_without_a_version_is_the_newest_and_may_be_updated() {
    let (shelf, opal) = shop();
    opal.call(&["plugin", "add", "acme/vault", "--accept", &shelf.list()]).code(0);
    assert!(opal.read("opal.mod").contains("\"acme/vault\" = \"^2.0.0\""));
}

#[test]
fn another_machine_installs_exactly_what_is_locked() {
    let (shelf, opal) = shop();
    let list = shelf.list();
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]).code(0);
    let lock = opal.read("opal.lock");
    fs::remove_dir_all(opal.path().join(".opal")).unwrap();
    opal.call(&["hi"])
        .code(69)
        .says("acme/vault 1.1.0 is not installed")
        .says("opal plugin install");
    shelf.publish("acme/vault", "1.9.0", &[]);
    opal.call(&["plugin", "install"]).code(77).says("nobody can be asked");
    opal.call(&["hi"]).code(77).says("nobody has accepted it");
    opal.call(&["plugin", "install", "--accept", &list]).code(0);
    assert_eq!(opal.read("opal.lock"), lock);
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.1.0\n");
    let json = opal.call(&["plugin", "list", "--json"]).json();
    assert_eq!(json["plugins"][0]["state"], "accepted");
}

#[test]
fn an_update_stays_within_the_version_and_changes_only_what_it_names() {
    let (shelf, opal) = shop();
    shelf.publish("acme/other", "1.0.0", &[]);
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]).code(0);
    opal.call(&["plugin", "add", "acme/other@1", "--accept", &shelf.list()]).code(0);
    shelf.publish("acme/vault", "1.2.0", &[]);
    shelf.publish("acme/other", "1.5.0", &[]);
    opal.call(&["plugin", "install"]).code(0);
    assert!(opal.read("opal.lock").contains("\"1.1.0\""));
    // The same capabilities and the same publisher: nothing to ask.
    opal.call(&["plugin", "update", "acme/vault"]).code(0);
    let lock = opal.read("opal.lock");
    assert!(lock.contains("\"1.2.0\"") && lock.contains("\"1.0.0\""), "{lock}");
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.2.0\n");
    opal.call(&["plugin", "update"]).code(0);
    assert!(opal.read("opal.lock").contains("\"1.5.0\""));
}

#[test]
fn an_update_with_another_capability_asks() {
    let (shelf, opal) = shop();
    let toml = |version: &str| format!("[package]\nname = \"acme/log\"\nversion = \"{version}\"\n");
    let plain = "# Log.\nfun log2.hello() {\n    @log(\"hello\")\n}\n";
    let package = Shelf::of(&[("opal.toml", &toml("1.0.0")), ("decorators/a.opl", plain)]);
    shelf.put("acme/log", "1.0.0", &[], &package, |_| {});
    opal.call(&["plugin", "add", "acme/log@1", "--accept", &shelf.list()]).code(0);
    let package = Shelf::of(&[
        ("opal.toml", &toml("1.1.0")),
        ("decorators/a.opl", "# Log.\nfun log2.hello() = echo hello\n"),
    ]);
    shelf.put("acme/log", "1.1.0", &[], &package, |_| {});
    let ran = opal.call(&["plugin", "update"]);
    ran.code(77).says("New capability: shell");
    assert!(opal.read("opal.lock").contains("\"1.0.0\""));
}

#[test]
fn what_packages_need_is_locked_and_removed_with_them() {
    let shelf = Shelf::new();
    shelf.publish("base/text", "1.0.0", &[]);
    shelf.publish("base/text", "1.4.0", &[]);
    let toml = "[package]\nname = \"acme/vault\"\nversion = \"1.0.0\"\n[dependencies]\n\"base/text\" = \"1\"\n";
    let body = "# Say it.\nfun vault.hello() {\n    @text.hello()\n    echo vault\n}\n";
    let package = Shelf::of(&[("opal.toml", toml), ("decorators/a.opl", body)]);
    shelf.put("acme/vault", "1.0.0", &[("base/text", "1")], &package, |_| {});
    let opal = shelf.project(HI, &["acme", "base"]);
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]).code(0);
    assert!(opal.read("opal.lock").contains("requires = [\"base/text\"]"));
    opal.call(&["hi"]).code(0).stdout("base/text 1.4.0\nvault\n");
    opal.call(&["plugin", "remove", "acme/vault"]).code(0);
    assert!(!opal.read("opal.lock").contains("base/text"));
}

#[test]
fn a_conflict_is_explained_by_who_wants_what() {
    let shelf = Shelf::new();
    shelf.publish("base/text", "1.0.0", &[]);
    shelf.publish("base/text", "2.0.0", &[]);
    shelf.publish("acme/one", "1.0.0", &[("base/text", "1")]);
    shelf.publish("acme/two", "1.0.0", &[("base/text", "2")]);
    let opal = shelf.project(HI, &["acme", "base"]);
    opal.call(&["plugin", "add", "acme/one@1", "--accept", &shelf.list()]).code(0);
    let ran = opal.call(&["plugin", "add", "acme/two@1", "--accept", &shelf.list()]);
    ran.code(78).says("no versions fit together");
    ran.says("acme/one 1.0.0 needs base/text 1").says("acme/two 1.0.0 needs base/text 2");
    ran.says("opal.mod wants acme/two 1");
    opal.call(&["plugin", "add", "base/text@7"])
        .code(78)
        .says("the versions of base/text are 2.0.0, 1.0.0");
}

#[test]
fn the_solver_goes_back_to_an_older_version_that_fits() {
    let shelf = Shelf::new();
    shelf.publish("base/text", "1.0.0", &[]);
    shelf.publish("acme/one", "1.0.0", &[("base/text", "1")]);
    shelf.publish("acme/one", "1.1.0", &[("base/text", "2")]);
    let opal = shelf.project(HI, &["acme", "base"]);
    let ran = opal.call(&["plugin", "add", "acme/one@1", "--accept", &shelf.list()]);
    ran.code(0).says("added acme/one 1.0.0");
}

#[test]
fn packages_that_need_each_other_are_a_cycle() {
    let shelf = Shelf::new();
    shelf.publish("acme/one", "1.0.0", &[("acme/two", "1")]);
    shelf.publish("acme/two", "1.0.0", &[("acme/one", "1")]);
    let opal = shelf.project(HI, &["acme"]);
    let ran = opal.call(&["plugin", "add", "acme/one@1", "--accept", &shelf.list()]);
    ran.code(78).says("packages need each other: acme/one -> acme/two -> acme/one");
}

#[test]
fn a_yanked_version_stays_only_where_it_is_locked() {
    let (shelf, opal) = shop();
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]).code(0);
    shelf.yank("acme/vault", "1.1.0");
    fs::remove_dir_all(opal.path().join(".opal/plugins")).unwrap();
    let ran = opal.call(&["plugin", "install"]);
    ran.code(0).says("acme/vault 1.1.0 was yanked: it deletes too much");
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.1.0\n");
    let fresh = shelf.project(HI, &["acme"]);
    let ran = fresh.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]);
    ran.code(0).says("added acme/vault 1.0.0");
    let exact = shelf.project(HI, &["acme"]);
    let ran = exact.call(&["plugin", "add", "acme/vault@1.1.0"]);
    ran.code(78).says("1.1.0 (yanked)");
}

#[test]
fn a_version_for_a_newer_opal_is_left_out_and_said() {
    let shelf = Shelf::new();
    let package = Shelf::package("acme/vault", "1.0.0", &[]);
    shelf.put("acme/vault", "1.0.0", &[], &package, |it| {
        it.min_core = Some("99.0.0".parse().unwrap())
    });
    let opal = shelf.project(HI, &["acme"]);
    opal.call(&["plugin", "add", "acme/vault@1"])
        .code(78)
        .says("acme/vault 1.0.0 needs opal 99.0.0");
}

#[test]
fn a_mirror_takes_the_place_of_every_registry() {
    let (shelf, opal) = shop();
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]).code(0);
    let mirror = tempfile::tempdir().unwrap();
    let to = mirror.path().join("mirror");
    fs::rename(shelf.path(), &to).unwrap();
    fs::remove_dir_all(opal.path().join(".opal/plugins")).unwrap();
    opal.call(&["plugin", "install"]).code(69);
    opal.call(&["plugin", "install", "--from", to.to_str().unwrap()]).code(0);
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.1.0\n");
}

#[test]
fn what_a_registry_has_is_shown_before_it_is_added() {
    let (shelf, opal) = shop();
    shelf.yank("acme/vault", "2.0.0");
    let ran = opal.call(&["plugin", "info", "acme/vault"]);
    ran.code(0).says("  2.0.0  yanked: it deletes too much").says("  1.1.0\n");
    let json = opal.call(&["plugin", "info", "acme/vault", "--json"]).json();
    assert_eq!(json["versions"][1]["version"], "1.1.0");
    opal.call(&["plugin", "info", "acme/missing"]).code(69).says("does not have acme/missing");
}

#[test]
fn a_name_one_letter_from_a_locked_one_asks_again() {
    use crate::prompts::answered;
    let (shelf, opal) = shop();
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]).code(0);
    shelf.publish("acme/vaults", "1.0.0", &[]);
    let asks = "Accept acme/vaults 1.0.0 on this machine? [y/N] ";
    let again = "The name is one letter from acme/vault. Do you mean acme/vaults? [y/N] ";
    let opal = opal.env("TERM", "xterm").args(["plugin", "add", "acme/vaults@1"]);
    let (code, shown) = answered(opal.command(), &[(asks, "yes\r"), (again, "n\r")]);
    assert_eq!(code, 77, "{shown}");
    assert!(!opal.read("opal.mod").contains("vaults"));
    let (code, shown) = answered(opal.command(), &[(asks, "yes\r"), (again, "yes\r")]);
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn the_lock_pins_the_publisher_and_a_policy_names_those_that_count() {
    use opal_trust::keys::SigningKey;
    use opal_trust::statements::{Origin, Subject, provenance};
    let (shelf, opal) = shop();
    let sign = |version: &str, key: &SigningKey| {
        let checksum = Shelf::package("acme/vault", version, &[]).checksum();
        let subject = Subject { name: "acme/vault", version, checksum };
        let origin = Origin { opal: "1".into(), ..Origin::default() };
        let line = provenance(&subject, &origin, key) + "\n";
        fs::write(shelf.path().join(format!("acme/vault/{version}/statements.jsonl")), line)
            .unwrap();
    };
    let (publisher, other) = (SigningKey::generate(), SigningKey::generate());
    sign("1.1.0", &publisher);
    let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]);
    ran.code(0);
    let pinned = format!("signed_by = \"{}\"\n", publisher.public());
    assert!(opal.read("opal.lock").contains(&pinned), "{}", opal.read("opal.lock"));
    let policy = |key: &SigningKey| {
        let text = format!("[plugins]\npublishers = [\"{}\"]\n", key.public());
        opal.write(".opal/config/policy.toml", text);
    };
    policy(&publisher);
    opal.call(&["hi"]).code(0);
    policy(&other);
    opal.call(&["hi"]).code(77).says("the policy does not name its publisher");
    fs::remove_file(opal.path().join(".opal/config/policy.toml")).unwrap();
    // A lock that names another publisher makes up nothing.
    let lock = opal.read("opal.lock");
    opal.write(
        "opal.lock",
        lock.replace(&publisher.public().to_string(), &other.public().to_string()),
    );
    opal.call(&["hi"]).code(77).says("is not signed by its publisher");
    opal.write("opal.lock", lock.replace(&pinned, ""));
    opal.call(&["hi"]).code(78).says("another publisher");
    opal.write("opal.lock", &lock);
    // Another publisher asks, although nothing else has changed.
    shelf.publish("acme/vault", "1.5.0", &[]);
    sign("1.5.0", &other);
    opal.call(&["plugin", "update"]).code(77).says("the publisher has changed");
    assert_eq!(opal.read("opal.lock"), lock);
    sign("1.5.0", &publisher);
    opal.call(&["plugin", "update"]).code(0);
    opal.call(&["hi"]).code(0).stdout("acme/vault 1.5.0\n");
}

#[test]
fn a_contract_with_a_package_is_verified_against_the_policy() {
    let (shelf, opal) = shop();
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &shelf.list()]).code(0);
    opal.call(&["plan", "hi", "-o", "c.plan"]).code(0);
    opal.call(&["plan", "verify", "c.plan"]).code(0);
    let place = shelf.path().display().to_string();
    for (rules, says) in [
        ("deny = [\"acme/vault@1.1.0\"]", Some("the policy denies `acme/vault@1.1.0`")),
        ("sources = [\"local\"]", Some("does not allow packages from `registry:")),
        ("verification = \"passed\"", Some("requires verified packages")),
        ("shell = \"refuse\"", Some("refuses packages with `shell`")),
        (&format!("sources = [\"registry:{place}\"]"), None),
    ] {
        opal.write(".opal/config/policy.toml", format!("[plugins]\n{rules}\n"));
        for words in [&["plan", "verify", "c.plan"][..], &["run", "--plan", "c.plan"], &["hi"]] {
            let ran = opal.call(words);
            match says {
                Some(says) => ran.code(77).says(says),
                None => ran.code(0),
            };
        }
    }
}

#[test]
fn a_trusted_directory_around_the_cache_accepts_no_package_of_a_registry() {
    let (_shelf, opal) = shop();
    opal.call(&["plugin", "trust", "."]).code(0);
    opal.call(&["plugin", "add", "acme/vault@1"]).code(77).says("nobody can be asked");
}
