//! The documentation as a book: `cargo xtask book`.
//!
//! The pages are those of `docs`. What the book has beside them is written here: its list of pages, in
//! the order of the guide's own table, and a check of every link in what was made.
//!
//! | what | where |
//! |---|---|
//! | the list of pages | `summary` |
//! | links and what they point at | `links` |

mod links;
mod summary;

use std::fs;
use std::path::{Path, PathBuf};

use crate::chores::{answers, run};
use crate::say;

/// The version of mdBook that the tests install.
const MDBOOK: &str = "0.5.4";

/// Makes the book in `target/book/html`, and fails at the first list of broken links.
pub(crate) fn make(root: &Path) -> Result<(), String> {
    let program = mdbook(root)?;
    let book = root.join("target/book");
    let source = book.join("src");
    let failed = |error: std::io::Error| format!("`target/book`: {error}");
    if book.exists() {
        fs::remove_dir_all(&book).map_err(failed)?;
    }
    copy(&root.join("docs"), &source).map_err(failed)?;
    fs::rename(source.join("book.toml"), book.join("book.toml")).map_err(failed)?;
    fs::write(source.join("SUMMARY.md"), summary::of(&source)?).map_err(failed)?;
    run(&book, &[&program, "build"])?;
    let broken = links::broken(&book.join("html"))?;
    if !broken.is_empty() {
        return Err(format!("the book has links that lead nowhere:\n  {}", broken.join("\n  ")));
    }
    say("the book is in `target/book/html`");
    Ok(())
}

/// mdBook, from a directory of our own that stays for the next time.
fn mdbook(root: &Path) -> Result<String, String> {
    let folder = root.join(format!("target/tools/mdbook-{MDBOOK}"));
    let folder = folder.to_str().ok_or("the path of the repository is not UTF-8")?;
    let program = format!("{folder}/bin/mdbook");
    if answers(&[&program, "--version"]).is_none() {
        let wanted = ["cargo", "install", "mdbook", "--locked", "--version", MDBOOK];
        run(root, &[&wanted[..], &["--no-default-features", "--root", folder]].concat())?;
    }
    Ok(program)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target: PathBuf = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
