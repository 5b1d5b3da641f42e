//! A new module that works at once: a spec, a pack, and a profile where there is none.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::offer::offer;
use super::run::drivers;
use super::spec::PROVIDERS;
use super::{ModuleRef, Name, NotFound, Places};

/// The driver that a new user tries first.
pub const USUAL_DRIVER: &str = "shell/script";

const USUAL_PROFILE: &str = "local@v1.0";
const SPEC: &str = include_str!("skeleton/spec.yml");
const PROBES: &str = "
# Checked after an apply, and by verify.
probes:
  - name: written
    file: \"{outputs.file}\"";

/// What a pack of a driver begins with.
struct Kit {
    driver: &'static str,
    /// The first of them is the one to edit.
    files: &'static [(&'static str, &'static str, u32)],
    output: &'static str,
    has_file: bool,
}

static KITS: [Kit; 3] = [
    Kit {
        driver: USUAL_DRIVER,
        files: &[("run.sh", include_str!("skeleton/run.sh"), 0o755)],
        output: "file",
        has_file: true,
    },
    Kit {
        driver: "config/ansible",
        files: &[
            ("playbook.yml", include_str!("skeleton/playbook.yml"), 0o644),
            ("destroy.playbook.yml", include_str!("skeleton/destroy.playbook.yml"), 0o644),
        ],
        output: "file",
        has_file: true,
    },
    Kit {
        driver: "iac/terragrunt",
        files: &[
            ("main.tf", include_str!("skeleton/main.tf"), 0o644),
            ("terragrunt.hcl", include_str!("skeleton/terragrunt.hcl"), 0o644),
        ],
        output: "greeting",
        has_file: false,
    },
];

/// A file that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub path: PathBuf,
    pub text: String,
    pub mode: u32,
}

/// Why there is no new module.
#[derive(Debug)]
pub enum Unmade {
    /// It exists already: which file or directory.
    Exists(PathBuf),
    Missing(NotFound),
    Unwritten(PathBuf, io::Error),
}

/// The files of a new module, below these roots. Nothing is written yet.
pub fn skeleton(places: &Places, module: &ModuleRef, driver: &str) -> Result<Vec<NewFile>, Unmade> {
    let missing = |message: String, help: String| Unmade::Missing(NotFound { message, help });
    let Some(kit) = KITS.iter().find(|kit| kit.driver == driver) else {
        let known = drivers::all().map(|it| it.reference().to_owned()).collect();
        let help = offer(driver, "drivers", known, String::new());
        return Err(missing(format!("unknown driver `{driver}`"), help));
    };
    let name = |text: &str| Name::parse(text, "driver").map_err(|no| missing(no.message, no.help));
    let (driver, pack) = (name(driver)?, name(module.as_str())?);
    let beside = |folder: &str| places.beside().map(|root| root.join(folder));
    let packs = places.packs().map(Path::to_path_buf).or_else(|none| beside("packs").ok_or(none));
    let stack = packs.map_err(Unmade::Missing)?.join(driver.path()).join(pack.path()).join("stack");
    let (folder, pack_folder) = (places.module(module), stack.parent().unwrap_or(&stack));
    if let Some(taken) = [&folder.join("spec.yml"), pack_folder].into_iter().find(|it| it.exists())
    {
        return Err(Unmade::Exists(taken.to_path_buf()));
    }
    let mut profiles = places.profiles(&driver);
    profiles.sort();
    let known = profiles.iter().find(|name| *name == USUAL_PROFILE).or(profiles.first());
    let first = stack.join(kit.files[0].0);
    let first = places.beside().and_then(|root| first.strip_prefix(root).ok()).unwrap_or(&first);
    let mut files = vec![NewFile {
        path: folder.join("spec.yml"),
        text: spec(module, kit, known.map_or(USUAL_PROFILE, String::as_str), first),
        mode: 0o644,
    }];
    if known.is_none() {
        let below = driver.path().join("profiles").join(format!("{USUAL_PROFILE}.profile.yml"));
        let root = beside("drivers").ok_or_else(|| {
            missing(
                "the modules root has no parent directory".to_owned(),
                "name another directory".to_owned(),
            )
        })?;
        files.push(NewFile { path: root.join(below), text: profile(kit.driver), mode: 0o644 });
    }
    files.extend(kit.files.iter().map(|(name, text, mode)| NewFile {
        path: stack.join(name),
        text: (*text).to_owned(),
        mode: *mode,
    }));
    Ok(files)
}

/// Writes the files, none of which may exist.
pub fn make(files: &[NewFile]) -> Result<(), Unmade> {
    for NewFile { path, text, mode } in files {
        let made = path
            .parent()
            .map_or(Ok(()), |folder| DirBuilder::new().recursive(true).mode(0o755).create(folder));
        let written = made.and_then(|()| {
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(*mode).open(path)?;
            file.write_all(text.as_bytes())
        });
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Unmade::Exists(path.clone()),
            _ => Unmade::Unwritten(path.clone(), error),
        })?;
    }
    Ok(())
}

fn spec(module: &ModuleRef, kit: &Kit, profile: &str, pack_file: &Path) -> String {
    let last = module.as_str().rsplit('/').next().unwrap_or_default();
    let providers =
        PROVIDERS.into_iter().filter(|name| module.as_str().split('/').any(|it| it == *name));
    let title = last.replace(['-', '_', '.'], " ");
    let word = last.replace(['_', '.'], "-");
    let word = word.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let credentials = providers.collect::<Vec<_>>().join(", ");
    [
        ("@PACK_FILE@", pack_file.display().to_string().as_str()),
        ("@REF@", module.as_str()),
        ("@TITLE@", &format!("\"{title}\"")),
        ("@NAME@", if word.is_empty() { "first" } else { word }),
        ("@CREDENTIALS@", &credentials),
        ("@DRIVER@", kit.driver),
        ("@PROFILE@", profile),
        ("@PACK@", module.as_str()),
        ("@OUTPUT@", kit.output),
        ("@PROBES@\n", if kit.has_file { PROBES } else { "" }),
    ]
    .into_iter()
    .fold(SPEC.to_owned(), |text, (mark, value)| text.replace(mark, value))
    .trim_end()
    .to_owned()
        + "\n"
}

fn profile(driver: &str) -> String {
    format!(
        "# The rules for modules of `{driver}`.\n\
         api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: {USUAL_PROFILE}\ndriver: {driver}\n\n\
         policy:\n  defaults:\n    command_timeout_s: 600\n    retries: 0\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hints, Profile, Spec};

    #[test]
    fn every_driver_has_a_kit_and_every_spec_of_one_is_whole() {
        for driver in drivers::all() {
            assert!(KITS.iter().any(|kit| kit.driver == driver.reference()), "{driver:?}");
        }
        let root = tempfile::tempdir().unwrap();
        let modules = root.path().join("modules");
        std::fs::create_dir(&modules).unwrap();
        let places = Places::find(&Hints {
            module_root: Some(&modules),
            ..Hints::none(&crate::inputs::engine())
        })
        .unwrap();
        for kit in &KITS {
            for module in ["a", "demo/my_first.thing", "core/hetzner/0-net", "7/7"] {
                let reference = ModuleRef::parse(module).unwrap();
                let files = skeleton(&places, &reference, kit.driver).unwrap();
                let checked = Spec::read(&files[0].text);
                assert_eq!(checked.diagnostics, [], "{}", files[0].text);
                let spec = checked.found.unwrap();
                assert_eq!(spec.module_ref, reference);
                assert_eq!(spec.credentials.is_empty(), !module.contains("hetzner"));
                let faults = crate::constraint::of_inputs(&spec.constraints, &spec.defaults);
                assert_eq!(faults, Vec::<String>::new(), "{module}");
                assert_eq!(Profile::read(&files[1].text).diagnostics, []);
            }
        }
    }
}
