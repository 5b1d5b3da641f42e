//! YAML for Ansible, in which every text is data.
//!
//! Ansible takes any text of an inventory or of variables for a template. `!unsafe` says that it is
//! none, and JSON cannot say that.

use std::fmt::Write as _;

use serde_json::Value;

/// The interpreter that runs Ansible, in Ansible's own words: the one template that is written.
pub(super) const OWN_INTERPRETER: &str = "{{ ansible_playbook_python }}";

/// The document that holds a value.
pub(super) fn document(value: &Value) -> String {
    let mut text = String::new();
    node(value, 0, &mut text);
    text.push('\n');
    text
}

fn node(value: &Value, level: usize, out: &mut String) {
    match value {
        Value::String(text) => {
            // An empty text that is tagged is read as null, and holds no template in any case.
            if text != OWN_INTERPRETER && !text.is_empty() {
                out.push_str("!unsafe ");
            }
            quoted(text, out);
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| (None, item));
            collection(['[', ']'], items, level, out);
        }
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| (Some(key.as_str()), value));
            collection(['{', '}'], fields, level, out);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn collection<'v>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = (Option<&'v str>, &'v Value)>,
    level: usize,
    out: &mut String,
) {
    let line = |level: usize, out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', 2 * level));
    };
    out.push(open);
    let mut is_empty = true;
    for (key, value) in items {
        if !std::mem::replace(&mut is_empty, false) {
            out.push(',');
        }
        line(level + 1, out);
        if let Some(key) = key {
            quoted(key, out);
            out.push_str(": ");
        }
        node(value, level + 1, out);
    }
    if !is_empty {
        line(level, out);
    }
    out.push(close);
}

/// A text in quotes. Readers of YAML refuse some characters and fold others, so whatever is neither
/// a letter nor plain ASCII is written by its number.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ if c.is_alphanumeric() => out.push(c),
            _ => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_data_and_stays_on_its_line() {
        let hostile = "a\"\n- b: !!python/object\\ {{ x }}\u{2028}\u{7f}é😀";
        let text = document(&json!({ hostile: [hostile, 1, null, true, {}, []] }));
        let inner =
            r#""a\"\U0000000A- b: !!python/object\\ {{ x }}\U00002028\U0000007Fé\U0001F600""#;
        let lines = format!(
            "{{\n  {inner}: [\n    !unsafe {inner},\n    1,\n    null,\n    true,\n    {{}},\n    []\n  ]\n}}\n"
        );
        assert_eq!(text, lines);
    }

    #[test]
    fn the_own_interpreter_is_the_only_template() {
        let text = document(&json!([OWN_INTERPRETER, "{{ lookup('pipe', 'id') }}"]));
        assert_eq!(text.matches("!unsafe").count(), 1);
        assert!(text.contains("\n  \"{{ ansible_playbook_python }}\""));
    }
}
