//! The YAML form: types of providers as step types, and `providers` at the top.

use super::{accepted, edit, ended, stored};

const CONFIG: &str = "\
version: 1
providers:
  box:
    directory: cloud
steps:
  - id: web
    type: box_thing
    name: web
    color: red
    weight: 3
  - id: net
    type: box_net
    name: net
    mark: net
    depends_on: [web]
";

#[test]
fn a_configuration_describes_objects_of_providers() {
    let Some(opal) = accepted("fun none() = echo\n") else { return };
    let opal = opal.file("infra.yaml", CONFIG);
    let ran = ended(&opal, &["verify", "infra.yaml"], 1);
    assert!(ran.stdout.contains("missing") && ran.stdout.contains("web"), "{ran:?}");
    ended(&opal, &["apply", "infra.yaml"], 0);
    ended(&opal, &["verify", "infra.yaml"], 0);
    edit(&opal, "thing-web", "red", "green");
    let ran = ended(&opal, &["verify", "infra.yaml"], 1);
    assert!(ran.stdout.contains("color: expected \"red\", actual \"green\""), "{ran:?}");
    ended(&opal, &["apply", "infra.yaml"], 0);
    assert!(stored(&opal, "thing-web").contains("red"));
    let ran = ended(&opal, &["convert", "infra.yaml"], 0);
    assert!(ran.stdout.contains("@box.provider(directory=\"cloud\") {"), "{ran:?}");
    assert!(ran.stdout.contains("@box.thing("), "{ran:?}");
}

#[test]
fn what_is_wrong_in_a_configuration_is_said_before_a_provider_starts() {
    let Some(opal) = accepted("fun none() = echo\n") else { return };
    for (from, to, expected) in [
        ("    mark: net\n", "", "E1401"),
        ("type: box_thing", "type: box_thign", "box_thign"),
        ("color: red", "colour: red", "colour"),
        ("  box:\n", "  bax:\n", "`bax` is not a provider of this project"),
        ("    directory: cloud", "    place: cloud", "place"),
        ("weight: 3", "weight: heavy", "weight"),
    ] {
        let opal = &opal;
        std::fs::write(opal.path().join("infra.yaml"), CONFIG.replace(from, to)).unwrap();
        let ran = opal.call(&["verify", "infra.yaml"]);
        assert_eq!(ran.code, 2, "{from}: {ran:?}");
        assert!(ran.stderr.contains(expected) || ran.stdout.contains(expected), "{ran:?}");
    }
    assert!(!opal.path().join("cloud/number-1").exists());
}
