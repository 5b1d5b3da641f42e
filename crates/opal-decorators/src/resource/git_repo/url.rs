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

/// The text with stars for names and passwords in the addresses that it holds. A user of ssh
/// without a password is not a secret.
pub(super) fn without_credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, following) = rest.split_at(at + 3);
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '\'' | '"' | '`');
        let authority = &following[..following.find(ends).unwrap_or(following.len())];
        out.push_str(before);
        rest = following;
        if let Some((user, _)) = authority.rsplit_once('@') {
            let is_secret = !before.ends_with("ssh://") || user.contains(':');
            out.push_str(if is_secret { "***" } else { user });
            rest = &following[user.len()..];
        }
    }
    out + rest
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
