//! One module, with the profile and the pack that it names.

use std::io;
use std::path::PathBuf;

use opal_core::Diagnostic;
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::text::MAX_SOURCE_BYTES;
use opal_syntax::source;

use super::document::{Checked, bytes, shown};
use super::inputs::Schema;
use super::offer;
use super::place::is_below;
use super::{Blueprint, ModuleRef, NotFound, Places, Profile, Spec};
use opal_core::schema::Unjudged;

/// A file that was read, with all that is wrong in it where nothing was found.
#[derive(Clone, Debug)]
pub struct Read<T> {
    pub path: PathBuf,
    /// Of its bytes.
    pub digest: Digest,
    /// As it may be shown.
    pub text: String,
    pub checked: Checked<T>,
}

impl<T> Read<T> {
    pub(crate) fn file(&self) -> ReadFile {
        ReadFile { path: self.path.clone(), digest: self.digest }
    }
}

/// A file that a run is made of, as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    pub path: PathBuf,
    /// Of its bytes, with [`ReadFile::ALGORITHM`].
    pub digest: Digest,
}

impl ReadFile {
    pub const ALGORITHM: Algorithm = Algorithm::Blake3;

    /// The digest of the bytes that were read, with any algorithm. If the file has changed since then,
    /// nobody knows it any more.
    pub fn digest_with(&self, algorithm: Algorithm) -> Result<Digest, Trouble> {
        if algorithm == Self::ALGORITHM {
            return Ok(self.digest);
        }
        Ok(algorithm.digest(&[&self.content(MOST_FILE_BYTES)?]))
    }

    /// The bytes that were read, at most so many.
    pub(crate) fn content(&self, most: usize) -> Result<Vec<u8>, Trouble> {
        let path = self.path.display();
        let content = bytes(&self.path, most).map_err(|error| {
            let message = format!("`{path}` cannot be read: {error}");
            Trouble::new(TroubleKind::Failed, message, "check its permissions")
        })?;
        if content.len() > most || Self::ALGORITHM.digest(&[&content]) != self.digest {
            let message = format!("`{path}` has changed since the plan was made");
            let help = "run it again to make a new plan";
            return Err(Trouble::new(TroubleKind::Failed, message, help));
        }
        Ok(content)
    }
}

/// No file of a module or a pack is larger.
pub(crate) const MOST_FILE_BYTES: usize = 256 << 20;

/// Where the spec of a module is.
pub(super) fn place(places: &Places, module: &ModuleRef) -> Result<PathBuf, NotFound> {
    let path = places.module(module).join("spec.yml");
    if !path.is_file() {
        let modules = offer::folders_with(&places.modules, "spec.yml");
        let root = places.modules.display();
        let otherwise = format!("create it below `{root}` with `opal module new {module}`");
        return Err(NotFound {
            message: format!("unknown module `{module}`"),
            help: offer::offer(module.as_str(), "modules", modules, otherwise),
        });
    }
    if !is_below(&path, &places.modules) {
        return Err(NotFound {
            message: format!(
                "the module `{module}` is a symlink that leads out of the modules root"
            ),
            help: "copy its files into the modules root".to_owned(),
        });
    }
    Ok(path)
}

/// Reads the spec of a module. Warnings come with it.
pub fn spec(places: &Places, module: &ModuleRef) -> Result<Read<Spec>, NotFound> {
    let mut read = read(place(places, module)?, Spec::read)?;
    if let Some(spec) = read.checked.found.take_if(|spec| spec.module_ref != *module) {
        let message =
            format!("`module_ref` is `{}`, but the directory is `{module}`", spec.module_ref);
        let error = Diagnostic::new(opal_core::Code::SpecPlace, spec.span, message);
        read.checked.diagnostics.push(error.help("fix one of the two"));
    }
    Ok(read)
}

/// Reads the profile that a spec names, and looks whether it owns the hooks of the spec.
pub fn profile(places: &Places, spec: &Spec) -> Result<Read<Profile>, NotFound> {
    let execution = &spec.execution;
    let path = places.profile(&execution.driver, &execution.profile)?;
    let read = read(path, Profile::read)?;
    match &read.checked.found {
        Some(found)
            if found.driver != execution.driver || found.profile_ref != execution.profile =>
        {
            Err(NotFound {
                message: format!(
                    "`{}` is the profile `{}` of the driver `{}`",
                    read.path.display(),
                    found.profile_ref,
                    found.driver
                ),
                help: format!("expected `{}` of `{}`", execution.profile, execution.driver),
            })
        }
        _ => Ok(read),
    }
}

/// Reads a blueprint. Warnings come with it.
pub fn blueprint(path: &std::path::Path) -> Result<Read<Blueprint>, NotFound> {
    if !path.is_file() {
        return Err(NotFound {
            message: format!("unknown blueprint `{}`", path.display()),
            help: "check the name".to_owned(),
        });
    }
    read(path.to_path_buf(), Blueprint::read)
}

/// The schema beside the spec of a module, where there is one.
pub fn schema(places: &Places, module: &ModuleRef) -> Result<Option<Schema>, NotFound> {
    Ok(schema_file(places, module)?.map(|(schema, _)| schema))
}

/// The same, with the file.
pub(crate) fn schema_file(
    places: &Places,
    module: &ModuleRef,
) -> Result<Option<(Schema, ReadFile)>, NotFound> {
    let path = places.module(module).join("inputs.schema.json");
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let (text, digest) = text(&path).map_err(|error| unreadable(&path, &error))?;
    let schema = Schema::read(&text, places.schemas()).map_err(|unjudged| NotFound {
        message: format!("`{}` cannot be used: {unjudged}", path.display()),
        help: match unjudged {
            Unjudged::Unasked { help, .. } => help,
            Unjudged::NotJson(_) | Unjudged::Invalid(_) => "fix it, or remove it".to_owned(),
        },
    })?;
    Ok(Some((schema, ReadFile { path, digest })))
}

fn read<T>(path: PathBuf, read: impl FnOnce(&str) -> Checked<T>) -> Result<Read<T>, NotFound> {
    let (text, digest) = text(&path).map_err(|error| unreadable(&path, &error))?;
    let checked = read(&text);
    Ok(Read { path, digest, text: shown(text, &checked.diagnostics), checked })
}

/// A text, and the digest of the bytes that it was.
fn text(path: &std::path::Path) -> io::Result<(String, Digest)> {
    let bytes = bytes(path, MAX_SOURCE_BYTES)?;
    let digest = ReadFile::ALGORITHM.digest(&[&bytes]);
    let decoded = source::decode(bytes);
    decoded
        .map(|text| (text, digest))
        .map_err(|no_text| io::Error::other(no_text.diagnostic.message))
}

fn unreadable(path: &std::path::Path, error: &io::Error) -> NotFound {
    NotFound {
        message: format!("`{}` cannot be read: {error}", path.display()),
        help: "check its permissions, and that it is a regular file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_the_bytes_that_were_read_or_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.sh");
        std::fs::write(&path, "one").unwrap();
        let digest = ReadFile::ALGORITHM.digest(&[b"one"]);
        let file = ReadFile { path: path.clone(), digest };
        for algorithm in [Algorithm::Sha256, Algorithm::Blake3] {
            assert_eq!(file.digest_with(algorithm).unwrap(), algorithm.digest(&[b"one"]));
        }
        std::fs::write(&path, "two").unwrap();
        let trouble = file.digest_with(Algorithm::Sha256).unwrap_err();
        assert!(trouble.message.to_string().ends_with("has changed since the plan was made"));
        assert_eq!(file.digest_with(Algorithm::Blake3).unwrap(), digest);
        std::fs::remove_file(&path).unwrap();
        let trouble = file.digest_with(Algorithm::Sha256).unwrap_err();
        assert!(trouble.message.to_string().contains("cannot be read"), "{trouble:?}");
    }
}
