//! A provider with a cloud: every way of finding an object, every status, and attempts to get at others.

use std::path::Path;
use std::time::Duration;

use opal_core::data::{Data, Secret, json};
use opal_core::recipe::Recipes;
use opal_terraform::apply::{Allowed, Done, absent, apply};
use opal_terraform::client::{Id, Provider};
use opal_terraform::identity::{Step, choose, tagged};
use opal_terraform::value::Value;
use opal_terraform::verify::{Ask, Status, Verified, verify};
use tempfile::TempDir;

use crate::support::{directory, provider, quietly, real, run};

const ALLOWED: Allowed = Allowed { replace: false, settle: Duration::from_secs(2), only: None };
const MARKED: &str = r#"{"box_net":{"mark":{"in":"tags","list":{}}}}"#;

/// The provider, configured with a directory as its cloud.
async fn cloud(program: &Path) -> (TempDir, Provider) {
    let home = directory();
    let provider = provider(program, home.path()).await.unwrap();
    let place = Value::text(home.path().to_str().unwrap());
    provider.configure(Value::map([("directory", place)])).await.unwrap();
    (home, provider)
}

fn step(
    provider: &Provider,
    of: &str,
    fields: &[(&str, &str)],
    (adopt, mark, recipes): (Option<Id>, Option<&str>, &str),
) -> Ask {
    let config = Value::map(fields.iter().map(|(name, text)| (*name, Value::text(*text))));
    let config = provider.schemas().resources[of].complete(config);
    let Ok(Data::Map(own)) = json::read(recipes) else { panic!("{recipes}") };
    let (recipes, none) = (Recipes::new(&own).unwrap(), Value::map([]));
    let identity = provider.schemas().identities.get(of);
    let project = Some("shop");
    let by = Step { of, config: &config, provider: &none, adopt, mark, project };
    let by = choose(&by, &recipes, identity).unwrap();
    Ask { of: of.to_owned(), config: tagged(config, &by), by, ignore: Vec::new(), rewrite: false }
}

fn thing(provider: &Provider, fields: &[(&str, &str)]) -> Ask {
    step(provider, "box_thing", fields, (None, None, "{}"))
}

fn net(provider: &Provider, name: &str) -> Ask {
    step(provider, "box_net", &[("name", name)], (None, Some("net"), MARKED))
}

/// Changes what the cloud has, by hand.
fn change(home: &TempDir, file: &str, from: &str, to: &str) {
    let path = home.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

fn blocked(verified: &Verified) -> &str {
    match &verified.status {
        Status::Blocked(why) => why,
        other => panic!("{other:?}"),
    }
}

/// The paths that were changed.
fn changed(done: &Done) -> Vec<&str> {
    match done {
        Done::Changed(all) => all.iter().map(|it| it.path.as_str()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_object_is_found_by_its_arguments_and_corrected() {
    let Some(program) = real("box") else { return };
    run(async {
        let (home, provider) = cloud(&program).await;
        let (observe, power) = (provider.observe(), provider.change());
        let red = thing(&provider, &[("name", "a"), ("color", "red"), ("secret", "canary-1")]);
        assert!(matches!(verify(&observe, &red).await.unwrap().status, Status::Missing));
        assert_eq!(
            apply(&observe, &power, &red, ALLOWED, &quietly).await.unwrap().done,
            Done::Created
        );
        let found = verify(&observe, &red).await.unwrap();
        assert!(found.is_satisfied(), "{found:?}");
        // The cloud does not give it back, so it is not compared.
        assert_eq!(found.unread, ["secret"]);
        change(&home, "thing-a.json", "red", "blue");
        let found = verify(&observe, &red).await.unwrap();
        let Status::Drifted { differences, replace } = &found.status else { panic!("{found:?}") };
        let lines: Vec<String> = differences.iter().map(|it| it.hidden_line(&[])).collect();
        assert_eq!(lines, ["color: expected \"red\", actual \"blue\""]);
        assert!(replace.is_empty());
        let accepting = Ask { ignore: vec!["color".to_owned()], ..red.clone() };
        assert!(verify(&observe, &accepting).await.unwrap().is_satisfied());
        let acted = apply(&observe, &power, &red, ALLOWED, &quietly).await.unwrap();
        assert_eq!(changed(&acted.done), ["color"]);
        // A default of the provider is drift too.
        change(&home, "thing-a.json", "small", "large");
        let acted = apply(&observe, &power, &red, ALLOWED, &quietly).await.unwrap();
        assert_eq!(changed(&acted.done), ["size"]);
        let gone = absent(&observe, &power, &red, ALLOWED.settle, None, &quietly).await.unwrap();
        assert_eq!(gone.done, Done::Removed);
        assert!(!home.path().join("thing-a.json").exists());
        provider.stop().await;
    });
}

#[test]
fn what_a_step_ignores_stays_as_it_is_whatever_else_changes() {
    let Some(program) = real("box") else { return };
    run(async {
        let (home, provider) = cloud(&program).await;
        let (observe, power) = (provider.observe(), provider.change());
        let fields = [("name", "a"), ("color", "red"), ("size", "large"), ("zone", "north")];
        let ask = thing(&provider, &fields);
        apply(&observe, &power, &ask, ALLOWED, &quietly).await.unwrap();
        for (from, to) in [("red", "blue"), ("large", "huge"), ("north", "south")] {
            change(&home, "thing-a.json", from, to);
        }
        // The zone cannot be changed in place, which does not matter here.
        let ignore = ["size", "zone", "tags.owner"].map(str::to_owned).to_vec();
        let ask = Ask { ignore, ..ask };
        let acted = apply(&observe, &power, &ask, ALLOWED, &quietly).await.unwrap();
        assert_eq!(changed(&acted.done), ["color"]);
        let text = std::fs::read_to_string(home.path().join("thing-a.json")).unwrap();
        assert!(text.contains("huge") && text.contains("south") && text.contains("red"), "{text}");
        assert!(verify(&observe, &ask).await.unwrap().is_satisfied());
        provider.stop().await;
    });
}

#[test]
fn what_a_list_selects_by_something_else_than_the_tag_is_not_ours() {
    let Some(program) = real("box") else { return };
    run(async {
        let (home, provider) = cloud(&program).await;
        let (observe, power) = (provider.observe(), provider.change());
        apply(&observe, &power, &net(&provider, "theirs"), ALLOWED, &quietly).await.unwrap();
        change(&home, "net-net-1.json", "shop/net", "shop/other");
        // It lists by another tag than the one that opal looks for.
        let recipe =
            r#"{"box_net":{"mark":{"in":"tags","data":{"type":"box_nets","tag":"shop/other"}}}}"#;
        let own = step(&provider, "box_net", &[("name", "own")], (None, Some("net"), recipe));
        let why = verify(&observe, &own).await.unwrap();
        let expected = "what was listed does not have the tag opal=shop/net: net-1";
        assert_eq!(blocked(&why), expected);
        assert!(apply(&observe, &power, &own, ALLOWED, &quietly).await.is_err());
        let theirs = Secret::new(r#"{id: "net-1"}"#);
        let settle = ALLOWED.settle;
        assert!(absent(&observe, &power, &own, settle, Some(&theirs), &quietly).await.is_err());
        assert!(home.path().join("net-net-1.json").exists());
        provider.stop().await;
    });
}

#[test]
fn an_object_that_is_adopted_is_never_created() {
    let Some(program) = real("box") else { return };
    run(async {
        let (_home, provider) = cloud(&program).await;
        let (observe, power) = (provider.observe(), provider.change());
        let net = |name: &str, id: &str| {
            let adopt = Some(Id::Text(id.to_owned()));
            step(&provider, "box_net", &[("name", name)], (adopt, None, "{}"))
        };
        let found = verify(&observe, &net("n", "net-1")).await.unwrap();
        assert_eq!(blocked(&found), "not found: net-1");
        assert!(apply(&observe, &power, &net("n", "net-1"), ALLOWED, &quietly).await.is_err());
        let marked = self::net(&provider, "n");
        apply(&observe, &power, &marked, ALLOWED, &quietly).await.unwrap();
        let mut adopted = net("n", "net-1");
        adopted.ignore.push("tags".to_owned());
        assert!(verify(&observe, &adopted).await.unwrap().is_satisfied());
        provider.stop().await;
    });
}

#[test]
fn what_cannot_be_changed_in_place_is_replaced_only_if_a_step_says_so() {
    let Some(program) = real("box") else { return };
    run(async {
        let (_home, provider) = cloud(&program).await;
        let (observe, power) = (provider.observe(), provider.change());
        apply(&observe, &power, &net(&provider, "old"), ALLOWED, &quietly).await.unwrap();
        let adopt = Some(Id::Text("net-1".to_owned()));
        let new = step(&provider, "box_net", &[("name", "new")], (adopt, None, "{}"));
        let refused = apply(&observe, &power, &new, ALLOWED, &quietly).await.unwrap_err();
        let message = refused.message("box 1.0.0").expose().to_owned();
        assert_eq!(message, "box 1.0.0: name cannot be changed in place");
        provider.stop().await;
    });
}

#[test]
fn an_object_is_found_by_its_mark_and_a_moved_mark_deletes_nothing() {
    let Some(program) = real("box") else { return };
    run(async {
        let (home, provider) = cloud(&program).await;
        let (observe, power) = (provider.observe(), provider.change());
        let own = net(&provider, "own");
        assert!(matches!(verify(&observe, &own).await.unwrap().status, Status::Missing));
        assert_eq!(
            apply(&observe, &power, &own, ALLOWED, &quietly).await.unwrap().done,
            Done::Created
        );
        assert!(verify(&observe, &own).await.unwrap().is_satisfied());
        // Somebody else's object gets our mark: first beside ours, then alone.
        let file = std::fs::read_to_string(home.path().join("net-net-1.json")).unwrap();
        let other = file.replace("net-1", "net-7").replace("own", "theirs");
        std::fs::write(home.path().join("net-net-7.json"), other).unwrap();
        let why = verify(&observe, &own).await.unwrap();
        assert_eq!(blocked(&why), "several objects have the tag opal=shop/net: net-1, net-7");
        change(&home, "net-net-1.json", "shop/net", "elsewhere");
        let why = verify(&observe, &own).await.unwrap();
        assert_eq!(blocked(&why), "what has the tag opal=shop/net differs in name");
        let replacing = Allowed { replace: true, ..ALLOWED };
        assert!(apply(&observe, &power, &own, replacing.clone(), &quietly).await.is_err());
        // What is sent again is not sent to somebody else's object.
        let again = Ask { rewrite: true, ..own.clone() };
        let why = verify(&observe, &again).await.unwrap();
        assert_eq!(blocked(&why), "what has the tag opal=shop/net differs in name");
        for allowed in [ALLOWED, replacing] {
            assert!(apply(&observe, &power, &again, allowed, &quietly).await.is_err());
        }
        let text = std::fs::read_to_string(home.path().join("net-net-7.json")).unwrap();
        assert!(text.contains("theirs"), "{text}");
        assert!(absent(&observe, &power, &own, ALLOWED.settle, None, &quietly).await.is_err());
        // Somebody agreed to the removal of ours, before the mark was moved.
        let ours = Secret::new(r#"{id: "net-1"}"#);
        assert!(
            absent(&observe, &power, &own, ALLOWED.settle, Some(&ours), &quietly).await.is_err()
        );
        assert!(home.path().join("net-net-7.json").exists());
        let theirs = Secret::new(r#"{id: "net-7"}"#);
        absent(&observe, &power, &own, ALLOWED.settle, Some(&theirs), &quietly).await.unwrap();
        assert!(!home.path().join("net-net-7.json").exists());
        provider.stop().await;
    });
}

#[test]
fn an_id_that_leads_to_another_object_blocks() {
    let Some(program) = real("box") else { return };
    run(async {
        let (home, provider) = cloud(&program).await;
        let (observe, power) = (provider.observe(), provider.change());
        let own = thing(&provider, &[("name", "a")]);
        apply(&observe, &power, &own, ALLOWED, &quietly).await.unwrap();
        change(&home, "thing-a.json", "\"Name\":\"a\"", "\"Name\":\"b\"");
        let found = verify(&observe, &own).await.unwrap();
        assert_eq!(blocked(&found), "what was found has another `name`");
        // What cannot be read is blocked, never missing.
        std::fs::write(home.path().join("thing-a.json"), "{").unwrap();
        let said = verify(&observe, &own).await.unwrap_err();
        assert!(said.message("box 1.0.0").expose().starts_with("box says: cannot read: "));
        assert!(absent(&observe, &power, &own, ALLOWED.settle, None, &quietly).await.is_err());
        provider.stop().await;
    });
}

#[test]
fn a_provider_that_hangs_crashes_or_floods_blocks_with_its_reason() {
    let Some(program) = real("box") else { return };
    for (name, why) in [
        ("hang", "box 1.0.0, ReadResource: no answer within 1s"),
        ("crash", "box 1.0.0, ReadResource: the provider ended (exit code 3):\nlast words"),
        ("huge", "box 1.0.0, ReadResource: the answer is too large"),
    ] {
        run(async {
            let home = directory();
            let limit = Duration::from_secs(1);
            let start = crate::support::start(&program, home.path());
            let provider = Provider::start(&start, limit).await.unwrap();
            let place = Value::text(home.path().to_str().unwrap());
            provider.configure(Value::map([("directory", place)])).await.unwrap();
            let ask = thing(&provider, &[("name", name)]);
            let trouble = verify(&provider.observe(), &ask).await.unwrap_err();
            let trouble = provider.explain(trouble).await;
            assert_eq!(trouble.message("box 1.0.0").expose(), why);
            provider.stop().await;
        });
    }
}
