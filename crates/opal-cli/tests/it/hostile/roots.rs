//! A runtime root that somebody else has made is not used.

use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

use crate::needs;
use crate::support::Opal;

const OTHER: u32 = 54321;

#[test]
fn a_root_of_another_user_is_refused_before_anything_runs() {
    if !needs::root() {
        return;
    }
    for link in [false, true] {
        let opal = Opal::machine("fun up() = echo ran\n").file("real/.keep", "");
        let root = opal.path().join("root");
        if link {
            symlink(opal.path().join("real"), &root).unwrap();
            lchown(&root, Some(OTHER), None).unwrap();
        } else {
            std::fs::create_dir(&root).unwrap();
            chown(&root, Some(OTHER), None).unwrap();
        }
        opal.call(&["plan", "up", "-o", "own.plan"]).code(0);
        for args in [
            &["--root", "root", "up"][..],
            &["--root", "root", "runs", "list"],
            &["--root", "root", "plan", "up", "-o", "c.plan"],
            &["--root", "root", "keys", "list"],
            &["--root", "root", "keys", "generate", "k"],
            &["--root", "root", "runs", "show"],
            &["--root", "root", "runs", "prune"],
            &["--root", "root", "run", "--plan", "own.plan"],
            &["--root", "root", "plan", "verify", "own.plan"],
            &["--root", "root", "plan", "up", "-o", "c.plan", "--sign", "k"],
            &["up", "--root", "root", "--resume"],
        ] {
            let ran = opal.call(args);
            ran.says("belongs to another user (uid 54321)").says("help: ").hides("ran\n");
            assert_eq!(ran.code, 77, "{args:?} {ran:#?}");
        }
        let left: Vec<_> = std::fs::read_dir(opal.path().join("real")).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[test]
fn a_root_that_others_can_write_is_refused_and_a_new_one_is_private() {
    let opal = Opal::machine("fun up() = echo ran\n").file("root/.keep", "");
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(opal.path().join("root"), open).unwrap();
    opal.call(&["--root", "root", "up"]).code(77).says("is writable by").hides("ran\n");
    opal.call(&["--root", "new/root", "up"]).code(0).stdout("ran\n");
    let mode = opal.path().join("new/root").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_link_of_ones_own_is_followed() {
    let opal = Opal::machine("fun up() = echo ran\n").file("real/.keep", "");
    symlink(opal.path().join("real"), opal.path().join("root")).unwrap();
    opal.call(&["--root", "root", "up"]).code(0).stdout("ran\n").hides("warning");
}
