//! Objects of a state file.

use opal_core::protocol::call::{Adopted, Found};
use opal_core::protocol::{Body, Refusal};

use super::{Instance, some};
use crate::adopt::{self, Unadopted, state::Managed};
use crate::client::Id;
use crate::secrets;
use crate::value::Value;
use crate::verify::Status;

impl Instance {
    /// The step for an object.
    pub(crate) async fn adopt(&self, managed: &Managed) -> Result<Body, Refusal> {
        let provider = self.provider().await?;
        let config = self.value(&self.config, &provider.schemas().provider)?;
        let observe = provider.observe();
        let adopted = match adopt::adopt(&observe, &self.recipes, &config, managed).await {
            Ok(adopted) => adopted,
            Err(Unadopted::Refused(refused)) => {
                return Err(self.invalid(&refused.message(&managed.of)));
            }
            Err(Unadopted::Trouble(trouble)) => {
                return Err(self.refusal(&provider.explain(trouble).await));
            }
        };
        if let Ok(block) = observe.resource(&managed.of) {
            self.keep_secret(secrets::texts(block, &adopted.args));
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
            args: self.document(&adopted.args)?,
            adopt: adopt.transpose()?,
            secrets: some(adopted.secrets),
            unread: some(adopted.verified.unread),
            status,
            message: self.shown(&message),
        }))
    }
}
