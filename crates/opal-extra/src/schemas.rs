//! JSON Schemas, draft 2020-12.

use jsonschema::error::ValidationErrorKind as ErrorKind;
use jsonschema::{Draft, PatternOptions, Retrieve, Uri, ValidationError};
use opal_core::schema::{Misfit, MisfitKind, Schemas, Unjudged};
use opal_helper::Parcel;
use serde_json::{Value, json};

/// Judges in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engine;

/// A schema must be complete: nothing is fetched, from no network and no disk.
struct Refuse;

impl Retrieve for Refuse {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("a schema of inputs cannot refer to anything outside itself".into())
    }
}

impl Schemas for Engine {
    fn judge(
        &self,
        schema: &Value,
        document: Option<&Value>,
        most: usize,
    ) -> Result<Vec<Misfit>, Unjudged> {
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_retriever(Refuse)
            // The engine without backtracking: a pattern cannot take for ever.
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(|error| Unjudged::Invalid(error.to_string()))?;
        let errors = document.into_iter().flat_map(|document| validator.iter_errors(document));
        Ok(errors.take(most).map(|error| misfit(&error)).collect())
    }
}

fn misfit(error: &ValidationError<'_>) -> Misfit {
    let kind = match error.kind() {
        ErrorKind::Type { .. } => MisfitKind::Type,
        ErrorKind::AdditionalProperties { .. }
        | ErrorKind::UnevaluatedProperties { .. }
        | ErrorKind::FalseSchema => MisfitKind::Unknown,
        ErrorKind::Required { property } => {
            MisfitKind::Required(property.as_str().unwrap_or_default().to_owned())
        }
        _ => MisfitKind::Other,
    };
    let place = error.instance_path().to_string();
    Misfit { place, kind, reason: error.masked_with(Misfit::VALUE).to_string() }
}

pub(crate) fn answer(request: &Parcel) -> Option<Parcel> {
    let document = match request.blobs.first() {
        Some(bytes) => Some(serde_json::from_slice(bytes).ok()?),
        None => None,
    };
    let most = usize::try_from(request.head.get("most")?.as_u64()?).ok()?;
    Some(match Engine.judge(request.head.get("schema")?, document.as_ref(), most) {
        Ok(misfits) => {
            let misfits: Vec<Value> = misfits.iter().map(written).collect();
            Parcel::new(json!({"misfits": misfits}))
        }
        Err(Unjudged::Invalid(reason)) => Parcel::new(json!({"invalid": reason})),
        Err(other) => Parcel::new(json!({"invalid": other.to_string()})),
    })
}

fn written(misfit: &Misfit) -> Value {
    let (kind, property) = match &misfit.kind {
        MisfitKind::Type => ("type", None),
        MisfitKind::Unknown => ("unknown", None),
        MisfitKind::Required(property) => ("required", Some(property)),
        MisfitKind::Other => ("other", None),
    };
    json!({"kind": kind, "property": property, "place": misfit.place, "reason": misfit.reason})
}
