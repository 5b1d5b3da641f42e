//! How it is said that a template cannot be rendered.

use std::path::Path;
use std::str::Utf8Error;

use opal_core::Data;
use opal_core::resolver::{Inputs, Trouble, TroubleKind};
use opal_core::suggest::nearest;
use opal_core::template::{Fault, Reason};

pub(super) fn unread(source: &Path, trouble: Trouble) -> Trouble {
    if trouble.kind != TroubleKind::Missing {
        return trouble;
    }
    let message = format!("the template `{}` does not exist", source.display());
    let help = "check `source`; a relative path starts next to the file that names it";
    Trouble::new(TroubleKind::Missing, message, help)
}

pub(super) fn own_template(path: &Path) -> Trouble {
    Trouble::new(
        TroubleKind::Invalid,
        format!("`{}` cannot be rendered into itself: it is the template", path.display()),
        "choose another destination",
    )
}

pub(super) fn no_text(source: &Path, error: &Utf8Error) -> Trouble {
    let message = format!(
        "the template `{}` is not UTF-8 text, at byte {}",
        source.display(),
        error.valid_up_to() + 1
    );
    Trouble::new(TroubleKind::NotText, message, "convert it with `iconv`, or use `@file.copy`")
}

/// Nobody was named who renders.
pub(super) fn nobody(source: &Path) -> Trouble {
    let message = format!("the template `{}` cannot be rendered in this process", source.display());
    Trouble::new(TroubleKind::Failed, message, "run it with `opal`")
}

pub(super) fn faulty(source: &Path, fault: Fault, inputs: &Inputs) -> Trouble {
    let place = fault.line.map_or_else(String::new, |line| format!("line {line}: "));
    let (reason, help) = match fault.reason {
        Reason::Missing { name, is_method: true, .. } => {
            let help = format!("to call the method, write `{name}()`");
            (format!("`{name}` has no value"), vec![help])
        }
        Reason::Missing { name, near, .. } => {
            let help = missing(&name, near, inputs);
            (format!("`{name}` has no value"), help)
        }
        Reason::Other(message) => {
            (message, vec![fault.help.unwrap_or_else(|| "correct the template".to_owned())])
        }
    };
    let message =
        format!("the template `{}` cannot be rendered: {place}{reason}", source.display());
    let help = help.into_iter().map(Into::into).collect();
    Trouble { kind: TroubleKind::Invalid, message: message.into(), help }
}

fn missing(name: &str, own: Option<String>, inputs: &Inputs) -> Vec<String> {
    let near = similar(name, inputs).or(own);
    let values = if inputs.is_true("env") {
        "give it a value in the `vars` of this step, or set it in the environment, which `env=true` \
         reads; `allow_missing=true` renders undefined names as an empty text"
    } else {
        "give it a value in the `vars` of this step, or read the environment with `env=true`; \
         `allow_missing=true` renders undefined names as an empty text"
    };
    let near = near.map(|near| format!("did you mean `{near}`?"));
    near.into_iter().chain([values.to_owned()]).collect()
}

/// The name that was probably meant: of those beside it.
fn similar(name: &str, inputs: &Inputs) -> Option<String> {
    let Some(Data::Map(vars)) = inputs.data("vars") else { return None };
    let mut fields = vars;
    let mut above = Vec::new();
    let mut parts = name.trim_start_matches('.').split('.').peekable();
    while let Some(part) = parts.next() {
        match fields.get(part) {
            Some(Data::Map(inner)) if parts.peek().is_some() => {
                above.push(part);
                fields = inner;
            }
            Some(_) => return None,
            None => {
                above.push(nearest(part, fields.keys().map(String::as_str))?);
                return Some(above.join("."));
            }
        }
    }
    None
}
