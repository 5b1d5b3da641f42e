//! Where commands run, and where they leave the next one.

use std::fs;
use std::os::unix::fs::symlink;

use opal_core::resolver::TroubleKind;

use crate::session::support::{Done, Only, Place, SHELLS};

#[test]
fn a_command_that_can_move_says_where_it_ended() {
    for only in SHELLS {
        let place = Place::new(only);
        let path = place.path();
        fs::create_dir(path.join("a b\n'c")).unwrap();
        symlink(path.join("a b\n'c"), path.join("link")).unwrap();
        let ended = |done: Done| done.ended.unwrap().directory;
        assert_eq!(ended(place.run("echo stays")), None);
        assert_eq!(ended(place.run("cd 'a b\n'\\''c'")), Some(path.join("a b\n'c")));
        assert_eq!(ended(place.run("cd link")), Some(path.join("link")));
        assert_eq!(ended(place.run("(cd link); true && cd .")), Some(path.clone()));
        let inside = path.join("a b\n'c");
        for text in ["pwd", "echo \"$PWD\"", "printenv PWD"] {
            let done = place.run_in(&inside, text);
            assert_eq!(done.out(), format!("{}\n", inside.display()), "{only:?} {text}");
        }
        let moved = place.run_in(&path.join("link"), "cd ..");
        assert_eq!(ended(moved), Some(path.clone()));
        let failed = place.run("cd nowhere");
        assert_ne!(failed.code(), 0);
        assert!(failed.err().contains("nowhere"));
        if only == Only::Bash {
            assert_ne!(place.run("cd -").code(), 0);
        }
    }
}

#[test]
fn cd_with_a_dash_goes_back_to_where_earlier_steps_were() {
    for only in SHELLS {
        let place = Place::new(only);
        let (path, odd) = (place.path(), place.path().join("a\n'b"));
        fs::create_dir(&odd).unwrap();
        let left_in = |done: &Done| {
            let ended = done.ended.as_ref().unwrap();
            (ended.directory.clone(), ended.previous.clone())
        };
        for text in ["cd a*", "cd / && cd -; cd a*", "cd a*; : $$"] {
            let there = (Some(odd.clone()), Some(path.clone()));
            assert_eq!(left_in(&place.run(text)), there, "{only:?} {text}");
        }
        assert_eq!(left_in(&place.run("cd a* && cd /")), (Some("/".into()), Some(odd.clone())));
        for text in ["cd -", "cd - && : $$"] {
            let back = place.run_after(&odd, &path, text);
            assert_eq!(left_in(&back), (Some(odd.clone()), Some(path.clone())), "{only:?} {text}");
            assert_eq!(back.out(), format!("{}\n", odd.display()), "{only:?} {text}");
        }
        // Wherever a command goes, and whatever the one before it was given.
        for text in ["printenv OLDPWD", "echo \"$OLDPWD\"", "echo \"${OLDPWD}\" | cat"] {
            let done = place.run_after(&odd, &path, text);
            assert_eq!(done.out(), format!("{}\n", odd.display()), "{only:?} {text}");
            assert_eq!(place.run("echo \"-${OLDPWD-}\"").out(), "-\n", "{only:?}");
        }
    }
}

#[test]
fn a_directory_whose_path_is_too_long_to_report_ends_the_step_and_not_the_session() {
    for only in SHELLS {
        let place = Place::new(only);
        let name = "d".repeat(200);
        let text = format!(
            "i=0; while [ $i -lt 400 ]; do mkdir {name} && cd {name}; i=$((i + 1)); done; cd ."
        );
        let ended = place.run(&text).ended.unwrap();
        // A shell that does not follow so far has not moved.
        assert!(ended.code == 137 || ended.directory.is_none_or(|it| it.is_dir()), "{only:?}");
        assert_eq!(place.run("echo \"still here\"").out(), "still here\n", "{only:?}");
    }
}

#[test]
fn a_directory_that_is_gone_is_said_to_be() {
    let place = Place::new(Only::Bash);
    let gone = place.path().join("gone");
    for text in ["true", "ls", "ls | cat"] {
        let trouble = place.run_in(&gone, text).ended.unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Failed);
        assert!(trouble.message.contains("does not exist any more"), "{}", trouble.message);
    }
}
