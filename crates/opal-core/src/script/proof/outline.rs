//! What the words of a step tell without its structure.

use std::borrow::Cow;

use super::letters::{Letters, table};
use super::scan::is_name_byte;
use crate::script::cases::{At, Case, Role};
use crate::script::programs::find;

/// Whether a command of the text runs another text in the same shell.
pub(super) fn sets_unseen(src: &[u8], letters: Letters) -> bool {
    const NAMES: [&[u8]; 6] = [b"eval", b"source", b".", b"trap", b"mapfile", b"readarray"];
    const LETTERS: [Letters; 6] = letters_of(NAMES);
    LETTERS.iter().any(|name| letters.has_all(*name)) && names_command(src, &NAMES)
}

const fn letters_of<const COUNT: usize>(names: [&[u8]; COUNT]) -> [Letters; COUNT] {
    let mut letters = [Letters::of(&[]); COUNT];
    let mut at = 0;
    while at < COUNT {
        letters[at] = Letters::of(names[at]);
        at += 1;
    }
    letters
}

const SHIFT: Letters = Letters::of(b"shift");

/// Where the first word is that lets `$1` be another than the first: `shift`, or a loop around it.
pub(super) fn first_shift(src: &[u8], letters: Letters) -> Option<usize> {
    if !letters.has_all(SHIFT) {
        return None;
    }
    const LOOPS: [&[u8]; 4] = [b"shift", b"while", b"until", b"for"];
    let (mut at, mut first, mut shifts) = (0, None, false);
    for word in src.split(|byte| !is_name_byte(*byte)) {
        if LOOPS.contains(&word) {
            first = first.or(Some(at));
            shifts |= word == b"shift";
        }
        at += word.len() + 1;
    }
    first.filter(|_| shifts)
}

/// How often `shift` is called; in a loop any number of times.
pub(super) fn shifted(src: &[u8], letters: Letters) -> usize {
    if !letters.has_all(SHIFT) {
        return 0;
    }
    let mut words = src.split(|byte| !is_name_byte(*byte)).peekable();
    let (mut count, mut is_looping) = (0usize, false);
    while let Some(word) = words.next() {
        match word {
            b"while" | b"until" | b"for" => is_looping = true,
            b"shift" if is_looping => return usize::MAX,
            b"shift" => {
                let number = words.peek().and_then(|next| std::str::from_utf8(next).ok());
                count += number.and_then(|next| next.parse().ok()).unwrap_or(1);
            }
            _ => {}
        }
    }
    count
}

/// Whether a text uses `$_`, which holds the last word of the command before it.
pub(super) fn reads_last(src: &[u8]) -> bool {
    src.windows(2).any(|it| it == b"$_") || src.windows(3).any(|it| it == b"${_")
}

/// Whether a program that prints variables of the environment as they are is named.
pub(super) fn prints_variables(src: &[u8], letters: Letters) -> bool {
    let is_end = |byte: &u8| !is_name_byte(*byte);
    letters.has_all(const { Letters::of(b"env") })
        && src.split(is_end).any(|word| matches!(word, b"env" | b"printenv"))
}

/// Whether a word, whatever quotes are in it, names a program that runs text.
pub(super) fn names_runner(src: &[u8]) -> bool {
    static ENDS: [bool; 256] = table(b" \t\n\x0c\r;&|()<>`{}$=,!");
    let letters = Letters::of(src);
    let bare = match letters.has_any(const { Letters::of(b"\"'\\") }) {
        true => Cow::Owned(without_quotes(src)),
        false => Cow::Borrowed(src),
    };
    let is_code = |case: &'static Case| {
        case.role == Role::Code
            && !matches!(case.at, At::After(_) | At::Attribute(_) | At::Past(_) | At::Setting)
    };
    let is_run = |word: &[u8]| {
        let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let end = word.iter().position(|byte| !is_name_byte(*byte)).unwrap_or(word.len());
        matches!(&word[..end], b"PS4" | b"PS0" | b"PROMPT_COMMAND")
            || word != b"." && find(name).is_some_and(|it| it.cases().any(is_code))
    };
    letters.has(b'.') && names_command(&bare, &[b"."])
        || bare.split(|byte| ENDS[*byte as usize]).any(is_run)
        || letters.has_all(const { Letters::of(b"$'\\") }) && src.windows(3).any(|it| it == b"$'\\")
}

fn without_quotes(src: &[u8]) -> Vec<u8> {
    let mut bare = Vec::with_capacity(src.len());
    let mut at = 0;
    while let Some(byte) = src.get(at) {
        match byte {
            b'\\' if src.get(at + 1) == Some(&b'\n') => at += 1,
            b'"' | b'\'' | b'\\' => {}
            byte => bare.push(*byte),
        }
        at += 1;
    }
    bare
}

/// Whether a text has a command with one of these names.
fn names_command(src: &[u8], names: &[&[u8]]) -> bool {
    const BEFORE: [&[u8]; 14] = [
        b"!", b"--", b"-p", b"builtin", b"command", b"do", b"elif", b"else", b"exec", b"if",
        b"then", b"time", b"until", b"while",
    ];
    static COMMANDS: [bool; 256] = table(b";&|(){`\n");
    src.split(|byte| COMMANDS[*byte as usize]).any(|command| {
        let mut words = command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let name = words.find(|word| !BEFORE.contains(word) && !word.contains(&b'='));
        name.is_some_and(|name| names.contains(&name))
    })
}

/// Whether a step changes the case of letters in variables.
pub(super) fn changes_case(src: &[u8]) -> bool {
    let has = |part: &[u8]| src.windows(part.len()).any(|it| it == part);
    has(b",,")
        || has(b",}")
        || has(b"@L")
        || has(b" -l") && names_command(src, &[b"declare", b"local", b"readonly", b"typeset"])
}

/// Whether a step makes a variable an array: `NAME=(`, `read -a NAME`, `mapfile NAME`.
pub(super) fn is_array(src: &[u8], name: &[u8]) -> bool {
    let is_list = |part: &[u8]| {
        let text = [name, part].concat();
        src.windows(text.len()).any(|it| it == text)
    };
    let commands = src.split(|byte| b";&|(){`\n".contains(byte));
    let is_named = |command: &[u8]| {
        let words = || command.split(u8::is_ascii_whitespace);
        let is_option = |word: &[u8]| {
            matches!(word, b"mapfile" | b"readarray")
                || word.starts_with(b"-") && word.iter().any(|it| matches!(it, b'a' | b'A'))
        };
        words().any(is_option) && words().any(|word| word == name)
    };
    is_list(b"=(") || is_list(b"+=(") || is_list(b"[") || commands.into_iter().any(is_named)
}
