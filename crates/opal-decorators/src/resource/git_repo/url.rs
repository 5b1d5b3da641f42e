//! Addresses of repositories.

use opal_core::resolver::{Probe, Trouble, TroubleKind};

use super::git::{TRANSPORTS, text};

/// What git is given: a path is made whole, since git would see it from somewhere else.
pub(super) fn whole(url: &str, probe: &dyn Probe) -> Result<String, Trouble> {
    if let Some(transport) = transport(url).filter(|it| !TRANSPORTS.contains(it)) {
        let message = format!("unsupported transport `{transport}`");
        let help =
            format!("expected one of: {}, `user@host:path` or a path", TRANSPORTS.join(", "));
        return Err(Trouble::new(TroubleKind::Invalid, message, help));
    }
    let is_option = |host: &str| host.starts_with('-');
    if url.is_empty() || is_option(url) || is_option(host(url)) || url.contains(char::is_control) {
        let message = format!("invalid repository address `{}`", without_credentials(url));
        let help = "write it as `https://…`, `ssh://…`, `user@host:path` or a path";
        return Err(Trouble::new(TroubleKind::Invalid, message, help));
    }
    if is_path(url) { Ok(text(&probe.place(url)?)?.to_owned()) } else { Ok(url.to_owned()) }
}

/// `https` of `https://…`, `ext::` of `ext::…`: what git would start for it.
fn transport(url: &str) -> Option<&str> {
    let is_name = |it: &&str| {
        !it.is_empty()
            && it.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let helper = url.split_once("::").map(|(before, _)| before).filter(is_name);
    let helper = helper.map(|name| &url[..name.len() + 2]);
    helper.or_else(|| url.split_once("://").map(|(before, _)| before))
}

/// The host of an address, without its user; nothing of a path.
fn host(url: &str) -> &str {
    let authority = match url.split_once("://") {
        Some((_, rest)) => rest.split('/').next().unwrap_or_default(),
        None if is_path(url) => "",
        None => url.split(':').next().unwrap_or_default(),
    };
    authority.rsplit('@').next().unwrap_or_default()
}

/// As git tells them apart: `host:path` has its colon before the first slash.
fn is_path(url: &str) -> bool {
    let first = url.split('/').next().unwrap_or_default();
    !url.contains("://") && !first.contains(':')
}

/// The text with stars for names, passwords and queries in the addresses that it holds. A user of
/// ssh without a password is not a secret.
pub(super) fn without_credentials(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`');
    let words = text.split_inclusive(ends).map(|piece| {
        let word = piece.trim_end_matches(ends);
        format!("{}{}", address_without_credentials(word), &piece[word.len()..])
    });
    words.collect()
}

fn address_without_credentials(word: &str) -> String {
    let Some(at) = word.find("://") else {
        // `user:password@host:path`
        let login = word.rsplit_once('@').filter(|(user, host)| {
            user.contains(':') && host.split('/').next().is_some_and(|host| host.contains(':'))
        });
        return login.map_or_else(|| word.to_owned(), |(_, host)| format!("***@{host}"));
    };
    let (scheme, rest) = word.split_at(at + 3);
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if !scheme.ends_with("ssh://") || user.contains(':') => {
            format!("***@{host}")
        }
        _ => authority.to_owned(),
    };
    match path.split_once('?') {
        Some((path, _)) => format!("{scheme}{authority}{path}?***"),
        None => format!("{scheme}{authority}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opal_testing::MemoryWorld;

    #[test]
    fn credentials_are_not_shown() {
        for (text, shown) in [
            ("https://ann:pw@example.com/a.git", "https://***@example.com/a.git"),
            ("https://ghp_token@example.com/a", "https://***@example.com/a"),
            ("https://ann:p@w@example.com", "https://***@example.com"),
            ("http://example.com/a@b", "http://example.com/a@b"),
            ("ssh://git@example.com/a", "ssh://git@example.com/a"),
            ("ssh://git:pw@example.com/a", "ssh://***@example.com/a"),
            ("git@example.com:a.git", "git@example.com:a.git"),
            ("at 'https://a:b@x/' and 'https://c@y/'", "at 'https://***@x/' and 'https://***@y/'"),
            ("://", "://"),
            ("https://h/a.git?private_token=x&y", "https://h/a.git?***"),
            ("https://h?t=x", "https://h?***"),
            ("bob:pw@host:x.git", "***@host:x.git"),
            ("from 'bob:p@w@host:x/y.git': no", "from '***@host:x/y.git': no"),
            ("bob:pw@host", "bob:pw@host"),
            ("fatal: no\n  such: a@b\n", "fatal: no\n  such: a@b\n"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }

    #[test]
    fn no_address_is_an_option() {
        let world = MemoryWorld::default();
        for url in [
            "",
            "-x",
            "--upload-pack=touch /x",
            "a\nb",
            "ssh://-oProxyCommand=touch/x",
            "ssh://git@-oProxyCommand=touch/x",
            "-oProxyCommand=x:a",
            "git@-oProxyCommand=x:a",
        ] {
            assert_eq!(whole(url, &world).unwrap_err().kind, TroubleKind::Invalid, "{url}");
        }
    }

    #[test]
    fn only_ways_that_start_no_other_program_are_taken() {
        let world = MemoryWorld::default();
        for url in ["https://x/y", "ssh://git@x/y", "git@host:a.git", "host:/a", "git://x/y"] {
            assert_eq!(whole(url, &world).unwrap(), url);
        }
        for url in [
            "ext::sh -c 'touch x'",
            "fd::17",
            "hg::https://x/y",
            "https::ext::sh",
            "ftp://x/y",
            "rsync://x/y",
            "s3://bucket/y",
            "HTTPS://x/y",
            "://x",
        ] {
            let refused = whole(url, &world).unwrap_err();
            assert!(refused.message.contains("unsupported transport"), "{url} {refused:?}");
        }
    }

    #[test]
    fn paths_are_distinguished_from_addresses() {
        for path in ["../a.git", "/srv/a.git", "~/a", "a", "./host:a", "a/b:c"] {
            assert!(is_path(path), "{path}");
        }
        for address in ["https://x/y", "git@host:a.git", "host:/a", "file:///a", "ext::sh -c x"] {
            assert!(!is_path(address), "{address}");
        }
    }
}
