//! What has changed since a block has succeeded, in words.

use opal_core::inventory::Inventory;
use opal_core::resource::Details;

use super::entry::{Entry, Facts};

/// Lines of details; of the rest it is said how many there are.
const MAX_LINES: usize = 100;

/// One line for each change: `input src/a.c changed`.
#[derive(Debug, Default)]
pub(super) struct Changes {
    lines: Vec<String>,
    count: usize,
}

impl Changes {
    pub(super) fn between(before: &Entry, now: &Entry) -> Self {
        let mut changes = Self::default();
        changes.facts(&before.facts, &now.facts);
        for (what, before, now) in
            [("input", &before.inputs, &now.inputs), ("output", &before.outputs, &now.outputs)]
        {
            compare(before, now, &mut |name, how| changes.add(format!("{what} `{name}` {how}")));
        }
        changes
    }

    fn facts(&mut self, before: &Facts, now: &Facts) {
        // Both have the same: what they are of is in the name of the entry.
        for (what, digest) in &now.0 {
            if before.0.get(what) != Some(digest) {
                let (kind, name) = what.split_once(' ').unwrap_or((what, ""));
                self.add(match name {
                    "" => format!("the {kind} changed"),
                    name => format!("{kind} `{name}` changed"),
                });
            }
        }
    }

    fn add(&mut self, line: String) {
        self.count += 1;
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
        }
    }

    /// The first, and how many more there are; none where nothing has changed.
    pub(super) fn message(&self) -> Option<String> {
        let first = self.lines.first()?;
        Some(match self.count {
            1 => first.clone(),
            count => format!("{first}, and {} more", count - 1),
        })
    }

    /// All of them, where there are several.
    pub(super) fn details(&self) -> Option<Details> {
        if self.count < 2 {
            return None;
        }
        let mut text = self.lines.join("\n") + "\n";
        if self.count > self.lines.len() {
            text.push_str(&format!("[{} more omitted]\n", self.count - self.lines.len()));
        }
        Some(Details::words(text))
    }
}

/// The first input that was written between two looks: "`src/a.c` changed". One that has its old
/// content again counts too, because the block may have read another one.
pub(super) fn touched(before: &Inventory, now: &Inventory) -> Option<String> {
    let mut found = None;
    compare(before, now, &mut |name, how| {
        found.get_or_insert_with(|| format!("`{name}` {how}"));
    });
    found.or_else(|| {
        let mut both = before.iter().zip(now.values());
        let ((name, _), _) = both.find(|((_, one), two)| one.stamp != two.stamp)?;
        Some(format!("`{name}` was written"))
    })
}

/// Every file that is not the same, in the order of the names.
fn compare(before: &Inventory, now: &Inventory, tell: &mut dyn FnMut(&str, &str)) {
    let (mut old, mut new) = (before.iter().peekable(), now.iter().peekable());
    loop {
        match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some((name, _)), None) => {
                tell(name, "was removed");
                old.next();
            }
            (None, Some((name, _))) => {
                tell(name, "is new");
                new.next();
            }
            (Some((one, _)), Some((two, _))) if one < two => {
                tell(one, "was removed");
                old.next();
            }
            (Some((one, _)), Some((two, _))) if two < one => {
                tell(two, "is new");
                new.next();
            }
            (Some((name, one)), Some((_, two))) => {
                if !one.is_same(two) {
                    tell(
                        name,
                        if one.digest == two.digest { "has another mode" } else { "changed" },
                    );
                }
                old.next();
                new.next();
            }
        }
    }
}
