//! Values that look like a secret, whatever they are called: a URL with a password, a private key
//! in PEM, a JWT, a token that begins as its issuer has all of them begin.

use std::ops::Range;

use super::tokens::Tokens;

/// Whether a text has such a secret in it.
#[must_use]
pub fn looks_secret(text: &str) -> bool {
    !passwords(text).is_empty() || has_private_key(text) || has_token(text.as_bytes())
}

/// Where the passwords of the URLs in a text are: `hunter2` in `postgres://app:hunter2@db/x`.
#[must_use]
pub fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (sign, _) in text.match_indices("://") {
        let has_scheme = text[..sign].ends_with(|c: char| c.is_ascii_alphanumeric());
        let start = sign + "://".len();
        let ends = |c: char| c.is_whitespace() || "/?#\"'`<>\\".contains(c);
        let authority = &text[start..];
        let authority = &authority[..authority.find(ends).unwrap_or(authority.len())];
        let Some((user, _)) = authority.rsplit_once('@').filter(|_| has_scheme) else { continue };
        let Some((name, password)) = user.split_once(':') else { continue };
        if !is_stand_in(password) {
            let from = start + name.len() + 1;
            found.push(from..from + password.len());
        }
    }
    found
}

/// Nothing, a mask, or a name for what is put in later: `***`, `${PASSWORD}`, `<password>`.
fn is_stand_in(password: &str) -> bool {
    let encloses = |(from, to)| password.starts_with(from) && password.ends_with(to);
    password.chars().all(|c| "*.xX#-_?•●…".contains(c))
        || [("$", ""), ("{", "}"), ("<", ">"), ("%", "%")].into_iter().any(encloses)
}

/// Whether the words between the dashes of a PEM block are those of a private key.
#[must_use]
pub fn is_private(label: &[u8]) -> bool {
    label.windows(11).any(|here| here == b"PRIVATE KEY")
}

fn has_private_key(text: &str) -> bool {
    let labels = text.match_indices("-----BEGIN ").map(|(at, begin)| &text[at + begin.len()..]);
    labels
        .filter_map(|rest| rest.split_once("-----"))
        .any(|(label, _)| is_private(label.as_bytes()))
}

fn has_token(text: &[u8]) -> bool {
    let mut tokens = Tokens::default();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let mut at = 0;
    while let Some(start) = text[at..].iter().position(|byte| is_part(*byte)) {
        let start = at + start;
        let length = text[start..].iter().take_while(|byte| is_part(**byte)).count();
        at = start + length;
        if tokens.find(text, start..at, false).is_some() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_secret_by_its_looks_or_it_is_not() {
        let github = ["gh", "p_0123456789abcdefghij0123456789abcdef"].concat();
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N";
        for text in [
            "postgres://u:pw@h/db",
            "https://bot:hunter2@git.example.com/x.git",
            "redis://:hunter2@cache:6379/0",
            "a://b@c d://user:p%40ss@host",
            "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            jwt,
            &format!("Bearer {jwt}"),
            &github,
            &format!("https://{github}@github.com/x"),
            "AKIAIOSFODNN7EXAMPLE",
        ] {
            assert!(looks_secret(text), "{text}");
        }
        for text in [
            "",
            "/home/bo",
            "us",
            "https://example.com/a:b@c",
            "https://user@example.com",
            "ssh://git@github.com:22/x",
            "postgres://u:@h/db",
            "postgres://u:***@h/db",
            "postgres://u:${PASSWORD}@h/db",
            "postgres://u:<password>@h/db",
            "http://[::1]:8080/",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "eyJ",
            "ghp_short",
            "unix:///var/run/docker.sock",
            "/usr/local/bin:/usr/bin:/bin",
            "en_US.UTF-8",
            "npm_config_cache",
        ] {
            assert!(!looks_secret(text), "{text}");
        }
    }

    #[test]
    fn the_password_of_a_url_is_found_where_it_is() {
        let text = "x postgres://app:hunter2@db/x redis://:second@r";
        let found: Vec<&str> = passwords(text).into_iter().map(|at| &text[at]).collect();
        assert_eq!(found, ["hunter2", "second"]);
    }
}
