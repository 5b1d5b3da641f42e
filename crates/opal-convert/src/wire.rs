//! A conversion as documents, for whoever asks another process for one.

use serde_json::{Value, json};

use crate::files::Files;
use crate::{Conversion, Format, Grade, Options, Outcome, Unreadable};

/// What the other process has to know besides the text. Files are asked for when they are needed.
#[must_use]
pub fn request(format: Format, options: &Options<'_>) -> Value {
    json!({
        "format": format.name(),
        "name": options.name,
        "output": options.output,
        "reserved": options.reserved,
        "siblings": options.siblings,
        "inline": options.inline,
    })
}

/// Converts what such a request asks for; none where it is none.
#[must_use]
pub fn answer(
    request: &Value,
    text: &str,
    registry: &opal_core::Registry,
    files: Files<'_>,
) -> Option<Value> {
    let word = |key: &str| request.get(key)?.as_str();
    let words = |key: &str| -> Option<Vec<&str>> {
        request.get(key)?.as_array()?.iter().map(Value::as_str).collect()
    };
    let (reserved, siblings) = (words("reserved")?, words("siblings")?);
    let options = Options {
        registry,
        name: word("name")?,
        output: word("output")?,
        reserved: &reserved,
        siblings: &siblings,
        files,
        inline: request.get("inline")?.as_bool()?,
    };
    Some(match crate::convert(text, Format::named(word("format")?)?, options) {
        Ok(conversion) => {
            let outcomes: Vec<Value> = conversion.outcomes.iter().map(outcome).collect();
            json!({"source": conversion.source, "outcomes": outcomes})
        }
        Err(unreadable) => json!({"line": unreadable.line, "message": unreadable.message}),
    })
}

fn outcome(outcome: &Outcome) -> Value {
    json!({
        "line": outcome.line,
        "file": outcome.file,
        "is_task": outcome.is_task,
        "name": outcome.name,
        "renamed": outcome.renamed,
        "grade": outcome.grade.name(),
        "why": outcome.why,
    })
}

/// What the answer says; none where it is none.
#[must_use]
pub fn read(answer: &Value) -> Option<Result<Conversion, Unreadable>> {
    if let Some(message) = answer.get("message") {
        let (line, message) = (number(answer, "line")?, message.as_str()?.to_owned());
        return Some(Err(Unreadable { line, message }));
    }
    let outcomes = answer.get("outcomes")?.as_array()?.iter().map(read_outcome);
    Some(Ok(Conversion {
        source: text(answer, "source")?,
        outcomes: outcomes.collect::<Option<_>>()?,
    }))
}

fn read_outcome(value: &Value) -> Option<Outcome> {
    let grades = [Grade::Exact, Grade::Adapted, Grade::Omitted];
    let grade = value.get("grade")?.as_str()?;
    let why = value.get("why")?.as_array()?.iter();
    Some(Outcome {
        line: number(value, "line")?,
        file: text(value, "file"),
        is_task: value.get("is_task")?.as_bool()?,
        name: text(value, "name")?,
        renamed: text(value, "renamed"),
        grade: grades.into_iter().find(|it| it.name() == grade)?,
        why: why.map(|it| it.as_str().map(str::to_owned)).collect::<Option<_>>()?,
    })
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn number(value: &Value, key: &str) -> Option<usize> {
    usize::try_from(value.get(key)?.as_u64()?).ok()
}
