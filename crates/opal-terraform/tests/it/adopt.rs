//! Objects of a state file as steps, with real providers.

use opal_core::protocol::Body;
use opal_core::protocol::call::{Adopted, Found};

use crate::helper::Helper;
use crate::support::{directory, real};

/// A state as OpenTofu 1.12 writes it.
fn state(folder: &std::path::Path, more: &str) -> String {
    let folder = folder.display();
    format!(
        r#"{{"version": 4, "terraform_version": "1.12.6", "serial": 3, "lineage": "x",
"outputs": {{"path": {{"value": "x", "type": "string"}}}},
"resources": [
  {{"mode": "managed", "type": "local_file", "name": "plain", "provider": "provider[\"evil.example/a/local\"]",
    "instances": [{{"schema_version": 0, "attributes": {{
      "content": "hello\n", "content_base64": null, "content_base64sha256": "w", "content_base64sha512": "w",
      "content_md5": "w", "content_sha1": "f572d396fae9206628714fb2ce00f72e94f2258f", "content_sha256": "w",
      "content_sha512": "w", "directory_permission": "0777", "file_permission": "0777",
      "filename": "{folder}/plain", "id": "f572d396fae9206628714fb2ce00f72e94f2258f",
      "sensitive_content": null, "source": null}}, "sensitive_attributes": []}}]}},
  {{"mode": "managed", "type": "local_sensitive_file", "name": "hidden", "provider": "x",
    "instances": [{{"schema_version": 0, "attributes": {{
      "content": "canary-4711", "content_base64": null, "directory_permission": "0700",
      "file_permission": "0600", "filename": "{folder}/hidden",
      "id": "27d9d2e2a1c8f6c62a0d3e5a0c2d2f2f3a1a4b7c", "source": null}},
      "sensitive_attributes": [[{{"type": "get_attr", "value": "content"}}]]}}]}}{more}]}}"#
    )
}

#[test]
fn a_state_becomes_the_smallest_steps_whose_plan_is_the_same() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let password = r#",
  {"mode": "managed", "type": "random_password", "name": "db", "provider": "x",
   "instances": [{"schema_version": 3, "attributes": {"length": 8, "result": "canary-random"}}]}"#;
    std::fs::write(home.path().join("state"), state(home.path(), password)).unwrap();
    let mut helper = Helper::start(home.path());
    let path = home.path().join("state").display().to_string();
    let read = Body::default().with("path", &path).with("recipes", &"{}".to_owned());
    let body = helper.call("adopt.read", read).unwrap();
    let objects: String = body.get("objects").unwrap();
    assert_eq!(objects.matches("\"state_only\":false").count(), 2, "{objects}");
    assert!(objects.contains(r#""address":"random_password.db""#), "{objects}");
    assert!(!objects.contains("canary"), "{objects}");
    assert_eq!(body.get::<Vec<String>>("outputs").unwrap(), ["path"]);
    helper.load(&program, home.path(), "{}", "{}");
    let mut adopt = |number: u32| -> Adopted {
        let body = helper.call("state.adopt", Body::default().with("object", &number));
        body.unwrap().read().unwrap()
    };
    // Permissions are what a create plans anyway, and a file is found by its content.
    let first = adopt(0);
    let folder = home.path().display();
    assert_eq!(
        first.args.expose(),
        format!(r#"{{"content":"hello\u000a","filename":"{folder}/plain"}}"#)
    );
    assert!(first.adopt.is_none() && first.secrets.is_none());
    assert_eq!(first.status, Found::Missing);
    // Other permissions than usual are kept.
    let second = adopt(1);
    assert!(second.args.expose().contains(r#""file_permission":"0600""#), "{:?}", second.args);
    assert_eq!(second.secrets.unwrap(), ["content"]);
    assert!(!second.message.expose().contains("canary"));
    let said = helper.call("state.adopt", Body::default().with("object", &2_u32)).unwrap_err();
    assert!(said.message.expose().contains("exists only in a state file"), "{said:?}");
    let said = helper.call("state.adopt", Body::default().with("object", &3_u32)).unwrap_err();
    assert!(said.message.expose().contains("was not read"), "{said:?}");
    helper.end();
}

#[test]
fn an_object_that_its_arguments_do_not_identify_is_named_by_what_the_state_says() {
    let Some(program) = real("box") else { return };
    let home = directory();
    let net = |name: &str, more: &str| {
        format!(
            r#"{{"mode": "managed", "type": "box_net", "name": "{name}", "instances": [{{"schema_version": 0,
            "attributes": {{"id": "net-7", "name": "{name}", "size": "small", "tags": null}}{more}}}]}}"#
        )
    };
    let all = [net("old", ""), net("new", r#", "identity": {"id": "net-7"}"#)];
    let text = format!(r#"{{"version": 4, "resources": [{}]}}"#, all.join(","));
    std::fs::write(home.path().join("state"), text).unwrap();
    let stored = r#"{"ID": "net-7", "Name": "old", "Size": "small"}"#;
    std::fs::write(home.path().join("net-net-7.json"), stored).unwrap();
    let mut helper = Helper::start(home.path());
    let path = home.path().join("state").display().to_string();
    let read = Body::default().with("path", &path).with("recipes", &"{}".to_owned());
    helper.call("adopt.read", read).unwrap();
    let config = format!(r#"{{"directory":"{}"}}"#, home.path().display());
    helper.load(&program, home.path(), &config, "{}");
    let mut adopt = |number: u32| -> Adopted {
        let body = helper.call("state.adopt", Body::default().with("object", &number));
        body.unwrap().read().unwrap()
    };
    let old = adopt(0);
    assert_eq!(old.args.expose(), r#"{"name":"old"}"#);
    assert_eq!(old.adopt.unwrap().expose(), r#""net-7""#);
    assert_eq!(old.status, Found::Satisfied);
    let new = adopt(1);
    assert_eq!(new.adopt.unwrap().expose(), r#"{"id":"net-7"}"#);
    assert_eq!(new.status, Found::Drifted);
    helper.end();
}

#[test]
fn a_file_that_is_not_a_state_is_refused_without_what_it_holds() {
    let home = directory();
    let mut helper = Helper::start(home.path());
    for (text, why) in [
        (Some("canary"), "is not JSON: line 1, column 1: expected a value"),
        (Some(r#"{"version": 3, "x": "canary"}"#), "has version 3, and opal reads version 4"),
        (None, "cannot be read: entity not found"),
    ] {
        let path = home.path().join("state");
        let _ = std::fs::remove_file(&path);
        text.into_iter().for_each(|text| std::fs::write(&path, text).unwrap());
        let path = path.display().to_string();
        let read = Body::default().with("path", &path).with("recipes", &"{}".to_owned());
        let said = helper.call("adopt.read", read).unwrap_err();
        assert_eq!(said.message.expose(), why);
    }
    helper.end();
}

#[test]
fn a_secret_in_an_attribute_of_an_open_type_is_written_nowhere() {
    let Some(program) = real("box") else { return };
    let home = directory();
    let any = r#"{"data": {"password": "canary-4711", "port": 7}, "kind": "Secret"}"#;
    let of = r#"["object", {"data": ["object", {"password": "string", "port": "number"}], "kind": "string"}]"#;
    let step = |name: &str| format!(r#"{{"type": "get_attr", "value": "{name}"}}"#);
    let mark = ["any", "data", "password"].map(step).join(",");
    // The provider calls it something else now, and says the same there.
    let old = step("formerly");
    let text = format!(
        r#"{{"version": 4, "resources": [{{"mode": "managed", "type": "box_shape", "name": "s", "instances": [
        {{"schema_version": 0, "sensitive_attributes": [[{mark}], [{old}]], "attributes": {{"name": "s",
        "uid": "shape-s", "flag": false, "kind": "canary-old", "formerly": "canary-old",
        "any": {{"value": {any}, "type": {of}}}}}}}]}}]}}"#
    );
    std::fs::write(home.path().join("state"), text).unwrap();
    let stored = any.replace("4711", "1174");
    let stored =
        format!(r#"{{"name": "s", "flag": false, "kind": "canary-old", "any": {stored}}}"#);
    std::fs::write(home.path().join("shape-s.json"), stored).unwrap();
    let mut helper = Helper::start(home.path());
    let path = home.path().join("state").display().to_string();
    let read = Body::default().with("path", &path).with("recipes", &"{}".to_owned());
    helper.call("adopt.read", read).unwrap();
    let config = format!(r#"{{"directory":"{}"}}"#, home.path().display());
    helper.load(&program, home.path(), &config, "{}");
    let adopted = helper.call("state.adopt", Body::default().with("object", &0_u32));
    let adopted: Adopted = adopted.unwrap().read().unwrap();
    assert_eq!(adopted.secrets.unwrap(), ["any.data.password", "kind"]);
    assert_eq!(adopted.status, Found::Drifted);
    assert_eq!(adopted.message.expose(), "any.data.password: expected 🔒, actual 🔒");
    assert!(adopted.args.expose().contains(r#""port":7"#), "{}", adopted.args.expose());
    helper.end();
}
