//! The extension for Zed: a component that starts `opal lsp`, with the grammar of this checkout, in
//! `target/editors/zed`.

use std::fs;
use std::path::Path;

use super::copy;
use crate::chores::{answers, run};
use crate::say;

const SOURCE: &str = "editors/zed";
const MADE: &str = "target/editors/zed";
const BUILD: &str = "target/editors/zed-build";
const TARGET: &str = "wasm32-wasip2";
const TEMPLATE: &str = "extension.template.toml";
const COMPONENT: &str = "release/opal_zed.wasm";

/// Queries that it has from the grammar.
const SHARED: [&str; 2] = ["highlights.scm", "injections.scm"];

/// The bytes that a component begins with: a module of WebAssembly has another version.
const COMPONENT_HEAD: &[u8] = b"\0asm\x0d\0\x01\0";
/// Where Zed finds the version of the interface.
const VERSION_SECTION: &[u8] = b"zed:api-version";

/// Without the target of Rust it is skipped, with a message; in CI nothing is skipped.
#[expect(clippy::disallowed_methods, reason = "this is the program that CI starts")]
pub(crate) fn make(root: &Path) -> Result<(), String> {
    let libraries = answers(&["rustc", "--print", "target-libdir", "--target", TARGET]);
    if !libraries.is_some_and(|path| Path::new(path.trim()).is_dir()) {
        let missing = format!("the extension for Zed: `rustup target add {TARGET}` is missing");
        if std::env::var_os("CI").is_some() {
            return Err(missing);
        }
        say(&format!("skipped: {missing}"));
        return Ok(());
    }
    let manifest = format!("{SOURCE}/Cargo.toml");
    let build = ["cargo", "build", "--release", "--locked", "--target", TARGET];
    run(root, &[&build[..], &["--manifest-path", &manifest, "--target-dir", BUILD]].concat())?;
    let made = root.join(MADE);
    let failed = |error: std::io::Error| format!("`{MADE}`: {error}");
    let _ = fs::remove_dir_all(&made);
    copy(&root.join(SOURCE), &made).map_err(failed)?;
    let template = fs::read_to_string(made.join(TEMPLATE)).map_err(failed)?;
    let commit = answers(&["git", "-C", &root.display().to_string(), "rev-parse", "HEAD"]);
    let commit = commit.ok_or("`git rev-parse HEAD` failed: Zed clones the grammar with git")?;
    fs::write(made.join("extension.toml"), filled(&template, root, commit.trim()))
        .map_err(failed)?;
    fs::remove_file(made.join(TEMPLATE)).map_err(failed)?;
    for name in SHARED {
        let from = root.join("editors/tree-sitter-opal/queries").join(name);
        fs::copy(from, made.join("languages/opal").join(name)).map_err(failed)?;
    }
    let component = fs::read(root.join(BUILD).join(TARGET).join(COMPONENT)).map_err(failed)?;
    is_extension(&component)?;
    fs::write(made.join("extension.wasm"), component).map_err(failed)?;
    say(&format!("made {MADE}: in Zed, `zed: install dev extension` takes it"));
    Ok(())
}

fn filled(template: &str, root: &Path, commit: &str) -> String {
    let repository = format!("file://{}", root.display());
    template.replace("{{repository}}", &repository).replace("{{rev}}", commit)
}

/// Whether the bytes are what Zed loads.
fn is_extension(component: &[u8]) -> Result<(), String> {
    if !component.starts_with(COMPONENT_HEAD) {
        return Err("the extension for Zed is not a component of WebAssembly".to_owned());
    }
    let mut places = component.windows(VERSION_SECTION.len());
    match places.any(|place| place == VERSION_SECTION) {
        true => Ok(()),
        false => Err("the extension for Zed does not say which interface it has".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_comes_from_this_checkout() {
        let template = include_str!("../../../editors/zed/extension.template.toml");
        let text = filled(template, Path::new("/a/b"), "0123");
        assert!(text.contains("repository = \"file:///a/b\"\nrev = \"0123\"\n"), "{text}");
        assert!(!text.contains("{{"), "{text}");
    }

    #[test]
    fn only_a_component_with_a_version_is_an_extension() {
        let whole = [COMPONENT_HEAD, b"...", VERSION_SECTION, b"..."].concat();
        assert!(is_extension(&whole).is_ok());
        assert!(is_extension(COMPONENT_HEAD).is_err());
        assert!(is_extension(b"\0asm\x01\0\0\0zed:api-version").is_err());
    }
}
