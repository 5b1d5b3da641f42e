//! Chains in a template: `a + b + c …`, `x | f | g …`, `elif` after `elif`. The engine bounds how deep
//! brackets and blocks go, and not these, for each link of which it goes one deeper.

use opal_core::template::Fault;

/// Links of one tag, and branches of all of them. Far more than anybody writes, and far less than a
/// stack has room for.
const MOST_LINKS: usize = 2_000;

const OPERATORS: &[u8] = b"+-*/%~|.<>=![";

const WORDS: [&[u8]; 7] = [b"and", b"or", b"not", b"is", b"in", b"if", b"else"];

/// Refuses a template with a chain that is too long.
pub(super) fn demand_short(template: &str) -> Result<(), Fault> {
    let bytes = template.as_bytes();
    let (mut at, mut branches) = (0, 0);
    while let Some(open) = memchr::memchr(b'{', &bytes[at..]).map(|open| at + open) {
        let close: &[u8] = match bytes.get(open + 1) {
            Some(b'{') => b"}}",
            Some(b'%') => b"%}",
            _ => {
                at = open + 1;
                continue;
            }
        };
        let (length, tag) = tag(&bytes[open + 2..], close);
        branches += usize::from(tag.trim_ascii_start().starts_with(b"elif"));
        if links(&tag) > MOST_LINKS || branches > MOST_LINKS {
            let line = memchr::memchr_iter(b'\n', &bytes[..open]).count() + 1;
            let why = format!("more than {MOST_LINKS} operators or branches in a row");
            return Err(Fault::at(line, why));
        }
        at = open + 2 + length;
    }
    Ok(())
}

/// How long a tag is, and what is in it apart from its texts.
fn tag(rest: &[u8], close: &[u8]) -> (usize, Vec<u8>) {
    let (mut bare, mut quote) = (Vec::new(), None);
    let mut escaped = false;
    for (index, &byte) in rest.iter().enumerate() {
        match quote {
            Some(_) if std::mem::take(&mut escaped) => {}
            Some(_) if byte == b'\\' => escaped = true,
            Some(open) if open == byte => quote = None,
            Some(_) => {}
            None if rest[index..].starts_with(close) => return (index, bare),
            None if matches!(byte, b'\'' | b'"') => quote = Some(byte),
            None => bare.push(byte),
        }
    }
    (rest.len(), bare)
}

fn links(tag: &[u8]) -> usize {
    let operators = tag.iter().filter(|byte| OPERATORS.contains(byte)).count();
    let words = tag.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    operators + words.filter(|word| WORDS.contains(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_is_too_long_is_refused_with_its_line() {
        for chain in ["+1", " and x", "|f", ".x", "[0]", " if x else y"] {
            let template = |count| format!("a\n{{{{ x{} }}}}\n", chain.repeat(count));
            assert_eq!(demand_short(&template(900)), Ok(()), "{chain}");
            let fault = demand_short(&template(2_001)).unwrap_err();
            assert_eq!(fault.line, Some(2), "{chain}");
        }
        let branches = "{% elif x %}".repeat(2_001);
        assert!(demand_short(&format!("{{% if x %}}{branches}{{% endif %}}")).is_err());
    }

    #[test]
    fn a_long_text_or_list_is_not_a_chain() {
        let list = "1, ".repeat(10_000);
        let text = "+".repeat(10_000);
        let tags = format!("{{% set a = [{list}] %}}{{{{ '}}}} {text}' }}}}");
        let template = format!("{tags}{text}{{ {text} }}{}", "{{ x }}.".repeat(5_000));
        assert_eq!(demand_short(&template), Ok(()));
    }
}
