//! What a provider found, as opal reports it.

use opal_core::data::{Data, Secret};
use opal_core::hash::Algorithm;
use opal_core::protocol::call::{self, Found};
use opal_core::resource::details::{Around, Diff, Hunk, Line, Side};
use opal_core::resource::{Details, Finding, FoundObject};

/// Differences that the message of a finding names. Its details have all of them.
const NAMED: usize = 3;

/// What is reported. `of` is the type, `data` what a step gives.
pub(super) fn finding(found: &call::Finding, of: &str, data: Option<Data>) -> Finding {
    let differences = found.differences.as_deref().unwrap_or_default();
    let message = match differences.is_empty() {
        true => found.message.expose().lines().collect::<Vec<_>>().join("; "),
        false => named(differences, found.fixed.as_deref().unwrap_or_default()),
    };
    let mut finding = match found.status {
        Found::Satisfied => Finding::satisfied(message),
        Found::Missing => Finding::missing(message),
        Found::Drifted => Finding::drifted(message),
        Found::Unknown => Finding::unknown(message),
    };
    // Whoever would change something should know that nobody has said whose it is.
    let is_unchecked = found.account.is_none() && found.status != Found::Satisfied;
    let said = found.details.as_ref().map(Secret::expose);
    let words = said.into_iter().chain(is_unchecked.then_some("account not checked"));
    let words = words.collect::<Vec<_>>().join("\n");
    let details = match differences.is_empty() {
        true => Details::words(words),
        false => Details::from(diff(differences, of)).and(Details::words(words)),
    };
    if !details.parts().is_empty() {
        finding = finding.with_details(details);
    }
    let digest = found.digest.as_ref();
    finding.content = digest.map(|it| Algorithm::Sha256.digest(&[it.expose().as_bytes()]));
    let (identity, account) = (found.identity.clone(), found.account.clone());
    finding.object = Some(FoundObject { data, identity, account });
    finding
}

type Differences = [(String, (Secret, Secret))];

/// `path: expected "/ci/", actual "/"`, of several one after the other; then what no change can set right.
fn named(differences: &Differences, fixed: &[String]) -> String {
    let one = |(path, (expected, actual)): &(String, (Secret, Secret))| {
        format!("{path}: expected {}, actual {}", expected.expose(), actual.expose())
    };
    let mut all: Vec<String> = differences.iter().take(NAMED).map(one).collect();
    if differences.len() > NAMED {
        all.push(format!("{} more", differences.len() - NAMED));
    }
    all.extend(fixed.iter().map(|path| format!("{path} cannot be changed in place")));
    all.join("; ")
}

/// One line for each attribute, so that what is opposite a secret is hidden like it.
fn diff(differences: &Differences, of: &str) -> Diff {
    let line = |path: &str, value: &Secret| format!("{path}: {}", one_line(value.expose()));
    let side = |side, text: &str| Line { side, text: Secret::new(text), is_ended: true };
    let (mut expected, mut actual, mut hunks) = (String::new(), String::new(), Vec::new());
    for (at, (path, (wanted, found))) in differences.iter().enumerate() {
        let (wanted, found) = (line(path, wanted), line(path, found));
        let lines = vec![side(Side::Expected, &wanted), side(Side::Actual, &found)];
        hunks.push(Hunk { expected: at, actual: at, lines });
        expected.extend([wanted.as_str(), "\n"]);
        actual.extend([found.as_str(), "\n"]);
    }
    let around = [expected, actual].map(|text| Around { first: 0, text: Secret::new(text) });
    let name = Secret::new(of);
    Diff { expected: name.clone(), actual: name, hunks, omitted: 0, is_private: false, around }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
