//! The order in which the objects of a state can be made.

use std::collections::{BTreeMap, BTreeSet};

use super::Managed;

/// Each object after those that it depends on, and otherwise in the order of the file. In a cycle, which
/// no tool writes, the order of the file counts.
pub(super) fn ordered(objects: Vec<Managed>) -> Vec<Managed> {
    // All instances of one resource depend on the same others.
    let mut groups: Vec<Vec<Managed>> = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for object in objects {
        let number = *numbers.entry(object.place.clone()).or_insert(groups.len());
        match groups.get_mut(number) {
            Some(group) => group.push(object),
            None => groups.push(vec![object]),
        }
    }
    let mut arrows: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (number, group) in groups.iter().enumerate() {
        let needed = group.iter().flat_map(|object| &object.after);
        let needed = needed.filter_map(|place| numbers.get(place));
        arrows.extend(needed.filter(|it| **it != number).map(|it| (*it, number)));
    }
    let mut waits = vec![0_usize; groups.len()];
    arrows.iter().for_each(|(_, to)| waits[*to] += 1);
    let mut left: BTreeSet<usize> = (0..groups.len()).collect();
    let mut ready: BTreeSet<usize> = left.iter().copied().filter(|it| waits[*it] == 0).collect();
    let mut order = Vec::new();
    while let Some(next) = ready.pop_first().or_else(|| left.first().copied()) {
        left.remove(&next);
        order.push(next);
        for (_, to) in arrows.range((next, 0)..=(next, usize::MAX)) {
            waits[*to] = waits[*to].saturating_sub(1);
            if waits[*to] == 0 && left.contains(to) {
                ready.insert(*to);
            }
        }
    }
    order.into_iter().flat_map(|number| std::mem::take(&mut groups[number])).collect()
}

/// The address of a module without the keys of its instances: `module.a["x.y"].module.b[0].`.
pub(super) fn without_keys(address: &str) -> String {
    let (mut out, mut depth, mut is_quoted, mut is_escaped) = (String::new(), 0_u32, false, false);
    for c in address.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' if depth > 0 => is_quoted = !is_quoted,
            '[' if !is_quoted => depth += 1,
            ']' if !is_quoted => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adopt::state::read;

    #[test]
    fn a_place_does_not_have_keys_of_modules() {
        for (address, place) in [
            ("", ""),
            ("module.a.", "module.a."),
            (r#"module.a["x].y\"["].module.b[0]."#, "module.a.module.b."),
        ] {
            assert_eq!(without_keys(address), place);
        }
    }

    #[test]
    fn an_object_comes_after_those_that_it_depends_on() {
        let resource = |name: &str, module: &str, after: &str| {
            format!(
                r#"{{"mode": "managed", "type": "t", "name": "{name}", "module": "{module}",
                  "instances": [{{"index_key": 0, "attributes": {{}}, "dependencies": [{after}]}},
                                {{"index_key": 1, "attributes": {{}}, "dependencies": [{after}]}}]}}"#
            )
        };
        let all = [
            resource("a", "module.m[0]", r#""module.m.t.c", "data.x.y""#),
            resource("b", "module.m[0]", ""),
            resource("c", "module.m[0]", r#""module.m.t.d""#),
            resource("d", "module.m[0]", r#""module.m.t.d""#),
            // A cycle.
            resource("e", "module.m[0]", r#""module.m.t.f""#),
            resource("f", "module.m[0]", r#""module.m.t.e""#),
        ];
        let text = format!(r#"{{"version": 4, "resources": [{}]}}"#, all.join(","));
        let objects = read(&text).unwrap().objects;
        let names: String = objects.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, "bbddccaaeeff");
    }
}
