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
    way: Option<Way>,
}

/// Where a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// In the terminal of `opal ui`.
    Terminal,
    /// By touching a hardware key.
    Touch,
}

#[derive(Debug, Default)]
struct Kept {
    /// Tokens of forms, each with what its form is about.
    tokens: VecDeque<(String, About)>,
    asking: Option<Question>,
    ended: BTreeMap<String, Answer>,
}

/// What a form is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct About {
    pub(super) digest: String,
    /// The digest of what the page has compared it with; none where `opal` compares it in the terminal.
    pub(super) compared: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) verb: Verb,
    pub(super) compared: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Approve,
    Reject,
}

/// How a question ended.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) verb: Verb,
    /// None where `opal` did not start.
    pub(super) code: Option<i32>,
    /// Why nothing was signed, where no terminal says it.
    pub(super) why: Option<String>,
}

impl Verb {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
        }
    }
}

impl Decisions {
    /// `by_touch` where the key is one that can be touched, and there is no terminal that could ask.
    pub(super) fn new(by_touch: bool) -> Self {
        let has_terminal = std::io::stdin().is_terminal()
            && std::io::stdout().is_terminal()
            && std::io::stderr().is_terminal();
        let way = match (by_touch, has_terminal) {
            (true, _) => Some(Way::Touch),
            (false, true) => Some(Way::Terminal),
            (false, false) => None,
        };
        Self { state: Mutex::default(), changes: watch::Sender::new(0), way }
    }

    /// Where somebody can answer; none where nobody can.
    pub(super) const fn way(&self) -> Option<Way> {
        self.way
    }

    /// A token for a form. It counts once.
    pub(super) fn token(&self, about: About) -> String {
        let token = word();
        let state = &mut *self.lock();
        state.tokens.push_back((token.clone(), about));
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
        Some(match self.way {
            Some(Way::Touch) => format!("Touch your hardware key to {verb} this contract."),
            _ => format!(
                "The terminal of `opal ui` asks whether to {verb} this contract. Answer there."
            ),
        })
    }

    /// How the last question about this contract ended.
    pub(super) fn ended(&self, id: &str) -> Option<Decided> {
        let answer = self.lock().ended.get(id)?.clone();
        let place = if self.way == Some(Way::Touch) { "with your key" } else { "in the terminal" };
        let words = match (answer.code, answer.verb) {
            (Some(0), Verb::Approve) => format!("The approval was signed {place}."),
            (Some(0), Verb::Reject) => format!("The rejection was signed {place}."),
            (Some(_), _) if answer.why.is_some() => {
                format!("Nothing was signed: {}", answer.why.unwrap_or_default())
            }
            (Some(NOT_SIGNED), _) => "Declined in the terminal; nothing was signed.".to_owned(),
            (Some(code), _) => {
                format!("Nothing was signed (exit code {code}); the terminal says why.")
            }
            (None, _) => "Nothing was signed: `opal` did not start.".to_owned(),
        };
        Some(Decided { words, is_good: answer.code == Some(0) })
    }

    /// Uses a token, and says what its form is about. It must be of a form about this digest.
    pub(super) fn take(&self, token: &str, digest: &str) -> Option<About> {
        let tokens = &mut self.lock().tokens;
        let at = tokens.iter().position(|(known, _)| known == token)?;
        tokens.remove(at).map(|(_, about)| about).filter(|about| about.digest == digest)
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
        let decisions = Decisions::new(false);
        let about = About { digest: "aa".to_owned(), compared: Some("none".to_owned()) };
        let token = decisions.token(about.clone());
        assert_eq!(decisions.take("other", "aa"), None);
        assert_eq!(decisions.take(&token, "aa"), Some(about.clone()));
        assert_eq!(decisions.take(&token, "aa"), None);
        let token = decisions.token(about.clone());
        assert_eq!(decisions.take(&token, "bb"), None);
        assert_eq!(decisions.take(&token, "aa"), None, "a wrong digest uses it up");
        let oldest = decisions.token(about.clone());
        (0..MOST_TOKENS).for_each(|_| drop(decisions.token(about.clone())));
        assert_eq!(decisions.take(&oldest, "aa"), None);
    }

    fn answer(code: Option<i32>, why: Option<&str>) -> Answer {
        Answer { verb: Verb::Approve, code, why: why.map(str::to_owned) }
    }

    #[test]
    fn where_nobody_answers_in_a_terminal_the_page_says_why_nothing_was_signed() {
        let decisions = Decisions::new(true);
        assert_eq!(decisions.way(), Some(Way::Touch));
        let question = Question { id: "a".to_owned(), verb: Verb::Approve, compared: None };
        assert!(decisions.begin(question));
        assert!(decisions.asking("a").unwrap().contains("Touch your hardware key"));
        decisions.end("a".to_owned(), answer(Some(69), Some("`ssh-keygen` did not sign")));
        let said = decisions.ended("a").unwrap();
        assert_eq!(said.words, "Nothing was signed: `ssh-keygen` did not sign");
        assert!(!said.is_good);
    }

    #[test]
    fn one_question_at_a_time() {
        let decisions = Decisions::new(false);
        let question =
            |id: &str| Question { id: id.to_owned(), verb: Verb::Approve, compared: None };
        assert!(decisions.begin(question("a")) && !decisions.begin(question("b")));
        assert!(decisions.asking("a").is_some() && decisions.asking("b").is_none());
        decisions.end("a".to_owned(), answer(Some(130), None));
        assert!(!decisions.is_asking() && !decisions.ended("a").unwrap().is_good);
        assert!(decisions.begin(question("b")));
    }
}
