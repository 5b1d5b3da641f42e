//! `web[01:20].example.com`, and a port after a host.

use std::net::Ipv6Addr;

use super::error::Fault;

/// Hosts, and the port of all of them.
pub(super) fn expanded(pattern: &str, most: usize) -> Result<(Vec<String>, Option<u32>), Fault> {
    let (host, port) = address(pattern).unwrap_or((pattern, None));
    let invalid = || Fault::Range(pattern.to_owned());
    let mut done: Vec<String> = vec![String::new()];
    let mut rest = host;
    while let Some(start) = range_start(rest) {
        let end = start + rest[start..].find(']').ok_or_else(invalid)?;
        let parts = sequence(&rest[start + 1..end], most).ok_or_else(invalid)?;
        if done.len().saturating_mul(parts.len()) > most {
            return Err(Fault::TooManyHosts);
        }
        let head = &rest[..start];
        let joined = |before: &String| {
            parts.iter().map(|part| format!("{before}{head}{part}")).collect::<Vec<_>>()
        };
        done = done.iter().flat_map(joined).collect();
        rest = &rest[end + 1..];
    }
    done.iter_mut().for_each(|host| host.push_str(rest));
    Ok((done, port))
}

/// Where a range begins: a bracket with a colon in it.
fn range_start(text: &str) -> Option<usize> {
    let (start, colon, end) = (text.find('[')?, text.find(':')?, text.find(']')?);
    (start < colon && colon < end).then_some(start)
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn sequence(range: &str, most: usize) -> Option<Vec<String>> {
    let bounds: Vec<&str> = range.split(':').collect();
    let (begin, end, step) = match bounds.as_slice() {
        [begin, end] => (*begin, *end, 1),
        [begin, end, step] => (*begin, *end, step.parse::<usize>().ok().filter(|it| *it > 0)?),
        _ => return None,
    };
    let begin = if begin.is_empty() { "0" } else { begin };
    let is_padded = begin.starts_with('0') && begin.len() > 1;
    if end.is_empty() || is_padded && begin.len() != end.len() {
        return None;
    }
    if let (Some(first), Some(last)) = (LETTERS.find(begin), LETTERS.find(end))
        && begin.len() == 1
        && end.len() == 1
    {
        let letters = (first <= last).then(|| &LETTERS[first..=last])?;
        return Some(letters.chars().step_by(step).map(String::from).collect());
    }
    let is_number = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    if !is_number(begin) || !is_number(end) {
        return None;
    }
    let (first, last) = (begin.parse::<u64>().ok()?, end.parse::<u64>().ok()?);
    let width = if is_padded { begin.len() } else { 0 };
    // One more than may be says that there are too many.
    let numbers = (first..=last).step_by(step).take(most + 1);
    Some(numbers.map(|number| format!("{number:0width$}")).collect())
}

/// A host with an optional port; none where the text is neither a name nor an address, ranges included.
pub(super) fn address(text: &str) -> Option<(&str, Option<u32>)> {
    let (mut host, mut port) = (text, None);
    if let Some((inside, number)) = text.strip_prefix('[').and_then(|rest| rest.rsplit_once("]:"))
        && let Some(number) = digits(number)
        && !inside.is_empty()
    {
        (host, port) = (inside, Some(number));
    }
    if let Some((before, number)) = host.rsplit_once(':')
        && let Some(number) = digits(number)
        && has_whole_brackets(before)
    {
        (host, port) = (before, Some(number));
    }
    let is_host = host.parse::<Ipv6Addr>().is_ok() || is_name(host);
    is_host.then_some((host, port))
}

fn digits(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u32::MAX))
}

/// Without a colon outside brackets, and every bracket closed.
fn has_whole_brackets(text: &str) -> bool {
    let mut is_inside = false;
    for c in text.chars() {
        match (c, is_inside) {
            ('[', false) => is_inside = true,
            (']', true) => is_inside = false,
            (_, true) => {}
            (':' | ']', false) => return false,
            _ => {}
        }
    }
    !is_inside
}

/// Labels with dots between them. A label begins with a letter, a digit, `_` or a range, and does not
/// end in `-` or `_`.
fn is_name(text: &str) -> bool {
    let mut rest = text;
    loop {
        let mut last = None;
        loop {
            match rest.chars().next() {
                Some('[') => {
                    let Some(end) = rest.find(']') else { return false };
                    if !is_range(&rest[1..end]) {
                        return false;
                    }
                    (last, rest) = (Some(']'), &rest[end + 1..]);
                }
                Some(c) if c.is_alphanumeric() || c == '_' || c == '-' && last.is_some() => {
                    (last, rest) = (Some(c), &rest[c.len_utf8()..]);
                }
                _ => break,
            }
        }
        if matches!(last, None | Some('-' | '_')) {
            return false;
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None => return rest.is_empty(),
        }
    }
}

fn is_range(text: &str) -> bool {
    let bounds: Vec<&str> = text.split(':').collect();
    let is_number = |it: &&str| !it.is_empty() && it.bytes().all(|c| c.is_ascii_digit());
    let is_letter = |it: &&str| it.len() == 1 && it.bytes().all(|c| c.is_ascii_alphabetic());
    let (begin, end) = match bounds.as_slice() {
        [begin, end] => (begin, end),
        [begin, end, step] if is_number(step) => (begin, end),
        _ => return false,
    };
    is_number(begin) && is_number(end) || is_letter(begin) && is_letter(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_out_as_ansible_does() {
        for (pattern, expected, port) in [
            ("web", "web", None),
            ("web[1:3]", "web1 web2 web3", None),
            ("web[01:03].x", "web01.x web02.x web03.x", None),
            ("db-[a:c]", "db-a db-b db-c", None),
            ("n[1:7:3]", "n1 n4 n7", None),
            ("n[:2]", "n0 n1 n2", None),
            ("a[1:2]b[x:y]", "a1bx a1by a2bx a2by", None),
            ("web[1:2]:2222", "web1 web2", Some(2222)),
            ("10.0.0.[8:10]", "10.0.0.8 10.0.0.9 10.0.0.10", None),
            ("[2001:db8::1]:22", "2001:db8::1", Some(22)),
            ("2001:db8::1", "2001:db8::1", None),
            ("n[5:3]", "", None),
        ] {
            let (hosts, found) = expanded(pattern, 100).unwrap();
            assert_eq!((hosts.join(" ").as_str(), found), (expected, port), "{pattern}");
        }
        for pattern in ["n[1:]", "n[01:100]", "n[c:a]", "n[1:2:0]", "n[1:2:3:4]", "n[x:12]", "n[:"]
        {
            assert!(expanded(pattern, 100).is_err() || pattern == "n[:", "{pattern}");
        }
        assert_eq!(expanded("n[1:99999999999]", 100), Err(Fault::TooManyHosts));
        assert_eq!(expanded("n[1:20][1:20]", 100), Err(Fault::TooManyHosts));
    }
}
