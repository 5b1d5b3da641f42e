//! Events that are shown once for several targets.

use std::sync::Arc;

use opal_vault::event::Kind;

use super::{Head, Running, State, Tail};

/// Columns of the names that a heading has, where it does not have all.
const MAX_COLUMNS: usize = 60;

impl State {
    /// An event that is shown for another target: it only counts.
    pub(super) fn count(&mut self, kind: &Kind<'_>) {
        match kind {
            Kind::Started(step) if self.style.timings && !step.is_block => {
                let text = Head::of(step).whole();
                self.running
                    .insert(step.number, Running { text, tail: Tail::default(), lane: None });
            }
            Kind::Finished(step) => {
                if self.resources.contains(step.path) {
                    self.ends.finished(step);
                }
                if let Some(running) = self.running.remove(&step.number) {
                    self.note_time(step, running.text);
                }
            }
            Kind::Skipped { path, why, .. } if self.resources.contains(*path) => {
                self.ends.skipped(path, why.as_ref());
            }
            Kind::Verified { path, status, message, details } if self.style.stdout_is_json => {
                self.ends.verified(path, *status, message, details.as_ref());
            }
            _ => {}
        }
    }
}

/// The names of targets: all of them where they are few, else the first, with how many there are.
pub(super) fn heading(names: &[Arc<str>]) -> String {
    let mut columns = 0;
    let fits = names.iter().take_while(|name| {
        columns += name.chars().count() + 1;
        columns <= MAX_COLUMNS + 1
    });
    let count = fits.count().max(1).min(names.len());
    let named = names[..count].join(" ");
    match names.len() {
        all if all == count => named,
        all => format!("{named} … ({all} targets)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_all_names_or_says_how_many_there_are() {
        let names = |count: usize| -> Vec<Arc<str>> {
            (1..=count).map(|number| format!("web{number}").into()).collect()
        };
        assert_eq!(heading(&names(1)), "web1");
        assert_eq!(heading(&names(3)), "web1 web2 web3");
        let all = heading(&names(11));
        assert!(all.ends_with("web10 web11") && all.len() <= MAX_COLUMNS, "{all}");
        let many = heading(&names(48));
        assert!(many.starts_with("web1 web2 ") && many.ends_with(" … (48 targets)"), "{many}");
        let long: Vec<Arc<str>> = vec!["a".repeat(253).into(), "b".into()];
        assert_eq!(heading(&long), format!("{} … (2 targets)", "a".repeat(253)));
    }
}
