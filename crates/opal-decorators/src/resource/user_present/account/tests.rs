use opal_core::resolver::Input;
use opal_core::resource::Status;

use super::*;
use opal_testing::MemoryWorld;

fn user(line: &str) -> Option<User> {
    Some(User::read(line).unwrap())
}

fn facts(line: &str) -> Facts {
    let groups = ["sudo:x:27:bob,ann", "web:x:33:", "ann:x:1000:"];
    let groups = groups.into_iter().filter_map(Group::read).collect();
    Facts { user: user(line), uid_of: None, groups }
}

const ANN: &str = "ann:x:1000:1000:Ann,,,:/home/ann:/bin/bash";

fn wanted() -> Wanted {
    Wanted { name: "ann".into(), ..Wanted::default() }
}

#[test]
fn each_state_of_an_account_has_its_status() {
    let text = |text: &str| Some(text.to_owned());
    let groups = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    for (wanted, status, message) in [
        (wanted(), Status::Satisfied, "the user `ann` is in the desired state"),
        (
            Wanted {
                uid: text("1000"),
                home: text("/home/ann"),
                shell: text("/bin/bash"),
                groups: groups(&["sudo", "ann"]),
                ..wanted()
            },
            Status::Satisfied,
            "the user `ann` is in the desired state",
        ),
        (
            Wanted { uid: text("7"), ..wanted() },
            Status::Drifted,
            "the user `ann` differs: uid 1000, expected 7",
        ),
        (
            Wanted { home: text("/srv"), shell: text("/bin/sh"), ..wanted() },
            Status::Drifted,
            "the user `ann` differs: home /home/ann, expected /srv; shell /bin/bash, expected /bin/sh",
        ),
        (
            Wanted { groups: groups(&["sudo", "web"]), ..wanted() },
            Status::Drifted,
            "the user `ann` differs: groups sudo, expected sudo,web",
        ),
    ] {
        let finding = facts(ANN).decide(&wanted).unwrap();
        assert_eq!((finding.status, finding.message.expose()), (status, message));
    }
    let nobody = Facts { user: None, ..facts(ANN) };
    let finding = nobody.decide(&wanted()).unwrap();
    assert_eq!(finding.status, Status::Missing);
    assert_eq!(finding.message.expose(), "the user `ann` does not exist");
    let wanted = Wanted { uid: Some("1500".into()), groups: groups(&["sudo", "web"]), ..wanted() };
    let finding = nobody.decide(&wanted).unwrap();
    let details = finding.details.unwrap().report();
    assert!(details.starts_with("uid 1500, "), "{}", details);
    assert!(details.ends_with("groups sudo,web\n"), "{}", details);
}

#[test]
fn groups_that_are_not_there_block_and_are_named() {
    let groups = ["sudo", "nope", "never"].map(str::to_owned).to_vec();
    let trouble = facts(ANN).decide(&Wanted { groups, ..wanted() }).unwrap_err();
    assert_eq!(trouble.message, "unknown group: `nope`, `never`");
}

#[test]
fn a_number_of_somebody_else_blocks() {
    let facts = Facts { uid_of: Some("bob".into()), user: None, ..facts(ANN) };
    let trouble = facts.decide(&Wanted { uid: Some("1001".into()), ..wanted() }).unwrap_err();
    assert_eq!(trouble.message, "the uid 1001 belongs to the user `bob`");
}

#[test]
fn other_memberships_are_not_in_the_diff() {
    let groups = vec!["web".to_owned()];
    let finding = facts(ANN).decide(&Wanted { groups, ..wanted() }).unwrap();
    let details = finding.details.unwrap().report();
    assert!(details.ends_with("-groups: web\n+groups: \n"), "{}", details);
}

#[test]
fn names_that_a_program_would_misread_are_refused() {
    for (name, text) in [
        ("groups", "-G"),
        ("groups", "27"),
        ("groups", "a,b"),
        ("groups", ""),
        ("home", "/home:/x"),
        ("shell", "/bin/sh\nroot::0:0"),
    ] {
        let data = Data::text(text);
        let data = if name == "groups" { Data::Array(vec![data]) } else { data };
        let mut inputs = Inputs::default();
        inputs.args.insert("name", Input::Data(Data::text("ann")));
        inputs.args.insert(name, Input::Data(data));
        let trouble = super::wanted(&inputs, &MemoryWorld::default()).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Invalid, "{text}");
    }
}
