//! A difference, line by line. What is printed here is still one that `patch` accepts.

use opal_core::message;
use opal_core::resource::details::Mark;
use opal_core::view::visible::character;
use opal_vault::verification::ShownDetails;

/// All of it.
pub(crate) fn whole(details: &ShownDetails, colour: bool) -> String {
    bounded(details, colour, usize::MAX, "")
}

/// At most `most` lines, and how many there are more; each begins with `indent`.
pub(crate) fn bounded(details: &ShownDetails, colour: bool, most: usize, indent: &str) -> String {
    let text = details.text();
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_terminator('\n').zip(details.marks());
    for (line, mark) in lines.by_ref().take(most) {
        let code = code(*mark).filter(|_| colour);
        out.push_str(indent);
        out.push_str(code.unwrap_or_default());
        // `patch` needs the line ends as they are; people have to see what differs.
        let (line, end) = match line.strip_suffix('\r') {
            Some(line) if !colour => (line, "\r"),
            _ => (line, ""),
        };
        out.extend(line.chars().map(|c| if c == '\t' { c } else { character(c) }));
        out.push_str(end);
        out.push_str(if code.is_some() { "\x1b[0m\n" } else { "\n" });
    }
    match lines.count() {
        0 => {}
        more => out.push_str(&format!("{indent}… {}\n", message::counted(more, "more line"))),
    }
    out
}

fn code(mark: Mark) -> Option<&'static str> {
    match mark {
        Mark::Name => Some("\x1b[1m"),
        Mark::Removed => Some("\x1b[31m"),
        Mark::Added => Some("\x1b[32m"),
        Mark::Hunk => Some("\x1b[36m"),
        Mark::Words | Mark::Same => None,
    }
}
