//! What the suite found out about a package.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Every law, in the order of a report: what it is called, and what it says.
pub const LAWS: [(&str, &str); 20] = [
    ("package", "the package has what its manifest says"),
    ("tests", "each test gives what it says, and each decorator has a test"),
    ("L1", "all that the manifest allows is answered, with a result of its type"),
    ("L2", "the same call gives the same bytes"),
    ("L3", "what needs a program or the network is expensive"),
    ("L4", "the text of a secret appears nowhere"),
    ("L5", "what is missing is reported as missing, with help"),
    ("L6", "it asks for what the manifest declares, and declares what it asks for"),
    ("L7", "what is too large is an error, not a crash"),
    ("L8", "random values follow their seed"),
    ("L9", "what fails inside fails the step"),
    ("L10", "what nothing fails in succeeds"),
    ("L11", "a call that is stopped ends"),
    ("R1", "two verifications of the same world are equal"),
    ("R2", "a verification changes nothing"),
    ("R3", "after the action the state is reached"),
    ("R4", "a second action changes nothing"),
    ("R5", "what cannot be verified is not acted on"),
    ("R6", "an error says what is wrong and what to do"),
    ("end", "what was opened is closed after every outcome"),
];

/// A law that a decorator breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub law: &'static str,
    /// None for the package as a whole.
    pub decorator: Option<String>,
    /// The test and where it is: `tests/read.yaml:3, reads a file`.
    pub test: Option<String>,
    /// The arguments of the call, without secrets.
    pub input: Option<String>,
    pub message: String,
}

/// What the suite found out.
#[derive(Debug, Default)]
pub struct Report {
    /// How often each law was checked.
    pub checked: BTreeMap<&'static str, usize>,
    pub broken: Vec<Broken>,
    pub tests: usize,
    /// Decorators that this suite does not call, and why.
    pub skipped: Vec<(String, &'static str)>,
}

impl Report {
    #[must_use]
    pub fn passed(&self) -> bool {
        self.broken.is_empty()
    }

    pub(super) fn holds(&mut self, law: &'static str) {
        *self.checked.entry(law).or_default() += 1;
    }

    pub(super) fn breaks(&mut self, broken: Broken) {
        self.holds(broken.law);
        // The same mistake shows in many variations of a call: one of them is enough.
        let is_known = |it: &Broken| {
            (it.law, &it.decorator, &it.test) == (broken.law, &broken.decorator, &broken.test)
                && it.law != "tests"
        };
        if !self.broken.iter().any(is_known) {
            self.broken.push(broken);
        }
    }

    /// For people: one line for each law, and below it who breaks it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (law, says) in LAWS {
            let Some(count) = self.checked.get(law) else { continue };
            let broken: Vec<&Broken> = self.broken.iter().filter(|it| it.law == law).collect();
            let state = if broken.is_empty() { "ok" } else { "FAILED" };
            let calls = if *count == 1 { "1 check".to_owned() } else { format!("{count} checks") };
            let _ = writeln!(out, "{law:7}  {state:6}  {says} ({calls})");
            for it in broken {
                let who = it.decorator.as_ref().map(|it| format!("@{it}: ")).unwrap_or_default();
                let _ = writeln!(out, "           {who}{}", it.message);
                if let Some(test) = &it.test {
                    let _ = writeln!(out, "           test: {test}");
                }
                if let Some(input) = &it.input {
                    let _ = writeln!(out, "           input: {input}");
                }
            }
        }
        for (decorator, why) in &self.skipped {
            let _ = writeln!(out, "skipped  @{decorator}: {why}");
        }
        out
    }
}
