//! Everything that is shown or written of a plan, and the forms in which a value could be in it.

use base64ct::{Base64, Base64Unpadded, Base64UrlUnpadded, Encoding as _};
use opal_core::contract::{
    Contract, Encoding, Frame, Provenance, compare, diff, encode, plan_hash,
};
use opal_core::plan::Mode;
use opal_core::view::{Json, PlanFormatter, PlanView, Tree};

use opal_testing::planning::Project;

pub(crate) struct Outputs {
    pub(crate) planned: bool,
    pub(crate) found: Vec<(&'static str, Vec<u8>)>,
}

/// All outputs of a project, those of its comparison with `other` included.
pub(crate) fn of(project: &Project, other: &Project) -> Outputs {
    let resolved = match project.plan() {
        Ok(resolved) => resolved,
        Err(errors) => {
            let mut found = vec![("errors", format!("{errors:?}").into_bytes())];
            let shown: String = errors.iter().map(|error| project.line(error)).collect();
            found.push(("lines", shown.into_bytes()));
            return Outputs { planned: false, found };
        }
    };
    let view =
        PlanView::new(&resolved.plan, plan_hash(&resolved.plan)).with_registry(&project.registry);
    let mut found = vec![
        ("debug", format!("{resolved:?}").into_bytes()),
        ("pretty debug", format!("{resolved:#?}").into_bytes()),
        ("tree", Tree::default().format(&view)),
        ("json", Json.format(&view)),
    ];
    if resolved.plan.mode == Mode::Resolved {
        let contract = Contract::new(resolved.plan, 0, Provenance::default()).unwrap();
        written(&contract, &mut found);
        if let Ok(fresh) = other.plan()
            && fresh.plan.mode == Mode::Resolved
        {
            let verdict = compare(&contract, &fresh.plan);
            let words = verdict.differences.iter().map(|difference| difference.words.as_str());
            found.push(("words", words.collect::<String>().into_bytes()));
            let fresh = Contract::new(fresh.plan, 0, Provenance::default()).unwrap();
            let registry = &project.registry;
            let verdicts =
                (verdict, diff(&contract, &fresh, registry), diff(&fresh, &contract, registry));
            found.push(("verdicts", format!("{verdicts:?}").into_bytes()));
        }
    }
    Outputs { planned: true, found }
}

fn written(contract: &Contract, found: &mut Vec<(&'static str, Vec<u8>)>) {
    for compress in [false, true] {
        let encoding = Encoding { envelope: b"sealed", auth_key: &[1; 32], compress, signer: None };
        let bytes = encode(contract, &encoding).unwrap();
        let frame = Frame::read(&bytes).unwrap();
        // What was packed is checked unpacked.
        let read = frame.decode().unwrap();
        found.push(("read", format!("{frame:?} {read:?} {encoding:?}").into_bytes()));
        found.push((if compress { "packed" } else { "contract" }, bytes));
    }
    found.push(("contract's debug", format!("{contract:?}").into_bytes()));
}

/// The value as it is, and as the usual encodings have it.
pub(crate) fn forms(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let escaped = format!("{text:?}");
    let mut forms = vec![
        text.into(),
        text.trim().into(),
        escaped.trim_matches('"').into(),
        hex.to_uppercase(),
        hex,
        // `Debug` of bytes.
        list.join(", "),
        Base64::encode_string(bytes),
        Base64UrlUnpadded::encode_string(bytes),
    ];
    for skipped in [1, 2] {
        let shifted = Base64Unpadded::encode_string(bytes.get(skipped..).unwrap_or_default());
        forms.push(shifted[..shifted.len() / 4 * 4].to_owned());
    }
    // The longest word of it gives it away as well.
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    forms.extend(words.max_by_key(|word| word.len()).map(str::to_owned));
    forms.retain(|form| form.len() >= 6);
    forms
}

/// What is not text in it becomes other characters; what is looked for is text.
pub(crate) fn contains(bytes: &[u8], needle: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(needle)
}
