//! Whether the shell's own parser accepts texts, asked before any of them runs.
//!
//! All are read in one go. Each is between brackets of two kinds, which nothing but a complete
//! text fits into, and what follows closes no quote without an error: so no text can complete
//! another one. Only where the parser objects are halves read, down to the texts at fault.
//!
//! Deliberately not here: who asks. `ask` gets a text and returns what the parser said against it.

use crate::resolver::{ScriptPart, Trouble};

use super::{compile, plain};

/// A text that the parser rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The position of the text among those that were asked about.
    pub text: usize,
    /// The line of the text, from 1.
    pub line: u32,
    /// `shell syntax error`, then the parser's own words, without its line numbers.
    pub message: String,
}

/// At most so many are reported of one plan or file.
const MAX_FAULTS: usize = 100;

/// Of what the parser says about one text.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// Words that are not a command where a command begins.
const RESERVED: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// What changes how the shell reads the lines after it: only running it would tell.
const CHANGES_PARSER: [&str; 3] = ["shopt", "expand_aliases", "-o posix"];

/// The texts that the parser must be asked about, by their positions. A row of plain words cannot
/// be wrong; what was pasted is known only to the run, and a message could show it.
fn doubtful(scripts: &[&[ScriptPart]]) -> Vec<(usize, String)> {
    let mut texts = Vec::new();
    for (index, parts) in scripts.iter().enumerate() {
        let is_raw = parts.iter().any(|part| matches!(part, ScriptPart::Raw(_)));
        let is_simple = || plain(parts).is_some_and(|plain| !RESERVED.contains(&plain.name()));
        if is_raw || is_simple() {
            continue;
        }
        // A value that is refused at its place has an error of its own.
        let Ok(compiled) = compile(parts) else { continue };
        let text = compiled.text().to_owned();
        if !CHANGES_PARSER.iter().any(|word| text.contains(word)) {
            texts.push((index, text));
        }
    }
    texts
}

/// The texts that the parser rejects. `ask` returns what it said, or none where it was content.
pub fn faults(
    scripts: &[&[ScriptPart]],
    ask: &mut dyn FnMut(&str) -> Result<Option<String>, Trouble>,
) -> Result<Vec<Fault>, Trouble> {
    let texts = doubtful(scripts);
    let mut found = Vec::new();
    let mut open = if texts.is_empty() { vec![] } else { vec![texts.as_slice()] };
    while let Some(some) = open.pop() {
        let all: String = some.iter().map(|(_, text)| wrapped(text)).collect();
        let Some(said) = ask(&all)? else { continue };
        if let [(index, text)] = some {
            // About the text by itself the parser says it better.
            let (line, message) = match ask(text)? {
                Some(said) => message(&said),
                None => {
                    let (line, message) = message(&said);
                    (line.saturating_sub(1), message)
                }
            };
            let last = text.lines().count().max(1) as u32;
            found.push(Fault { text: *index, line: line.clamp(1, last), message });
            if found.len() == MAX_FAULTS {
                break;
            }
            continue;
        }
        let (first, second) = some.split_at(some.len() / 2);
        open.extend([second, first]);
    }
    Ok(found)
}

fn wrapped(text: &str) -> String {
    // The second line break is for a text that ends in a backslash.
    let guard = ": ')'\n: \")\"\n";
    format!("{{ :\n{text}\n\n}}\n{guard}( :\n{text}\n\n)\n{guard}")
}

/// Whether what a parser printed, besides its exit code, says that the text is incomplete.
pub fn is_incomplete(said: &str) -> bool {
    said.contains("here-document")
}

/// The line, and the first thing that was said about it, without the name of the program.
/// `bash: line 3: syntax error …`, `sh: 3: Syntax error: …`, `bash: eval: line 3: …`.
fn message(said: &str) -> (u32, String) {
    let line = said.lines().next().unwrap_or_default();
    let number = |text: &str| text.strip_prefix("line ").unwrap_or(text).parse::<u32>().ok();
    let parts: Vec<&str> = line.split(": ").collect();
    // Programs have no colon in their names; the number is among the first parts.
    let at = parts.iter().take(4).position(|part| number(part).is_some());
    let (number, rest) = match at {
        Some(at) => (number(parts[at]).unwrap_or(1), parts[at + 1..].join(": ")),
        None => (1, line.to_owned()),
    };
    let rest = rest.strip_prefix("eval: ").unwrap_or(&rest);
    let rest = rest.strip_prefix("warning: ").unwrap_or(rest);
    // Both shells begin with these words, and not always in lower case.
    let known = rest.get(..SYNTAX_ERROR.len()).filter(|it| it.eq_ignore_ascii_case(SYNTAX_ERROR));
    let message = match known {
        Some(_) => format!("shell {SYNTAX_ERROR}{}", &rest[SYNTAX_ERROR.len()..]),
        None => format!("shell {SYNTAX_ERROR}: {rest}"),
    };
    (number, message)
}

const SYNTAX_ERROR: &str = "syntax error";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_distinguished_from_its_line() {
        let bash = "bash: line 4: syntax error near unexpected token `)'\nbash: line 4: `x'";
        assert_eq!(message(bash), (4, "shell syntax error near unexpected token `)'".into()));
        let eval = "bash: eval: line 4: syntax error near unexpected token `)'";
        assert_eq!(message(eval), (4, "shell syntax error near unexpected token `)'".into()));
        let dash = "/dev/fd/8: 5: eval: Syntax error: \")\" unexpected\n";
        assert_eq!(message(dash), (5, "shell syntax error: \")\" unexpected".into()));
        let sh = "sh: 5: Syntax error: \")\" unexpected\n";
        assert_eq!(message(sh), (5, "shell syntax error: \")\" unexpected".into()));
    }

    #[test]
    fn one_question_is_enough_where_all_is_well() {
        let scripts: Vec<Vec<ScriptPart>> =
            (0..1000).map(|n| vec![ScriptPart::Text(format!("a{n} && b"))]).collect();
        let scripts: Vec<&[ScriptPart]> = scripts.iter().map(Vec::as_slice).collect();
        let mut asked = 0;
        let found = faults(&scripts, &mut |_| {
            asked += 1;
            Ok(None)
        });
        assert_eq!((found.unwrap(), asked), (vec![], 1));
    }

    #[test]
    fn faults_are_found_among_many_with_few_questions() {
        let text = |n: usize| format!("{}{n} && b", if n % 400 == 7 { "WRONG" } else { "a" });
        let scripts: Vec<Vec<ScriptPart>> =
            (0..1000).map(|n| vec![ScriptPart::Text(text(n))]).collect();
        let scripts: Vec<&[ScriptPart]> = scripts.iter().map(Vec::as_slice).collect();
        let mut asked = 0;
        let found = faults(&scripts, &mut |text| {
            asked += 1;
            Ok(text.contains("WRONG").then(|| "bash: line 1: wrong".to_owned()))
        });
        let found: Vec<usize> = found.unwrap().iter().map(|fault| fault.text).collect();
        assert_eq!(found, [7, 407, 807]);
        assert!(asked < 80, "{asked}");
    }

    #[test]
    fn plain_words_are_not_asked_about_unless_the_first_is_reserved() {
        let scripts = ["ls -l 'a b'", "done now", "fi", "make all", "echo )"];
        let scripts: Vec<Vec<ScriptPart>> =
            scripts.iter().map(|text| vec![ScriptPart::Text((*text).to_owned())]).collect();
        let scripts: Vec<&[ScriptPart]> = scripts.iter().map(Vec::as_slice).collect();
        let asked: Vec<usize> = doubtful(&scripts).iter().map(|(at, _)| *at).collect();
        assert_eq!(asked, [1, 2, 4]);
    }
}
