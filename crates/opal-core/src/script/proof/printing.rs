//! What commands print.

use super::letters::Letters;
use super::tree::Values;
use super::variables::Variables;
use crate::script::words::Word;

/// Commands that print nothing of their words, unless a message does.
const SILENT: &[&[u8]] = &[
    b":",
    b"[",
    b"cat",
    b"exit",
    b"false",
    b"mapfile",
    b"read",
    b"readarray",
    b"return",
    b"shift",
    b"sleep",
    b"test",
    b"true",
    b"unset",
    b"wait",
];

/// Commands that print variables, if they are given none to set.
const LISTS: &[&[u8]] = &[
    b"compgen",
    b"declare",
    b"env",
    b"envsubst",
    b"export",
    b"local",
    b"printenv",
    b"readonly",
    b"set",
    b"typeset",
];

/// What a command prints of its own words and of variables, without what it reads.
pub(super) fn own(name: &[u8], rest: &[Word<'_>], own: Values, variables: &Variables) -> Values {
    let sets = |word: &Word<'_>| word.text.contains(&b'=');
    if LISTS.contains(&name) && !rest.iter().any(sets) {
        return own.and(variables.every().held);
    }
    if SILENT.contains(&name) { Values::NONE } else { own }
}

/// Whether what it prints is a number, whatever it reads: `wc -l`, `grep -c`.
pub(super) fn is_number(name: &[u8], rest: &[Word<'_>]) -> bool {
    let flags = |word: &Word<'_>| word.whole && word.text.starts_with(b"-");
    match name {
        // It names the files that it is given.
        b"wc" => rest.iter().all(flags),
        b"grep" => {
            // `-H` and a second file print names, and other options may.
            let usual = |word: &&Word<'_>| {
                let letters = word.text.strip_prefix(b"-").unwrap_or_default();
                !letters.is_empty() && letters.iter().all(|it| b"ciqsvwxEFPao".contains(it))
            };
            let options = || rest.iter().filter(|word| flags(word));
            let counts = options().any(|word| word.text.contains(&b'c'));
            // A pattern, and one file that is written.
            let mut operands = rest.iter().filter(|word| !flags(word)).skip(1);
            let is_file = |word: &Word<'_>| word.whole && !word.text.contains(&b'*');
            let is_one = operands.next().is_none_or(is_file) && operands.next().is_none();
            counts && options().all(|word| usual(&word)) && is_one
        }
        // `stat -c %s`
        b"stat" if rest.iter().filter(|word| is_format(word)).count() > 1 => false,
        b"stat" => rest.iter().any(|word| {
            let format = word.text.strip_prefix(b"-c").unwrap_or(&word.text);
            word.whole && matches!(format, b"%s" | b"%Y" | b"%X" | b"%Z" | b"%W" | b"%a")
        }),
        _ => false,
    }
}

/// An option of `stat` that says what it prints; the last one counts.
fn is_format(word: &Word<'_>) -> bool {
    [&b"-c"[..], b"-f", b"--f", b"--p"].iter().any(|start| word.text.starts_with(start))
}

/// Whether messages of commands may go where their output goes: `2>&1`, `|&`, `&> FILE`.
pub(super) fn is_loud(src: &[u8], letters: Letters) -> bool {
    if !letters.has_any(const { Letters::of(b"|>") }) {
        return false;
    }
    src.windows(2).any(|pair| pair == b"|&")
        || src.iter().enumerate().any(|(at, byte)| *byte == b'>' && redirects_messages(src, at))
}

fn redirects_messages(src: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| src[at]);
    let after = src[at + 1..].strip_prefix(b">").unwrap_or(&src[at + 1..]);
    let (copies, after) = match after.strip_prefix(b"&") {
        Some(after) => (true, after),
        None => (false, after.strip_prefix(b"|").unwrap_or(after)),
    };
    let target = after.trim_ascii_start();
    let is_quiet = target.starts_with(b"/dev/null")
        || copies && (target.starts_with(b"2") || target.starts_with(b"-"));
    (copies || matches!(before, Some(b'2' | b'&' | b'}'))) && !is_quiet
}
