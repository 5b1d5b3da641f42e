//! What a step says besides its attributes, and what is never shown.

use opal_core::data::Secret;
use opal_core::protocol::Kind;
use opal_core::protocol::call::{Acted, Finding, Found, Resolved};
use opal_testing::processes::eventually;
use tempfile::TempDir;

use crate::helper::Helper;
use crate::support::{directory, real};

/// A helper with our own provider, whose cloud is a directory.
fn boxed(recipes: &str) -> Option<(TempDir, Helper)> {
    let program = real("box")?;
    let home = directory();
    let mut helper = Helper::start(home.path());
    let config = format!(r#"{{"directory":"{}"}}"#, home.path().display());
    helper.load(&program, home.path(), &config, recipes);
    Some((home, helper))
}

fn find(helper: &mut Helper, decorator: &str, args: &str) -> Finding {
    helper.ask("state.verify", decorator, args).unwrap().read().unwrap()
}

#[test]
fn secrets_come_as_handles_and_are_in_no_string() {
    let Some((_home, mut helper)) = boxed("{}") else { return };
    helper.secrets = ["canary-color", "canary-secret", "canary-name"].map(Secret::new).to_vec();
    let made = r#"{"name":{"$secret":2},"color":"red","secret":{"$secret":1}}"#;
    helper.ask("action.act", "box_thing", made).unwrap();
    // The same name again is an error that quotes it.
    let changed = r#"{"name":{"$secret":2},"color":{"$secret":0},"secret":{"$secret":1}}"#;
    let found = find(&mut helper, "box_thing", changed);
    assert_eq!(found.status, Found::Drifted);
    assert_eq!(found.message.expose(), "color: expected 🔒, actual 🔒");
    // What is not an argument of a schema is named without its value, and so is a wrong type.
    for (args, why) in [
        (
            r#"{"name":{"$secret":2},"color":[{"$secret":0}]}"#,
            "acme 1.0.0: `color`: expected a String",
        ),
        (r#"{"name":{"$secret":2},"colour":{"$secret":0}}"#, "acme 1.0.0: it has no `colour`"),
        (r#"{"name":{"$secret":9}}"#, "a call with invalid arguments"),
        (
            r#"{"name":{"$secret":2},"settle":{"$secret":0}}"#,
            "acme 1.0.0: `settle`: expected a Duration of at most 24h",
        ),
    ] {
        assert_eq!(helper.refused("state.verify", "box_thing", args), why);
    }
    let half = r#"{"name":"half-created","secret":{"$secret":1}}"#;
    let refusal = helper.ask("action.act", "box_thing", half).unwrap_err();
    assert_eq!(refusal.message.expose(), "acme says: half of it failed: 🔒");
    // Something is there although it failed: the record can name it.
    assert_eq!(refusal.identity.unwrap().expose(), r#"{name: "half-created"}"#);
    assert!(!helper.log.contains("canary"), "{}", helper.log);
    assert!(helper.end().success());
}

#[test]
fn a_finding_has_the_object_and_says_what_of_it_is_secret() {
    let Some((_home, mut helper)) = boxed("{}") else { return };
    let args = r#"{"name":"a","secret":"canary-77"}"#;
    assert!(find(&mut helper, "box_thing", args).object.is_none());
    let acted = helper.ask("action.act", "box_thing", args).unwrap();
    let acted: Acted = acted.read().unwrap();
    assert_eq!(acted.secrets, Some(vec!["secret".to_owned()]));
    let found = find(&mut helper, "box_thing", args);
    assert_eq!((found.status, found.unread), (Found::Satisfied, Some(vec!["secret".to_owned()])));
    assert_eq!(found.secrets, Some(vec!["secret".to_owned()]));
    assert!(found.object.unwrap().expose().contains(r#""size":"small""#));
    assert_eq!(found.details.unwrap().expose(), "not read back: secret");
    let digest = found.digest.unwrap();
    assert_eq!(find(&mut helper, "box_thing", args).digest.unwrap().expose(), digest.expose());
    let other = r#"{"name":"a","secret":"canary-77","color":"red"}"#;
    helper.ask("action.act", "box_thing", other).unwrap();
    assert_ne!(find(&mut helper, "box_thing", other).digest.unwrap().expose(), digest.expose());
    let read = helper.ask("value.resolve", "box_nets", r#"{"tag":"x"}"#).unwrap();
    let read: Resolved = read.read().unwrap();
    assert_eq!(read.secrets, Some(vec!["key".to_owned()]));
    assert!(helper.end().success());
}

#[test]
fn times_and_flags_of_a_step_are_checked_and_kept() {
    let Some((_home, mut helper)) = boxed("{}") else { return };
    for (args, why) in [
        (r#"{"name":"a","settle":"soon"}"#, "`settle`: expected a Duration of at most 24h"),
        (r#"{"name":"a","settle":"48h"}"#, "`settle`: expected a Duration of at most 24h"),
        (
            r#"{"name":"a","verify_timeout":5}"#,
            "`verify_timeout`: expected a Duration of at most 24h",
        ),
        (r#"{"name":"a","rewrite":"yes"}"#, "`rewrite`: expected a Bool"),
        (r#"{"name":"a","replace":1}"#, "`replace`: expected a Bool"),
        (r#"{"name":"a","ignore":"color"}"#, "`ignore`: expected an Array of Strings"),
    ] {
        assert_eq!(helper.refused("state.verify", "box_thing", args), format!("acme 1.0.0: {why}"));
    }
    let hang = r#"{"name":"hang","verify_timeout":"300ms","id":"x","depends_on":["y"]}"#;
    let refusal = helper.ask("state.verify", "box_thing", hang).unwrap_err();
    assert_eq!(refusal.kind, Kind::TimedOut);
    let said = refusal.message.expose();
    assert!(said.starts_with("acme 1.0.0") && said.ends_with("no answer within 300ms"), "{said}");
    assert!(helper.end().success());
}

#[test]
fn rewrite_sends_again_what_cannot_be_read_back() {
    let Some((_home, mut helper)) = boxed("{}") else { return };
    let args = r#"{"name":"a","secret":"one-secret"}"#;
    helper.ask("action.act", "box_thing", args).unwrap();
    let again = r#"{"name":"a","secret":"two-secret","rewrite":true}"#;
    let found = find(&mut helper, "box_thing", again);
    assert_eq!(found.status, Found::Unknown);
    let acted: Acted = helper.ask("action.act", "box_thing", again).unwrap().read().unwrap();
    assert!(!acted.adopted);
    let missing = r#"{"name":"b","rewrite":true}"#;
    assert_eq!(find(&mut helper, "box_thing", missing).status, Found::Missing);
    assert!(helper.end().success());
}

#[test]
fn rewrite_replaces_nothing_that_nobody_agreed_to() {
    let Some((home, mut helper)) = boxed("{}") else { return };
    let made = r#"{"name":"a","zone":"north","secret":"one-secret"}"#;
    helper.ask("action.act", "box_thing", made).unwrap();
    let moved = r#"{"name":"a","zone":"south","secret":"two-secret","rewrite":true}"#;
    let found = find(&mut helper, "box_thing", moved);
    assert_eq!((found.status, found.deletes), (Found::Drifted, Some(false)));
    assert_eq!(found.fixed, Some(vec!["zone".to_owned()]));
    let why = helper.refused("action.act", "box_thing", moved);
    assert_eq!(why, "acme 1.0.0: zone cannot be changed in place");
    let stored = || std::fs::read_to_string(home.path().join("thing-a.json")).unwrap();
    assert!(stored().contains("north"), "{}", stored());
    // Somebody who says so gets another object.
    let replaced = moved.replace("\"rewrite\"", "\"replace\":true,\"rewrite\"");
    assert_eq!(find(&mut helper, "box_thing", &replaced).deletes, Some(true));
    helper.ask("action.act", "box_thing", &replaced).unwrap();
    assert!(stored().contains("south") && stored().contains("thing-2"), "{}", stored());
    assert!(helper.end().success());
}

#[test]
fn an_attribute_of_an_open_type_is_made_verified_and_changed() {
    let Some((_home, mut helper)) = boxed("{}") else { return };
    let args = |on: bool| {
        format!(
            r#"{{"name":"s","any":{{"ports":[80,"http"],"more":{{"on":{on},"deep":[[1],{{}}]}}}}}}"#
        )
    };
    helper.ask("action.act", "box_shape", &args(true)).unwrap();
    assert_eq!(find(&mut helper, "box_shape", &args(true)).status, Found::Satisfied);
    let found = find(&mut helper, "box_shape", &args(false));
    assert_eq!(found.status, Found::Drifted);
    assert_eq!(found.message.expose(), "any.more.on: expected false, actual true");
    let ignored = args(false).replace(r#""name""#, r#""ignore":["any.more.on"],"name""#);
    assert_eq!(find(&mut helper, "box_shape", &ignored).status, Found::Satisfied);
    let acted: Acted = helper.ask("action.act", "box_shape", &args(false)).unwrap().read().unwrap();
    assert_eq!(acted.message.unwrap().expose(), "changed");
    assert_eq!(find(&mut helper, "box_shape", &args(false)).status, Found::Satisfied);
    for any in ["1", "\"text\"", "null", "[true]"] {
        let args = format!(r#"{{"name":"s","any":{any}}}"#);
        helper.ask("action.act", "box_shape", &args).unwrap();
        assert_eq!(find(&mut helper, "box_shape", &args).status, Found::Satisfied, "{any}");
    }
    assert!(helper.end().success());
}

#[test]
fn absent_needs_only_what_identifies() {
    let Some((home, mut helper)) = boxed("{}") else { return };
    let args = r#"{"name":"a","color":"red","secret":"a-secret"}"#;
    helper.ask("action.act", "box_thing", args).unwrap();
    for by in [r#"{"name":"a"}"#, r#"{"name":"unused","adopt":{"name":"a"}}"#] {
        assert_eq!(find(&mut helper, "box_thing.absent", by).status, Found::Drifted);
    }
    helper.ask("action.act", "box_thing.absent", r#"{"name":"a"}"#).unwrap();
    assert!(!home.path().join("thing-a.json").exists());
    assert_eq!(find(&mut helper, "box_thing.absent", r#"{"name":"a"}"#).status, Found::Satisfied);
    assert!(helper.end().success());
}

#[test]
fn a_change_that_is_interrupted_is_stopped_by_its_provider_and_names_what_it_made() {
    let Some((home, mut helper)) = boxed("{}") else { return };
    let args = helper.invocation("box_thing", r#"{"name":"wait-created"}"#);
    let act = helper.begin("action.act", args);
    // It says what it is about to do, and then it is in the middle of it.
    assert!(helper.serve(act).is_none());
    let waiting = home.path().join("waiting");
    eventually("the object is being made", || waiting.exists());
    helper.cancel(act);
    let refusal = helper.answer(act).unwrap_err();
    assert_eq!(refusal.message.expose(), "acme says: stopped half-way");
    assert_eq!(refusal.identity.unwrap().expose(), r#"{name: "wait-created"}"#);
    // Other calls go on with the same process.
    assert_eq!(find(&mut helper, "box_thing", r#"{"name":"a"}"#).status, Found::Missing);
    let starts = std::fs::read_to_string(home.path().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 1);
    assert!(helper.end().success());
}

#[test]
fn after_a_crash_in_an_apply_a_new_process_verifies_once() {
    let Some((home, mut helper)) = boxed("{}") else { return };
    let args = r#"{"name":"crash-created","color":"red"}"#;
    let acted: Acted = helper.ask("action.act", "box_thing", args).unwrap().read().unwrap();
    assert!(acted.output.expose().contains(r#""color":"red""#));
    assert!(home.path().join("thing-crash-created.json").exists());
    assert!(helper.end().success());
}

#[test]
fn a_mark_is_found_by_a_data_source() {
    let recipes = r#"{"box_net":{"mark":{"in":"tags","data":{"type":"box_nets","tag":"{mark}"},
        "missing":"no matching network"}}}"#;
    let Some((home, mut helper)) = boxed(recipes) else { return };
    let args = r#"{"name":"n","mark":"net"}"#;
    let found = find(&mut helper, "box_net", args);
    assert_eq!(
        (found.status, found.message.expose()),
        (Found::Missing, "not found: tag opal=shop/net")
    );
    helper.ask("action.act", "box_net", args).unwrap();
    assert_eq!(find(&mut helper, "box_net", args).status, Found::Satisfied);
    let none = r#"{"name":"n","mark":"none"}"#;
    assert_eq!(find(&mut helper, "box_net", none).status, Found::Missing);
    // Somebody copies the object, with its tag.
    let file = std::fs::read_dir(home.path()).unwrap().flatten();
    let file =
        file.map(|it| it.path()).find(|it| it.to_string_lossy().contains("net-net-")).unwrap();
    let copy = std::fs::read_to_string(&file).unwrap().replace("net-1", "net-copy");
    std::fs::write(home.path().join("net-net-copy.json"), copy).unwrap();
    let why = helper.refused("action.act", "box_net", args);
    assert_eq!(why, "acme 1.0.0: several objects have the tag opal=shop/net: net-1, net-copy");
    assert!(helper.end().success());
}

#[test]
fn a_type_that_hides_what_you_may_not_read_says_so() {
    let recipes = r#"{"box_thing":{"identity":{"name":"{name}"},"denied":"missing"}}"#;
    let Some((_home, mut helper)) = boxed(recipes) else { return };
    let found = find(&mut helper, "box_thing", r#"{"name":"a"}"#);
    let message = "not found, or you may not read it";
    assert_eq!((found.status, found.message.expose()), (Found::Missing, message));
    assert!(helper.end().success());
}
