//! What a pack must not hold, in files of HCL.

use opal_core::Span;

use super::pack::Found;
use crate::hcl::{Token, Tokens};

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
