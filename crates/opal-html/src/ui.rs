//! The pages of `opal ui`: lists, contracts, runs, and the frame around all of them.
//!
//! Unlike the files of the other modules these pages are served: they have links, one form and one script,
//! allowed by a nonce that is in the header of the same answer. Data in, text out.

mod contracts;
mod records;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use contracts::{Choice, Contract, Decided, Listed, contract, contracts, difference};
pub use records::{Live, Recorded, live, record, records};

use crate::frame::STYLE;
use crate::text::line;

const OWN_STYLE: &str = include_str!("ui/ui.css");
const SCRIPT: &str = include_str!("ui/ui.js");

/// What every page of one answer shares.
#[derive(Clone, Copy, Debug)]
pub struct Site<'s> {
    /// What all addresses begin with.
    pub base: &'s str,
    /// Of the style and the script of this answer.
    pub nonce: &'s str,
}

/// A list that pages belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Inbox,
    Contracts,
    Records,
}

/// Where a part of a list is.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// From 1.
    pub page: usize,
    pub pages: usize,
    /// Entries of all parts.
    pub total: usize,
}

impl Tab {
    const ALL: [Self; 3] = [Self::Inbox, Self::Contracts, Self::Records];

    /// The last part of its address.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Contracts => "contracts",
            Self::Records => "records",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Inbox => "Inbox",
            Self::Contracts => "Contracts",
            Self::Records => "Records",
        }
    }
}

/// A page that only says something: what is wrong, and what to do.
#[must_use]
pub fn message(site: Site<'_>, title: &str, text: &str, help: &str) -> String {
    let body = html! {
        h1 { (line(title)) }
        @for text in text.lines() { p { (line(text)) } }
        @if !help.is_empty() { p.note { (line(help)) } }
    };
    page(site, None, title, &body, false)
}

fn page(site: Site<'_>, tab: Option<Tab>, title: &str, body: &Markup, has_script: bool) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (line(title)) " – opal" }
                style nonce=(site.nonce) { (PreEscaped(STYLE)) (PreEscaped(OWN_STYLE)) }
            }
            body {
                nav aria-label="Lists" {
                    b { "opal" }
                    @for one in Tab::ALL {
                        a href={ (site.base) "/" (one.name()) }
                            aria-current=[(tab == Some(one)).then_some("true")] { (one.title()) }
                    }
                }
                main { (body) }
                @if has_script { script nonce=(site.nonce) { (PreEscaped(SCRIPT)) } }
            }
        }
    };
    page.into_string()
}

/// Links to the parts before and after this one.
fn parts(site: Site<'_>, tab: Tab, part: Part) -> Markup {
    let to = |page: usize| format!("{}/{}?page={page}", site.base, tab.name());
    html! {
        @if part.pages > 1 {
            p.parts {
                @if part.page > 1 { a href=(to(part.page - 1)) rel="prev" { "← newer" } }
                span { "page " (part.page) " of " (part.pages) ", " (part.total) " in all" }
                @if part.page < part.pages { a href=(to(part.page + 1)) rel="next" { "older →" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_short_and_neither_style_nor_script_names_another_place_or_makes_markup() {
        assert!(SCRIPT.lines().count() <= 60, "{}", SCRIPT.lines().count());
        for word in ["http", "innerHTML", "outerHTML", "insertAdjacent", "eval", "document.write"] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        for word in ["url(", "@import", "http", "</"] {
            assert!(!OWN_STYLE.contains(word) && !SCRIPT.contains(word), "{word}");
        }
        assert!(STYLE.len() + OWN_STYLE.len() < 10_000);
    }

    #[test]
    fn texts_of_others_stay_text_on_every_page() {
        let hostile = "</title></style><script>alert(1)</script>\" onload=\"x\u{202e}\u{1b}[31m";
        let text = || hostile.to_owned();
        let site = Site { base: "/p", nonce: "n" };
        let part = Part { page: 2, pages: 3, total: 150 };
        let listed = Listed {
            id: text(),
            state: text(),
            target: text(),
            created: Some(text()),
            made_by: Some(text()),
            people: text(),
        };
        let own = Contract {
            listed: listed.clone(),
            digest: text(),
            facts: vec![("note", text())],
            plan: None,
            trouble: Some(text()),
            differs_from: Some(text()),
            choice: Choice::Decide { token: text(), how: text(), shown: Some(text()) },
            decided: Some(Decided { words: text(), is_good: false }),
        };
        let recorded = Recorded {
            id: text(),
            state: text(),
            is_good: Some(false),
            target: text(),
            started: Some(text()),
            summary: text(),
        };
        let going = Live { name: text(), facts: vec![("by", text())] };
        let pages = [
            contracts(site, Tab::Inbox, &[listed], part),
            contract(site, &own),
            contract(site, &Contract { choice: Choice::Asking(text()), ..own.clone() }),
            contract(site, &Contract { choice: Choice::None(text()), ..own }),
            records(site, &[recorded], part),
            live(site, &going),
            difference(site, hostile, [hostile, hostile], ""),
            message(site, hostile, hostile, hostile),
        ];
        for page in pages {
            assert!(!page.contains("<script>") && !page.contains(['\u{202e}', '\u{1b}']), "{page}");
            assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
            assert!(!page.contains("\" onload"), "{page}");
        }
    }
}
