//! Contracts: the inbox, all of them, and one with its plan and its form.

use maud::{Markup, PreEscaped, html};

use super::{Part, Site, Tab, page, parts};
use crate::frame;
use crate::text::{line, lines};

/// Digits of an id that people type.
const TYPED: usize = 8;

/// A contract in a list, in the words of `opal plan inbox`.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: String,
    pub state: String,
    pub target: String,
    pub created: Option<String>,
    pub made_by: Option<String>,
    /// Who said what about it.
    pub people: String,
}

/// A contract with everything that is known about it.
#[derive(Clone, Debug)]
pub struct Contract {
    pub listed: Listed,
    /// The whole digest, which a decision is about.
    pub digest: String,
    pub facts: Vec<(&'static str, String)>,
    /// The body of the page that `opal plan show` writes.
    pub plan: Option<String>,
    /// Why there is none.
    pub trouble: Option<String>,
    /// The id of the contract that is compared with it.
    pub differs_from: Option<String>,
    pub choice: Choice,
    pub decided: Option<Decided>,
}

/// What can be done about a contract.
#[derive(Clone, Debug)]
pub enum Choice {
    /// A form, whose token counts once, and what happens when it is sent. `shown` is what is signed then, where
    /// nothing else shows it.
    Decide { token: String, how: String, shown: Option<String> },
    /// The terminal is asking; what it is asking.
    Asking(String),
    /// Nothing, and why.
    None(String),
}

/// How the last question ended.
#[derive(Clone, Debug)]
pub struct Decided {
    pub words: String,
    pub is_good: bool,
}

/// A list of contracts.
#[must_use]
pub fn contracts(site: Site<'_>, tab: Tab, all: &[Listed], part: Part) -> String {
    let title = tab.title();
    let empty = match tab {
        Tab::Inbox => "No contract waits for a decision.",
        _ => "There are no contracts. `opal plan submit FILE` puts one into the inbox.",
    };
    let body = html! {
        h1 { (title) }
        @if all.is_empty() { p { (empty) } } @else {
            table.wide {
                thead { tr { th { "contract" } th { "task" } th { "state" } th { "made" } th { "people" } } }
                tbody { @for one in all { (row(site, one)) } }
            }
        }
        (parts(site, tab, part))
    };
    page(site, Some(tab), title, &body, false)
}

fn row(site: Site<'_>, one: &Listed) -> Markup {
    let id = one.id.get(..TYPED).unwrap_or(&one.id);
    html! {
        tr {
            td { a href={ (site.base) "/contracts/" (line(&one.id)) } { code { (line(id)) } } }
            td { code { (line(&one.target)) } }
            td { (state(&one.state)) }
            td {
                @if let Some(at) = &one.created { (line(at)) }
                @if let Some(by) = &one.made_by { br; span.dim { (line(by)) } }
            }
            td { (line(&one.people)) }
        }
    }
}

fn state(name: &str) -> Markup {
    let class = match name {
        "approved" => "good",
        "rejected" | "changed" => "bad",
        "waiting" => "c3",
        _ => "skip",
    };
    html! { span class=(class) { (line(name)) } }
}

/// The page of one contract.
#[must_use]
pub fn contract(site: Site<'_>, own: &Contract) -> String {
    let Listed { id, target, state: name, .. } = &own.listed;
    let body = html! {
        h1 { code { (line(target)) } ": " (state(name)) }
        @if let Some(decided) = &own.decided {
            p.note.bad[!decided.is_good] role="status" { (line(&decided.words)) }
        }
        @if let Some(trouble) = &own.trouble { p.trouble { (line(trouble)) } }
        (frame::facts(&own.facts))
        (choice(site, own))
        @if let Some(other) = &own.differs_from {
            p {
                a href={ (site.base) "/contracts/" (line(id)) "/diff" } { "What differs" }
                " from " code { (line(other.get(..TYPED).unwrap_or(other))) }
                ", which was approved last for this task."
            }
        }
        @if let Some(plan) = &own.plan { section.plan { (PreEscaped(plan)) } }
    };
    let is_asking = matches!(own.choice, Choice::Asking(_));
    page(site, Some(Tab::Contracts), &format!("{target}: {name}"), &body, is_asking)
}

/// What differs between two contracts, by their ids: around the body of the page that `opal plan diff` writes.
#[must_use]
pub fn difference(site: Site<'_>, target: &str, [first, second]: [&str; 2], body: &str) -> String {
    let link = |id: &str| {
        html! {
            a href={ (site.base) "/contracts/" (line(id)) } { code { (line(id.get(..TYPED).unwrap_or(id))) } }
        }
    };
    let body = html! {
        p { "First: contract " (link(first)) ", approved last for this task. Second: contract " (link(second)) "." }
        (PreEscaped(body))
    };
    page(site, Some(Tab::Contracts), &format!("{target}: differences"), &body, false)
}

/// A sentence of opal's own, in which what is between backticks is code.
fn ticks(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (line(part)) } } @else { (line(part)) }
        }
    }
}

fn choice(site: Site<'_>, own: &Contract) -> Markup {
    match &own.choice {
        Choice::Decide { token, how, shown } => html! {
            @if let Some(shown) = shown { pre.shown { (lines(shown)) } }
            form.decide method="post" action={ (site.base) "/contracts/" (line(&own.listed.id)) "/decide" } {
                input type="hidden" name="digest" value=(line(&own.digest));
                input type="hidden" name="token" value=(line(token));
                p { (ticks(how)) }
                button name="decision" value="approve" { "Approve …" }
                button name="decision" value="reject" { "Reject …" }
            }
        },
        Choice::Asking(what) => html! {
            p.note.asking #asking role="status" { (ticks(what)) }
        },
        Choice::None(why) => html! { p.note { (ticks(why)) } },
    }
}
