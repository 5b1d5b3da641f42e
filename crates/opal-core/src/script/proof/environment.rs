//! What a step does with variables that it has from its environment.

use super::outline::names_runner;
use super::scan::is_name_byte;
use super::{Part, prove};
use crate::context::{Context, Place};

/// The places of the values that `names` have when the text starts; none where the text has no way to
/// the variable. What was pasted with `@raw` is its author's.
#[must_use]
pub fn prove_environment(names: &[&str], parts: &[Part<'_>]) -> Vec<Option<Context>> {
    let text = plain(parts);
    let reaches_all = text.windows(3).any(|it| it == b"${!") || names_runner(&text);
    let is_named = |name: &str| {
        reaches_all || text.split(|byte| !is_name_byte(*byte)).any(|it| it == name.as_bytes())
    };
    let used: Vec<bool> = names.iter().map(|name| is_named(name)).collect();
    if !used.contains(&true) {
        return vec![None; names.len()];
    }
    let assigned = names.iter().zip(&used).filter(|(_, used)| **used).flat_map(|(name, _)| {
        [
            Part::Text(name),
            Part::Text("="),
            Part::Value(Context::new(Place::Assignment)),
            Part::Text("\n"),
        ]
    });
    let step = parts.iter().map(|part| match part {
        Part::Pasted => Part::Text("_"),
        part => *part,
    });
    let all: Vec<Part<'_>> = assigned.chain(step).collect();
    let mut places = prove(&all).into_iter();
    used.iter().map(|used| if *used { places.next() } else { None }).collect()
}

/// The text between the values.
fn plain(parts: &[Part<'_>]) -> Vec<u8> {
    let mut text = Vec::new();
    for part in parts {
        match part {
            Part::Text(it) | Part::AtWord(it) => text.extend_from_slice(it.as_bytes()),
            Part::Value(_) | Part::Pasted => text.push(b' '),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refused, harmless only, free.
    fn class(text: &str) -> char {
        let place = prove_environment(&["X", "HOST_1"], &[Part::Text(text)]).remove(0);
        match place {
            Some(place) if place.refused().is_some() || place.is_hidden() => 'R',
            Some(place) if place.construct().is_some() => 'H',
            _ => 'F',
        }
    }

    #[test]
    fn a_variable_of_the_environment_is_judged_as_if_the_step_had_set_it() {
        for text in [
            "eval \"$X\"",
            "bash -c \"$X\"",
            "bash -c 'eval \"$X\"'",
            "echo \"$X\" | sh",
            "echo $((X + 1))",
            "[[ $X -gt 3 ]]",
            "n=X; eval \"${!n}\"",
            "declare -n r=X; eval \"$r\"",
            "ssh host \"deploy $X\"",
            "trap \"$X\" EXIT",
            "ls >& \"$X\"",
            "f() { eval \"$X\"; }; f",
            "eval \"$(printenv X)\"",
            "eval \"$(env | sed -n s/^X=//p)\"",
            "source <(env)",
        ] {
            assert_eq!(class(text), 'R', "{text}");
        }
        for text in ["eval \"$(./settings \"$X\")\"", "$X --version"] {
            assert_eq!(class(text), 'H', "{text}");
        }
        for text in [
            "echo $X",
            "curl -H \"Authorization: $X\" https://example.com",
            "bash -c 'echo \"$X\"'",
            "ssh host 'deploy \"$X\"'",
            "docker run -e X image",
            "cat <<E\n$X\nE",
            "for f in $X; do echo \"$f\"; done",
        ] {
            assert_eq!(class(text), 'F', "{text}");
        }
    }

    #[test]
    fn text_that_does_not_name_a_variable_says_nothing_about_it() {
        for text in ["coproc cat; ls !(a)", "eval2 \"$XY\"", "make -j4 && echo $[1]"] {
            assert_eq!(class(text), 'F', "{text}");
        }
    }
}
