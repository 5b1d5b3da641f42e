//! What the processes of a step may use.

use std::fmt;

use crate::duration::Duration;

/// What processes may use at most; none where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, of each process.
    pub memory: Option<u64>,
    /// How many there may be at a time.
    pub processes: Option<u64>,
    /// Seconds of CPU time, of each process.
    pub cpu: Option<u64>,
}

impl Limits {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Both at once: the smaller of each.
    #[must_use]
    pub fn tightened(self, other: Self) -> Self {
        let least = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self {
            memory: least(self.memory, other.memory),
            processes: least(self.processes, other.processes),
            cpu: least(self.cpu, other.cpu),
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = Vec::new();
        if let Some(bytes) = self.memory {
            let units = [(1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
            let unit = units.into_iter().find(|(size, _)| bytes % size == 0 && bytes > 0);
            all.push(match unit {
                Some((size, name)) => format!("memory=\"{}{name}\"", bytes / size),
                None => format!("memory={bytes}"),
            });
        }
        all.extend(self.processes.map(|count| format!("processes={count}")));
        let seconds = |cpu| Duration::from_secs(i64::try_from(cpu).unwrap_or(i64::MAX));
        all.extend(self.cpu.map(|cpu| format!("cpu={}", seconds(cpu))));
        write!(f, "@limits({})", all.join(", "))
    }
}
