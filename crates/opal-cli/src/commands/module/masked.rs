//! A file of inputs as it may be shown beside what is wrong with it: keys, and no values.

/// The text with a `*` for everything that may be a part of a value. Places stay where they are.
pub(super) fn masked(text: &str) -> String {
    text.split_inclusive('\n').map(line).collect()
}

/// A key at the start of a line stays, with the blanks and dashes before it. A file with faults cannot
/// be read any better than that.
fn line(line: &str) -> String {
    let start = line.find(|c: char| !" \t-".contains(c)).unwrap_or(line.len());
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let end = line[start..].find(|c| !is_of_key(c)).map_or(line.len(), |length| start + length);
    let behind = line[end..]
        .strip_prefix(':')
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace()));
    let kept = if behind { end + 1 } else { start };
    let (before, after) = line.split_at(kept);
    let hidden = after.chars().map(|c| match c {
        c if c.is_whitespace() => c.to_string(),
        c => "*".repeat(c.len_utf8()),
    });
    format!("{before}{}", hidden.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_and_values_do_not_wherever_they_stand() {
        let text = "size: small # why\n  db.pass_word:\tcä x\r\n- - a-b: [c, d]\nkey: |\n  MIIE-x+y=\n\
                    {password: x}\n\"quoted: x\": y\nurl:x\n---\n\npin:\n";
        let shown = "size: ***** * ***\n  db.pass_word:\t*** *\r\n- - a-b: *** **\nkey: *\n  *********\n\
                     ********** **\n******** *** *\n*****\n---\n\npin:\n";
        assert_eq!(masked(text), shown);
        assert_eq!(masked(text).len(), text.len());
    }
}
