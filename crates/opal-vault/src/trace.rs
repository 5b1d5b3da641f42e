//! The trace of a run: ids that derive from its name, so that whoever knows the record knows them.
//!
//! ```text
//! trace id   = SHA-256("opal-trace-v1" NUL run)[..16], or that of the TRACEPARENT around the run
//! id of span = SHA-256("opal-span-v1" NUL run NUL kind NUL path NUL attempt NUL number)[..8]
//! ```
//!
//! Deliberately not here: telemetry. Steps get the id of their span as a variable, and the helper that sends
//! spans computes the same ids from the record.

use std::fmt::Write as _;

use opal_core::hash::Algorithm;

use crate::record::RunId;

/// The variable by which programs hand on the span that they run in.
pub const TRACEPARENT: &str = "TRACEPARENT";

/// A span of somebody else that a run belongs to: W3C Trace Context, version 00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    trace: [u8; 16],
    span: [u8; 8],
    flags: u8,
}

impl TraceParent {
    /// None where the form is not valid. Later versions may have more at their end.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        const LENGTH: usize = 55;
        let (head, more) = (text.get(..LENGTH)?, text.get(LENGTH..)?);
        let mut parts = head.split('-');
        let [version] = hex(parts.next()?)?;
        let (trace, span) = (hex(parts.next()?)?, hex(parts.next()?)?);
        let [flags] = hex(parts.next()?)?;
        let is_whole = match version {
            0 => more.is_empty(),
            0xff => false,
            _ => more.is_empty() || more.starts_with('-'),
        };
        let is_valid = is_whole && parts.next().is_none() && trace != [0; 16] && span != [0; 8];
        is_valid.then_some(Self { trace, span, flags })
    }

    #[must_use]
    pub const fn trace(&self) -> [u8; 16] {
        self.trace
    }

    #[must_use]
    pub const fn span(&self) -> [u8; 8] {
        self.span
    }

    /// As the variable has it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(55);
        let mut add = |prefix: &str, bytes: &[u8]| {
            text.push_str(prefix);
            bytes.iter().for_each(|byte| {
                let _ = write!(text, "{byte:02x}");
            });
        };
        add("00-", &self.trace);
        add("-", &self.span);
        add("-", &[self.flags]);
        text
    }
}

/// Lower-case digits, as many as fill the array.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.as_bytes().iter().all(is_hex) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// What a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced<'a> {
    Run,
    /// A start of a step or block, with the number that its events have.
    Step {
        path: &'a str,
        attempt: u64,
        number: u64,
    },
    /// An attempt of a `@retry`, whose start has this number.
    Attempt {
        path: &'a str,
        attempt: u64,
        number: u64,
    },
    /// A verification of the step that was started with this number, counted from 1.
    Verification {
        path: &'a str,
        index: u64,
        number: u64,
    },
}

/// The ids of the spans of a run.
#[derive(Clone, Debug)]
pub struct Trace {
    run: RunId,
    parent: Option<TraceParent>,
    trace: [u8; 16],
}

impl Trace {
    #[must_use]
    pub fn new(run: &RunId, parent: Option<TraceParent>) -> Self {
        let own = || cut(&["opal-trace-v1", run.as_str()]);
        let trace = parent.map_or_else(own, |parent| parent.trace);
        Self { run: run.clone(), parent, trace }
    }

    #[must_use]
    pub const fn id(&self) -> [u8; 16] {
        self.trace
    }

    /// The span around the run.
    #[must_use]
    pub const fn parent(&self) -> Option<&TraceParent> {
        self.parent.as_ref()
    }

    #[must_use]
    pub fn span(&self, of: Traced<'_>) -> [u8; 8] {
        let (kind, path, attempt, number) = match of {
            Traced::Run => ("run", "", 0, 0),
            Traced::Step { path, attempt, number } => ("step", path, attempt, number),
            Traced::Attempt { path, attempt, number } => ("attempt", path, attempt, number),
            Traced::Verification { path, index, number } => ("verification", path, index, number),
        };
        let (attempt, number) = (attempt.to_string(), number.to_string());
        cut(&["opal-span-v1", self.run.as_str(), kind, path, &attempt, &number])
    }

    /// What a step gets in its environment: the span that it runs in.
    #[must_use]
    pub fn variable(&self, of: Traced<'_>) -> String {
        // Whether the trace is sampled was decided by whoever began it.
        let flags = self.parent.map_or(1, |parent| parent.flags);
        TraceParent { trace: self.trace, span: self.span(of), flags }.text()
    }
}

/// The beginning of the digest of these parts.
fn cut<const N: usize>(parts: &[&str]) -> [u8; N] {
    let digest = Algorithm::Sha256.digest(&[parts.join("\0").as_bytes()]);
    let mut id = [0; N];
    id.copy_from_slice(&digest.0[..N]);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_valid_parent_reads_back() {
        let parent = TraceParent::parse(VALID).unwrap();
        assert_eq!(parent.text(), VALID);
        assert_eq!(parent.span()[..2], [0, 0xf0]);
        // Of later versions only what is known.
        let later = VALID.replacen("00-", "cc-", 1);
        assert_eq!(TraceParent::parse(&later), Some(parent));
        assert_eq!(TraceParent::parse(&format!("{later}-more")), Some(parent));
    }

    #[test]
    fn a_parent_of_another_form_is_none() {
        for text in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\u{e9}",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-+1",
        ] {
            assert_eq!(TraceParent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ids_derive_from_run_path_and_attempt() {
        let run = |text: &str| text.parse::<RunId>().unwrap();
        let one = Trace::new(&run("run-20261115T080000Z-00000102"), None);
        let other = Trace::new(&run("run-20261115T080000Z-00000103"), None);
        let step = |path, attempt, number| Traced::Step { path, attempt, number };
        let all = [
            one.span(Traced::Run),
            one.span(step("a.shell[0]", 1, 2)),
            one.span(step("a.shell[0]", 2, 2)),
            one.span(step("a.shell[1]", 1, 2)),
            one.span(step("a.shell[0]", 1, 3)),
            one.span(Traced::Attempt { path: "a.shell[0]", attempt: 1, number: 2 }),
            one.span(Traced::Verification { path: "a.shell[0]", index: 1, number: 2 }),
            other.span(Traced::Run),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert_ne!(one.id(), other.id());
        assert_eq!(one.span(step("a", 1, 2)), one.clone().span(step("a", 1, 2)));
    }

    #[test]
    fn a_run_belongs_to_the_trace_around_it() {
        let run = "run-20261115T080000Z-00000102".parse().unwrap();
        let parent = TraceParent::parse(&VALID.replace("-01", "-00")).unwrap();
        let trace = Trace::new(&run, Some(parent));
        assert_eq!(trace.id(), parent.trace());
        let variable = trace.variable(Traced::Run);
        let own = TraceParent::parse(&variable).unwrap();
        assert_eq!((own.trace(), own.span()), (trace.id(), trace.span(Traced::Run)));
        assert!(variable.ends_with("-00"), "not sampled: {variable}");
        assert!(Trace::new(&run, None).variable(Traced::Run).ends_with("-01"));
    }
}
