//! Memory and CPU time of templates.
//!
//! A template that only puts values into text is tame. One that computes can ask for any amount of
//! memory in a few words (`batch(1000000000)`, a text doubled forty times), and no count of steps sees
//! that: only the system can refuse it. So it is rendered in a process of its own.

use std::io;

use opal_core::template;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Memory of the process, in bytes.
const MAX_MEMORY: u64 = template::MAX_MEMORY_MIB << 20;

/// From now on this process may use so much.
pub fn limit_this_process() -> io::Result<()> {
    for (resource, most) in [(Resource::As, MAX_MEMORY), (Resource::Cpu, template::MAX_SECONDS)] {
        let known = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(known));
        setrlimit(resource, Rlimit { current: most, maximum: most })?;
    }
    Ok(())
}

/// Whether a template may be rendered in a process that does other work too.
pub(crate) fn is_tame(jinja: &str) -> bool {
    let mut rest = jinja;
    let is_tag = |pair: &[u8]| matches!(pair, b"{{" | b"{%");
    while let Some(at) = rest.as_bytes().windows(2).position(is_tag) {
        let end = if rest[at..].starts_with("{{") { "}}" } else { "%}" };
        let Some((tag, following)) = rest[at + 2..].split_once(end) else { return false };
        // Where a text holds what looks like the end of its tag, the tag goes on.
        if ends_in_text(tag) || !is_tame_tag(tag.trim_matches(['-', '+'])) {
            return false;
        }
        rest = following;
    }
    true
}

fn ends_in_text(tag: &str) -> bool {
    let (mut quote, mut chars) = (None, tag.chars());
    while let Some(c) = chars.next() {
        match quote {
            Some(_) if c == '\\' => drop(chars.next()),
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
    }
    quote.is_some()
}

/// Names, literals, comparisons, and filters that make nothing longer than a few times its size.
fn is_tame_tag(tag: &str) -> bool {
    const FILTERS: [&str; 16] = [
        "abs",
        "bool",
        "capitalize",
        "d",
        "default",
        "e",
        "escape",
        "first",
        "float",
        "int",
        "last",
        "length",
        "lower",
        "safe",
        "trim",
        "upper",
    ];
    const WORDS: [&str; 10] = [
        "block",
        "call",
        "do",
        "extends",
        "filter",
        "import",
        "include",
        "macro",
        "recursive",
        "set",
    ];
    let mut filters = tag.split('|').skip(1).map(str::trim_start);
    let name = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
    };
    let is_known = |text: &str| name(text).is_some_and(|it| FILTERS.contains(&it.as_str()));
    let mut words = tag.split(|c: char| !c.is_alphanumeric() && c != '_');
    !tag.contains(['*', '~', '+', '%', '[', '{'])
        && filters.all(is_known)
        && !words.any(|word| WORDS.contains(&word))
        && !calls(tag)
}

/// Whether something but a filter is called.
fn calls(tag: &str) -> bool {
    let mut parts = tag.split('|');
    let first = parts.next().unwrap_or_default();
    let own = |filter: &str| filter.trim().split('(').next().is_some_and(is_name);
    first.contains('(')
        || parts.any(|filter| match filter.matches('(').count() {
            0 => false,
            count => count > 1 || !own(filter),
        })
}

fn is_name(text: &str) -> bool {
    text.trim_end().chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_puts_values_into_text_is_tame() {
        for tame in [
            "plain {text}",
            "{{ name }} {{- a.b }} {{ port | default(\"80\") | upper }}",
            "{% if a == \"x\" and not b %}y{% elif c %}z{% endif %}",
            "{% for x in list %}{{ x.name }}{{ loop.index }}{% endfor %}",
        ] {
            assert!(is_tame(tame), "{tame}");
        }
        for wild in [
            "{{ \"a\" * 1000000000 }}",
            "{{ x ~ x }}",
            "{{ x + x }}",
            "{{ \"%09d\" % 1 }}",
            "{{ x | batch(1000000000) }}",
            "{{ x | upper | indent(1000000000) }}",
            "{% for i in range(100000) %}{% endfor %}",
            "{% set s = s %}",
            "{% set s %}{{ s }}{{ s }}{% endset %}",
            "{% macro f(s) %}{{ f(s) }}{% endmacro %}",
            "{{ [x, x] }}",
            "{{ x | default(range(9)) }}",
            "{{ x | upper == y.replace('', z) }}",
            "{{ unclosed",
            "{{ \"}}\" ~ x }}",
            "{{ \"a'b\" == 'c}}' ~ x }}",
            "{{ \"\\\"}}\" ~ x }}",
            "{# {{ #}{{ x ~ x }}",
        ] {
            assert!(!is_tame(wild), "{wild}");
        }
    }
}
