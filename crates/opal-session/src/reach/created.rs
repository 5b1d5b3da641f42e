//! A container for one block: made, given the helper, and started with it as its first process.
//!
//! ```text
//! opal                                   shell, where the engine is
//!                                                create -i: pulls the image where it is missing
//!            ◀── NONCE need linux amd64 tar ID   what the image is for, and which one it is
//! SIZE tar DIGEST, and so many bytes ──▶         cp: an archive with the helper
//!            ◀── NONCE helper                    start -ai: frames follow
//! ```
//!
//! The image needs nothing, not even a shell. The engine may be on another machine: nothing is mounted.
//! The helper ends with its pipe, and the engine removes what has ended (`--rm`). What was never
//! started the shell removes, however it ends; it hears of that by the end of its own input.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use opal_core::target::{Engine, Mount, NewContainer};

use super::Dialling;
use super::script;
use super::words::{Programs, ReachError, Words};

/// Where the helper is in the container.
pub const HELPER: &str = "/.opal-target";

/// `$1` is the engine, `$2` and `$3` are the halves of the nonce; the rest are words for `create`. The
/// image is asked for by its ID: its name may belong to another one by now.
const CREATE: &str = r#"e=$1 a=$2 b=$3 n=opal-$2$3; shift 3; say() { echo "$a$b $*"; }; trap : PIPE; trap "exit 1" HUP INT TERM; trap "\"\$e\" rm -f \"\$n\" </dev/null >/dev/null 2>&1" EXIT; "$e" create -i --rm --name "$n" "$@" </dev/null >/dev/null || exit 1; i=$("$e" container inspect --format "{{.Image}}" "$n" </dev/null) || exit 1; w=$("$e" image inspect --format "{{.Os}} {{.Architecture}}" "$i" </dev/null) || exit 1; say need $w tar "$i"; read -r s c d || exit 1; case "$s" in none) exit 1;; esac; head -c "$s" | "$e" cp - "$n:/" >/dev/null || exit 1; say helper; "$e" start -ai "$n""#;

pub(super) fn words(
    new: &NewContainer,
    dialling: &Dialling,
    programs: &dyn Programs,
) -> Result<Words, ReachError> {
    let NewContainer { engine, image, mounts, network } = new;
    let shell = programs.find("sh").ok_or(ReachError::Missing { program: "sh" })?;
    let engine = found(*engine, image.as_str(), programs)?;
    let nonce = dialling.nonce.text();
    let (first, second) = nonce.split_at(nonce.len() / 2);
    let mut arguments: Vec<OsString> = ["-c", CREATE, "opal"].map(OsString::from).into();
    arguments.push(engine.into());
    arguments.extend([first, second].map(OsString::from));
    if let Some(network) = network {
        arguments.extend(["--network", network.as_str()].map(OsString::from));
    }
    for mount in mounts {
        arguments.extend([OsString::from("--mount"), word(mount, programs.directory())]);
    }
    arguments.extend(["--entrypoint", HELPER, image.as_str(), "--digest"].map(OsString::from));
    arguments.extend(script::arguments(dialling).into_iter().map(OsString::from));
    Ok(Words { program: shell, arguments, wants_terminal: false })
}

/// One that has the image, so that nothing is pulled; otherwise the first.
fn found(engine: Engine, image: &str, programs: &dyn Programs) -> Result<PathBuf, ReachError> {
    let only =
        |program: &'static str| programs.find(program).ok_or(ReachError::Missing { program });
    match engine {
        Engine::Docker => only("docker"),
        Engine::Podman => only("podman"),
        Engine::Auto => {
            let all = ["docker", "podman"].iter().filter_map(|name| programs.find(name));
            let all: Vec<PathBuf> = all.collect();
            let has = |engine: &&PathBuf| programs.succeeds(engine, &["image", "inspect", image]);
            let chosen = if all.len() == 1 { None } else { all.iter().find(has) };
            let chosen = chosen.or(all.first()).cloned();
            chosen.ok_or(ReachError::Missing { program: "docker" })
        }
    }
}

/// A mount as both engines read it. No name in it has a comma or a quote.
fn word(mount: &Mount, directory: &Path) -> OsString {
    let mut word = OsString::from(match mount.is_path() {
        true => "type=bind,source=",
        false => "type=volume,source=",
    });
    match mount.is_path() {
        true => word.push(plain(&directory.join(&mount.source))),
        false => word.push(&mount.source),
    }
    word.push(",target=");
    word.push(&mount.target);
    if mount.is_read_only {
        word.push(",readonly");
    }
    word
}

/// Without `.`, which engines do not expect.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Nonce;
    use crate::wire::Timing;

    struct Machine;

    impl Programs for Machine {
        fn find(&self, name: &str) -> Option<PathBuf> {
            Some(Path::new("/bin").join(name))
        }

        fn succeeds(&self, program: &Path, arguments: &[&str]) -> bool {
            program.ends_with("podman") && arguments == ["image", "inspect", "alpine"]
        }

        fn directory(&self) -> &Path {
            Path::new("/project")
        }
    }

    #[test]
    fn names_and_paths_are_words_of_their_own() {
        let dialling = Dialling {
            nonce: Nonce([1; 16]),
            digests: Vec::new(),
            is_read_only: false,
            timing: Timing::default(),
        };
        let new = |image: &str| NewContainer {
            engine: Engine::Auto,
            image: image.parse().unwrap(),
            mounts: vec!["./a b:/src:ro".parse().unwrap(), "cache:/c".parse().unwrap()],
            network: Some("none".parse().unwrap()),
        };
        let shown = |image: &str| {
            let words = words(&new(image), &dialling, &Machine).unwrap();
            assert!(!words.arguments[1].to_str().unwrap().contains("0101"), "it may be repeated");
            let words: Vec<String> =
                words.arguments[3..].iter().map(|it| it.to_str().unwrap().to_owned()).collect();
            words.join("|")
        };
        let half = "01".repeat(8);
        assert_eq!(
            shown("alpine"),
            format!(
                "/bin/podman|{half}|{half}|--network|none|--mount|type=bind,source=/project/a b,\
                 target=/src,readonly|--mount|type=volume,source=cache,target=/c|--entrypoint|\
                 /.opal-target|alpine|--digest|--ping|5000|--lost|30000"
            )
        );
        assert!(shown("other").starts_with("/bin/docker|"), "it pulls");
    }
}
