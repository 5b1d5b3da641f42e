//! A list that is filtered by typing.

use std::ops::Range;

use super::Tty;
use super::keys::Key;
use super::line::edit;
use crate::failure::Stopped;

/// The most rows of a list that are shown at once.
const ROWS: usize = 10;

/// One of a list.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// What is typed for it.
    pub(crate) name: String,
    /// What else is searched and shown.
    pub(crate) note: String,
}

/// What is to be chosen from.
pub(crate) struct Menu<'m> {
    pub(crate) label: &'m str,
    pub(crate) items: &'m [Item],
    /// What is typed already.
    pub(crate) typed: String,
    /// Lines to show below the list about the item that is marked.
    pub(crate) about: &'m dyn Fn(usize) -> Vec<String>,
}

/// The items that a text means, the best first: those whose name begins with it, those that have it in
/// their name, those whose letters are in their name in this order, those that have it in their note.
pub(crate) fn matching(items: &[Item], typed: &str) -> Vec<usize> {
    let typed = typed.trim().to_lowercase();
    let rank = |item: &Item| {
        let name = item.name.to_lowercase();
        match () {
            () if name.starts_with(&typed) => Some(0),
            () if name.contains(&typed) => Some(1),
            () if is_spread(&name, &typed) => Some(2),
            () if item.note.to_lowercase().contains(&typed) => Some(3),
            () => None,
        }
    };
    let mut found: Vec<(u8, usize)> =
        items.iter().enumerate().filter_map(|(at, item)| Some((rank(item)?, at))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, at)| at).collect()
}

/// Which rows of a list are shown on a screen of so many rows: the marked one is always among them. The
/// line that is typed is above, the count below, and the last row stays free.
fn window(marked: usize, screen: usize) -> Range<usize> {
    let most = ROWS.min(screen.saturating_sub(3)).max(1);
    let first = (marked + 1).saturating_sub(most);
    first..first + most
}

/// Whether the letters are in a name in this order.
fn is_spread(name: &str, letters: &str) -> bool {
    let mut rest = name.chars();
    letters.chars().all(|letter| rest.any(|c| c == letter))
}

impl Tty {
    /// The index of the item that is chosen.
    pub(crate) fn choose(&mut self, menu: Menu<'_>) -> Result<usize, Stopped> {
        let Menu { label, items, mut typed, about } = menu;
        let mut marked = 0;
        self.hide_cursor();
        loop {
            let found = matching(items, &typed);
            marked = marked.min(found.len().saturating_sub(1));
            let mut lines = vec![format!("{label}{typed}▏")];
            lines.extend(self.rows(items, &found, marked));
            if let Some(item) = found.get(marked) {
                let more = about(*item);
                if !more.is_empty() {
                    lines.push(String::new());
                    lines.extend(more.iter().map(|line| format!("  {line}")));
                }
            }
            self.draw(&lines);
            match self.key()? {
                Key::Enter => {
                    if let Some(item) = found.get(marked) {
                        self.leave(&[]);
                        return Ok(*item);
                    }
                }
                Key::Up => marked = marked.checked_sub(1).unwrap_or(found.len().saturating_sub(1)),
                Key::Down => marked = (marked + 1) % found.len().max(1),
                key => {
                    edit(&mut typed, key);
                    marked = 0;
                }
            }
        }
    }

    fn rows(&self, items: &[Item], found: &[usize], marked: usize) -> Vec<String> {
        if found.is_empty() {
            return vec![self.dye("2", "  nothing matches; Ctrl+U clears the line")];
        }
        let window = window(marked, self.size().1);
        let width = found.iter().map(|it| items[*it].name.chars().count()).max().unwrap_or(0);
        let shown = found.iter().enumerate().skip(window.start).take(window.len());
        let mut rows: Vec<String> = shown
            .map(|(at, item)| {
                let Item { name, note } = &items[*item];
                let pad = width.saturating_sub(name.chars().count());
                let name = match at == marked {
                    true => format!("{} {}", self.dye("1;36", "▸"), self.dye("1", name)),
                    false => format!("  {name}"),
                };
                let note = if note.is_empty() { String::new() } else { self.dye("2", note) };
                format!("{name}{:pad$}  {note}", "").trim_end().to_owned()
            })
            .collect();
        if found.len() > window.len() {
            rows.push(self.dye("2", &format!("  {} of {}", marked + 1, found.len())));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marked_row_is_on_every_screen() {
        for screen in 4..40 {
            for marked in 0..50 {
                let window = window(marked, screen);
                assert!(window.contains(&marked), "{marked} is not in {window:?}");
                assert!(window.len() + 3 <= screen, "{window:?} does not fit in {screen} rows");
            }
        }
    }

    #[test]
    fn the_best_match_is_first_and_the_order_of_the_file_decides_between_equals() {
        let items: Vec<Item> = [
            ("redeploy", ""),
            ("deploy", "put it online"),
            ("db.export-all", ""),
            ("build", "before a deploy"),
        ]
        .map(|(name, note)| Item { name: name.to_owned(), note: note.to_owned() })
        .into();
        let names = |typed: &str| -> Vec<&str> {
            matching(&items, typed).into_iter().map(|at| items[at].name.as_str()).collect()
        };
        assert_eq!(names(""), ["redeploy", "deploy", "db.export-all", "build"]);
        assert_eq!(names("deplo"), ["deploy", "redeploy", "build"]);
        assert_eq!(names("DEA"), ["db.export-all"]);
        assert_eq!(names("$("), [""; 0]);
    }
}
