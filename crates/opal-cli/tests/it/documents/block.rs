//! The fenced blocks of a document.

use std::fs;
use std::path::PathBuf;

use crate::support::repository;

pub(crate) struct Block {
    pub(crate) line: usize,
    /// How many headings of the second level stand above.
    pub(crate) section: usize,
    pub(crate) info: String,
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn is_source(&self) -> bool {
        self.info.split_whitespace().next() == Some("opl")
    }

    /// The name of another file of the section's project: `opl file tasks/db.opl`.
    pub(crate) fn file(&self) -> Option<&str> {
        let mut words = self.info.split_whitespace().skip(1);
        words.next().filter(|word| *word == "file").and_then(|_| words.next())
    }

    /// Whether it needs a Terraform provider: `opl providers`, `sh providers`.
    pub(crate) fn needs_providers(&self) -> bool {
        self.info.split_whitespace().nth(1) == Some("providers")
    }

    /// A declarative configuration.
    pub(crate) fn is_config(&self) -> bool {
        self.info.split_whitespace().next() == Some("yaml")
    }

    pub(crate) fn is_planned(&self) -> bool {
        self.info.split_whitespace().nth(1) == Some("plan")
    }

    pub(crate) fn is_run(&self) -> bool {
        self.info.split_whitespace().nth(1) == Some("run")
    }

    /// The codes that are to be reported, sorted.
    pub(crate) fn expected(&self) -> Vec<String> {
        let is_more = self.is_planned() || self.is_run();
        let words = self.info.split_whitespace().skip(1 + usize::from(is_more));
        let mut codes: Vec<String> = words.map(str::to_owned).collect();
        codes.sort();
        codes
    }
}

pub(crate) fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut section = 0;
    for (index, line) in markdown.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let (line, info) = (index + 1, info.trim().into());
                open = Some(Block { line, section, info, text: String::new() });
            }
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => section += usize::from(line.starts_with("## ")),
        }
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

pub(crate) fn pages(folder: &str) -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(repository().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    assert!(!pages.is_empty(), "{folder}");
    pages
}
