//! The archive of a release: the same bytes for the same commit.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::bill;
use super::build::Built;
use super::signing::file_name;
use crate::chores::{answers, run};

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Files of the repository that go along.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Puts everything into a directory.
pub(super) fn stage(root: &Path, built: &Built, folder: &Path) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("`{}`: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(failed)?;
    }
    for name in ["bin", "completions", "man"] {
        std::fs::create_dir_all(folder.join(name)).map_err(failed)?;
    }
    for program in &built.programs {
        let target = folder.join("bin").join(file_name(program));
        std::fs::copy(program, &target).map_err(failed)?;
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o755)).map_err(failed)?;
    }
    for name in FILES {
        std::fs::copy(root.join(name), folder.join(name)).map_err(failed)?;
    }
    let opal = folder.join("bin/opal");
    let opal = opal.to_str().ok_or("the directory of the release is not UTF-8")?;
    for shell in SHELLS {
        let script = answers(&[opal, "completions", shell])
            .ok_or_else(|| format!("`opal completions {shell}` failed"))?;
        let path = folder.join("completions").join(format!("opal.{shell}"));
        std::fs::write(path, script).map_err(failed)?;
    }
    let pages = folder.join("man");
    let pages = pages.to_str().ok_or("the directory of the release is not UTF-8")?;
    run(folder, &[opal, "self", "man", "-o", pages])?;
    std::fs::write(folder.join("sbom.cdx.json"), bill::of(&built.metadata)).map_err(failed)?;
    Ok(folder.to_path_buf())
}

/// Packs a directory; nothing of this machine, of its clock or of the user is in the archive.
pub(super) fn pack(folder: &Path, time: &str) -> Result<PathBuf, String> {
    let (parent, name) = (folder.parent().unwrap_or(Path::new(".")), file_name(folder));
    let archive = format!("{name}.tar.gz");
    let mtime = format!("--mtime=@{time}");
    run(
        parent,
        &[
            "tar",
            "--create",
            "--format=gnu",
            "--sort=name",
            &mtime,
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--mode=go=rX,u+rw,a-s",
            "--use-compress-program=gzip -9 -n",
            "--file",
            &archive,
            "--",
            &name,
        ],
    )?;
    Ok(parent.join(archive))
}
