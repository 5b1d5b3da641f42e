//! The list of pages of the book.

use std::fs;
use std::path::Path;

/// The list, as mdBook reads it. Every page of `docs` is in it.
pub(super) fn of(docs: &Path) -> Result<String, String> {
    let mut list = "# Summary\n\n[opal](README.md)\n\n# Guide\n\n".to_owned();
    item(&mut list, docs, 0, "guide/README.md")?;
    for page in guide(docs)? {
        item(&mut list, docs, 0, &page)?;
    }
    list.push_str("\n# Language\n\n");
    item(&mut list, docs, 0, "language/README.md")?;
    chapter(&mut list, docs, 1, "language")?;
    list.push_str("\n# Reference\n\n");
    for page in pages(docs, "reference")? {
        item(&mut list, docs, 0, &page)?;
        if let Some(folder) = page.strip_suffix(".md").filter(|it| docs.join(it).is_dir()) {
            chapter(&mut list, docs, 1, folder)?;
        }
    }
    item(&mut list, docs, 0, "plan-format.md")?;
    item(&mut list, docs, 0, "errors/README.md")?;
    chapter(&mut list, docs, 1, "errors")?;
    list.push_str("\n# Numbers and decisions\n\n");
    item(&mut list, docs, 0, "benchmarks.md")?;
    chapter(&mut list, docs, 0, "decisions")?;
    Ok(list)
}

/// The pages of the guide, in the order of its own table.
fn guide(docs: &Path) -> Result<Vec<String>, String> {
    let index = read(docs, "guide/README.md")?;
    let linked = |page: &String| index.find(&format!("]({})", page.trim_start_matches("guide/")));
    let mut pages = pages(docs, "guide")?;
    if let Some(page) = pages.iter().find(|page| linked(page).is_none()) {
        return Err(format!("`docs/{page}` is not in the table of docs/guide/README.md; add it"));
    }
    pages.sort_by_key(linked);
    Ok(pages)
}

fn chapter(list: &mut String, docs: &Path, depth: usize, folder: &str) -> Result<(), String> {
    pages(docs, folder)?.iter().try_for_each(|page| item(list, docs, depth, page))
}

/// The pages of a directory in order, without its `README.md`.
fn pages(docs: &Path, folder: &str) -> Result<Vec<String>, String> {
    let failed = |error| format!("`docs/{folder}`: {error}");
    let entries = fs::read_dir(docs.join(folder)).map_err(failed)?;
    let names = entries.flatten().map(|it| it.file_name().to_string_lossy().into_owned());
    let is_page = |name: &String| name.ends_with(".md") && name != "README.md";
    let mut pages: Vec<String> =
        names.filter(is_page).map(|name| format!("{folder}/{name}")).collect();
    pages.sort();
    Ok(pages)
}

fn item(list: &mut String, docs: &Path, depth: usize, page: &str) -> Result<(), String> {
    let text = read(docs, page)?;
    let title = text.lines().find_map(|line| line.strip_prefix("# "));
    let title = title.ok_or_else(|| format!("`docs/{page}` has no title"))?;
    let title = title.replace('[', "\\[").replace(']', "\\]");
    list.push_str(&format!("{}- [{title}]({page})\n", "  ".repeat(depth)));
    Ok(())
}

fn read(docs: &Path, page: &str) -> Result<String, String> {
    fs::read_to_string(docs.join(page)).map_err(|error| format!("`docs/{page}`: {error}"))
}
