use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_modules::keep::{Init, Initialised, Readiness, RunId, RuntimeRoot, Target, init, status};
use opal_modules::run::Programs;
use opal_vault::Vault;

use crate::keep::support::{CANARY, at, document, mode, private, root};

/// A directory of programs that do nothing.
fn programs(folder: &Path, names: &[&str]) -> Programs {
    let path = folder.join("bin");
    fs::create_dir_all(&path).unwrap();
    for name in names {
        fs::write(path.join(name), "#!/bin/sh\n").unwrap();
        fs::set_permissions(path.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    Programs::new(Some(&path.into()))
}

fn run(root: &RuntimeRoot, target: &str, programs: &Programs, vault: &Vault) -> Initialised {
    let target = Target::named(target).unwrap();
    let run_id = RunId::new(&format!("init-{}", target.name), at(0), [0; 4]);
    init(&Init { root, target, run_id: &run_id, out_dir: None, programs, at: at(0), vault })
        .unwrap()
}

fn failed(done: &Initialised) -> Vec<String> {
    let failed = done.checks.iter().filter(|check| !check.is_passed);
    failed.map(|check| check.kind.to_string()).collect()
}

fn readiness(root: &RuntimeRoot, name: &str) -> Readiness {
    let all = status(root);
    all.iter().find(|status| status.target.name == name).unwrap().readiness
}

#[test]
fn the_first_time_there_is_something_to_fill_in_and_nothing_is_ready() {
    let (folder, root) = root();
    let programs = programs(folder.path(), &["tofu"]);
    let done = run(&root, "gcp", &programs, &Vault::new());
    let config = root.config(Target::named("gcp").unwrap());
    assert_eq!(done.template.as_ref(), Some(&config));
    assert_eq!(mode(&config), 0o600);
    assert_eq!((done.is_ready, done.status()), (false, "needs_config"));
    assert_eq!(failed(&done), ["config", "credentials"]);
    assert!(!root.ready(Target::named("gcp").unwrap()).exists());
    let written = document(&done.evidence.join("init_result.json"));
    assert_eq!(written["status"], "needs_config");
    assert_eq!(written["checks"][0]["passed"], false);
    assert_eq!(readiness(&root, "gcp"), Readiness::NotReady);
}

#[test]
fn a_target_is_ready_when_everything_is_there_and_not_before() {
    let (folder, root) = root();
    let gcp = Target::named("gcp").unwrap();
    let vault = Vault::new();
    let none = programs(folder.path(), &[]);
    run(&root, "gcp", &none, &vault);
    fs::write(root.config(gcp), "project_id: demo\nregion: europe-west1\n").unwrap();
    assert_eq!(
        failed(&run_again(&root, &none, &vault, 1)),
        ["tool:terragrunt|tofu|terraform", "credentials"]
    );
    let programs = programs(folder.path(), &["terraform"]);
    assert_eq!(failed(&run_again(&root, &programs, &vault, 2)), ["credentials"]);
    private(&root.credentials(), "gcp.credentials.tfvars", &format!("token = \"{CANARY}\"\n"));
    let done = run_again(&root, &programs, &vault, 3);
    assert_eq!((done.is_ready, done.status(), done.template), (true, "ready", None));

    let marker = document(&root.ready(gcp));
    assert_eq!((&marker["target"], &marker["status"]), (&"gcp".into(), &"ready".into()));
    assert_eq!(marker["context"]["project_id"], "demo");
    assert_eq!(marker["paths"]["credential_files"].as_array().unwrap().len(), 1);
    assert_eq!(mode(&root.ready(gcp)), 0o600);
    assert_eq!(readiness(&root, "gcp"), Readiness::Ready);
    assert_eq!(vault.scrub(CANARY).text(), "<redacted>", "the vault knows it now");
}

fn run_again(root: &RuntimeRoot, programs: &Programs, vault: &Vault, number: u8) -> Initialised {
    let target = Target::named("gcp").unwrap();
    let run_id = RunId::new("init-gcp", at(0), [0, 0, 0, number]);
    init(&Init { root, target, run_id: &run_id, out_dir: None, programs, at: at(0), vault })
        .unwrap()
}

#[test]
fn a_marker_goes_away_with_what_it_stands_for() {
    let (folder, root) = root();
    let hetzner = Target::named("hetzner").unwrap();
    let programs = programs(folder.path(), &["tofu"]);
    let vault = Vault::new();
    let file = private(&root.credentials(), "hetzner.env", "HCLOUD_TOKEN=x\n");
    let done = run(&root, "hetzner", &programs, &vault);
    assert!(done.is_ready && done.template.is_some(), "all of its settings have a usual value");
    assert!(root.ready(hetzner).exists());

    fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
    assert_eq!(readiness(&root, "hetzner"), Readiness::Stale);
    fs::remove_file(&file).unwrap();
    assert_eq!(readiness(&root, "hetzner"), Readiness::Stale);
    assert!(root.ready(hetzner).exists(), "looking changes nothing");
    let done = run(&root, "hetzner", &programs, &vault);
    assert_eq!(failed(&done), ["credentials"]);
    assert!(!root.ready(hetzner).exists());
    assert_eq!(readiness(&root, "hetzner"), Readiness::NotReady);
}

#[test]
fn a_marker_that_says_nothing_is_stale() {
    let (_folder, root) = root();
    let local = Target::named("local").unwrap();
    fs::write(root.config(local), "").unwrap();
    for (text, expected) in [
        ("", Readiness::Stale),
        ("{}", Readiness::Stale),
        ("{\"run_id\": \"x\"}", Readiness::Ready),
    ] {
        fs::write(root.ready(local), text).unwrap();
        assert_eq!(readiness(&root, "local"), expected, "{text}");
    }
}

#[test]
fn settings_are_read_strictly() {
    let (folder, root) = root();
    let gcp = Target::named("gcp").unwrap();
    let programs = programs(folder.path(), &["tofu"]);
    let vault = Vault::new();
    let whole = "project_id: demo\nregion: r\n";
    private(&root.credentials(), "gcp.env", "A=b\n");
    for (number, text) in [
        "",
        "project_id: demo\n",
        "project_id: demo\nregion: CHANGE_ME\n",
        "project_id: demo\nregion: \"\"\n",
        "project_id: demo\nregion: 7\n",
        "project_id: demo\nregion: [a]\n",
        "project_id: demo\nregion: r\nzone: z\n",
        "project_id: demo\nregion: r\ntoken: x\n",
        "project_id: [\n",
        "- a\n",
    ]
    .iter()
    .enumerate()
    {
        fs::write(root.config(gcp), text).unwrap();
        let done = run_again(&root, &programs, &vault, number as u8);
        assert_eq!(
            (failed(&done), done.status()),
            (vec!["config".to_owned()], "needs_config"),
            "{text:?}"
        );
    }
    fs::write(root.config(gcp), whole).unwrap();
    assert!(run_again(&root, &programs, &vault, 99).is_ready);
}

#[test]
fn every_template_names_all_settings_and_none_of_them_is_a_secret() {
    let (folder, root) = root();
    let programs = programs(folder.path(), &[]);
    for target in Target::all() {
        let done = run(&root, target.name, &programs, &Vault::new());
        let text = fs::read_to_string(done.template.unwrap()).unwrap();
        let needs = text.lines().any(|line| line.ends_with(": CHANGE_ME"));
        let is_faulty = done.checks[0].message.contains("placeholder");
        assert_eq!((needs, done.checks[0].is_passed), (is_faulty, !is_faulty), "{text}");
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    }
}

#[test]
fn evidence_goes_where_it_is_asked_to() {
    let (folder, root) = root();
    let target = Target::named("local").unwrap();
    let run_id = RunId::new("init-local", at(0), [0; 4]);
    let out = folder.path().join("out");
    let programs = programs(folder.path(), &["sh"]);
    let vault = Vault::new();
    let done = init(&Init {
        root: &root,
        target,
        run_id: &run_id,
        out_dir: Some(&out),
        programs: &programs,
        at: at(0),
        vault: &vault,
    })
    .unwrap();
    assert!(done.is_ready);
    assert_eq!(done.evidence, out.join("init/local").join(run_id.as_str()));
    assert!(done.evidence.join("init_result.json").exists());
}

#[test]
fn a_program_is_one_that_can_be_run_from_an_absolute_place() {
    let (folder, root) = root();
    let programs = programs(folder.path(), &["sh"]);
    let vault = Vault::new();
    assert!(run(&root, "local", &programs, &vault).is_ready);
    let program = folder.path().join("bin/sh");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(failed(&run(&root, "local", &programs, &vault)), ["tool:sh"]);
    assert_eq!(
        failed(&run(&root, "local", &Programs::new(Some(&"bin:.:".into())), &vault)),
        ["tool:sh"]
    );
}

#[test]
fn an_unknown_target_is_answered_with_the_nearest() {
    let no = Target::named("hetzer").unwrap_err();
    assert!(no.help.contains("did you mean `hetzner`"), "{no:?}");
    assert!(Target::named("../x").is_err());
}

#[test]
fn credentials_that_wait_for_a_value_are_not_ready_and_their_key_is_named() {
    let (folder, root) = root();
    let programs = programs(folder.path(), &["tofu"]);
    let vault = Vault::new();
    for (file, text, says) in [
        ("hetzner.env", "# the token comes later\n", "no credentials with a value"),
        ("hetzner.env", "HCLOUD_TOKEN=\n", "no value yet for `HCLOUD_TOKEN`"),
        ("hetzner.env", "HCLOUD_TOKEN=\"\"\nHCLOUD_ENDPOINT=https://a.b\n", "for `HCLOUD_TOKEN`"),
        ("hetzner.env", "HCLOUD_TOKEN=CHANGE_ME\n", "for `HCLOUD_TOKEN`"),
        ("hetzner.json", "{}\n", "no credentials with a value"),
        ("hetzner.json", "{\"token\": null}\n", "no credentials with a value"),
        ("hetzner.yml", "hcloud: {token: ''}\n", "for `token`"),
        ("hetzner.credentials.tfvars", "hcloud_token = \"\"\n", "for `hcloud_token`"),
        ("hetzner.token", "REPLACE_ME\n", "no value yet for"),
    ] {
        let path = private(&root.credentials(), file, text);
        let done = run(&root, "hetzner", &programs, &vault);
        assert_eq!(failed(&done), ["credentials"], "{file}: {text}");
        let reported = done.checks.iter().find(|check| !check.is_passed).unwrap();
        assert!(reported.message.contains(says), "{file}: {}", reported.message);
        assert!(!root.ready(Target::named("hetzner").unwrap()).exists(), "{file}: {text}");
        fs::remove_file(path).unwrap();
    }
    private(&root.credentials(), "hetzner.env", "HCLOUD_TOKEN=canary-7\nHCLOUD_ENDPOINT=\n");
    assert!(run(&root, "hetzner", &programs, &vault).is_ready, "an empty address is not a secret");
}
