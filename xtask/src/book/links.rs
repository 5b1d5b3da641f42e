//! Links of the finished book, and what they point at.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The links that lead to no file, or to no place in it.
pub(super) fn broken(html: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    read(html, Path::new(""), &mut pages).map_err(|error| format!("`target/book`: {error}"))?;
    let mut broken = Vec::new();
    for (page, text) in &pages {
        // mdBook writes one page that holds all others, in which links are relative to none.
        if matches!(page.to_str(), Some("print.html" | "toc.html" | "404.html")) {
            continue;
        }
        for link in attributes(text, "href").chain(attributes(text, "src")) {
            if !leads(html, page, link, &pages) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    broken.sort();
    broken.dedup();
    Ok(broken)
}

fn read(html: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> std::io::Result<()> {
    for entry in fs::read_dir(html.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read(html, &path, pages)?;
        } else if path.extension().is_some_and(|it| it == "html") {
            pages.insert(path, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// The values of an attribute in a page that mdBook wrote, which puts all of them in double quotes.
fn attributes<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let start = format!(" {name}=\"");
    let parts: Vec<&str> = text.split(start.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|part| part.split('"').next())
}

fn leads(html: &Path, page: &Path, link: &str, pages: &BTreeMap<PathBuf, String>) -> bool {
    let is_elsewhere = ["http://", "https://", "mailto:", "data:", "javascript:"];
    if link.is_empty() || is_elsewhere.iter().any(|start| link.starts_with(start)) {
        return true;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = path.split('?').next().unwrap_or_default();
    let target = match path {
        "" => page.to_path_buf(),
        path => normal(&page.parent().unwrap_or(Path::new("")).join(path)),
    };
    if anchor.is_empty() {
        return html.join(target).exists();
    }
    pages.get(&target).is_some_and(|text| attributes(text, "id").any(|id| id == anchor))
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name),
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_file_and_to_a_place_in_it() {
        let pages = BTreeMap::from([
            (PathBuf::from("guide/a.html"), "<h2 id=\"one\">".to_owned()),
            (PathBuf::from("b.html"), String::new()),
        ]);
        let leads = |link: &str| leads(Path::new("/nowhere"), Path::new("b.html"), link, &pages);
        assert!(leads("guide/a.html#one"));
        assert!(leads("./guide/../guide/a.html#one"));
        assert!(leads("https://example.com/#two"));
        assert!(!leads("guide/a.html#two"));
        assert!(!leads("guide/c.html#one"));
        assert!(!leads("#one"));
        assert!(!leads("c.html"));
    }
}
