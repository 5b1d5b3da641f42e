//! Releases: static programs in one archive for each system, with a signed list of checksums and a script
//! that installs them.
//!
//! | what | where |
//! |---|---|
//! | the programs, built for any machine of a system | `build` |
//! | the archive, and what is in it | `archive` |
//! | what the programs are made of | `bill` |
//! | checksums, their signature, the script that checks both | `signing` |

mod archive;
mod bill;
mod build;
mod signing;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::chores::run;
use crate::say;

/// What the words of the command line say.
#[derive(Debug, Default)]
struct Wanted {
    out: Option<PathBuf>,
    key: Option<PathBuf>,
    releases: Option<String>,
}

const USAGE: &str = "expected `dist --key FILE --url URL [--out DIR]`: the SSH key that signs the \
                     checksums, and the address that the release will have";

/// Builds a release.
pub(crate) fn make(root: &Path, words: &[&str]) -> Result<(), String> {
    let wanted = parse(words)?;
    let key = wanted.key.ok_or(USAGE)?;
    let releases = wanted.releases.ok_or(USAGE)?;
    let out = wanted.out.unwrap_or_else(|| root.join("target/dist"));
    let version = env!("CARGO_PKG_VERSION");
    let public = signing::public_key(&key)?;
    let script = signing::script(&releases, version, &public)?;
    std::fs::create_dir_all(&out).map_err(|error| format!("`{}`: {error}", out.display()))?;

    let built = build::programs(root)?;
    let name = format!("opal-{version}-{}", built.system);
    let staged = archive::stage(root, &built, &out.join(&name))?;
    let archive = archive::pack(&staged, &built.time)?;
    std::fs::remove_dir_all(&staged).map_err(|error| format!("`{name}`: {error}"))?;
    let path = out.join("install.sh");
    std::fs::write(&path, script).map_err(|error| format!("`install.sh`: {error}"))?;
    signing::sign(&out, &[archive, path], &key)?;
    say(&format!("the release is in `{}`", out.display()));
    Ok(())
}

/// Builds the last commit in two directories, and fails if the archives differ.
pub(crate) fn twice(root: &Path) -> Result<(), String> {
    let folder = root.join("target/dist-twice");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("`dist-twice`: {error}"))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("`dist-twice`: {error}"))?;
    run(&folder, &["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"])?;
    let key = folder.join("key");
    let mut archives = Vec::new();
    // The lengths of the paths differ too.
    for name in ["one", "the-other-one"] {
        let (clone, out) = (folder.join(name), folder.join(format!("{name}.out")));
        let words = [root, &clone, &key, &out].map(|path| path.to_string_lossy().into_owned());
        let [from, to, key, out] = words.each_ref().map(String::as_str);
        run(&folder, &["git", "clone", "--quiet", "--no-local", from, to])?;
        make(&clone, &["--key", key, "--url", "https://releases.invalid/opal", "--out", out])?;
        let sums = std::fs::read_to_string(Path::new(out).join("SHA256SUMS"));
        archives.push(sums.map_err(|error| format!("`SHA256SUMS`: {error}"))?);
    }
    if archives[0] != archives[1] {
        return Err(format!("two builds differ:\n{}and\n{}", archives[0], archives[1]));
    }
    say("two builds gave the same bytes");
    Ok(())
}

fn parse(words: &[&str]) -> Result<Wanted, String> {
    let mut wanted = Wanted::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(USAGE)?;
        match *word {
            "--out" => wanted.out = Some(PathBuf::from(value)),
            "--key" => wanted.key = Some(PathBuf::from(value)),
            "--url" => wanted.releases = Some((*value).to_owned()),
            other => return Err(format!("unexpected argument `{other}`; {USAGE}")),
        }
    }
    Ok(wanted)
}
