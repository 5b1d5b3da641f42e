//! How a value is written in its place.

use super::Place;

/// The places where the text around a parameter quotes it already, or where quotes would be
/// characters like any others. A subscript and a sum take only numbers, which need none.
pub(super) fn is_bare(place: Place) -> bool {
    match place {
        Place::Quoted | Place::Heredoc | Place::Arithmetic | Place::Subscript => true,
        Place::Word | Place::Assignment | Place::Redirection | Place::Expansion => false,
    }
}

/// Text between single quotes, where only the quote itself means something.
pub(super) fn single(into: &mut String, text: &str) {
    into.push('\'');
    for (index, piece) in text.split('\'').enumerate() {
        if index > 0 {
            into.push_str("'\\''");
        }
        into.push_str(piece);
    }
    into.push('\'');
}

/// How long that is: a buffer that grows leaves copies that nothing wipes.
pub(super) fn single_bytes(text: &str) -> usize {
    text.len() + 3 * text.matches('\'').count() + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_ends_no_text() {
        let mut out = String::new();
        single(&mut out, "it's '$(x)");
        assert_eq!(out, r"'it'\''s '\''$(x)'");
        assert_eq!(out.len(), single_bytes("it's '$(x)"));
    }
}
