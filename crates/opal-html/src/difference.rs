//! What differs between two plans: each value and step on both sides.

use maud::{Markup, html};

use crate::frame;
use crate::text::{line, lines};

/// Two plans and what is between them. Texts hold placeholders and public values, as in a plan.
#[derive(Clone, Debug)]
pub struct PlanDiff {
    /// The target of both, or both targets.
    pub name: String,
    /// What the plans are called: `contract` and `now`.
    pub sides: [String; 2],
    pub facts: Vec<(&'static str, String)>,
    pub differences: Vec<Changed>,
    /// Options and arguments of the run that the plan does not have.
    pub beside: Vec<Pair>,
    /// Parts of the packages that both were made with.
    pub packages: Vec<Pair>,
    /// Whole sentences without a full stop.
    pub notes: Vec<String>,
    /// Steps that are the same in both, each with its path.
    pub same: Vec<(String, String)>,
}

/// One value, step or machine that differs.
#[derive(Clone, Debug)]
pub struct Changed {
    /// `env_changed`.
    pub code: &'static str,
    /// `value`, `added`, `removed`, `changed`.
    pub change: &'static str,
    /// What differs, in one line.
    pub words: String,
    /// The reads that led to it, by name.
    pub by: Vec<String>,
    /// Those of them that are not the value itself, each with what it was and what it is.
    pub causes: Vec<Pair>,
    /// The value or the step itself, and the steps that use the value.
    pub pairs: Vec<Pair>,
}

/// The same thing on both sides; none where it is not there.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// The path of a step, or the name of a value; empty where the words say it.
    pub name: String,
    /// The file and the line.
    pub place: Option<String>,
    pub texts: [Option<String>; 2],
}

/// The whole page.
#[must_use]
pub fn document(diff: &PlanDiff) -> String {
    let count = diff.differences.len() + diff.beside.len() + diff.packages.len();
    let status = match count {
        0 => "no differences".to_owned(),
        1 => "1 difference".to_owned(),
        count => format!("{count} differences"),
    };
    let class = if count == 0 { "good" } else { "bad" };
    let body = html! {
        h1 { code { (line(&diff.name)) } ": " span class=(class) { (status) } }
        @for note in &diff.notes { p.note { "note: " (line(note)) } }
        (frame::facts(&diff.facts))
        @if !diff.differences.is_empty() {
            h2 { "Differences" }
            @for one in &diff.differences { (changed(one, &diff.sides)) }
        }
        @for (title, pairs) in [("Packages", &diff.packages), ("Options and arguments", &diff.beside)] {
            @if !pairs.is_empty() {
                h2 { (title) }
                @for one in pairs { section.change { (pair(one, &diff.sides)) } }
            }
        }
        @if !diff.same.is_empty() {
            h2 { "The same in both" }
            details {
                summary { "Show " (diff.same.len()) " step" @if diff.same.len() > 1 { "s" } }
                ul.tree {
                    @for (path, text) in &diff.same {
                        li { div.node { code { (lines(text)) } span.path { (line(path)) } } }
                    }
                }
            }
        }
    };
    frame::document(&format!("{}: {status}", line(&diff.name)), &body)
}

fn changed(one: &Changed, sides: &[String; 2]) -> Markup {
    html! {
        section.change {
            h3 {
                span.tag { (one.change) } " " code { (one.code) }
                @for (index, name) in one.by.iter().enumerate() {
                    @if index == 0 { " by " } @else { ", " }
                    code { (line(name)) }
                }
            }
            p { (line(&one.words)) }
            @for cause in &one.causes { (pair(cause, sides)) }
            @for one in &one.pairs { (pair(one, sides)) }
        }
    }
}

fn pair(pair: &Pair, sides: &[String; 2]) -> Markup {
    if pair.texts.iter().all(Option::is_none) {
        return html! {};
    }
    let [before, after] = &pair.texts;
    let (was, is) = match (before, after) {
        (Some(before), Some(after)) => parts(before, after),
        _ => (
            [before.as_deref().unwrap_or_default(), "", ""],
            [after.as_deref().unwrap_or_default(), "", ""],
        ),
    };
    html! {
        @if !pair.name.is_empty() {
            p.path { (line(&pair.name)) @if let Some(place) = &pair.place { " – " (line(place)) } }
        }
        div.sides {
            (side(&sides[0], before.is_some(), was, false))
            (side(&sides[1], after.is_some(), is, true))
        }
    }
}

/// One side: what both begin with, what is only here, and what both end with.
fn side(name: &str, is_there: bool, [start, own, end]: [&str; 3], is_after: bool) -> Markup {
    html! {
        div.side {
            span.d { (line(name)) }
            @if is_there {
                pre {
                    (lines(start))
                    @if !own.is_empty() { @if is_after { ins { (lines(own)) } } @else { del { (lines(own)) } } }
                    (lines(end))
                }
            } @else { p.cut { "not there" } }
        }
    }
}

/// Both texts in three parts: the same start, what differs, the same end.
fn parts<'t>(before: &'t str, after: &'t str) -> ([&'t str; 3], [&'t str; 3]) {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let start: usize =
        before.chars().zip(after.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (rest_before, rest_after) = (&before[start..], &after[start..]);
    let backwards = rest_before.chars().rev().zip(rest_after.chars().rev());
    let end: usize = backwards.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let cut = |text: &'t str| {
        let middle = text.len() - end;
        [&text[..start], &text[start..middle], &text[middle..]]
    };
    (cut(before), cut(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_between_the_same_start_and_the_same_end() {
        let all = |before, after| parts(before, after);
        assert_eq!(
            all("scale 3 now", "scale 12 now"),
            (["scale ", "3", " now"], ["scale ", "12", " now"])
        );
        assert_eq!(all("aa", "aaa"), (["aa", "", ""], ["aa", "a", ""]));
        assert_eq!(all("grün", "grön"), (["gr", "ü", "n"], ["gr", "ö", "n"]));
        assert_eq!(all("", "x"), (["", "", ""], ["", "x", ""]));
        assert_eq!(all("same", "same"), (["same", "", ""], ["same", "", ""]));
    }

    #[test]
    fn texts_of_both_sides_stay_text() {
        let hostile = "<script>alert(1)</script>\u{202e}\u{1b}[31m";
        let pair = Pair {
            name: hostile.to_owned(),
            place: Some(hostile.to_owned()),
            texts: [Some(hostile.to_owned()), None],
        };
        let one = Changed {
            code: "env_changed",
            change: "value",
            words: hostile.to_owned(),
            by: vec![hostile.to_owned(), hostile.to_owned()],
            causes: vec![pair.clone()],
            pairs: vec![pair.clone()],
        };
        let diff = PlanDiff {
            name: hostile.to_owned(),
            sides: [hostile.to_owned(), "now".to_owned()],
            facts: vec![("commit", hostile.to_owned())],
            differences: vec![one],
            beside: vec![pair.clone()],
            packages: vec![pair],
            notes: vec![hostile.to_owned()],
            same: vec![(hostile.to_owned(), hostile.to_owned())],
        };
        let page = document(&diff);
        assert!(!page.contains("<script") && !page.contains(['\u{202e}', '\u{1b}']), "{page}");
        assert!(
            page.contains("&lt;script&gt;alert(1)&lt;/script&gt;\u{fffd}\u{241b}[31m"),
            "{page}"
        );
        assert!(page.contains("not there") && page.contains("3 differences"), "{page}");
    }
}
