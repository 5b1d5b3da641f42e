use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use opal_modules::ModuleRef;
use opal_modules::keep::{Instance, RuntimeRoot, Stamp, Target, stamp};

use crate::keep::support::{at, document, mode, names, root, run_id, vault};

fn found(typed: Option<&str>, variable: Option<&str>, home: Option<&str>) -> Option<PathBuf> {
    let root =
        RuntimeRoot::find(typed.map(Path::new), variable.map(OsStr::new), home.map(Path::new));
    root.ok().map(|root| root.path().to_path_buf())
}

#[test]
fn what_is_typed_comes_before_the_variable_and_that_before_the_home() {
    let all = |typed, variable| found(typed, variable, Some("/home/me")).unwrap();
    assert_eq!(all(Some("/typed"), Some("/variable")), Path::new("/typed"));
    assert_eq!(all(None, Some("/variable")), Path::new("/variable"));
    assert_eq!(all(None, Some("")), Path::new("/home/me/.hybridops"));
    assert_eq!(all(None, None), Path::new("/home/me/.hybridops"));
}

#[test]
fn a_root_is_absolute_and_a_tilde_is_the_home() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(found(Some("some/place"), None, None), Some(here.join("some/place")));
    assert_eq!(found(None, Some("~/ops"), Some("/home/me")), Some("/home/me/ops".into()));
    assert_eq!(found(Some("~you/ops"), None, Some("/home/me")), Some(here.join("~you/ops")));
}

#[test]
fn without_any_place_there_is_no_root() {
    for (typed, variable, home) in
        [(None, None, None), (None, Some(""), None), (None, None, Some("")), (Some(""), None, None)]
    {
        assert_eq!(found(typed, variable, home), None, "{typed:?} {variable:?} {home:?}");
    }
    let message = RuntimeRoot::find(None, None, None).unwrap_err();
    assert!(message.help.contains("--root"), "{message:?}");
}

#[test]
fn a_root_is_made_for_its_owner_alone_and_what_is_there_stays() {
    let (folder, root) = root();
    let all = ["config", "credentials", "logs", "meta", "state", "vault", "work"];
    assert_eq!(names(root.path()), all);
    assert_eq!(mode(root.path()), 0o700);
    for name in all {
        assert_eq!(mode(&root.path().join(name)), 0o700, "{name}");
    }
    fs::set_permissions(root.path().join("logs"), fs::Permissions::from_mode(0o750)).unwrap();
    root.ensure().unwrap();
    assert_eq!(mode(&root.path().join("logs")), 0o750);
    drop(folder);
}

#[test]
fn a_root_that_cannot_be_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let root = RuntimeRoot::find(Some(&file), None, None).unwrap();
    let unkept = root.ensure().unwrap_err();
    assert!(unkept.to_string().contains(file.to_str().unwrap()), "{unkept}");
    assert!(unkept.help().contains("--root"), "{}", unkept.help());

    let (_folder, root) = self::root();
    fs::remove_dir(root.path().join("meta")).unwrap();
    fs::write(root.path().join("meta"), "").unwrap();
    assert_eq!(root.ensure().unwrap_err().path, root.path().join("meta"));
}

#[test]
fn a_root_that_others_may_write_into_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("root");
    fs::create_dir(&path).unwrap();
    let root = RuntimeRoot::find(Some(&path), None, None).unwrap();
    for open in [0o777, 0o1777, 0o770, 0o702] {
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        let unkept = root.ensure().unwrap_err();
        let way = format!("`chmod 700 {}`", path.display());
        assert!(unkept.to_string().contains(&way), "{unkept}");
        assert_eq!(names(&path), [""; 0], "{open:o}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    root.ensure().unwrap();
    let credentials = root.credentials();
    fs::set_permissions(&credentials, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(root.ensure().unwrap_err().path, credentials);
}

#[test]
fn a_root_of_somebody_else_is_refused_unless_it_is_the_administrators() {
    let folder = tempfile::tempdir().unwrap();
    if !rustix::process::geteuid().is_root() {
        // Ours it is not, and whether we could write into it is not what is asked.
        let root = RuntimeRoot::find(Some(Path::new("/")), None, None).unwrap();
        assert!(!root.ensure().unwrap_err().to_string().contains("another user"));
        return;
    }
    let foreign = folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    std::os::unix::fs::chown(&foreign, Some(4_242), None).unwrap();
    let root = RuntimeRoot::find(Some(&foreign), None, None).unwrap();
    let unkept = root.ensure().unwrap_err();
    assert!(unkept.to_string().contains("another user (uid 4242)"), "{unkept}");
    assert!(unkept.help().contains("--root DIR"), "{}", unkept.help());
    assert_eq!(names(&foreign), [""; 0]);
    std::os::unix::fs::chown(&foreign, Some(0), None).unwrap();
    root.ensure().unwrap();
}

#[test]
fn everything_has_its_place() {
    let root = RuntimeRoot::find(Some(Path::new("/r")), None, None).unwrap();
    let module = ModuleRef::parse("core.hetzner.edge").unwrap();
    let (gcp, run) = (Target::named("gcp").unwrap(), run_id());
    let blue = Instance::parse("blue").unwrap();
    let out = Some(Path::new("/o"));
    let id = "apply-20261115T080000Z-01020304";
    for (path, expected) in [
        (root.config(gcp), "/r/config/gcp.yml".to_owned()),
        (root.credentials(), "/r/credentials".to_owned()),
        (root.vault(), "/r/vault".to_owned()),
        (root.work(&module, &run), format!("/r/work/core__hetzner__edge/{id}")),
        (
            root.module_evidence(&module, &run, None),
            format!("/r/logs/module/core__hetzner__edge/{id}"),
        ),
        (root.module_evidence(&module, &run, out), format!("/o/module/core__hetzner__edge/{id}")),
        (root.init_evidence(gcp, &run, None), format!("/r/logs/init/gcp/{id}")),
        (root.init_evidence(gcp, &run, out), format!("/o/init/gcp/{id}")),
        (root.state(&module, None), "/r/state/modules/core__hetzner__edge/latest.json".to_owned()),
        (
            root.state(&module, Some(&blue)),
            "/r/state/modules/core__hetzner__edge/instances/blue.json".to_owned(),
        ),
        (root.ready(gcp), "/r/meta/gcp.ready.json".to_owned()),
        (root.stamp(), "/r/meta/runtime.json".to_owned()),
    ] {
        assert_eq!(path, Path::new(&expected));
    }
}

#[test]
fn a_stamp_tells_who_was_here_and_never_stops_a_run() {
    let (_folder, root) = root();
    let run_id = run_id();
    let evidence = root.path().join("logs/x");
    let it = Stamp {
        version: "1.2.3",
        command: "apply",
        run_id: &run_id,
        evidence: &evidence,
        pid: 7,
        at: at(1),
    };
    stamp(&root, &it, &vault());
    let written = document(&root.stamp());
    assert_eq!(written["version"], "1.2.3");
    assert_eq!(written["run_id"], run_id.as_str());
    assert_eq!(written["timestamp_utc"], "2026-11-15T08:00:01Z");
    assert_eq!(mode(&root.stamp()), 0o600);

    fs::remove_dir_all(root.path().join("meta")).unwrap();
    fs::write(root.path().join("meta"), "in the way").unwrap();
    stamp(&root, &it, &vault());
    assert_eq!(fs::read_to_string(root.path().join("meta")).unwrap(), "in the way");
}
