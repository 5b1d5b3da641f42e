//! The sources that grammars are compared over, in a directory: each beside what `opal self syntax` says of it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::documents::block::blocks;
use crate::support::{Opal, repository};

pub(super) struct Corpus {
    folder: TempDir,
    /// Where each source is from, in the order of their names.
    places: Vec<String>,
}

impl Corpus {
    /// All sources without errors of syntax.
    pub(super) fn write() -> Self {
        let mut corpus = Self { folder: tempfile::tempdir().unwrap(), places: Vec::new() };
        let mut files = Vec::new();
        for folder in ["crates", "examples", "docs"] {
            find(&repository().join(folder), &mut files);
        }
        files.extend(["README.md", "commands.opl"].map(|name| repository().join(name)));
        files.sort();
        for file in files {
            let place = file.strip_prefix(repository()).unwrap().display().to_string();
            let text = fs::read_to_string(&file).unwrap();
            if place.ends_with(".opl") {
                corpus.add(&place, &text);
                continue;
            }
            for block in blocks(&text).iter().filter(|block| block.is_source()) {
                corpus.add(&place, &block.text);
            }
        }
        for descriptor in opal_decorators::registry().iter() {
            for example in descriptor.examples {
                corpus.add(&format!("@{}", descriptor.path), example.source);
            }
        }
        assert!(corpus.len() > 600, "{} sources", corpus.len());
        corpus
    }

    fn add(&mut self, place: &str, text: &str) {
        let name = format!("{:04}.opl", self.places.len());
        let path = self.folder.path().join(&name);
        fs::write(&path, text).unwrap();
        let words = ["self", "syntax", path.to_str().unwrap(), "--json"];
        let ran = Opal::new().args(words).run();
        if ran.code != 0 {
            fs::remove_file(&path).unwrap();
            return;
        }
        fs::write(path.with_extension("json"), &ran.stdout).unwrap();
        self.places.push(place.to_owned());
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the source of this name is from.
    pub(super) fn place(&self, name: &str) -> String {
        let index: usize = name.trim_end_matches(".opl").parse().unwrap();
        self.places[index].clone()
    }
}

/// Sources of fixtures and examples, and pages.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_fixture = path.components().any(|part| part.as_os_str() == "test_data");
        let is_wanted = !path.starts_with(repository().join("crates")) || is_fixture;
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() && !path.ends_with("target") => find(&path, found),
            Some("opl") if is_wanted => found.push(path),
            Some("md") if path.starts_with(repository().join("docs")) => found.push(path),
            _ => {}
        }
    }
}
