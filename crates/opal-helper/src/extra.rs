//! The helper `opal-extra`: its processes, pages of the web and JSON Schemas.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use opal_core::data::Secret;
use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::pages::{Pages, REACHING, Variables};
use opal_core::resolver::{Request, Trouble, TroubleKind};
use opal_core::schema::{Misfit, MisfitKind, Schemas, Unjudged};
use opal_core::wiped::Wiped;
use serde_json::{Value, json};

use crate::desk::{Answers, Desk, Sent};
use crate::{Answer, Helper, Parcel, Unusable, read_trouble};

/// Its name, in the directory of `opal`.
pub const EXTRA: &str = "opal-extra";

/// Processes of `opal-extra`, none of which is started before it is needed. Each answers one request
/// at a time; who asks while all are busy gets another one.
#[derive(Debug, Default)]
pub struct Extra {
    free: Mutex<Vec<Helper>>,
    desk: Desk,
    unusable: OnceLock<Unusable>,
}

impl Extra {
    /// Why it could not be used, where something needed it.
    #[must_use]
    pub fn unusable(&self) -> Option<&Unusable> {
        self.unusable.get()
    }

    /// Asks one of the processes. One that has ended since it was asked last is replaced.
    pub fn ask(&self, request: &Parcel, answer: &mut Answer<'_>) -> Result<Parcel, Unusable> {
        self.with_helper(|helper| helper.ask(request, answer))
    }

    /// Asks for what is only computed.
    pub(crate) fn compute(&self, request: &Parcel) -> Result<Parcel, Unusable> {
        let sent = request.to_bytes().map_err(|_| Unusable::Silent { name: EXTRA })?;
        self.desk.answer(sent, |requests| self.compute_all(requests))
    }

    fn compute_all(&self, requests: &[Sent]) -> Answers {
        let mut answers = Answers::new();
        let kept = self.free().pop();
        if let Some(mut helper) = kept {
            answers.extend(helper.ask_all(requests).into_iter().map(Ok));
            if answers.len() == requests.len() {
                self.free().push(helper);
            }
        }
        // One of the others may have ended the process: each of them gets another chance.
        for request in &requests[answers.len()..] {
            let one = std::slice::from_ref(request);
            let silent = Unusable::Silent { name: EXTRA };
            let asked = |helper: &mut Helper| helper.ask_all(one).pop().ok_or(silent.clone());
            answers.push(self.with_helper(asked));
        }
        answers
    }

    fn with_helper<T>(
        &self,
        mut ask: impl FnMut(&mut Helper) -> Result<T, Unusable>,
    ) -> Result<T, Unusable> {
        let mut asked = |mut helper: Helper| {
            let found = ask(&mut helper)?;
            self.free().push(helper);
            Ok(found)
        };
        let kept = self.free().pop();
        let asked = match kept.map(&mut asked) {
            Some(Ok(found)) => Ok(found),
            Some(Err(_)) | None => Helper::start(EXTRA).and_then(asked),
        };
        asked.inspect_err(|unusable| {
            let _ = self.unusable.set(unusable.clone());
        })
    }

    fn free(&self) -> MutexGuard<'_, Vec<Helper>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages for Extra {
    fn get(&self, request: &Request<'_>, variables: &Variables<'_>) -> Result<Secret, Trouble> {
        // An address and a proxy may have a password in them.
        let mut parcel = Parcel::default().with(request.url.as_bytes());
        for value in request.headers.values() {
            parcel = parcel.with(value.as_text().unwrap_or_default().as_bytes());
        }
        let reaching = REACHING.iter().filter_map(|name| Some((*name, variables(name)?)));
        let reaching: Vec<(&str, &str)> = reaching.collect();
        for (_, value) in &reaching {
            parcel = parcel.with(value.as_bytes());
        }
        parcel.head = json!({
            "page": {
                "headers": request.headers.keys().collect::<Vec<_>>(),
                "variables": reaching.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
                "milliseconds": u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
            }
        });
        let answer =
            self.ask(&parcel, &mut |_| Parcel::default()).map_err(|unusable| trouble(&unusable))?;
        if let Some(found) = answer.head.get("trouble").and_then(read_trouble) {
            return Err(found);
        }
        let silent = || trouble(&Unusable::Silent { name: EXTRA });
        answer.text(0).map(Secret::new).ok_or_else(silent)
    }
}

pub(crate) fn trouble(unusable: &Unusable) -> Trouble {
    let kind = if unusable.is_unsafe() { TroubleKind::Denied } else { TroubleKind::Unreachable };
    let words = |text: &str| -> Message { message!(Words(text)) };
    Trouble { kind, message: words(&unusable.to_string()), help: vec![words(&unusable.help())] }
}

impl Schemas for Extra {
    fn judge(
        &self,
        schema: &Value,
        document: Option<&Value>,
        most: usize,
    ) -> Result<Vec<Misfit>, Unjudged> {
        let mut parcel = Parcel::new(json!({"schema": schema, "most": most}));
        if let Some(document) = document {
            parcel = parcel.with(Wiped::new(document.to_string()).as_bytes());
        }
        let unasked = |unusable: &Unusable| Unjudged::Unasked {
            why: unusable.to_string(),
            help: unusable.help(),
        };
        let answer = self.compute(&parcel).map_err(|unusable| unasked(&unusable))?;
        if let Some(reason) = answer.head.get("invalid").and_then(Value::as_str) {
            return Err(Unjudged::Invalid(reason.to_owned()));
        }
        let misfits = answer.head.get("misfits").and_then(Value::as_array);
        let misfits = misfits.and_then(|all| all.iter().map(misfit).collect());
        misfits.ok_or_else(|| unasked(&Unusable::Silent { name: EXTRA }))
    }
}

fn misfit(value: &Value) -> Option<Misfit> {
    let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
    let kind = match value.get("kind")?.as_str()? {
        "type" => MisfitKind::Type,
        "unknown" => MisfitKind::Unknown,
        "required" => MisfitKind::Required(text("property")?),
        _ => MisfitKind::Other,
    };
    Some(Misfit { place: text("place")?, kind, reason: text("reason")? })
}
