//! Checking never panics, and every place it names is a piece of the source.

use opal_core::Span;
use opal_plan::check;

const WORDS: [&str; 84] = [
    "var ",
    "fun ",
    "if ",
    "when ",
    "for ",
    "while ",
    "try ",
    "catch ",
    "finally ",
    "else ",
    "let.",
    "@var.",
    "@env.",
    "@let.",
    "@cmd.",
    "@shell(",
    "@retry(",
    "@parallel",
    "@file.read(",
    "@raw(",
    "@args",
    "@secret.env.",
    "x",
    "y",
    "X",
    "a.b",
    "=",
    " = ",
    " += ",
    "++",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\"\"\"",
    "r\"",
    "\\",
    "\n",
    "\n",
    "\n",
    " ",
    "  ",
    "\t",
    "1",
    "2.5",
    "5s",
    "...",
    "->",
    "&&",
    "||",
    "|",
    ";",
    ">",
    "<<EOF\n",
    "EOF\n",
    "$(",
    "${",
    "`",
    "$((",
    "))",
    "#",
    "//",
    ",",
    ":",
    "true",
    "echo ",
    "é",
    "🚀",
    "\r\n",
    "in ",
    "bash -c ",
    "\\n",
    "\\u{41}",
    "@",
    ".0",
    "int(",
    "String",
    "-",
    "!",
    "9223372036854775808",
];

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

fn check_soup(text: &str) {
    let registry = opal_decorators::registry();
    let checked = check::check(text, &registry);
    let is_slice = |span: Span| text.get(span.range()).is_some();
    for found in &checked.diagnostics {
        let labels = found.secondary.iter().map(|label| label.span);
        let edits = found.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
        for span in std::iter::once(found.primary.span).chain(labels).chain(edits) {
            assert!(is_slice(span), "{span:?} of {found:#?} in {text:?}");
        }
    }
}

#[test]
fn soup_is_checked_and_every_place_is_a_slice_of_it() {
    let mut numbers = Numbers(1);
    for _ in 0..20_000 {
        let words = 1 + numbers.below(40);
        let text: String = (0..words).map(|_| WORDS[numbers.below(WORDS.len())]).collect();
        check_soup(&text);
    }
}

#[test]
fn soup_in_the_text_of_a_command_is_checked_too() {
    let mut numbers = Numbers(2);
    for round in 0..20_000 {
        let words = 1 + numbers.below(12);
        let inner: String = (0..words).map(|_| WORDS[numbers.below(WORDS.len())]).collect();
        let quotes = ["\"", "\"\"\"", "'"][round % 3];
        check_soup(&format!("@shell({quotes}{inner}{quotes})\n"));
    }
}

#[test]
fn odd_texts_that_once_went_wrong_are_checked() {
    for text in [
        "@shell(\"echo @file.read(-)\")",
        "@shell(\"echo @file.read(-9223372036854775808)\")",
        "@shell(\"\"\"\n    é l'\n\"\"\")",
        "@shell(\"\"\"\r\n  a\r\n    'é\r\n\"\"\")",
        "let.x = \u{a0}1",
    ] {
        check_soup(text);
    }
}
