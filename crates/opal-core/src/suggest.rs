//! "Did you mean": the nearest of the names that exist.

/// The distance at which a name still counts as a typo of `name`. A swap of neighbours is one edit.
#[must_use]
pub fn reach(name: &str) -> usize {
    match name.chars().count() {
        // One edit makes any short name out of any other.
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    }
}

/// Nobody mistypes a longer name by a letter, and comparing takes the product of the lengths.
const LONGEST: usize = 64;

/// Edits from `a` to `b`: insertions, deletions, replacements, swaps of neighbours.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

/// The candidate nearest to `given`, if any is within reach. Where two are equally near, it is the one
/// that begins like `given` for longer, then the first in order.
///
/// Case alone never counts as a difference: `string` finds `String`.
#[must_use]
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > LONGEST {
        return None;
    }
    let lower = given.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(given.len()) <= 2)
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(edits, candidate)| *edits <= reach(candidate))
        .map(|(edits, candidate)| (edits, usize::MAX - shared_start(&lower, candidate), candidate))
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// How many characters two names have in common at their beginning.
fn shared_start(lower: &str, candidate: &str) -> usize {
    let pairs = lower.chars().zip(candidate.chars().flat_map(char::to_lowercase));
    pairs.take_while(|(a, b)| a == b).count()
}

/// Whether `given` is, part by part, a typo of the dotted path `registered`.
#[must_use]
pub(crate) fn is_typo(given: &str, registered: &str) -> bool {
    if given.len() > LONGEST
        || given == registered
        || given.split('.').count() != registered.split('.').count()
    {
        return false;
    }
    given
        .split('.')
        .zip(registered.split('.'))
        .all(|(typed, part)| distance(typed, part) <= reach(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        assert_eq!(distance("vra", "var"), 1);
        assert_eq!(nearest("vra", ["env", "var"]), Some("var"));
    }

    #[test]
    fn short_names_allow_one_edit_and_longer_ones_two() {
        assert_eq!(nearest("xyz", ["env"]), None);
        assert_eq!(nearest("deplyo", ["deploy", "build"]), Some("deploy"));
        assert_eq!(nearest("dpoly", ["deploy"]), Some("deploy"));
    }

    #[test]
    fn of_two_equally_near_names_the_one_with_the_same_beginning_is_meant() {
        assert_eq!(distance("--stga", "--stage"), distance("--stga", "--sign"));
        assert_eq!(nearest("--stga", ["--sign", "--stage"]), Some("--stage"));
        assert_eq!(nearest("--nabe", ["--name", "--nade"]), Some("--nade"));
    }

    #[test]
    fn a_typo_in_any_part_of_a_path_is_a_typo() {
        assert!(is_typo("git.comit", "git.commit"));
        assert!(is_typo("fiel.read", "file.read"));
        assert!(!is_typo("file.json", "file.read"));
        assert!(!is_typo("file.read", "file.read"), "an exact match is not a typo");
    }
}
