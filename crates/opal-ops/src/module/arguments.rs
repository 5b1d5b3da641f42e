//! The arguments of the plan of a module: all that a contract says about its run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opal_core::Value;
use opal_core::gather::Gather as _;
use opal_core::plan::Target;
use opal_modules::ModuleRef;
use opal_modules::keep::Instance;
use opal_modules::run::Command;

/// Which module it is of.
pub const MODULE: &str = "module";
/// What is done with the module.
pub const COMMAND: &str = "command";
/// The file of inputs, as it was typed.
pub const INPUTS: &str = "inputs";
/// Where that file was when the plan was made, for a run from another directory.
pub const INPUTS_AT: &str = "inputs_at";
pub const INSTANCE: &str = "instance";
pub const OUT_DIR: &str = "out_dir";
pub const ROOT: &str = "root";
/// Why the preflight is skipped.
pub const SKIP: &str = "skip_preflight";
/// Where the files of variables were: a contract has no values, so its run names them again.
pub const ENV_FILES: &str = "env_files";

/// What was typed for a run of a module.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'t> {
    pub module: &'t ModuleRef,
    pub command: Command,
    pub instance: Option<&'t Instance>,
    /// The file of inputs.
    pub inputs: Option<&'t str>,
    /// The runtime root, where it was typed.
    pub root: Option<&'t Path>,
    pub out_dir: Option<&'t Path>,
    /// Why the preflight is skipped.
    pub skip_preflight: Option<&'t str>,
    pub env_files: &'t [PathBuf],
}

/// The arguments of its plan.
#[must_use]
pub fn of(typed: &Typed<'_>) -> BTreeMap<String, Value> {
    let text = |text: &str| Value::String(text.to_owned().into());
    let path = |path: &Path| text(&path.display().to_string());
    let whole = |path: &Path| std::path::absolute(path).ok();
    let near = typed.inputs.map(Path::new).filter(|file| file.is_relative());
    let files = typed.env_files.iter();
    let files: Vec<Value> =
        files.map(|file| path(&whole(file).unwrap_or_else(|| file.clone()))).collect();
    let arguments = [
        (MODULE, Some(text(typed.module.as_str()))),
        (COMMAND, Some(text(typed.command.name()))),
        (INSTANCE, typed.instance.map(|instance| text(instance.as_str()))),
        (INPUTS, typed.inputs.map(text)),
        (INPUTS_AT, near.and_then(whole).map(|at| path(&at))),
        (ROOT, typed.root.map(path)),
        (OUT_DIR, typed.out_dir.map(path)),
        (SKIP, typed.skip_preflight.map(text)),
        (ENV_FILES, (!files.is_empty()).then_some(Value::Array(files))),
    ];
    let given = arguments.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.gathered()
}

/// One argument; none where the plan is not of a module.
#[must_use]
pub fn text<'t>(target: &'t Target, name: &str) -> Option<&'t str> {
    match target.arguments.get(name) {
        Some(Value::String(text)) if target.name == Target::SCRIPT => Some(text.as_ref()),
        _ => None,
    }
}

/// The file of inputs: as it was named if it is there, else where it was.
#[must_use]
pub fn inputs(target: &Target) -> Option<PathBuf> {
    let near = PathBuf::from(text(target, INPUTS)?);
    let is_near = near.is_file();
    let at = text(target, INPUTS_AT).filter(|_| !is_near);
    Some(at.map_or(near, PathBuf::from))
}

/// The files of variables.
#[must_use]
pub fn env_files(target: &Target) -> Vec<&str> {
    let Some(Value::Array(files)) = target.arguments.get(ENV_FILES) else { return Vec::new() };
    let texts = files.iter().filter_map(|file| match file {
        Value::String(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_read_back_and_what_was_not_is_not_there() {
        let module = ModuleRef::parse("core/net").unwrap();
        let instance = Instance::parse("blue").unwrap();
        let bare = Typed {
            module: &module,
            command: Command::Apply,
            instance: None,
            inputs: None,
            root: None,
            out_dir: None,
            skip_preflight: None,
            env_files: &[],
        };
        let names: Vec<String> = of(&bare).into_keys().collect();
        assert_eq!(names, [COMMAND, MODULE]);
        let files: [PathBuf; 2] = ["a.env".into(), "/etc/b.env".into()];
        let full = Typed {
            instance: Some(&instance),
            inputs: Some("gone.yml"),
            root: Some(Path::new("/srv/root")),
            out_dir: Some(Path::new("out")),
            skip_preflight: Some("it is known"),
            env_files: &files,
            ..bare
        };
        let target =
            |typed: &Typed<'_>| Target { name: Target::SCRIPT.to_owned(), arguments: of(typed) };
        let read = target(&full);
        for (name, expected) in [
            (MODULE, "core/net"),
            (COMMAND, "apply"),
            (INSTANCE, "blue"),
            (INPUTS, "gone.yml"),
            (ROOT, "/srv/root"),
            (OUT_DIR, "out"),
            (SKIP, "it is known"),
        ] {
            assert_eq!(text(&read, name), Some(expected), "{name}");
        }
        // Files are found from another directory too.
        let here = std::path::absolute("gone.yml").unwrap();
        assert_eq!(inputs(&read), Some(here));
        let files = env_files(&read);
        assert!(Path::new(files[0]).is_absolute() && files[0].ends_with("/a.env"), "{files:?}");
        assert_eq!(files[1], "/etc/b.env");
        let far = target(&Typed { inputs: Some("/far/in.yml"), ..bare });
        assert_eq!((text(&far, INPUTS), text(&far, INPUTS_AT)), (Some("/far/in.yml"), None));
    }
}
