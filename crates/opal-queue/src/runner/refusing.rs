//! Who hears that a share is not run.

use opal_trust::order::OrderId;
use serde_json::json;

use super::desk::Desk;
use super::outcome::Outcome;
use super::recorded::{Why, record};
use super::refusal::{LATER, Reach, Refusal};
use crate::notice::say;
use crate::report::Reporter;
use crate::time::seconds;

/// Refusals that are remembered, so that each is said once.
const MAX_REPORTED: usize = 10_000;

/// Says that a share is not run: here, and once to who sent the order. `which` is the share where only it is
/// meant, and none where the whole order is.
pub(super) async fn refused(
    desk: &Desk,
    id: OrderId,
    share: u32,
    which: Option<u32>,
    refusal: Refusal,
) -> Outcome {
    let outcome = match refusal.reach {
        Reach::Everybody => Outcome::Never,
        Reach::ThisRunner => Outcome::Again(desk.declined.borrow_mut().note(id, which, &refusal)),
        Reach::Nobody => Outcome::Again(seconds(LATER)),
    };
    let Refusal { code, message, reach, order, reason, is_recorded } = refusal;
    let about = if reach == Reach::Everybody { Some(share) } else { which };
    let is_long = desk.reported.borrow().len() > MAX_REPORTED;
    if is_long {
        desk.reported.borrow_mut().clear();
    }
    if !desk.reported.borrow_mut().insert((id, about, message.clone())) {
        return outcome;
    }
    let kind = if reach == Reach::Everybody { "refused" } else { "declined" };
    say(&format!("opal runner: order {id}: share {share} {kind} ({code}): {message}"));
    if let Some(order) = order.as_deref().filter(|_| is_recorded && reach != Reach::Nobody) {
        record(&desk.root, order, &Why { code, reason, message: &message });
    }
    // Others than its runners would not be heard.
    let order = order.filter(|it| it.has_runner(&desk.key.public()));
    if let (Some(order), true) = (order, reach != Reach::Nobody) {
        let mut reporter = Reporter::new(desk.pool.clone(), desk.key.clone(), &order, share, 0);
        let mut said = json!({"code": code, "message": message});
        if reach == Reach::ThisRunner {
            said["all"] = json!(which.is_none());
        }
        reporter.add(&json!({kind: said})).await;
        reporter.send().await;
    }
    outcome
}
