//! What changes the world: one call.

use std::rc::Rc;

use super::observe::{Object, Planned};
use super::{APPLY, Connection, MAX_ANSWER, decode, encode};
use crate::trouble::{self, Said, Trouble};
use crate::value::Value;
use crate::wire::{self, Call};

/// The power to change. Only code that acts holds it.
#[derive(Clone, Debug)]
pub struct Change(Rc<Connection>);

/// What is there after an apply, also one that failed.
#[derive(Clone, Debug)]
pub struct Applied {
    /// None where nothing is there afterwards.
    pub object: Option<Object>,
    pub errors: Vec<Said>,
    pub is_legacy: bool,
}

impl Change {
    pub(super) fn new(connection: &Rc<Connection>) -> Self {
        Self(Rc::clone(connection))
    }

    /// Makes a plan happen.
    pub async fn apply(
        &self,
        of: &str,
        prior: Option<&Object>,
        planned: &Planned,
        config: &Value,
    ) -> Result<Applied, Trouble> {
        let implied = self.0.resource(of)?.implied();
        let none = Value::Null;
        let request = wire::ApplyRequest {
            type_name: of.to_owned(),
            prior_state: Some(encode(Call::Apply, prior.map_or(&none, |it| &it.state), &implied)?),
            planned_state: Some(encode(Call::Apply, &planned.state, &implied)?),
            config: Some(encode(Call::Apply, config, &implied)?),
            planned_private: planned.private.clone(),
            planned_identity: self.0.put_identity(of, planned.identity.as_ref())?,
        };
        let answer: wire::ApplyResponse =
            self.0.within(APPLY, Call::Apply, request, MAX_ANSWER).await?;
        let state = decode(Call::Apply, answer.new_state.as_ref(), &implied)?;
        let identity = self.0.get_identity(Call::Apply, of, answer.new_identity.as_ref())?;
        let object = Object { state, private: answer.private, identity };
        Ok(Applied {
            object: (!object.state.is_null()).then_some(object),
            errors: trouble::errors(&answer.diagnostics),
            is_legacy: answer.legacy_type_system,
        })
    }
}
