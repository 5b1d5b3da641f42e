//! The frame of every page: one file, with a policy of its own that forbids scripts and requests.

use base64ct::{Base64, Encoding as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use opal_core::hash::Algorithm;

use crate::colours;
use crate::text::line;

pub(crate) const STYLE: &str = include_str!("page.css");

/// What is around the body of a document.
const BEGINNING: &str = "<main>";
const END: &str = "</main>";

/// The whole document.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    let digest = Base64::encode_string(&Algorithm::Sha256.digest(&[STYLE.as_bytes()]).0);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}

/// The body of a document that this crate has written; none of another one. Texts are escaped, so nothing else
/// in a document can begin or end it.
#[must_use]
pub fn body_of(document: &str) -> Option<&str> {
    let (_, rest) = document.split_once(BEGINNING)?;
    rest.rsplit_once(END).map(|(body, _)| body)
}

/// Names and texts, in the order of reading.
pub(crate) fn facts(facts: &[(&'static str, String)]) -> Markup {
    html! {
        @if !facts.is_empty() {
            dl { @for (name, text) in facts { dt { (name) } dd { (line(text)) } } }
        }
    }
}

/// A line of text in its colours, without its end.
pub(crate) fn coloured(line: &colours::Line) -> Markup {
    html! {
        @for (look, text) in line {
            @let classes = look.classes();
            @if classes.is_empty() { (text) } @else { span class=(classes) { (text) } }
        }
    }
}

/// Lines of text in their colours. Between them, not after the last one, is a line feed.
pub(crate) fn coloured_text(text: &str) -> Markup {
    let lines = colours::lines(text.as_bytes());
    html! {
        @for (index, line) in lines.iter().enumerate() {
            @if index > 0 { "\n" }
            (coloured(line))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_a_document_is_what_was_put_into_it() {
        let body = html! { p { "</main><main>" } };
        let page = document("</main>", &body);
        assert_eq!(body_of(&page), Some(body.into_string().as_str()));
        assert_eq!(body_of("<p>"), None);
    }

    #[test]
    fn the_style_is_smaller_than_ten_kilobytes_and_asks_for_nothing() {
        assert!(STYLE.len() < 10_000, "{}", STYLE.len());
        for word in ["url(", "@import", "http", "</"] {
            assert!(!STYLE.contains(word), "{word}");
        }
        for word in ["prefers-color-scheme:dark", "@media print", "max-width:40rem"] {
            assert!(STYLE.contains(word), "{word}");
        }
    }
}
