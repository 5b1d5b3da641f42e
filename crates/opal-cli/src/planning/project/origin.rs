//! The address of a git repository as a name: `host/group/repository`, however it is fetched.
//!
//! The name stands in clear in contracts and views, and an address may hold a token: who fetches,
//! and with what, is never part of the name.

/// Ports that say nothing beside their scheme.
const PORTS: [(&str, &str); 4] =
    [("https", ":443"), ("http", ":80"), ("ssh", ":22"), ("git", ":9418")];

/// None for what is no address of a server or a directory, and could hold anything.
pub(super) fn name(address: &str) -> Option<String> {
    let is_word = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    // `ext::sh -c …`: the address is for a helper program.
    if address.split_once("::").is_some_and(|(helper, _)| is_word(helper)) {
        return None;
    }
    let name = match address.split_once("://") {
        Some((scheme, rest)) => of_url(scheme, rest)?,
        None => of_path(address),
    };
    let name = name.trim_end_matches('/');
    let name = name.strip_suffix(".git").unwrap_or(name).trim_end_matches('/');
    (!name.is_empty()).then(|| name.to_owned())
}

fn of_url(scheme: &str, rest: &str) -> Option<String> {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = without_user(authority);
    // A password that holds a `/` ends up here.
    let port = host.rsplit_once(':').filter(|_| !host.ends_with(']'));
    if port.is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let usual = PORTS.iter().find(|(known, _)| *known == scheme);
    let host = usual.and_then(|(_, port)| host.strip_suffix(port)).unwrap_or(host);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    Some(format!("{}/{}", host.to_ascii_lowercase(), path.trim_start_matches('/')))
}

/// `user@host:path`, or a directory, which has no `:` before its first `/`.
fn of_path(address: &str) -> String {
    let (head, tail) = address.split_at(address.find('/').unwrap_or(address.len()));
    if !head.contains(':') {
        return address.to_owned();
    }
    let head = without_user(head);
    let inside = head.find(']').unwrap_or(0);
    let colon = head[inside..].find(':').map_or(head.len(), |at| inside + at);
    let path = format!("{}{tail}", head[colon..].trim_start_matches(':'));
    format!("{}/{}", head[..colon].to_ascii_lowercase(), path.trim_start_matches('/'))
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn one_repository_has_one_name_however_it_is_fetched() {
        for address in [
            "git@host.example:a/b",
            "git@host.example:a/b.git",
            "git@host.example:/a/b.git",
            "host.example:a/b",
            "ssh://git@host.example/a/b",
            "ssh://git@host.example:22/a/b.git/",
            "git://host.example/a/b",
            "http://host.example:80/a/b",
            "https://host.example/a/b.git",
            "https://HOST.example:443/a/b/",
            "https://user@host.example/a/b",
            "https://user:canary@host.example/a/b.git",
            "https://user:can@ry@host.example/a/b.git",
            "https://host.example/a/b.git?token=canary#canary",
            "user:canary@host.example:a/b",
            "user:canary@host.example/a/b",
        ] {
            assert_eq!(name(address).as_deref(), Some("host.example/a/b"), "{address}");
        }
    }

    #[test]
    fn other_places_have_other_names() {
        for (address, expected) in [
            ("ssh://git@host.example:2222/a/b", "host.example:2222/a/b"),
            ("git@[::1]:a/b", "[::1]/a/b"),
            ("ssh://git@[::1]/a/b", "[::1]/a/b"),
            ("/srv/git/a.git", "/srv/git/a"),
            ("file:///srv/git/a.git", "/srv/git/a"),
            ("../a", "../a"),
            ("https://host.example/@scope/a", "host.example/@scope/a"),
        ] {
            assert_eq!(name(address).as_deref(), Some(expected), "{address}");
        }
    }

    #[test]
    fn what_could_hold_anything_is_no_name() {
        for address in [
            "",
            "ext::sh -c 'fetch canary'",
            "codecommit::eu-west-1://canary@a",
            "https://user:can/ary@host.example/a",
            "https://user:can?ary",
        ] {
            assert_eq!(name(address), None, "{address}");
        }
    }
}
