//! Enough of HCL to see its blocks and attributes: comments, texts and heredocs are passed over.

use opal_core::Span;

use super::pack::{Found, span};

/// Functions that read a file.
const READERS: [&str; 9] = [
    "abspath",
    "file",
    "filebase64",
    "fileexists",
    "filemd5",
    "filesha256",
    "fileset",
    "read_terragrunt_config",
    "templatefile",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    Word(&'t str),
    /// Without its quotes.
    Text(&'t str),
    Number(&'t str),
    Sign(u8),
    LineEnd,
}

/// What a pack must not hold, in the order of the text. Takes time linear in it.
pub(super) fn scan(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut blocks: Vec<&str> = Vec::new();
    // The words and texts since the line began: what a `{` belongs to.
    let mut head: Vec<(Token<'_>, Span)> = Vec::new();
    let mut attribute = "";
    for (token, place) in Tokens::of(text) {
        match token {
            Token::Sign(b'{') => {
                let name = match head.first() {
                    Some((Token::Word(word), _)) if attribute.is_empty() => *word,
                    _ => "",
                };
                let parent = blocks.last().copied().unwrap_or_default();
                if keeps_state(name, parent, &head) {
                    found.push(Found::Backend(head.first().map_or(place, |(_, span)| *span)));
                }
                blocks.push(name);
                (attribute, head) = ("", Vec::new());
            }
            Token::Sign(b'}') => drop(blocks.pop()),
            Token::Sign(b'=') => {
                if let [(Token::Word(word), _)] = head[..] {
                    attribute = word;
                }
            }
            Token::LineEnd => {
                attribute = "";
                head.clear();
            }
            Token::Text(path) if path.starts_with('/') || path.starts_with("~/") => {
                let reads = matches!(head[..], [.., (Token::Word(word), _), (Token::Sign(b'('), _)] if READERS.contains(&word));
                let parent = blocks.last().copied().unwrap_or_default();
                if reads || names_file(attribute, parent) {
                    found.push(Found::AbsolutePath(place));
                }
                head.push((token, place));
            }
            _ => head.push((token, place)),
        }
    }
    found
}

/// Whether a block says where state is kept.
fn keeps_state(name: &str, parent: &str, head: &[(Token<'_>, Span)]) -> bool {
    match name {
        "backend" | "cloud" => parent == "terraform",
        "remote_state" => parent.is_empty() && head.len() == 1,
        "generate" => matches!(head.get(1), Some((Token::Text("backend"), _))),
        _ => false,
    }
}

/// Whether an attribute names a file of the machine that runs the pack.
fn names_file(attribute: &str, parent: &str) -> bool {
    match attribute {
        "source" => matches!(parent, "module" | "terraform"),
        "path" => parent == "include",
        "config_path" => parent == "dependency",
        _ => false,
    }
}

#[derive(Debug)]
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = (Token<'t>, Span);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = &self.text[self.at..];
            let first = *rest.as_bytes().first()?;
            let start = self.at;
            if rest.starts_with('#') || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.at += comment.find("*/").map_or(rest.len(), |end| end + 4);
            } else if let Some(length) = heredoc(rest) {
                self.at += length;
            } else if first == b'"' {
                self.at += quoted(rest);
                let inner =
                    rest[1..self.at - start].strip_suffix('"').unwrap_or(&rest[1..self.at - start]);
                return Some((Token::Text(inner), span(start, self.at)));
            } else if first == b'\n' {
                self.at += 1;
                return Some((Token::LineEnd, span(start, self.at)));
            } else if first.is_ascii_alphabetic() || first == b'_' {
                let is_word = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
                self.at += rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                return Some((Token::Word(&self.text[start..self.at]), span(start, self.at)));
            } else if first.is_ascii_digit() {
                let is_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
                self.at += rest.find(|c| !is_number(c)).unwrap_or(rest.len());
                return Some((Token::Number(&self.text[start..self.at]), span(start, self.at)));
            } else {
                self.at += rest.chars().next().map_or(1, char::len_utf8);
                if !first.is_ascii_whitespace() {
                    return Some((Token::Sign(first), span(start, self.at)));
                }
            }
        }
    }
}

/// The length of a text in quotes, with what is interpolated in it.
fn quoted(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    // Whether each open part is a text; the others are interpolations and braces in them.
    let mut open = vec![true];
    let mut at = 1;
    while at < bytes.len() {
        let is_text = open.last() == Some(&true);
        match bytes[at] {
            b'\\' if is_text => at += 1,
            b'"' if is_text => drop(open.pop()),
            b'"' => open.push(true),
            b'$' | b'%' if is_text && bytes.get(at + 1) == Some(&b'{') => {
                open.push(false);
                at += 1;
            }
            b'{' if !is_text => open.push(false),
            b'}' if !is_text => drop(open.pop()),
            // A text ends with its line, so that a forgotten quote hides no more than that.
            b'\n' if open.len() == 1 => return at,
            _ => {}
        }
        at += 1;
        if open.is_empty() {
            return at;
        }
    }
    bytes.len()
}

/// The length of a heredoc that begins here.
fn heredoc(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("<<")?;
    let after = after.strip_prefix('-').unwrap_or(after);
    let (word, _) = after.split_once('\n')?;
    let word = word.trim_end();
    if word.is_empty() || !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let mut length = rest.find('\n')? + 1;
    for line in rest[length..].split_inclusive('\n') {
        length += line.len();
        if line.trim() == word {
            // Its line end is the statement's.
            return Some(length - usize::from(line.ends_with('\n')));
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<char> {
        let kind = |found| match found {
            Found::Backend(_) => 'b',
            Found::AbsolutePath(_) => 'p',
        };
        scan(text).into_iter().map(kind).collect()
    }

    #[test]
    fn backends_are_found_in_every_form() {
        for text in [
            "terraform {\n  backend \"s3\" {\n    bucket = \"a\"\n  }\n}\n",
            "terraform { backend \"local\" {} }",
            "terraform {\n  cloud {\n  }\n}",
            "remote_state {\n  backend = \"s3\"\n}\n",
            "generate \"backend\" {\n  path = \"b.tf\"\n}\n",
        ] {
            assert_eq!(kinds(text), ['b'], "{text}");
        }
    }

    #[test]
    fn words_that_only_look_like_one_are_left_alone() {
        for text in [
            "# terraform { backend \"s3\" {} }\n/* remote_state {} */\n// cloud {\n",
            "x = \"terraform { backend {} }\"\n",
            "a = <<-EOF\nterraform {\n backend \"s3\" {}\n}\nEOF\nb = 1\n",
            "resource \"lb_rule\" \"backend\" {\n  backend {\n    path = \"/healthz\"\n  }\n}\n",
            "locals {\n  cloud = { a = 1 }\n  backend = { b = \"/x\" }\n}\n",
            "data \"terraform_remote_state\" \"x\" {\n}\n",
            "x = \"${try(local.a[\"}\"], \"{\")}\"\nremote = { a = 1 }\n",
        ] {
            assert_eq!(kinds(text), [], "{text}");
        }
    }

    #[test]
    fn absolute_paths_are_found_where_a_file_is_read() {
        for text in [
            "module \"a\" {\n  source = \"/opt/modules/a\"\n}\n",
            "terraform {\n  source = \"~/modules/a\"\n}\n",
            "include \"root\" {\n  path = \"/srv/root.hcl\"\n}\n",
            "a = file(\"/etc/secret\")\n",
            "a = templatefile(\"/etc/a.tpl\", {})\n",
        ] {
            assert_eq!(kinds(text), ['p'], "{text}");
        }
        for text in [
            "module \"a\" {\n  source = \"./a\"\n}\n",
            "include \"root\" {\n  path = \"${get_terragrunt_dir()}/root.hcl\"\n}\n",
            "check {\n  path = \"/healthz\"\n  mount = \"/var/lib\"\n}\n",
        ] {
            assert_eq!(kinds(text), [], "{text}");
        }
    }

    #[test]
    fn no_text_is_too_broken_to_be_scanned() {
        for text in [
            "\"",
            "\"${",
            "<<",
            "<<A",
            "/*",
            "{{{",
            "}}}",
            "\"\\",
            "ä{\"ß",
            "terraform {\n\"${\"}\n",
        ] {
            scan(text);
        }
    }
}
