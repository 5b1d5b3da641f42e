//! Questions about contracts that pages have asked: which forms still count, what the terminal is asking, and how
//! it ended. One question at a time.

use std::collections::{BTreeMap, VecDeque};
use std::io::IsTerminal as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use opal_html::ui::Decided;
use tokio::sync::watch;

use super::ticket::word;

/// Forms that can still be sent; older ones are forgotten.
const MOST_TOKENS: usize = 256;

/// Answers that pages can still show.
const MOST_ENDED: usize = 256;

/// `opal plan approve` ends so where the answer was not yes.
const NOT_SIGNED: i32 = 130;

#[derive(Debug)]
pub(super) struct Decisions {
    state: Mutex<Kept>,
    /// Counts what has changed, for pages that wait.
    changes: watch::Sender<u64>,
    has_terminal: bool,
}

#[derive(Debug, Default)]
struct Kept {
    /// Tokens of forms, each with the digest that its form is about.
    tokens: VecDeque<(String, String)>,
    asking: Option<Question>,
    ended: BTreeMap<String, Answer>,
}

#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) verb: Verb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Approve,
    Reject,
}

/// How a question ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) verb: Verb,
    /// None where `opal` did not start.
    pub(super) code: Option<i32>,
}

impl Verb {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

impl Default for Decisions {
    fn default() -> Self {
        let has_terminal = std::io::stdin().is_terminal()
            && std::io::stdout().is_terminal()
            && std::io::stderr().is_terminal();
        Self { state: Mutex::default(), changes: watch::Sender::new(0), has_terminal }
    }
}

impl Decisions {
    /// Whether somebody can be asked.
    pub(super) const fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    /// A token for a form about this digest. It counts once.
    pub(super) fn token(&self, digest: &str) -> String {
        let token = word();
        let state = &mut *self.lock();
        state.tokens.push_back((token.clone(), digest.to_owned()));
        if state.tokens.len() > MOST_TOKENS {
            state.tokens.pop_front();
        }
        token
    }

    pub(super) fn is_asking(&self) -> bool {
        self.lock().asking.is_some()
    }

    /// What the terminal asks about this contract.
    pub(super) fn asking(&self, id: &str) -> Option<String> {
        let question = self.lock().asking.clone().filter(|it| it.id == id)?;
        let verb = question.verb.name();
        Some(format!(
            "The terminal of `opal ui` asks whether to {verb} this contract. Answer there."
        ))
    }

    /// How the last question about this contract ended.
    pub(super) fn ended(&self, id: &str) -> Option<Decided> {
        let answer = *self.lock().ended.get(id)?;
        let words = match (answer.code, answer.verb) {
            (Some(0), Verb::Approve) => "The approval was signed in the terminal.".to_owned(),
            (Some(0), Verb::Reject) => "The rejection was signed in the terminal.".to_owned(),
            (Some(NOT_SIGNED), _) => "Declined in the terminal; nothing was signed.".to_owned(),
            (Some(code), _) => {
                format!("Nothing was signed (exit code {code}); the terminal says why.")
            }
            (None, _) => "Nothing was signed: `opal` did not start.".to_owned(),
        };
        Some(Decided { words, is_good: answer.code == Some(0) })
    }

    /// Uses a token. It must be of a form about this digest.
    pub(super) fn take(&self, token: &str, digest: &str) -> bool {
        let tokens = &mut self.lock().tokens;
        let Some(at) = tokens.iter().position(|(known, _)| known == token) else { return false };
        tokens.remove(at).is_some_and(|(_, about)| about == digest)
    }

    /// Whether the terminal is free for this question; it is taken from then on.
    pub(super) fn begin(&self, question: Question) -> bool {
        let state = &mut *self.lock();
        if state.asking.is_some() {
            return false;
        }
        state.asking = Some(question);
        true
    }

    pub(super) fn end(&self, id: String, answer: Answer) {
        let state = &mut *self.lock();
        state.asking = None;
        if state.ended.len() >= MOST_ENDED {
            state.ended.pop_first();
        }
        state.ended.insert(id, answer);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Hears of every change from now on.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_counts_once_and_for_its_digest_only() {
        let decisions = Decisions::default();
        let token = decisions.token("aa");
        assert!(!decisions.take("other", "aa"));
        assert!(decisions.take(&token, "aa"));
        assert!(!decisions.take(&token, "aa"));
        let token = decisions.token("aa");
        assert!(!decisions.take(&token, "bb"));
        assert!(!decisions.take(&token, "aa"), "a wrong digest uses it up");
        let oldest = decisions.token("aa");
        (0..MOST_TOKENS).for_each(|_| drop(decisions.token("aa")));
        assert!(!decisions.take(&oldest, "aa"));
    }

    #[test]
    fn one_question_at_a_time() {
        let decisions = Decisions::default();
        let question = |id: &str| Question { id: id.to_owned(), verb: Verb::Approve };
        assert!(decisions.begin(question("a")) && !decisions.begin(question("b")));
        assert!(decisions.asking("a").is_some() && decisions.asking("b").is_none());
        decisions.end("a".to_owned(), Answer { verb: Verb::Approve, code: Some(130) });
        assert!(!decisions.is_asking() && !decisions.ended("a").unwrap().is_good);
        assert!(decisions.begin(question("b")));
    }
}
