//! What a value is in its place.

use super::{Context, Data, Place, Secret, Trouble, TroubleKind, scalar_text};

/// The places where the text around a parameter quotes it already, or where quotes would be
/// characters like any others. A subscript and a sum take only numbers, which need none.
pub(super) fn is_bare(place: Place) -> bool {
    match place {
        Place::Quoted | Place::Heredoc | Place::Arithmetic | Place::Subscript => true,
        Place::Word | Place::Assignment | Place::Redirection | Place::Expansion => false,
    }
}

/// The shell words that a value becomes: one, or, for an array that is a whole word, one for each
/// element.
pub(super) fn words(data: &Data, context: Context) -> Result<Vec<Secret>, Trouble> {
    if context.is_reevaluated() {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            "a value would become code: the text around it is evaluated once more",
            "pass it as data, as an argument or on standard input, or paste it with `@raw(…)`",
        ));
    }
    match (context.place(), data) {
        (Place::Arithmetic, Data::Int(number)) => Ok(vec![Secret::new(summand(*number))]),
        (Place::Subscript, Data::Int(_)) => word(data).map(|word| vec![word]),
        (Place::Arithmetic | Place::Subscript, _) => Err(Trouble::new(
            TroubleKind::Invalid,
            format!("the shell would evaluate this {} as code", data.type_of()),
            "calculate with opal: `var n = int(…)`, then `@var.n`",
        )),
        (Place::Word, Data::Array(items)) if context.is_whole_word() => {
            items.iter().map(word).collect()
        }
        _ => word(data).map(|word| vec![word]),
    }
}

fn word(data: &Data) -> Result<Secret, Trouble> {
    match data {
        Data::Text(text) => Ok(text.clone()),
        Data::Array(_) | Data::Map(_) => Err(Trouble::new(
            TroubleKind::Invalid,
            format!("{} has no one form inside a word of a command", data.type_of().with_article()),
            "join its parts: `var text = join(…, \",\")`",
        )),
        scalar => Ok(Secret::new(scalar_text(scalar).as_str())),
    }
}

/// A number inside a sum: `3 -@var.n` must not become `3 --1`, and the least number has no
/// positive counterpart that a shell could negate.
fn summand(number: i64) -> String {
    match number {
        0.. => number.to_string(),
        i64::MIN => format!("({}-1)", i64::MIN + 1),
        _ => format!("({number})"),
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

/// How long that is: a buffer that grows leaves copies behind that nobody wipes.
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

    #[test]
    fn a_number_in_a_sum_keeps_its_sign_apart() {
        let summands = [0, 7, -7, i64::MIN].map(summand);
        assert_eq!(summands, ["0", "7", "(-7)", "(-9223372036854775807-1)"]);
    }
}
