//! The concrete `Host` names of an SSH configuration. What connects is `ssh` itself, which reads the
//! rest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::InventoryError;
use super::groups::{Inventory, UNGROUPED};
use super::variable::{Place, Variables};

/// Files that include each other at most, as in OpenSSH.
pub(super) const MAX_INCLUDES: usize = 16;

/// A line that leads to other files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Include {
    /// May have patterns in it.
    pub(super) path: String,
    /// Where its hosts come in the list of those that the file has itself.
    pub(super) after: usize,
}

/// Adds the hosts of a text; the files that it includes are returned in order.
pub(super) fn names(text: &str) -> (Vec<(String, usize)>, Vec<Include>) {
    let (mut hosts, mut includes) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let words = words(line.trim());
        let Some((keyword, values)) = words.split_first() else { continue };
        if keyword.eq_ignore_ascii_case("host") {
            let concrete = values.iter().filter(|name| !name.contains(['*', '?', '!']));
            hosts.extend(concrete.map(|name| (name.clone(), index + 1)));
        } else if keyword.eq_ignore_ascii_case("include") {
            let after = hosts.len();
            includes.extend(values.iter().map(|path| Include { path: path.clone(), after }));
        }
    }
    (hosts, includes)
}

pub(super) fn add(
    hosts: &[(String, usize)],
    file: &Arc<str>,
    inventory: &mut Inventory,
) -> Result<(), InventoryError> {
    for (name, line) in hosts {
        let place = Place { file: Arc::clone(file), line: *line };
        // A name with brackets is a name here, and no range.
        if !name.contains('[') && inventory.host_of(name).is_none() {
            inventory.add_hosts(name, UNGROUPED, &Variables::new(), &place)?;
        }
    }
    Ok(())
}

/// The path of an include: a relative one begins in the directory of the user's configuration.
pub(super) fn whole(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => home.join(".ssh").join(path),
    }
}

/// The words of a line: `=` may follow the keyword, and quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    if line.starts_with('#') {
        return Vec::new();
    }
    let end = line.find([' ', '\t', '=', '"']).unwrap_or(line.len());
    let (keyword, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    let mut all = vec![keyword.to_owned()];
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for c in rest.chars() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' | '\t' if !is_quoted => all.extend(word.take()),
            '#' if !is_quoted && word.is_none() => break,
            c => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all.retain(|word| !word.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_concrete_names_are_targets() {
        let text = "# Host no\nHost web1 web2 *.example.com !web3 db?\nHostName x\n  host=\"odd name\" c # d\n\
                    Match host y\nInclude config.d/* \"a b\"\nHOST last\nHost\n";
        let (hosts, includes) = names(text);
        let names: Vec<&str> = hosts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["web1", "web2", "odd name", "c", "last"]);
        assert_eq!(hosts[2].1, 4);
        let paths: Vec<(&str, usize)> =
            includes.iter().map(|it| (it.path.as_str(), it.after)).collect();
        assert_eq!(paths, [("config.d/*", 4), ("a b", 4)]);
    }
}
