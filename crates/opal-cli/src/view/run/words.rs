//! How things of a run are said: steps, endings, times. Text in, text out.

use std::borrow::Cow;
use std::time::Duration;

pub(crate) use opal_core::duration::rounded as time;
use opal_core::view::visible;
use signal_hook::low_level::signal_name;

/// How a step that did not succeed ended, with what its exit code usually means.
pub(super) fn ending(code: i32) -> String {
    match signal(code) {
        Some(_) => short_ending(code),
        None => format!("failed with {}", short_ending(code)),
    }
}

/// The same in few words.
pub(super) fn short_ending(code: i32) -> String {
    if let Some(name) = signal(code) {
        return format!("was killed by {name} (exit code {code})");
    }
    let meaning = match code {
        124 => ": timed out",
        126 => ": the command was found, but cannot be executed",
        127 => ": command not found",
        141 => ": broken pipe: the reader closed the pipe (SIGPIPE)",
        _ => "",
    };
    format!("exit code {code}{meaning}")
}

/// The signal that ended a step, where its exit code says nothing else.
fn signal(code: i32) -> Option<&'static str> {
    code.checked_sub(128).filter(|_| code != 141).and_then(signal_name)
}

/// A length that was chosen: whole seconds are written so.
pub(super) fn pause(length: Duration) -> String {
    if length.subsec_millis() == 0 { seconds(length) } else { time(length) }
}

/// Whole seconds, for what changes while one looks.
pub(super) fn seconds(length: Duration) -> String {
    match length.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        _ => time(length),
    }
}

/// A step's text for one line: the first line that is a command, and how many more there are.
pub(super) fn head(text: &str) -> String {
    let (first, more) = first_line(text);
    format!("{first}{}", lines_more(more))
}

/// The first line that says what runs, and how many others the text has: none that is blank, a comment
/// or only a bracket.
pub(super) fn first_line(text: &str) -> (String, usize) {
    let text = text.trim();
    let says_nothing = |line: &str| {
        let line = line.trim();
        let is_comment = line.starts_with('#') || line == "//" || line.starts_with("// ");
        is_comment || line.chars().all(|c| matches!(c, '(' | '{' | ' '))
    };
    let real = text.lines().find(|line| !says_nothing(line));
    let first = real.or_else(|| text.lines().next()).unwrap_or_default();
    (visible::line(&shortened(first.trim())), text.lines().count().saturating_sub(1))
}

/// Characters of a command that are shown.
const MAX_COMMAND_CHARS: usize = 2_000;

/// As much of a command as anybody reads.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_COMMAND_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// ` (+4 lines)`.
pub(super) fn lines_more(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => " (+1 line)".to_owned(),
        more => format!(" (+{more} lines)"),
    }
}

/// As much of one line as fits into `columns`.
pub(super) fn cut(line: &str, columns: usize) -> Cow<'_, str> {
    let mut used = 0;
    // Where to cut, should it be too long: one column is for the `…`.
    let mut end = 0;
    for (at, c) in line.char_indices() {
        if used < columns {
            end = at;
        }
        used += width(c);
        if used > columns {
            return Cow::Owned(format!("{}…", &line[..end]));
        }
    }
    Cow::Borrowed(line)
}

/// The columns of one line, without its colours.
pub(super) fn columns(line: &str) -> usize {
    plain(line).chars().map(width).sum()
}

/// The columns of a character on most terminals.
pub(crate) fn width(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200c..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Text of a program as plain words: no colours, of a line that was written over only the last
/// state, nothing that acts on a terminal.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                Some(']') => {
                    while chars.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}') {}
                    chars.next_if_eq(&'\\');
                }
                _ => {}
            },
            '\t' => out.push_str("    "),
            _ => out.push(c),
        }
    }
    let lines = out.split('\n').map(|line| {
        let line = line.trim_end_matches('\r');
        visible::line(line.rsplit('\r').next().unwrap_or_default())
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_have_their_meaning() {
        assert_eq!(ending(7), "failed with exit code 7");
        assert_eq!(ending(127), "failed with exit code 127: command not found");
        assert_eq!(ending(137), "was killed by SIGKILL (exit code 137)");
        assert_eq!(ending(130), "was killed by SIGINT (exit code 130)");
        assert_eq!(ending(143), "was killed by SIGTERM (exit code 143)");
        for code in [128, 255, 256, -1, i32::MIN, i32::MAX] {
            assert_eq!(ending(code), format!("failed with exit code {code}"));
        }
    }

    #[test]
    fn times_have_two_digits_that_count() {
        let times = [0, 999, 1_000, 2_345, 59_999, 60_000, 185_000, 7_620_000];
        let shown = times.map(|millis| time(Duration::from_millis(millis)));
        assert_eq!(shown, ["0ms", "999ms", "1.0s", "2.3s", "59.9s", "1m00s", "3m05s", "2h07m"]);
    }

    #[test]
    fn lines_are_cut_by_columns_and_never_inside_a_character() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("🔒🔒🔒", 6), "🔒🔒🔒");
        assert_eq!(cut("🔒🔒🔒", 5), "🔒🔒…");
        assert_eq!(cut("🔒🔒🔒", 4), "🔒…");
        assert_eq!(cut("ab", 1), "…");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn of_several_lines_the_first_command_is_shown_and_a_count() {
        assert_eq!(head("echo a"), "echo a");
        assert_eq!(head("\ncat <<EOF\nx\nEOF\n"), "cat <<EOF (+2 lines)");
        assert_eq!(head("(\n  cd a\n)"), "cd a (+2 lines)");
        assert_eq!(head("("), "(");
        assert_eq!(head("# why\n\n// that\n  make all\n"), "make all (+3 lines)");
        assert_eq!(head("# only\n# this"), "# only (+1 line)");
        assert_eq!(head("//go:build"), "//go:build");
        assert_eq!(head("echo \u{1b}[2J"), "echo ␛[2J");
    }

    #[test]
    fn the_output_of_programs_is_plain_when_it_is_told_again() {
        assert_eq!(plain("\u{1b}[1;31mred\u{1b}[0m\r\nb\tc"), "red\nb    c");
        assert_eq!(plain("10%\r50%\r100%\r\n"), "100%\n");
        assert_eq!(plain("\u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y"), "xy");
        assert_eq!(plain("a\u{8}b\u{1b}"), "a␈b");
    }
}
