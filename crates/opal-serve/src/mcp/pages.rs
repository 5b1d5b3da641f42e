//! Answers that are too long for one message, kept to be asked for in pages.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::refusal::Refusal;

/// Bytes of one page.
pub(super) const PAGE_BYTES: usize = 64 * 1024;

/// So many long answers are kept.
const MOST_KEPT: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Pages {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    answers: VecDeque<(u64, String)>,
    last: u64,
}

impl Pages {
    /// The document, or its first page where it is too long. The text of a page has marks in it, and is
    /// marked as a whole: it is cut anywhere.
    pub(super) fn fit(&self, document: Value) -> (Value, Option<Value>) {
        let text = document.to_string();
        if text.len() <= PAGE_BYTES {
            return (document, None);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let number = kept.last;
        let first = page(number, &text, 0);
        kept.answers.push_back((number, text));
        if kept.answers.len() > MOST_KEPT {
            kept.answers.pop_front();
        }
        (Value::Null, Some(first))
    }

    /// A page that `next` of another one named.
    pub(super) fn named(&self, name: &str) -> Result<Value, Refusal> {
        let numbers = name.split_once('-').and_then(|(answer, at)| {
            Some((answer.parse::<u64>().ok()?, at.parse::<usize>().ok()?))
        });
        let (number, at) = numbers.ok_or(Refusal::NoPage)?;
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.answers.iter().find(|(it, _)| *it == number);
        let (_, text) = found.ok_or(Refusal::NoPage)?;
        match text.is_char_boundary(at) && at < text.len() {
            true => Ok(page(number, text, at)),
            false => Err(Refusal::NoPage),
        }
    }
}

fn page(number: u64, text: &str, at: usize) -> Value {
    let end = text.floor_char_boundary(at + PAGE_BYTES);
    let next = (end < text.len()).then(|| format!("{number}-{end}"));
    json!({"bytes": text.len(), "from": at, "next": next, "untrusted": &text[at..end]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_an_answer_are_the_answer() {
        let pages = Pages::default();
        let short = json!({"a": "b"});
        assert_eq!(pages.fit(short.clone()), (short, None));
        let long = json!({"a": "é".repeat(100_000)});
        let (document, first) = pages.fit(long.clone());
        let mut page = first.unwrap();
        assert!(document.is_null());
        let mut all = String::new();
        loop {
            let text = page["untrusted"].as_str().unwrap();
            assert!(text.len() <= PAGE_BYTES);
            all.push_str(text);
            let Some(next) = page["next"].as_str().map(str::to_owned) else { break };
            page = pages.named(&next).unwrap();
        }
        assert_eq!(all, long.to_string());
        for name in ["", "1", "2-0", "1-7", "1-999999999", "x-y", "1--1"] {
            assert_eq!(pages.named(name), Err(Refusal::NoPage), "{name}");
        }
        for _ in 0..MOST_KEPT {
            pages.fit(long.clone());
        }
        assert_eq!(pages.named("1-0"), Err(Refusal::NoPage));
    }
}
