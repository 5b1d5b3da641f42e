//! The tree: one step a line, what it depends on below, and the hash at the end.

use std::collections::BTreeMap;

use super::ink::{Ink, Style};
use super::outline::{Entry, Outline, Section};
use super::{PlanFormatter, PlanView};
use crate::plan::{ChainOperator, Step};

/// UTF-8 text with box characters. What runs is never cut: what is hidden cannot be reviewed. Why it
/// runs is a [`Step::reason`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Tree {
    /// Whether to write ANSI colour codes.
    pub colour: bool,
}

impl PlanFormatter for Tree {
    fn format(&self, view: &PlanView<'_>) -> Vec<u8> {
        let mut drawing = Drawing {
            ink: Ink::terminal(self.colour),
            outline: Outline::new(view),
            paths: view.with_paths,
            places: &view.places,
        };
        drawing.ink.inline(Style::Bold, &view.plan.target.name);
        drawing.ink.write(":");
        drawing.ink.end_line();
        if view.plan.steps.is_empty() {
            drawing.line("└─ no steps to run");
        }
        drawing.block(&view.plan.steps, &[]);
        drawing.outline.sections().iter().for_each(|section| drawing.section(section));
        drawing.foot();
        drawing.ink.finish().into_bytes()
    }
}

#[derive(Debug)]
struct Drawing<'a> {
    ink: Ink,
    outline: Outline<'a>,
    /// Whether each step has its path beside it.
    paths: bool,
    places: &'a BTreeMap<&'a str, String>,
}

impl Drawing<'_> {
    /// Steps after the bars of what they are in. `operators` are in front of all but the first.
    fn block(&mut self, steps: &[Step], operators: &[ChainOperator]) {
        let outer = self.ink.bars.len();
        for (index, step) in steps.iter().enumerate() {
            let is_last = index + 1 == steps.len();
            let bars = self.ink.bars[..outer].to_owned();
            self.ink.drawn(&(bars + if is_last { "└─ " } else { "├─ " }));
            self.ink.bars.push_str(if is_last { "   " } else { "│  " });
            if let Some(operator) = index.checked_sub(1).and_then(|before| operators.get(before)) {
                self.ink.styled(Style::Bold, operator.text());
                self.ink.write(" ");
            }
            self.step(step);
            self.ink.bars.truncate(outer);
        }
    }

    fn step(&mut self, step: &Step) {
        let inner = self.ink.bars.len();
        if !step.block.is_empty() {
            // Further lines of this step keep clear of the bar that leads to its block.
            self.ink.bars.push_str("│  ");
        }
        self.outline.write(step, &mut self.ink);
        if self.paths {
            self.ink.inline(Style::Dim, &format!("  [{}]", step.path));
        }
        if let Some(place) = self.places.get(&*step.path) {
            self.ink.inline(Style::Dim, &format!("  ({place})"));
        }
        self.ink.end_line();
        self.ink.bars.truncate(inner);
        self.block(&step.block, &step.operators());
    }

    fn plain(&mut self, text: &str) {
        self.ink.inline(Style::Plain, text);
    }

    fn line(&mut self, text: &str) {
        self.plain(text);
        self.ink.end_line();
    }

    fn title(&mut self, title: &str) {
        self.ink.end_line();
        self.ink.inline(Style::Bold, title);
        self.ink.end_line();
    }

    fn section(&mut self, section: &Section) {
        self.title(&format!("{}:", section.title));
        for Entry { lead, value, is_open, more } in &section.entries {
            self.plain(&format!("  {lead}"));
            self.ink.inline(if *is_open { Style::Open } else { Style::Value }, value);
            if !more.is_empty() {
                self.ink.inline(Style::Dim, &format!("  ({})", more.join(", ")));
            }
            self.ink.end_line();
        }
    }

    fn foot(&mut self) {
        self.ink.end_line();
        for (name, text) in self.outline.facts() {
            self.ink.inline(Style::Bold, &format!("{name}:"));
            self.line(&format!(" {text}"));
        }
        for note in self.outline.notes() {
            self.ink.inline(Style::Open, "note:");
            self.ink.inline(Style::Plain, &format!(" {note}"));
            self.ink.end_line();
        }
    }
}
