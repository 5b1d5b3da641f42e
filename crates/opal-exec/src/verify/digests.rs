//! What a contract keeps of a finding: digests under its key.

use std::path::{Path, PathBuf};

use opal_core::hash::Digest;
use opal_core::placeholder::Placeholder;
use opal_core::resource::{Details, Finding, Status};
use opal_core::{Data, Secret};

use super::survey::Survey;

/// What each digest is of; no value has such a key.
const DETAILS: &str = "resource details";
const IDENTITY: &str = "resource identity";
const ACCOUNT: &str = "resource account";

/// Of all that was found, whatever of it is shown. None without the key of a contract.
#[derive(Debug, Default)]
pub(super) struct Digests {
    pub(super) details: Option<Placeholder>,
    pub(super) identity: Option<Digest>,
    pub(super) account: Option<Digest>,
}

impl Digests {
    pub(super) fn of(finding: &Finding, survey: &Survey<'_>) -> Self {
        let Some(key) = survey.key else { return Self::default() };
        let digest = |of: &str, text: &Secret| {
            key.placeholder(survey.plan.algorithm, of, &Data::Text(text.clone()))
        };
        // The content of what is missing says what its details show.
        let details = finding.details.as_ref().filter(|_| finding.status != Status::Missing);
        let reported = distinguished(details, finding.content, survey.base);
        let object = finding.object.as_ref();
        let identity = object.and_then(|object| object.identity.as_ref());
        let account = object.and_then(|object| object.account.as_ref());
        Self {
            details: reported.as_ref().map(|reported| digest(DETAILS, reported)),
            identity: identity.map(|identity| digest(IDENTITY, identity).digest),
            account: account.map(|account| digest(ACCOUNT, account).digest),
        }
    }
}

/// What distinguishes one difference from another: the same in every checkout, so without the names
/// of the two sides and without the directory of the source.
fn distinguished(
    details: Option<&Details>,
    content: Option<Digest>,
    base: &Path,
) -> Option<Secret> {
    let base = format!("{}/", base.components().collect::<PathBuf>().display());
    let details = details.map(|details| details.unnamed().replace(&base, ""));
    match (details, content) {
        (None, None) => None,
        (details, content) => {
            let content = content.map(|content| content.hex()).unwrap_or_default();
            Some(Secret::new(details.unwrap_or_default() + &content))
        }
    }
}
