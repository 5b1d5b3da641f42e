//! Terraform providers: a real one, from `opal.mod` to the world, without a state file. Its cloud is a
//! directory.

mod accounts;
mod adopt;
mod attacks;
mod configs;
mod contracts;
mod data;
mod deletions;
mod hostile;
mod identity;
mod intents;
mod mirrors;
mod processes;
mod registries;
mod script;
mod shelf;
mod story;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::rooted;
use crate::support::{Opal, Ran};

/// A provider that `cargo xtask providers` has built.
pub(super) fn real(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(format!("target/tools/providers/terraform-provider-{name}"));
    let needs = format!("terraform-provider-{name} (`cargo xtask providers`)");
    opal_testing::needs::has(&needs, path.is_file()).then_some(path)
}

const COMMANDS: &str = r#"
fun infra(color: String = "red") {
    @box.provider(directory="cloud") {
        let.thing = @box.thing(name="web", color=color, weight=3)
        echo made @let.thing.name @let.thing.color
    }
}

fun gone() {
    @box.provider(directory="cloud", expect={account: "alice"}) {
        @box.thing.absent(name="web")
    }
}

fun sealed() {
    @box.provider(directory="cloud") {
        let.thing = @box.thing(name="safe", secret=@secret.env.KEY, color=@secret.env.PAINT)
        echo key @let.thing.secret of @let.thing.name
    }
}

fun zoned() {
    @box.provider(directory="cloud") {
        @box.thing(name="zoned", color="red", zone=@secret.env.PAINT)
    }
}

fun net() {
    @box.provider(directory="cloud") {
        let.net = @box.net(name="net", mark="net")
        echo id @let.net.id
    }
}

fun many() {
    @box.provider(directory="cloud") {
        @parallel {
            @box.thing(name="a")
            @box.thing(name="b")
            @box.thing(name="c")
        }
    }
}

fun nowhere() = @box.thing(name="web")
"#;

const RECIPES: &str = "\n[terraform.recipes.\"box_*\"]\nwhere = \"box_owner\"\n\n\
                       [terraform.recipes.box_net]\nmark = { in = \"tags\", list = {} }\n";

/// A project with a provider of its own, which nobody has accepted.
fn project(commands: &str) -> Option<Opal> {
    let program = real("box")?;
    let wanted = "name = \"shop\"\n\n[plugins]\n\"terraform/test/box\" = { path = \"bin/box\" }\n";
    let opal = rooted(commands)
        .file("opal.mod", format!("{wanted}{RECIPES}"))
        .file("cloud/owner", "alice\n");
    fs::create_dir_all(opal.path().join("bin")).unwrap();
    fs::copy(program, opal.path().join("bin/box")).unwrap();
    executable(&opal);
    Some(opal)
}

/// One call that ends with this exit code.
fn ended(opal: &Opal, args: &[&str], code: i32) -> Ran {
    let ran = opal.call(args);
    ran.code(code);
    ran
}

fn executable(opal: &Opal) {
    let own = opal.path().join("bin/box");
    fs::set_permissions(own, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Accepts the provider as it is now, by a list of another machine.
fn try_accept(opal: &Opal, name: &str) -> Ran {
    let bytes = fs::read(opal.path().join("bin/box")).unwrap();
    let digest = opal_core::hash::Algorithm::Sha256.digest(&[&bytes]).hex();
    let list = tempfile::NamedTempFile::new().unwrap();
    let text = format!(
        "version = 1\n\n[[accepted]]\nname = \"{name}\"\nversion = \"local\"\n\
         checksum = \"sha256:{digest}\"\ncapabilities = []\n"
    );
    fs::write(list.path(), text).unwrap();
    opal.call(&["plugin", "install", "--accept", list.path().to_str().unwrap()])
}

fn accept_as(opal: &Opal, name: &str) {
    try_accept(opal, name).code(0);
}

fn accept(opal: &Opal) {
    accept_as(opal, "terraform/test/box");
}

/// The same with the provider accepted on this machine.
fn accepted(commands: &str) -> Option<Opal> {
    let opal = project(commands)?;
    accept(&opal);
    Some(opal)
}

/// Another program with the same behaviour.
fn exchange(opal: &Opal) {
    let own = opal.path().join("bin/box");
    let mut bytes = fs::read(&own).unwrap();
    bytes.push(0);
    fs::write(&own, bytes).unwrap();
}

fn stored(opal: &Opal, name: &str) -> String {
    opal.read(&format!("cloud/{name}.json"))
}

/// Changes an object as somebody else would.
fn edit(opal: &Opal, name: &str, from: &str, to: &str) {
    let text = stored(opal, name);
    assert!(text.contains(from), "{text}");
    let path = opal.path().join(format!("cloud/{name}.json"));
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn a_provider_starts_only_after_somebody_accepted_it() {
    let Some(opal) = project(COMMANDS) else { return };
    let ran = ended(&opal, &["infra", "--dry-run"], 77);
    assert!(ran.stderr.contains("`terraform/test/box`, as it is now, is not accepted"), "{ran:?}");
    let ran = ended(&opal, &["plugin", "install"], 77);
    assert!(ran.stderr.contains("native code, NOT confined"), "{ran:?}");
    assert!(ran.stderr.contains("there is no terminal to ask on"), "{ran:?}");
    assert!(!opal.path().join(".opal/plugins/terraform").exists());
}

#[test]
fn a_changed_provider_is_refused_until_it_is_accepted_again() {
    let Some(opal) = accepted(COMMANDS) else { return };
    ended(&opal, &["infra", "--dry-run"], 0);
    exchange(&opal);
    let ran = ended(&opal, &["infra"], 77);
    assert!(ran.stderr.contains("as it is now, is not accepted"), "{ran:?}");
    accept(&opal);
    ended(&opal, &["infra"], 0);
}

#[test]
fn an_object_is_planned_verified_made_corrected_and_removed_without_a_state_file() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let plan = ended(&opal, &["infra", "--dry-run"], 0);
    assert!(plan.stdout.contains("@box.provider(directory=\"cloud\")"), "{plan:?}");
    assert!(plan.stdout.contains("= @box.thing(color=\"red\", name=\"web\""), "{plan:?}");
    assert!(plan.stdout.contains("a quick plan starts no provider"), "{plan:?}");
    assert!(!opal.path().join("cloud/thing-web.json").exists());
    let verify = |code: i32| ended(&opal, &["verify", "infra"], code).stdout;
    let before = verify(1);
    assert!(before.contains("box_thing:web") && before.contains("not found"), "{before}");
    let made = ended(&opal, &["infra"], 0);
    assert!(made.stdout.contains("made web red"), "{made:?}");
    assert!(made.stderr.contains("created: thing-1"), "{made:?}");
    let after = verify(0);
    assert!(after.contains("satisfied"), "{after}");
    // What is satisfied gives its object too.
    let again = ended(&opal, &["infra"], 0);
    assert!(again.stdout.contains("made web red"), "{again:?}");
    let drifted = ended(&opal, &["verify", "infra", "blue"], 1).stdout;
    assert!(drifted.contains("color: expected \"blue\", actual \"red\""), "{drifted}");
    let changed = ended(&opal, &["infra", "blue"], 0);
    assert!(changed.stderr.contains("changed: color \"red\" → \"blue\""), "{changed:?}");
    assert!(stored(&opal, "thing-web").contains("blue"));
    ended(&opal, &["gone"], 0);
    assert!(!opal.path().join("cloud/thing-web.json").exists());
    ended(&opal, &["gone"], 0);
    assert!(verify(1).contains("missing"));
}

#[test]
fn changes_that_are_planned_are_shown_line_by_line() {
    let Some(opal) = accepted(COMMANDS) else { return };
    ended(&opal, &["infra"], 0);
    let ran = ended(&opal, &["verify", "infra", "blue", "--verbose"], 1);
    assert!(ran.stdout.contains("-color: \"blue\"\n") && ran.stdout.contains("+color: \"red\"\n"));
    let ran = ended(&opal, &["infra", "blue", "--dry-run", "--resolve"], 0);
    assert!(ran.stdout.contains("box.thing"), "{ran:?}");
}

#[test]
fn decorators_of_providers_are_checked_like_built_in_ones_and_no_provider_starts() {
    let Some(opal) = accepted(COMMANDS) else { return };
    for (line, expected) in [
        ("@box.thign(name=\"web\")", "@box.thing"),
        ("@box.thing(name=1)", "expects a String"),
        ("@box.thing(name=\"a\", weight=\"heavy\")", "expects an Int or a Float"),
        ("@box.thing(color=\"red\")", "`name`"),
        ("@box.thing(name=\"a\", colour=\"red\")", "color"),
    ] {
        fs::write(opal.path().join("commands.opl"), format!("fun wrong() = {line}\n")).unwrap();
        let ran = ended(&opal, &["check"], 65);
        assert!(ran.stdout.contains(expected), "{line}: {ran:?}");
    }
    let ran = ended(&opal, &["explain", "@box.thing"], 0);
    assert!(ran.stdout.contains("name: String, required"), "{ran:?}");
    assert!(!opal.path().join("cloud/number-1").exists());
}

#[test]
fn the_environment_configures_a_provider_without_a_block() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let ran = ended(&opal, &["verify", "nowhere"], 1);
    // Our provider needs its directory, and says so itself.
    assert!(ran.stdout.contains("blocked") && ran.stdout.contains("directory"), "{ran:?}");
}

#[test]
fn an_object_with_a_mark_is_found_by_its_tag() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let ran = ended(&opal, &["verify", "net"], 1);
    assert!(ran.stdout.contains("box_net:net"), "{ran:?}");
    assert!(ran.stdout.contains("not found: tag opal=shop/net"), "{ran:?}");
    let ran = ended(&opal, &["net"], 0);
    assert!(ran.stdout.contains("id net-1"), "{ran:?}");
    assert!(stored(&opal, "net-net-1").contains("shop/net"));
    ended(&opal, &["verify", "net"], 0);
}

#[test]
fn secrets_of_an_object_are_hidden_and_the_rest_of_it_is_not() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let opal = opal.env("KEY", "canary-key-1").env("PAINT", "canary-paint-1");
    let all = |args: &[&str]| {
        let ran = opal.call(args);
        format!("{}{}", ran.stdout, ran.stderr)
    };
    let said = [
        all(&["sealed", "--dry-run", "--resolve"]),
        all(&["sealed"]),
        all(&["sealed"]),
        all(&["verify", "sealed", "--verbose"]),
    ];
    for said in &said {
        assert!(!said.contains("canary"), "{said}");
    }
    assert!(said[1].contains("of safe"), "{}", said[1]);
    // What is opposite a secret is probably an older one.
    edit(&opal, "thing-safe", "canary-paint-1", "canary-paint-0");
    let drifted = all(&["verify", "sealed", "--verbose"]);
    assert!(drifted.contains("drifted") && drifted.contains("color"), "{drifted}");
    assert!(!drifted.contains("canary"), "{drifted}");
    let changed = all(&["sealed"]);
    assert!(!changed.contains("canary"), "{changed}");
    let records = opal.call(&["runs", "show", "--json"]);
    assert!(!records.stdout.contains("canary"), "{records:?}");
}

#[test]
fn an_older_secret_that_cannot_be_changed_in_place_is_hidden() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let opal = opal.env("PAINT", "canary-zone-1");
    ended(&opal, &["zoned"], 0);
    edit(&opal, "thing-zoned", "canary-zone-1", "canary-zone-0");
    for args in [
        &["verify", "zoned"][..],
        &["verify", "zoned", "--verbose"],
        &["verify", "zoned", "--json"],
        &["zoned", "--dry-run", "--resolve"],
        &["zoned"],
        &["plan", "zoned", "-o", "own.plan"],
        &["runs", "show", "--json"],
    ] {
        let ran = opal.call(args);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains("canary"), "{args:?}: {said}");
        if args[0] == "verify" {
            assert!(said.contains("drifted"), "{args:?}: {said}");
            assert!(said.contains("zone cannot be changed in place"), "{args:?}: {said}");
        }
    }
    assert!(stored(&opal, "thing-zoned").contains("canary-zone-0"));
}

/// The processes of providers that this configuration had.
fn starts(opal: &Opal, cloud: &str) -> usize {
    opal.read(&format!("{cloud}/starts")).lines().count()
}

#[test]
fn several_objects_are_made_at_once_by_one_process() {
    let Some(opal) = accepted(COMMANDS) else { return };
    ended(&opal, &["many"], 0);
    assert_eq!(starts(&opal, "cloud"), 1);
    for name in ["a", "b", "c"] {
        assert!(stored(&opal, &format!("thing-{name}")).contains(name));
    }
    ended(&opal, &["verify", "many"], 0);
    assert_eq!(starts(&opal, "cloud"), 2);
}
