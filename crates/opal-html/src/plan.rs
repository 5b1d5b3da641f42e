//! A plan as a page.

use maud::{Markup, html};
use opal_core::message::counted;
use opal_core::plan::{ChainOperator, Step};
use opal_core::view::{Entry, Outline, PlanFormatter, PlanView, Section};

use crate::frame;
use crate::text::line;

/// One HTML file. What runs is never cut or folded: what is hidden cannot be reviewed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanPage;

impl PlanFormatter for PlanPage {
    fn format(&self, view: &PlanView<'_>) -> Vec<u8> {
        let mut view = view.clone();
        view.is_whole = true;
        let view = &view;
        let mut outline = Outline::new(view);
        let name = line(&view.plan.target.name);
        // Before the sections: steps number the values that they show.
        let steps = block(&mut outline, view, &view.plan.steps, &[]);
        let count = view.plan.all_steps().filter(|step| step.is_leaf()).count();
        let body = html! {
            h1 { code { (name) } ": plan" }
            p { (counted(count, "step")) }
            @for note in outline.notes() { p.note { "note: " (line(note)) } }
            (frame::facts(&outline.facts()))
            h2 { "Steps" }
            @if view.plan.steps.is_empty() { p { "no steps to run" } } @else { (steps) }
            @for part in &outline.sections() { (section(part)) }
        };
        frame::document(&format!("{name}: plan"), &body).into_bytes()
    }
}

/// Steps, each with what is inside of it. `operators` are in front of all but the first.
fn block(
    outline: &mut Outline<'_>,
    view: &PlanView<'_>,
    steps: &[Step],
    operators: &[ChainOperator],
) -> Markup {
    html! {
        ul.tree {
            @for (index, step) in steps.iter().enumerate() {
                @let operator = index.checked_sub(1).and_then(|before| operators.get(before));
                @let row = row(outline, view, step, operator);
                li {
                    @if step.block.is_empty() { div.node { (row) } } @else {
                        details open {
                            summary.node { (row) }
                            (block(outline, view, &step.block, &step.operators()))
                        }
                    }
                }
            }
        }
    }
}

fn row(
    outline: &mut Outline<'_>,
    view: &PlanView<'_>,
    step: &Step,
    operator: Option<&ChainOperator>,
) -> Markup {
    let text = outline.step(step);
    let place = view.places.get(&*step.path).map_or(&*step.path, String::as_str);
    html! {
        code {
            @if let Some(operator) = operator { b { (operator.text()) } " " }
            (frame::coloured_text(&text))
        }
        span.path { (line(place)) }
    }
}

fn section(section: &Section) -> Markup {
    html! {
        h2 { (section.title) }
        ul.list { @for entry in &section.entries { li { (listed(entry)) } } }
    }
}

fn listed(Entry { lead, value, is_open, more }: &Entry) -> Markup {
    html! {
        code {
            (line(lead))
            @if !value.is_empty() { span class=(if *is_open { "c3" } else { "c6" }) { (line(value)) } }
        }
        @if !more.is_empty() { " " span.path { "(" (line(&more.join(", "))) ")" } }
    }
}
