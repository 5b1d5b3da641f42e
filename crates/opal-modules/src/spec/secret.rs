//! Secrets that were written into a spec: it is read by everybody, and copied into archives.
//!
//! A key that says secret counts with any text after it, except one that only names a secret; a
//! text that looks like a secret counts after any key, and in a list. What is found is never
//! repeated.

use opal_core::class::name::{Says, in_text};
use opal_core::{Code, Diagnostic};
use opal_vault::looks_secret;

use super::super::inputs::is_placeholder;
use super::super::reference::shorten;
use opal_config::document::{Node, NodeKind};
use opal_config::report::Report;
use opal_yaml::scalar::{Meaning, meaning};

/// The way out for an input.
pub(super) fn named(name: &str) -> String {
    format!("leave it empty, and name the variable that contains it: `{name}_env: …`")
}

/// Reports every secret below a node; `help` tells what to do with the key of one.
pub(crate) fn refuse(node: &Node, help: fn(&str) -> String, report: &mut Report<'_>) {
    match &node.kind {
        NodeKind::Map(pairs) => {
            for (key, value) in pairs {
                if let NodeKind::Scalar { text: name, .. } = &key.kind
                    && is_secret(name, value)
                {
                    report.push(found(name, value, help));
                } else {
                    refuse(value, help, report);
                }
            }
        }
        NodeKind::List(items) => items.iter().for_each(|item| refuse(item, help, report)),
        NodeKind::Scalar { text, .. } => {
            if shows_secret(text) {
                report.push(unnamed(node));
            }
        }
    }
}

/// Reports every text and every key below a node that is a secret by its looks, whatever it is there
/// for.
pub(super) fn recognise(node: &Node, report: &mut Report<'_>) {
    match &node.kind {
        NodeKind::Map(pairs) => {
            for (key, value) in pairs {
                recognise(key, report);
                recognise(value, report);
            }
        }
        NodeKind::List(items) => items.iter().for_each(|item| recognise(item, report)),
        NodeKind::Scalar { text, .. } if shows_secret(text) => {
            let help = "remove it: everyone can read a spec";
            report.error(Code::SpecSecret, node.span, "secret in a spec", help);
        }
        NodeKind::Scalar { .. } => {}
    }
}

/// Whether [`recognise`] would report anything below a node.
pub(super) fn is_found(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Map(pairs) => pairs.iter().any(|(key, value)| is_found(key) || is_found(value)),
        NodeKind::List(items) => items.iter().any(|item| is_found(item)),
        NodeKind::Scalar { text, .. } => shows_secret(text),
    }
}

fn found(name: &str, value: &Node, help: fn(&str) -> String) -> Diagnostic {
    let name = shorten(name);
    Diagnostic::new(Code::SpecSecret, value.span, format!("`{name}` contains a secret"))
        .help(help(&name))
}

/// In a list, or as the whole of what is given.
fn unnamed(value: &Node) -> Diagnostic {
    Diagnostic::new(Code::SpecSecret, value.span, "a default contains a secret")
        .help("remove it, and name the variable that contains it")
}

fn is_secret(name: &str, value: &Node) -> bool {
    let NodeKind::Scalar { text, plain } = &value.kind else { return false };
    if shows_secret(text) {
        return true;
    }
    let says = in_text(name.as_bytes(), false);
    let Some(says @ (Says::Password | Says::Passphrase | Says::Secret)) = says else {
        return false;
    };
    match if *plain { meaning(text) } else { Meaning::Text } {
        Meaning::Text if is_key_of_secret(name) => names_nothing(text) && is_drawn(text),
        Meaning::Text => names_nothing(text),
        // Switches and times are numbers too.
        Meaning::Int(_) | Meaning::Float(_) | Meaning::OddNumber => says == Says::Password,
        Meaning::Null | Meaning::Bool(_) => false,
    }
}

/// Whether a text tells without a name that a secret is in it: the beginning of a token, a private key.
pub(super) fn shows_secret(text: &str) -> bool {
    looks_secret(text) && !is_placeholder(text)
}

/// `secret_key`, `secretKey`: also what the part of a secret is called that has it.
fn is_key_of_secret(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.to_ascii_lowercase().ends_with("secretkey")
}

/// Whether a text is more than the name of a place where a secret is: a variable, a template, nothing
/// yet.
fn names_nothing(text: &str) -> bool {
    let is_variable = text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.contains('_')
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let is_template = text.contains("{{") || text.contains("${") || text.contains("$(");
    !text.trim().is_empty() && !is_variable && !is_template && !is_placeholder(text)
}

/// Whether a text looks drawn by lot. A `secret_key` may also be the name of a part of a secret:
/// `credentials.json`.
fn is_drawn(text: &str) -> bool {
    text.len() >= 16
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(line: &str) -> Vec<String> {
        let text = format!("{line}\n");
        let read = crate::document::plain(&text, |node, report| {
            refuse(node, named, report);
            Some(())
        });
        read.diagnostics.into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn a_literal_after_a_name_that_says_secret_is_one() {
        for line in [
            "password: hunter2",
            "password: 12345678",
            "db_password: \"x\"",
            "dbPassword: x",
            "DB-PASSWORD: x",
            "shared_secret_a: x",
            "token2: x",
            "api_key: abc",
            "secret_key: 8Jx0qv2LmZ4tYw7R",
            "ssh_private_key: x",
            "note: \"-----BEGIN OPENSSH PRIVATE KEY-----\\nabc\"",
            "a: {b: [{psk: x}]}",
        ] {
            assert_eq!(secrets(line).len(), 1, "{line}");
        }
    }

    #[test]
    fn a_text_that_looks_like_a_secret_is_one_after_any_name() {
        let token = ["gh", "p_0123456789abcdefghij0123456789abcdef"].concat();
        for line in [
            format!("note: {token}"),
            format!("args: [--verbose, {token}]"),
            format!("env: {{VALUE: \"x {token}\"}}"),
            "dsn: postgres://bob:hunter2@db/app".to_owned(),
            "command: mysql --password hunter2".to_owned(),
        ] {
            let found = secrets(&line);
            assert_eq!(found.len(), 1, "{line}");
            assert!(!found[0].contains("gh") && !found[0].contains("hunter2"), "{found:?}");
        }
    }

    #[test]
    fn what_only_names_a_secret_is_none() {
        for line in [
            "password: \"\"",
            "password:",
            "password: DB_PASSWORD",
            "password: CHANGE_ME_PASSWORD",
            "token: \"{{ lookup('env', 'TOKEN') }}\"",
            "token: ${TOKEN}",
            "password_env: x",
            "secret_name: x",
            "token_ttl: 3600",
            "use_token: true",
            "cookie_ttl_s: 900",
            "secret_key: credentials.json",
            "template_key: ubuntu-24.04",
            "public_key: ssh-ed25519 AAAA",
            "pull_secrets: [registry]",
            "secretary: x",
            "note: ghp_short",
            "note: postgres://bob:CHANGE_ME@db/app",
            "note: postgres://bob:${PASSWORD}@db/app",
            "note: the password is in the vault",
            "image: registry.example.com/token:latest",
            "args: [--password-file, /run/secrets/db]",
            "command: mysql --password $DB_PASSWORD",
        ] {
            assert_eq!(secrets(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_secret_is_never_repeated() {
        assert_eq!(secrets("token: canary-7720"), ["`token` contains a secret"]);
    }
}
