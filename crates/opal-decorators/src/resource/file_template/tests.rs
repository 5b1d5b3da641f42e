use std::path::Path;

use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::resolver::{Input, TroubleKind};
use opal_core::resource::Status;

use super::*;
use opal_session::stop::Stop;
use opal_session::{Place, Session};
use opal_testing::LoggedSession;
use opal_testing::{Asked, MemoryWorld};

fn inputs(given: &[(&'static str, Data)]) -> Inputs {
    let port = Data::Map([("port".to_owned(), Data::Int(8080))].into());
    let paths = [("source", Data::text("/t")), ("destination", Data::text("/d")), ("vars", port)];
    let mut inputs = Inputs::default();
    for (name, data) in paths.iter().chain(given) {
        inputs.args.insert(name, Input::Data(data.clone()));
    }
    inputs
}

fn world(template: &str) -> MemoryWorld {
    MemoryWorld::default().file("/t", template)
}

fn with_destination(content: &str, mode: u32) -> MemoryWorld {
    let attributes = Attributes { mode: Some(mode), ..Attributes::default() };
    world("port={{ port }}\n").file("/d", content).attributes("/d", attributes)
}

fn applied(given: &[(&'static str, Data)], world: MemoryWorld) -> (bool, LoggedSession) {
    let session = LoggedSession::new().world(world);
    let (root, environment, stop) = (Path::new("/"), BTreeMap::new(), Stop::new());
    let place = Place {
        base: root,
        directory: root,
        environment: &environment,
        sources: None,
        stop: &stop,
    };
    let is_done = apply(&inputs(given), &*session.probe(&place), &*session.files(&stop)).is_ok();
    (is_done, session)
}

#[test]
fn content_and_mode_decide() {
    let mode = [("mode", Data::text("0640"))];
    for (given, world, status, message) in [
        (&[][..], world("x"), Status::Missing, "`/d` does not exist"),
        (
            &[],
            with_destination("port=8080\n", 0o600),
            Status::Satisfied,
            "`/d` is what the template gives",
        ),
        (&[], with_destination("port=1\n", 0o600), Status::Drifted, "`/d` differs: content"),
        (
            &mode,
            with_destination("port=8080\n", 0o640),
            Status::Satisfied,
            "`/d` is what the template gives",
        ),
        (
            &mode,
            with_destination("port=8080\n", 0o600),
            Status::Drifted,
            "`/d` differs: mode 0600, expected 0640",
        ),
        (
            &mode,
            with_destination("port=1\n", 0o4640),
            Status::Drifted,
            "`/d` differs: content, mode 4640, expected 0640",
        ),
    ] {
        let finding = FileTemplate.verify(&inputs(given), &world).unwrap();
        assert_eq!((finding.status, finding.message.expose()), (status, message));
        assert_eq!(finding.details.is_some(), status != Status::Satisfied);
    }
}

#[test]
fn details_hold_the_mode_and_the_diff() {
    let world = with_destination("port=1\n", 0o600);
    let finding = FileTemplate.verify(&inputs(&[("mode", Data::text("0640"))]), &world).unwrap();
    assert_eq!(
        finding.details.unwrap().report(),
        "mode 0600, expected 0640\n--- expected: /t\n+++ actual: /d\n@@ -1 +1 @@\n\
         -port=8080\n+port=1\n"
    );
}

#[test]
fn what_is_too_large_is_another_content() {
    let wanted = Wanted {
        name: "/t".to_owned(),
        destination: "/d".into(),
        content: Wiped::new(b"x".to_vec()),
        attributes: Attributes::default(),
        is_private: false,
    };
    let entry = Entry { kind: EntryKind::File, mode: 0o644, owner: 0, group: 0, bytes: 70_000_000 };
    let finding = written::decide(&wanted, Some(&Found { entry, content: None }), "");
    assert_eq!(finding.status, Status::Drifted);
    let details = finding.details.unwrap().report();
    assert_eq!(details, "content differs: 1 bytes expected, 70,000,000 actual\n");
}

#[test]
fn what_cannot_be_decided_is_blocked_with_the_path_and_the_reason() {
    let nothing = MemoryWorld::default;
    let denied = || {
        Trouble::new(
            TroubleKind::Denied,
            "`/x` cannot be read: permission denied",
            "be somebody else",
        )
    };
    for (world, message) in [
        (nothing(), "the template `/t` does not exist"),
        (nothing().closed_file("/t", denied()), "`/x` cannot be read: permission denied"),
        (nothing().file("/t", b"a\xe9"), "the template `/t` is not UTF-8 text, at byte 2"),
        (world("{{ prot }}"), "the template `/t` cannot be rendered: line 1: `prot` has no value"),
        (
            world("\n{{with .x}}{{end}}"),
            "the template `/t` cannot be rendered: line 2: `{{ with .x }}` is a tag of a Go template",
        ),
        (world("x").link("/d", "/e"), "`/d` is a symlink"),
        (world("x").directory("/d"), "`/d` is a directory, not a file"),
        (world("x").special("/d"), "`/d` is neither a file nor a directory, not a file"),
        (world("x").closed_file("/d", denied()), "`/x` cannot be read: permission denied"),
    ] {
        let trouble = FileTemplate.verify(&inputs(&[]), &world).unwrap_err();
        assert_eq!(trouble.message, message);
        assert!(!trouble.help.is_empty());
        let (is_done, session) = applied(&[], world);
        assert!(!is_done && session.log().is_empty(), "{:?}", session.log());
    }
}

#[test]
fn the_help_names_the_right_spelling() {
    let vars = Data::Map([("d".to_owned(), Data::Map(BTreeMap::new()))].into());
    let inputs = inputs(&[("vars", vars)]);
    for (template, help) in [
        ("{% for item in [1] %}{{ itme }}{% endfor %}", "did you mean `item`?"),
        ("{{ d.items }}", "to call the method, write `d.items()`"),
        ("{{ d|uper }}", "did you mean `upper`?"),
        ("{{ d|keys }}", "it is a method: write `VALUE.keys()`"),
        ("{{ d|to_json }}", "did you mean `tojson`?"),
        ("{{ d is defind }}", "did you mean `defined`?"),
        ("{{ rnge(3) }}", "did you mean `range`?"),
        ("{{ length(d) }}", "it is a filter: write `VALUE|length`"),
        ("{{ 'x'.splt() }}", "did you mean `.split()`?"),
        ("{{ 'x'.title() }}", "it is a filter: write `VALUE|title`"),
        ("{{ ${d} }}", "write `d`, as in `{{ d }}`"),
        ("{{ $d }}", "write `d`, as in `{{ d }}`"),
        ("{% if $d %}{% endif %}", "write `d`, as in `{{ d }}`"),
        (
            "{{ printf \"%s\" .d }}",
            "convert the template once: `opal convert --from go-template FILE`",
        ),
    ] {
        let trouble = FileTemplate.verify(&inputs, &world(template)).unwrap_err();
        assert_eq!(trouble.help[0], help, "{template}: {}", trouble.message);
        assert!(trouble.message.contains("line 1: "), "{}", trouble.message);
    }
}

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    let db = Data::Map([("host".to_owned(), Data::text("x"))].into());
    let vars = Data::Map([("db".to_owned(), db), ("port".to_owned(), Data::Int(1))].into());
    let inputs = inputs(&[("vars", vars)]);
    for (template, first) in
        [("{{ prot }}", "did you mean `port`?"), ("{{ db.hots }}", "did you mean `db.host`?")]
    {
        let trouble = FileTemplate.verify(&inputs, &world(template)).unwrap_err();
        assert_eq!(trouble.help[0], first, "{template}");
        assert_eq!(trouble.help.len(), 2);
    }
    let trouble = FileTemplate.verify(&inputs, &world("{{ other }}")).unwrap_err();
    assert_eq!(trouble.help.len(), 1);
}

#[test]
fn only_names_without_a_value_are_asked_of_the_environment() {
    let environment = |template: &str| {
        let world = world(template).env("HOME", "/home/ann").env("port", "1").file("/d", "");
        let finding = FileTemplate.verify(&inputs(&[("env", Data::Bool(true))]), &world);
        let asked: Vec<Asked> =
            world.asked().into_iter().filter(|it| matches!(it, Asked::Env(_))).collect();
        (finding, asked)
    };
    let (finding, asked) = environment("{{ HOME }}:{{ port }}");
    assert!(finding.unwrap().details.unwrap().report().contains("-/home/ann:8080\n"));
    assert_eq!(asked, [Asked::Env("HOME".into())]);
    for (template, rendered) in [
        ("{{ HOME[:5] }}", "-/home\n"),
        ("{{ (HOME ~ 'x')[1:][0] }}", "-h\n"),
        ("{% if 'abc'[HOME[:2]|length:] == 'c' %}yes{% endif %}", "-yes\n"),
    ] {
        let (finding, asked) = environment(template);
        let details = finding.unwrap().details.unwrap().report();
        assert!(details.contains(rendered), "{template}: {details}");
        assert_eq!(asked, [Asked::Env("HOME".into())]);
    }
    assert!(environment("{{ NOWHERE }}").0.is_err());
    assert!(environment("{{ NOWHERE[:2] }}").0.is_err());

    let world = world("{{ HOME }}").env("HOME", "/home/ann");
    assert!(FileTemplate.verify(&inputs(&[]), &world).is_err(), "only where it is allowed");
}

#[test]
fn only_what_differs_is_changed() {
    let mode = [("mode", Data::text("0640"))];
    for (given, world, log) in [
        (&[][..], world("port={{ port }}\n"), &["write /d", "keep /d"][..]),
        (&mode, world("x"), &["write /d as 640", "keep /d"]),
        (&mode, with_destination("port=8080\n", 0o600), &["set /d as 640"]),
        (&mode, with_destination("port=8080\n", 0o640), &[]),
        (&[], with_destination("port=8080\n", 0o600), &[]),
    ] {
        let (is_done, session) = applied(given, world);
        assert!(is_done);
        assert_eq!(session.log(), log);
    }
    let (_, session) = applied(&[], world("port={{ port }}\n"));
    assert_eq!(session.kept("/d").unwrap(), b"port=8080\n");
}
