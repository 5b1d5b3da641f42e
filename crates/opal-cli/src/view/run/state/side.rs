//! What steps print. Of branches that run side by side, lines carry the name of the branch.

use opal_core::stream::{Closed, Stream};
use opal_core::view::visible;
use opal_vault::event::{Branch, Started};

use super::{Spot, State};
use crate::view::run::lanes::Lines;

/// Both streams of a step in a branch.
#[derive(Debug)]
pub(super) struct Lane {
    prefix: String,
    stdout: Lines,
    stderr: Lines,
}

impl State {
    /// What lines about the step at this path begin with: nothing outside of branches.
    pub(super) fn prefix(&self, path: &str) -> String {
        self.prefixes.get(&self.spot(path)).cloned().unwrap_or_default()
    }

    /// A path where it is told of now.
    pub(super) fn spot(&self, path: &str) -> Spot {
        (self.at.clone(), path.into())
    }

    /// The same for a step that has ended: the nearest around it that has not.
    pub(super) fn branch_prefix(&self, path: &str) -> String {
        let ends = path.rmatch_indices('.').map(|(end, _)| end);
        let mut around = std::iter::once(path.len()).chain(ends);
        around
            .find_map(|end| self.prefixes.get(&self.spot(&path[..end])).cloned())
            .unwrap_or_default()
    }

    /// Notes the branch of a step; gives its lane.
    pub(super) fn enter_branch(&mut self, step: &Started<'_>) -> Option<Lane> {
        let branch = step.branch.as_ref()?;
        let prefix = self.prefix_of(branch);
        self.prefixes.insert(self.spot(step.path), prefix.clone());
        Some(Lane { prefix, stdout: Lines::default(), stderr: Lines::default() })
    }

    pub(super) fn prefix_of(&self, branch: &Branch) -> String {
        let name = visible::line(&branch.name.text());
        let padded = format!("{name:columns$} │", columns = branch.columns);
        format!("{} ", self.ink.branch(branch.index, &padded))
    }

    /// What a step of a branch prints.
    pub(super) fn side_output(
        &mut self,
        number: u64,
        stream: Stream,
        bytes: &[u8],
    ) -> Option<Result<(), Closed>> {
        let lane = self.running.get_mut(&number)?.lane.as_mut()?;
        let lines = match stream {
            Stream::Stdout => &mut lane.stdout,
            Stream::Stderr => &mut lane.stderr,
        };
        let mut whole = Vec::new();
        lines.push(bytes, &lane.prefix, &mut whole);
        Some(self.side_lines(stream, &whole))
    }

    /// What a step prints that has no lane. One write for each call, and nothing else.
    pub(super) fn own_output(
        &mut self,
        number: u64,
        stream: Stream,
        bytes: &[u8],
    ) -> Result<(), Closed> {
        let to = self.stream(stream);
        let is_seen = match to {
            Stream::Stdout => self.style.stdout_is_terminal,
            Stream::Stderr => self.style.stderr_is_terminal,
        };
        let Some(foreign) = self.foreign.get_mut(&number).filter(|_| is_seen) else {
            return self.screen.output(to, bytes);
        };
        let passed = foreign.pass(stream, bytes);
        self.screen.output(to, &passed)
    }

    /// A step on a target has opal's terminal.
    pub(in crate::view::run) fn has_terminal(&mut self, number: u64) {
        if let Some(foreign) = self.foreign.get_mut(&number) {
            foreign.has_terminal = true;
        }
    }

    /// A step on a target has ended, and its colours with it.
    pub(super) fn leave_target(&mut self, number: u64) {
        let Some(foreign) = self.foreign.remove(&number) else { return };
        for stream in foreign.coloured() {
            // Whether anybody still reads, its own writes have told the step.
            let _ = self.screen.output(self.stream(stream), b"\x1b[0m");
        }
    }

    /// Where a stream of a step goes.
    fn stream(&self, stream: Stream) -> Stream {
        if self.style.stdout_is_json { Stream::Stderr } else { stream }
    }

    /// The step has ended: what is left of its lines.
    pub(super) fn leave_branch(&mut self, number: u64, path: &str) {
        self.prefixes.remove(&self.spot(path));
        let Some(lane) = self.running.get_mut(&number).and_then(|it| it.lane.as_mut()) else {
            return;
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        lane.stdout.finish(&lane.prefix, &mut out);
        lane.stderr.finish(&lane.prefix, &mut err);
        // Whether anybody still reads, its own writes have told the step.
        let _ = self.side_lines(Stream::Stdout, &out);
        let _ = self.side_lines(Stream::Stderr, &err);
    }

    fn side_lines(&mut self, stream: Stream, lines: &[u8]) -> Result<(), Closed> {
        if lines.is_empty() {
            return Ok(());
        }
        // Others print between its lines.
        self.in_sight = None;
        self.screen.lines(self.stream(stream), lines)
    }
}
