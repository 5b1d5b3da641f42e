//! Cycles among things that need each other: functions, steps, modules.

/// As many as a message can name.
const MOST_NAMED: usize = 12;

/// Things that need each other.
#[derive(Debug, PartialEq, Eq)]
pub struct Cycle<E> {
    /// In the order in which they need each other; at most twelve.
    first: Vec<usize>,
    is_longer: bool,
    /// The edge that closes the cycle.
    pub closed_by: E,
}

impl<E> Cycle<E> {
    /// The first twelve, in the order in which they need each other.
    #[must_use]
    pub fn nodes(&self) -> &[usize] {
        &self.first
    }

    /// Whether there are more than that.
    #[must_use]
    pub fn is_longer(&self) -> bool {
        self.is_longer
    }

    /// `a -> b -> a`
    #[must_use]
    pub fn path<'n>(&self, name: impl Fn(usize) -> &'n str) -> String {
        let mut names: Vec<&str> = self.first.iter().copied().map(&name).collect();
        names.extend(self.is_longer.then_some("…"));
        names.extend(self.first.first().copied().map(name));
        names.join(" -> ")
    }
}

/// One cycle for each edge that closes one. `edges` has for each node what it needs. Takes time linear
/// in the edges, and no recursion.
#[must_use]
pub fn cycles<E: Copy>(edges: &[Vec<(usize, E)>]) -> Vec<Cycle<E>> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum State {
        New,
        /// At this index of the path.
        Open(usize),
        Done,
    }
    let mut states = vec![State::New; edges.len()];
    let mut found = Vec::new();
    for start in 0..edges.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open(0);
        // Each node, and which of its edges is next.
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let Some((to, edge)) = edges[*node].get(*next).copied() else {
                states[*node] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match states[to] {
                State::New => {
                    states[to] = State::Open(path.len());
                    path.push((to, 0));
                }
                State::Open(at) => {
                    let first = path[at..].iter().take(MOST_NAMED).map(|(node, _)| *node).collect();
                    let is_longer = path.len() - at > MOST_NAMED;
                    found.push(Cycle { first, is_longer, closed_by: edge });
                }
                State::Done => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(edges: &[Vec<usize>]) -> Vec<String> {
        const NAMES: [&str; 14] =
            ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"];
        let edges: Vec<Vec<(usize, ())>> =
            edges.iter().map(|to| to.iter().map(|to| (*to, ())).collect()).collect();
        cycles(&edges).iter().map(|cycle| cycle.path(|node| NAMES[node])).collect()
    }

    #[test]
    fn each_edge_that_closes_a_cycle_is_found_once() {
        for (edges, expected) in [
            (vec![vec![1], vec![]], vec![]),
            (vec![vec![0]], vec!["a -> a"]),
            (vec![vec![1], vec![2], vec![1]], vec!["b -> c -> b"]),
            (vec![vec![1, 2], vec![0], vec![0]], vec!["a -> b -> a", "a -> c -> a"]),
            (vec![vec![1, 2], vec![2], vec![]], vec![]),
        ] {
            assert_eq!(paths(&edges), expected, "{edges:?}");
        }
    }

    #[test]
    fn a_long_cycle_is_cut() {
        let ring =
            |count: usize| (0..count).map(|node| vec![(node + 1) % count]).collect::<Vec<_>>();
        let twelve = "a -> b -> c -> d -> e -> f -> g -> h -> i -> j -> k -> l";
        assert_eq!(paths(&ring(12)), [format!("{twelve} -> a")]);
        assert_eq!(paths(&ring(13)), [format!("{twelve} -> … -> a")]);
    }
}
