//! The address of a git repository as a name: `host/group/repository`, however it is fetched.
//!
//! A name stands in clear in contracts and views, and an address may hold a token: who fetches, and
//! with what, is never part of it.

/// None where the address is that of a helper program, which could hold anything.
pub(super) fn name(address: &str) -> Option<String> {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, address),
    };
    let helper = |word: &str| word.contains("::") && !word.contains('[');
    if helper(scheme.unwrap_or(address)) {
        return None;
    }
    // What a server is asked beside the path is no part of the repository, and may be a token.
    let rest = match scheme {
        Some("http" | "https") => rest.split(['?', '#']).next().unwrap_or(rest),
        _ => rest,
    };
    let (authority, path) = match (scheme, rest.split_once('/')) {
        (_, Some((authority, path))) => (authority, path),
        (_, None) => (rest, ""),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = port_at(host);
    let name = match (scheme, port) {
        (Some(scheme), Some(at)) if is_default(scheme, &host[at..]) => {
            format!("{}/{path}", host[..at].to_lowercase())
        }
        (Some(_), _) => format!("{}/{path}", host.to_lowercase()),
        // `host:path`, as ssh has it; before a `/`, a path here can have no `:`.
        (None, Some(at)) => {
            let start = &host[at + 1..];
            let slash = if start.is_empty() || !rest.contains('/') { "" } else { "/" };
            format!("{}/{start}{slash}{path}", host[..at].to_lowercase())
        }
        (None, None) => rest.to_owned(),
    };
    let name = name.trim_end_matches('/');
    let name = name.strip_suffix(".git").unwrap_or(name).trim_end_matches('/');
    (!name.is_empty()).then(|| name.to_owned())
}
