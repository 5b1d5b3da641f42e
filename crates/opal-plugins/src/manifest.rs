//! What a package says about itself, and all that is wrong with it.
//!
//! ```text
//! opal.toml ──description──▶ name, version, exports   ─┐
//! dim.yaml  ──interface────▶ decorators in code        ├─assemble──▶ Manifest
//! decorators/*.opl ──sources──▶ decorators in opal     ─┘
//! ```
//!
//! | what | where |
//! |---|---|
//! | `opal.toml` | `description` |
//! | `dim.yaml`: decorators | `interface`, schemas in `schema` |
//! | decorators of a manifest that opal has made itself | `generated` |
//! | decorators that are written in opal, and what they need | `sources` |
//! | what a package may call its decorators | `paths` |

mod description;
mod generated;
mod interface;
mod paths;
mod schema;
mod sources;

use std::collections::BTreeSet;

use opal_core::decorator::Descriptor;
use opal_core::protocol::MEMORY_MIB;
use opal_core::shape::Shape;
use opal_core::{Code, Diagnostic, Registry, Span};
use opal_yaml::problems::Problems;
use semver::Version;

pub use description::Description;
pub(crate) use generated::decorator;
pub(crate) use interface::own::TO_TARGET;
pub(crate) use schema::constant;
pub use sources::ShellLine;

use crate::capability::Capability;
use crate::codes::CODES;
use crate::package::Package;

/// A package that can be used.
#[derive(Debug)]
pub struct Manifest {
    pub description: Description,
    pub min_core: Option<Version>,
    /// What a call of its code may take.
    pub memory_mib: u32,
    /// In the order of their paths.
    pub decorators: Vec<Declared>,
    /// What all of them need.
    pub capabilities: BTreeSet<Capability>,
    /// Why it has `shell`, line by line.
    pub shell_lines: Vec<ShellLine>,
}

/// One decorator, under the path that its package gives it.
#[derive(Debug)]
pub struct Declared {
    pub path: String,
    /// Without a path, a plugin and whatever runs its code.
    pub descriptor: Descriptor,
    pub body: Body,
    pub is_exported: bool,
    /// How often `retry` may be answered.
    pub attempts: Option<i64>,
    /// Whether it opens something before its block and closes it afterwards.
    pub opens: bool,
    /// All that its manifest says about what it returns.
    pub returns: Option<&'static Shape>,
}

/// What a decorator is made of.
#[derive(Debug)]
pub enum Body {
    /// WASM or native code.
    Code,
    /// A function of a file of the package.
    Opal { file: String, function: String },
}

/// What is wrong with a file of a package.
#[derive(Debug)]
pub struct Faulty {
    pub file: String,
    pub text: String,
    pub diagnostics: Vec<Diagnostic>,
}

impl Manifest {
    /// Reads the manifests of a package; `built_in` are the decorators that every file may use.
    ///
    /// # Errors
    /// Everything that is wrong, file by file.
    pub fn read(package: &Package, built_in: &Registry) -> Result<Self, Vec<Faulty>> {
        let mut faulty = Vec::new();
        let description = match text(package, "opal.toml") {
            Ok(text) => {
                description::read(&text).map_err(|it| faulty.push(fault("opal.toml", text, it)))
            }
            Err(it) => {
                faulty.push(it);
                Err(())
            }
        };
        let interface = match package.file("dim.yaml") {
            None => Ok(None),
            Some(_) => match text(package, "dim.yaml") {
                Ok(text) => {
                    let read = interface::read(&text, built_in).map(Some);
                    read.map_err(|it| faulty.push(fault("dim.yaml", text, it)))
                }
                Err(it) => {
                    faulty.push(it);
                    Err(())
                }
            },
        };
        let sources = sources::read(package, built_in).map_err(|it| faulty.extend(it));
        let (Ok(description), Ok(interface), Ok(sources)) = (description, interface, sources)
        else {
            return Err(faulty);
        };
        assemble(package, description, interface, sources).map_err(|problems| {
            let text = text(package, "opal.toml").unwrap_or_default();
            vec![fault("opal.toml", text, problems.into_errors())]
        })
    }

    /// The first segment that all its paths share.
    #[must_use]
    pub fn first_segment(&self) -> &str {
        let path = self.decorators.first().map_or("", |it| it.path.as_str());
        path.split('.').next().unwrap_or(path)
    }

    /// Whether any decorator needs WASM or native code.
    #[must_use]
    pub fn has_code(&self) -> bool {
        self.decorators.iter().any(|it| matches!(it.body, Body::Code))
    }
}

/// What the `opal.toml` of a package says.
///
/// # Errors
/// The first thing that is wrong.
pub fn describe(package: &Package) -> Result<Description, String> {
    let first = |all: &[Diagnostic]| {
        all.first().map_or_else(|| "invalid `opal.toml`".to_owned(), |it| it.message.clone())
    };
    let text = text(package, "opal.toml").map_err(|faulty| first(&faulty.diagnostics))?;
    description::read(&text).map_err(|all| first(&all))
}

fn fault(file: &str, text: String, diagnostics: Vec<Diagnostic>) -> Faulty {
    Faulty { file: file.to_owned(), text, diagnostics }
}

/// The text of a file; a missing one is an error too.
fn text(package: &Package, file: &str) -> Result<String, Faulty> {
    let Some(bytes) = package.file(file) else {
        let error =
            Diagnostic::new(Code::PackageContent, Span::at(0), format!("`{file}` is missing"));
        let help = "a package has an `opal.toml` with `[package]`, `name` and `version`";
        return Err(fault(file, String::new(), vec![error.help(help)]));
    };
    match opal_syntax::source::decode(bytes.to_vec()) {
        Ok(text) => Ok(text),
        Err(found) => Err(fault(file, String::new(), vec![found.diagnostic])),
    }
}

fn assemble(
    package: &Package,
    description: Description,
    interface: Option<interface::Interface>,
    sources: sources::Sources,
) -> Result<Manifest, Problems> {
    let mut problems = Problems::new(CODES);
    let whole = Span::at(0);
    let mut disagree = |message: String, help: &str| {
        problems.error(Code::PackageContent, whole, message, help);
    };
    let (mut min_core, mut memory_mib) = (description.min_core.clone(), MEMORY_MIB);
    let mut capabilities = sources.capabilities();
    let mut decorators = sources.decorators;
    let mut shell_lines = sources.shell_lines;
    if let Some(interface) = interface {
        if interface.name.as_ref().is_some_and(|name| *name != description.name) {
            let message = format!("`dim.yaml` names another package than `{}`", description.name);
            disagree(message, "write the same name in `opal.toml` and `dim.yaml`");
        }
        if interface.version.as_ref().is_some_and(|version| *version != description.version) {
            let message = format!("`dim.yaml` has another version than {}", description.version);
            disagree(message, "write the same version in `opal.toml` and `dim.yaml`");
        }
        min_core = min_core.max(interface.min_core);
        memory_mib = interface.memory_mib.unwrap_or(memory_mib);
        let text = text(package, "dim.yaml").unwrap_or_default();
        shell_lines.extend(sources::lines("dim.yaml", &text, &interface.shell));
        capabilities.extend(interface.capabilities);
        decorators.extend(interface.decorators);
    }
    decorators.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(pair) = decorators.windows(2).find(|pair| pair[0].path == pair[1].path) {
        let message = format!("`@{}` is declared twice", pair[0].path);
        disagree(message, "remove it from `dim.yaml`, or from `decorators/`");
    }
    let first = |path: &str| path.split('.').next().unwrap_or(path).to_owned();
    match decorators.first().map(|it| first(&it.path)) {
        None => {
            disagree("the package has no decorators".to_owned(), "add `dim.yaml` or `decorators/`")
        }
        Some(shared) => {
            if let Some(other) = decorators.iter().find(|it| first(&it.path) != shared) {
                let message =
                    format!("`@{}` and `@{}` begin differently", decorators[0].path, other.path);
                disagree(message, "let all paths of a package begin with the same segment");
            }
        }
    }
    let has_code = decorators.iter().any(|it| matches!(it.body, Body::Code));
    let engines = [&description.wasm, &description.native];
    for engine in engines.into_iter().flatten() {
        if package.file(engine).is_none() {
            disagree(format!("`{engine}` is missing"), "build it before the package is used");
        }
    }
    if has_code && engines.iter().all(|engine| engine.is_none()) {
        let help = "name the built file: `[plugins]`, `wasm = \"plugins/NAME.wasm\"`";
        disagree("`dim.yaml` declares decorators, and no code provides them".to_owned(), help);
    }
    export(&mut decorators, description.exports.as_deref(), &mut disagree);
    if problems.is_empty() {
        Ok(Manifest { description, min_core, memory_mib, decorators, capabilities, shell_lines })
    } else {
        Err(problems)
    }
}

/// Marks the decorators that others may use.
fn export(
    decorators: &mut [Declared],
    exports: Option<&[String]>,
    disagree: &mut dyn FnMut(String, &str),
) {
    if let Some(exports) = exports {
        for export in exports {
            match decorators.iter_mut().find(|it| it.path == *export) {
                Some(declared) => declared.is_exported = true,
                None => disagree(
                    format!("`{export}` is exported, and nothing declares it"),
                    "remove it from `exports`, or declare it in `dim.yaml` or `decorators/`",
                ),
            }
        }
        let hidden = decorators.iter().find(|it| !it.is_exported && matches!(it.body, Body::Code));
        if let Some(hidden) = hidden {
            let message = format!("`{}` of `dim.yaml` is not exported", hidden.path);
            disagree(message, "add it to `exports`: only decorators written in opal can be hidden");
        }
    } else {
        decorators.iter_mut().for_each(|it| it.is_exported = true);
    }
}

#[cfg(test)]
mod tests;
