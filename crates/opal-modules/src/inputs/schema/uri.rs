//! References between parts of a schema, resolved against the address of the schema that they are in
//! (RFC 3986, section 5.2). Nothing is fetched: an address is only a name for a part of the document.

/// The address of a schema that gives itself none.
pub(super) const UNNAMED: &str = "json-schema:///";

/// The address that `reference` means where `base` is the address around it, and its fragment.
pub(super) fn resolve(base: &str, reference: &str) -> (String, String) {
    let (reference, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let (base, to) = (Parts::of(base), Parts::of(reference));
    let resolved = if to.scheme.is_some() {
        to.with(&flat(to.path))
    } else if to.authority.is_some() {
        Parts { scheme: base.scheme, ..to }.with(&flat(to.path))
    } else if to.path.is_empty() {
        Parts { query: to.query.or(base.query), ..base }.with(base.path)
    } else if to.path.starts_with('/') {
        Parts { query: to.query, ..base }.with(&flat(to.path))
    } else {
        let directory = base.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        Parts { query: to.query, ..base }.with(&flat(&format!("{directory}/{}", to.path)))
    };
    (resolved, decoded(fragment))
}

#[derive(Clone, Copy)]
struct Parts<'t> {
    scheme: Option<&'t str>,
    authority: Option<&'t str>,
    path: &'t str,
    query: Option<&'t str>,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Self {
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, text),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Self { scheme, authority, path, query }
    }

    fn with(self, path: &str) -> String {
        let scheme = self.scheme.map(|scheme| format!("{scheme}:")).unwrap_or_default();
        let authority = self.authority.map(|name| format!("//{name}")).unwrap_or_default();
        let query = self.query.map(|query| format!("?{query}")).unwrap_or_default();
        format!("{scheme}{authority}{path}{query}")
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A path without `.` and `..`.
fn flat(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            // The empty part before the first slash stays.
            ".." => parts.truncate(parts.len().saturating_sub(1).max(1)),
            part => parts.push(part),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        parts.push("");
    }
    parts.join("/")
}

/// A fragment without `%41`. Where that is not a text, it is as it was and leads to nothing.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match (first, after) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_resolved_as_the_standard_says() {
        // Section 5.4 of RFC 3986.
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", reference).0, expected, "{reference}");
        }
        let (address, fragment) = resolve("urn:uuid:1", "#/a%25b%2");
        assert_eq!((address.as_str(), fragment.as_str()), ("urn:uuid:1", "/a%b%2"));
        assert_eq!(resolve(UNNAMED, "x.json#y"), ("json-schema:///x.json".into(), "y".into()));
    }
}
