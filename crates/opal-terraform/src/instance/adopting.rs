//! Objects of a state file.

use opal_core::protocol::call::{Adopted, Found};
use opal_core::protocol::{Body, Refusal};

use super::{Instance, some};
use crate::adopt::{self, Unadopted, state::Managed};
use crate::client::Id;
use crate::identity::Refused;
use crate::package::manifest::parameter;
use crate::secrets;
use crate::value::Value;
use crate::verify::Status;

impl Instance {
    /// The step for an object.
    pub(crate) async fn adopt(&self, managed: &Managed) -> Result<Body, Refusal> {
        let provider = self.provider().await?;
        let observe = provider.observe();
        let config = self.value(&self.config, &observe.schemas().provider)?;
        let adopted = match adopt::adopt(&observe, &self.recipes, &config, managed).await {
            Ok(adopted) => adopted,
            Err(Unadopted::Refused(refused)) => {
                let code = match refused {
                    Refused::Unidentified => " (E1401)",
                    Refused::StateOnly => " (E1402)",
                    Refused::NoProject
                    | Refused::Mark
                    | Refused::Unmarkable
                    | Refused::Unfit(_) => "",
                };
                return Err(self.invalid(&format!("{}{code}", refused.message(&managed.of))));
            }
            Err(Unadopted::Trouble(trouble)) => {
                let trouble = provider.explain(trouble).await;
                if trouble.is_crash() || trouble.is_silence() {
                    self.forget(&provider).await;
                }
                return Err(self.refusal(&trouble));
            }
        };
        if let Ok(block) = observe.resource(&managed.of) {
            self.keep_secret(secrets::texts(block, &adopted.args));
            self.keep_secret(adopt::texts(&adopted.args, &adopted.secrets));
            let object = adopted.verified.object.as_ref();
            self.keep_secret(object.map(|it| secrets::texts(block, &it.state)).unwrap_or_default());
        }
        let (status, message) = match &adopted.verified.status {
            Status::Blocked(why) => (Found::Unknown, why.clone()),
            Status::Missing => (Found::Missing, "not found".to_owned()),
            Status::Satisfied => (Found::Satisfied, String::new()),
            Status::Rewrite => (Found::Unknown, String::new()),
            Status::Drifted { differences, .. } => {
                let lines = differences.iter().map(|it| it.hidden_line(&adopted.secrets));
                (Found::Drifted, lines.collect::<Vec<_>>().join("\n"))
            }
        };
        let adopt = adopted.adopt.map(|id| match id {
            Id::Text(id) => self.document(&Value::text(id.as_str())),
            Id::Identity(identity) => self.document(&identity),
        });
        Ok(Body::of(&Adopted {
            args: self.document(&parameters(adopted.args))?,
            adopt: adopt.transpose()?,
            secrets: some(adopted.secrets.iter().map(|path| of_parameter(path)).collect()),
            unread: some(adopted.verified.unread),
            status,
            message: self.shown(&message),
        }))
    }
}

/// Arguments by the names of their parameters.
fn parameters(args: Value) -> Value {
    match args {
        Value::Map(fields) => {
            Value::Map(fields.into_iter().map(|(name, value)| (parameter(&name), value)).collect())
        }
        value => value,
    }
}

/// The path of a parameter, from the path of its attribute.
fn of_parameter(path: &str) -> String {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    format!("{}{}", parameter(&path[..end]), &path[end..])
}
