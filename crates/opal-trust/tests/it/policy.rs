//! Rules on the side that executes: read strictly, the strictest wins.

use opal_testing::needs;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_core::Duration;
use opal_core::contract::Sign;
use opal_trust::keys::{PublicKey, SigningKey};
use opal_trust::policy::{
    Environment, Facts, Files, Policy, PolicyError, ProjectFile, Randomness, Refusal, Signature,
};

const NOW: i64 = 1_800_000_000;

fn parse(text: &str) -> Result<Policy, PolicyError> {
    Policy::parse(Path::new("policy.toml"), text)
}

fn trusting(keys: &[PublicKey]) -> Policy {
    let keys: BTreeSet<PublicKey> = keys.iter().copied().collect();
    Policy { require_signature: true, trusted_keys: Some(keys), ..Policy::default() }
}

fn unsigned() -> Facts<'static> {
    Facts { signature: None, made: NOW, expires: false }
}

fn judged(policy: &Policy, facts: &Facts<'_>) -> Vec<Refusal> {
    policy.judge(facts, NOW).err().unwrap_or_default()
}

#[test]
fn a_full_file_is_read() {
    let key = SigningKey::generate().public();
    let policy = parse(&format!(
        "# ours\nrequire_signature = true\ntrusted_keys = [\"{key}\"]\n\
         randomness = \"contract\"\nmax_age = \"1d12h\"\nrequire_expiry = true\n"
    ))
    .unwrap();
    let expected = Policy {
        randomness: Randomness::Contract,
        max_age: Some(Duration::from_secs(36 * 3600)),
        require_expiry: true,
        ..trusting(&[key])
    };
    assert_eq!(policy, expected);
    assert_eq!(parse("").unwrap(), Policy::default());
}

#[test]
fn every_mistake_has_its_line_and_a_way_forward() {
    let cases = [
        ("\nrequire_signatur = true\n", 2, "did you mean `require_signature`"),
        ("\n\nentirely_else = 1\n", 3, "expected one of"),
        ("require_signature = \"yes\"\n", 1, "write `require_signature = true`"),
        ("require_expiry = 1\n", 1, "write `require_expiry = true`"),
        ("trusted_keys = \"ed25519:x\"\n", 1, "opal keys show"),
        ("trusted_keys = [\n  \"ed25519:x\",\n]\n", 2, "opal keys show"),
        ("trusted_keys = [\n  1,\n]\n", 2, "opal keys show"),
        ("max_age = 24\n", 1, "24h"),
        ("max_age = \"1.5h\"\n", 1, "24h"),
        ("max_age = \"0s\"\n", 1, "24h"),
        ("randomness = \"never\"\n", 1, "contract"),
        ("randomness = true\n", 1, "contract"),
        ("a = \n", 1, "fix the TOML"),
        ("require_signature = true\nrequire_signature = true\n", 2, "fix the TOML"),
        ("require_signature = false\ntrusted_keys = []\n", 1, "remove one"),
        ("[policy]\nrequire_signature = true\n", 1, "expected one of"),
    ];
    for (text, line, help) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, Some(line), "{text:?}: {error}");
        assert!(error.help().contains(help), "{text:?}: {error:?}");
        assert!(error.to_string().starts_with(&format!("policy.toml:{line}: ")), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn a_project_has_a_name_and_rules() {
    let read = |text| ProjectFile::parse(Path::new("opal.mod"), text);
    let project = read("name = \"shop\"\n\n[policy]\nrequire_signature = true\n").unwrap();
    assert_eq!(project.name.as_deref(), Some("shop"));
    assert!(project.policy.require_signature);
    let inline = read("policy = { max_age = \"1h\" }\n").unwrap();
    assert_eq!(inline.policy.max_age, Some(Duration::from_secs(3600)));
    for (text, line) in [
        ("name = 3\n", 1),
        ("name = \" \"\n", 1),
        ("\nnmae = \"x\"\n", 2),
        ("policy = 1\n", 1),
        ("[policy]\n\nrandomnes = \"any\"\n", 3),
        ("[[policy]]\n", 1),
    ] {
        assert_eq!(read(text).unwrap_err().line, Some(line), "{text:?}");
    }
}

#[test]
fn the_strictest_wins_whatever_the_order() {
    let [a, b, c] = [(); 3].map(|()| SigningKey::generate().public());
    let one = Policy {
        max_age: Some(Duration::from_secs(60)),
        randomness: Randomness::Contract,
        ..trusting(&[a, b])
    };
    let two = Policy {
        max_age: Some(Duration::from_secs(90)),
        require_expiry: true,
        ..trusting(&[b, c])
    };
    let expected = Policy {
        max_age: Some(Duration::from_secs(60)),
        randomness: Randomness::Contract,
        require_expiry: true,
        ..trusting(&[b])
    };
    assert_eq!(one.clone().merge(two.clone()), expected);
    assert_eq!(two.merge(one.clone()), expected);
    assert_eq!(Policy::default().merge(one.clone()), one);
    assert_eq!(one.clone().merge(Policy::default()), one);
}

#[test]
fn a_project_can_only_tighten() {
    let [a, b] = [(); 2].map(|()| SigningKey::generate().public());
    let required = Policy::requiring_signature(None);
    let tightened = required.clone().tightened_by(trusting(&[a]));
    assert_eq!(tightened, required, "it cannot name whom to trust where nobody is");
    assert_eq!(trusting(&[a]).tightened_by(trusting(&[b])), trusting(&[]));
    assert_eq!(trusting(&[a]).tightened_by(Policy::default()), trusting(&[a]));
    assert_eq!(Policy::default().tightened_by(trusting(&[a])), trusting(&[a]));
}

#[test]
fn files_that_are_missing_say_nothing_and_files_that_are_wrong_stop() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| Some(folder.path().join(name));
    let projects = ["opal.mod", "web/opal.mod"].map(|name| folder.path().join(name)).to_vec();
    let files = Files { system: path("system"), user: path("user"), projects };
    let load = || files.load(Policy::default());
    assert_eq!(load().unwrap(), Policy::default());
    fs::write(folder.path().join("system"), "max_age = \"2h\"\n").unwrap();
    fs::write(folder.path().join("user"), "max_age = \"1h\"\n").unwrap();
    for name in ["system", "user"] {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    fs::write(folder.path().join("opal.mod"), "name = \"shop\"\n[policy]\nmax_age = \"3h\"\n")
        .unwrap();
    assert_eq!(load().unwrap().max_age, Some(Duration::from_secs(3600)));
    // Of several projects, the strictest wins.
    fs::create_dir(folder.path().join("web")).unwrap();
    fs::write(folder.path().join("web/opal.mod"), "[policy]\nmax_age = \"10m\"\n").unwrap();
    assert_eq!(load().unwrap().max_age, Some(Duration::from_secs(600)));
    for name in ["system", "user", "opal.mod", "web/opal.mod"] {
        let good = fs::read(folder.path().join(name)).unwrap();
        let huge = vec![b'#'; 300 * 1024];
        for bad in [b"\xff".as_slice(), b"x = 1", &huge] {
            fs::write(folder.path().join(name), bad).unwrap();
            let error = load().unwrap_err();
            assert!(error.file.ends_with(name), "{error}");
        }
        fs::write(folder.path().join(name), good).unwrap();
    }
    fs::remove_file(folder.path().join("user")).unwrap();
    fs::create_dir(folder.path().join("user")).unwrap();
    assert!(load().is_err());
}

#[test]
fn rules_that_others_could_have_changed_stop_and_those_of_a_project_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules");
    fs::write(&file, "").unwrap();
    let load = |mode| {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let path = || Some(file.clone());
        let files = [
            Files { system: path(), ..Files::default() },
            Files { user: path(), ..Files::default() },
            Files { projects: path().into_iter().collect(), ..Files::default() },
        ];
        files.map(|files| files.load(Policy::default()).map_err(|error| error.help()))
    };
    let [system, user, project] = load(0o644);
    assert!(system.is_ok() && user.is_ok() && project.is_ok());
    for mode in [0o664, 0o646, 0o666] {
        let [system, user, project] = load(mode);
        for refused in [system, user] {
            assert!(refused.unwrap_err().contains("`chmod go-w "), "{mode:o}");
        }
        assert!(project.is_ok(), "{mode:o}");
    }
    if !needs::root() {
        return;
    }
    std::os::unix::fs::chown(&file, Some(4242), None).unwrap();
    let [system, user, project] = load(0o644);
    assert!(system.unwrap_err().contains("`chown root ") && user.is_err() && project.is_ok());
}

#[test]
fn signatures_are_judged() {
    let (friend, stranger) = (SigningKey::generate(), SigningKey::generate());
    let [friend_bytes, stranger_bytes] = [&friend, &stranger].map(|key| key.sign(b"contract"));
    let signed = |bytes, by: Option<&SigningKey>| Facts {
        signature: Some(Signature { bytes, signed: b"contract", by: by.map(SigningKey::public) }),
        ..unsigned()
    };
    let (open, strict) = (Policy::default(), trusting(&[friend.public()]));
    assert_eq!(judged(&open, &unsigned()), []);
    assert_eq!(judged(&strict, &unsigned()), [Refusal::NotSigned]);
    for by in [Some(&friend), None] {
        assert_eq!(judged(&strict, &signed(&friend_bytes, by)), []);
        assert_eq!(judged(&open, &signed(&friend_bytes, by)), []);
    }
    for by in [Some(&stranger), None] {
        let signer = by.map(SigningKey::public);
        let not_trusted = Refusal::NotTrusted { signer, by_nobody: false };
        assert_eq!(judged(&strict, &signed(&stranger_bytes, by)), [not_trusted]);
    }
    let forged = signed(&stranger_bytes, Some(&friend));
    assert_eq!(judged(&strict, &forged), [Refusal::BadSignature]);
    assert_eq!(judged(&open, &forged), [Refusal::BadSignature], "even where none is required");
    let nobody = Policy::requiring_signature(None);
    let facts = signed(&friend_bytes, Some(&friend));
    let refusals = nobody.judge(&facts, NOW).unwrap_err();
    let signer = Some(friend.public());
    assert_eq!(refusals, [Refusal::NotTrusted { signer, by_nobody: true }]);
    assert!(refusals[0].to_string().contains(&friend.public().to_string()));
    assert!(refusals[0].help().contains("--require-signature=KEY"));
    let flag = Policy::requiring_signature(Some(friend.public()));
    assert_eq!(judged(&flag, &facts), []);
}

#[test]
fn age_and_end_dates_are_judged_and_every_reason_is_given() {
    let max_age = Duration::from_secs(60);
    let policy = Policy { max_age: Some(max_age), ..Policy::default() };
    let (old, future) = (Refusal::TooOld { max_age }, Refusal::InTheFuture { max_age });
    let made = |made| Facts { made, ..unsigned() };
    assert_eq!(judged(&policy, &made(NOW - 60)), []);
    assert_eq!(judged(&policy, &made(NOW - 61)), [old]);
    assert_eq!(judged(&policy, &made(NOW + 60)), [], "clocks differ a little");
    assert_eq!(judged(&policy, &made(NOW + 3600)), [future], "a date in the future is refused");
    for (extreme, refusal) in [(i64::MIN, old), (i64::MAX, future)] {
        assert_eq!(judged(&policy, &made(extreme)), [refusal]);
    }
    let policy = Policy { require_signature: true, require_expiry: true, ..policy };
    let all = [Refusal::NotSigned, old, Refusal::NoExpiry];
    assert_eq!(judged(&policy, &made(0)), all);
    let ends = Facts { expires: true, ..unsigned() };
    assert_eq!(judged(&Policy { require_signature: false, ..policy }, &ends), []);
}

#[test]
fn the_files_of_the_guide_are_sound() {
    let page = include_str!("../../../../docs/guide/keys.md");
    let mut blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let policy = parse(blocks.next().unwrap()).unwrap();
    assert!(policy.trusted_keys.is_some() && policy.max_age.is_some());
    let project = ProjectFile::parse(Path::new("opal.mod"), blocks.next().unwrap()).unwrap();
    assert!(project.name.is_some() && project.policy.require_expiry);
    assert_eq!(blocks.next(), None);
}

#[test]
fn the_value_of_a_variable_is_that_of_the_first_file_wherever_it_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let rule = "[[approval]]\nneeded = 0\n";
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        Some(path)
    };
    let own = |path: &str| format!("environment = [\"PATH={path}\", \"HOME\"]\n");
    for (system, user) in [
        (rule.to_owned() + &own("/system"), own("/user")),
        (own("/system"), rule.to_owned() + &own("/user")),
        (own("/system"), own("/user")),
        (rule.to_owned() + &own("/system"), rule.to_owned() + &own("/user")),
    ] {
        let files = Files {
            system: write("system", system.clone()),
            user: write("user", user),
            ..Files::default()
        };
        let policy = files.load(Policy::default()).unwrap();
        let rules = policy.rules.iter().map(|rule| rule.environment.clone());
        let all = rules.fold(policy.environment.clone(), Environment::both).unwrap();
        let all: Vec<(&str, Option<&str>)> = all.entries().collect();
        assert_eq!(all, [("HOME", None), ("PATH", Some("/system"))], "{system}");
    }
}
