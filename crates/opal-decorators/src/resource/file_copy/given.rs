//! A file whose content is given, in place of a source.

use opal_core::files::Files;
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Status};
use opal_core::wiped::Wiped;

use crate::resource::paths;
use crate::resource::written::{self, Found, Wanted};

pub(super) fn verify(
    content: &str,
    inputs: &Inputs,
    probe: &dyn Probe,
) -> Result<Finding, Trouble> {
    let wanted = wanted(content, inputs, probe)?;
    decide(&wanted, Found::read(&wanted, probe)?.as_ref(), inputs)
}

pub(super) fn apply(
    content: &str,
    inputs: &Inputs,
    probe: &dyn Probe,
    files: &dyn Files,
) -> Result<(), Trouble> {
    let wanted = wanted(content, inputs, probe)?;
    let found = Found::read(&wanted, probe)?;
    decide(&wanted, found.as_ref(), inputs)?.decided()?;
    written::apply(&wanted, found.as_ref(), files)
}

fn wanted(content: &str, inputs: &Inputs, probe: &dyn Probe) -> Result<Wanted, Trouble> {
    Ok(Wanted {
        name: "content".to_owned(),
        destination: paths::path(inputs, "destination", probe)?,
        content: Wiped::new(content.as_bytes().to_vec()),
        attributes: paths::attributes(inputs, probe)?,
        is_private: false,
    })
}

/// What is there and differs may be someone's work: it is replaced only where an argument says so.
fn decide(wanted: &Wanted, found: Option<&Found>, inputs: &Inputs) -> Result<Finding, Trouble> {
    let finding = written::decide(wanted, found, "has the content");
    if finding.status == Status::Drifted && !inputs.is_true("overwrite") {
        let help = "set `overwrite=true` to replace it, or move it away";
        let message = format!("{}; `overwrite` is not set", finding.message.expose());
        let blocked = Finding::blocked(Trouble::new(TroubleKind::Invalid, message, help));
        return Ok(Finding { details: finding.details, ..blocked });
    }
    Ok(finding)
}
