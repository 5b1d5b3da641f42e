use std::path::PathBuf;

use opal_core::Span;

use super::imports::published;
use super::*;
use crate::Dependency;
use crate::keep::{HIDDEN, Status};
use crate::run::Place;

fn dependency(output: &str) -> Dependency {
    Dependency {
        module_ref: ModuleRef::parse("core/net").unwrap(),
        span: Span::at(0),
        required: true,
        imports: BTreeMap::from([(output.to_owned(), "network.name".to_owned())]),
    }
}

fn state(outputs: Value) -> State {
    let Value::Object(outputs) = outputs else { panic!("outputs have names") };
    State {
        module_ref: ModuleRef::parse("core/net").unwrap(),
        instance: None,
        status: Status::Ok,
        command: String::new(),
        run_id: String::new(),
        started_at: String::new(),
        updated_at: String::new(),
        pid: 1,
        driver: String::new(),
        profile: String::new(),
        pack: String::new(),
        outputs,
        error: None,
        evidence: PathBuf::new(),
        inputs_digest: None,
        basis_digest: None,
    }
}

#[test]
fn an_output_is_found_by_its_name_and_else_by_its_path() {
    let state = state(json!({"a.b": 1, "a": {"b": 2, "c": {"d": null}}}));
    let found = |output: &str| published(&dependency(output), &state).map(|mut it| it.remove(0).1);
    assert_eq!(found("a.b").unwrap(), 1);
    assert_eq!(found("a.c").unwrap(), json!({"d": null}));
    assert_eq!(found("a.c.d").unwrap(), Value::Null);
    for missing in ["b", "a.x", "a.b.c", "a.", "", "."] {
        assert!(found(missing).unwrap_err().message.contains("output"), "{missing}");
    }
}

#[test]
fn what_was_hidden_is_not_a_value_however_deep_it_is() {
    for hidden in
        [json!(HIDDEN), json!("a<redacted>b"), json!([1, [HIDDEN]]), json!({"x": {"y": HIDDEN}})]
    {
        let state = state(json!({ "a": hidden }));
        let refused = published(&dependency("a"), &state).unwrap_err();
        assert!(refused.message.contains("contains a secret"), "{}", refused.message);
    }
    for plain in [json!("redacted"), json!({HIDDEN: 1}), json!([true, null, 1.5])] {
        assert!(published(&dependency("a"), &state(json!({ "a": plain }))).is_ok());
    }
}

#[test]
fn a_template_that_changes_after_the_plan_reaches_no_tool() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let head = "api_version: hybridops/v1\nkind:";
    write(
        "modules/m/spec.yml",
        &format!(
            "{head} ModuleSpec\nmodule_ref: m\ninputs: {{defaults: {{}}}}\n\
             requirements: {{credentials: []}}\n\
             execution: {{driver: shell/script, profile: a@v1, pack_ref: {{id: m}}}}\n"
        ),
    );
    let profile = "profile_ref: a@v1\ndriver: shell/script\ntemplates: [{src: t, dst: sub/t}]\n";
    let profile = format!("{head} DriverProfile\n{profile}");
    write("drivers/shell/script/profiles/a@v1.profile.yml", &profile);
    write("drivers/shell/script/templates/t", "planned");
    write("packs/shell/script/m/stack/run.sh", "true\n");
    let (modules, root) = (folder.path().join("modules"), folder.path().join("root"));
    let schemas = crate::inputs::engine();
    let hints = crate::Hints { module_root: Some(&modules), ..crate::Hints::none(&schemas) };
    let prepared = prepare(Wanted {
        command: Command::Apply,
        module: &ModuleRef::parse("m").unwrap(),
        instance: None,
        places: &Places::find(&hints).unwrap(),
        root: &RuntimeRoot::find(Some(&root), None, None).unwrap(),
        given: Given::default(),
        programs: &Programs::new(None),
        is_named: false,
    })
    .unwrap();
    write("drivers/shell/script/templates/t", "changed");
    let place = Place { run_id: "r", stack: &root, memory: &root, root: &root, colour: false };
    let request = prepared.request(&prepared.inputs, &|_| None);
    let setting = prepared.driver.setting(&request, &place).unwrap();
    assert_eq!(setting.files["sub/t"].expose(), "planned");
}

#[test]
fn numbers_that_a_plan_cannot_hold_are_found_wherever_they_are() {
    let inputs = |value: Value| value.as_object().unwrap().clone();
    let none = BTreeMap::new();
    let large = inputs(json!({"a": [1, {"b/c": u64::MAX}]}));
    assert!(unfit(&large, &none).unwrap().contains("`a[1].b/c`"));
    let fine = inputs(json!({"a": [i64::MIN, i64::MAX, 1.5, u32::MAX]}));
    assert_eq!(unfit(&fine, &none), None);
}

#[test]
fn a_secret_is_refused_where_it_is_too_short_and_not_quoted() {
    let secret = |text: &str| BTreeMap::from([("/pin".to_owned(), Data::text(text))]);
    let reason = unfit(&Map::new(), &secret("q8y")).unwrap();
    assert!(reason.contains("`pin`") && !reason.contains("q8y"), "{reason}");
    assert_eq!(unfit(&Map::new(), &secret("äöüß")), None);
}
