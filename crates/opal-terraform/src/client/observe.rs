//! What has no effect: finding, reading, planning, data sources, lists.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use opal_core::data::Secret;

use super::{Connection, MAX_ANSWER, decode, encode};
use crate::differ;
use crate::merge;
use crate::schema::{Block, Schemas};
use crate::trouble::{self, Trouble, Why};
use crate::value::{MAX_ELEMENTS, Type, Value};
use crate::wire::{self, Call, IdentityData};

/// The power to look and to ask for plans.
#[derive(Clone, Debug)]
pub struct Observe {
    connection: Rc<Connection>,
    /// How long each call may take.
    limit: Duration,
}

/// An object as the provider knows it.
#[derive(Clone, Debug)]
pub struct Object {
    pub state: Value,
    /// What the provider remembers about it, for its next calls.
    pub private: Vec<u8>,
    pub identity: Option<Value>,
}

impl Object {
    /// What identifies it, as people read it: its identity, or its id.
    #[must_use]
    pub fn shown_identity(&self) -> Option<Secret> {
        match &self.identity {
            Some(identity) => Some(Secret::new(differ::show(identity))),
            None => self.id().map(Secret::new),
        }
    }

    /// The id that most objects have.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.state.field("id").as_text().filter(|id| !id.is_empty())
    }
}

/// What a provider finds an object by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    Text(String),
    Identity(Value),
}

/// As people read it.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(id) => f.write_str(id),
            Self::Identity(value) => f.write_str(&differ::show(value)),
        }
    }
}

/// What a provider would do.
#[derive(Clone, Debug)]
pub struct Planned {
    pub state: Value,
    pub private: Vec<u8>,
    pub identity: Option<Value>,
    /// Attributes that cannot be changed in place.
    pub replace: Vec<String>,
    /// It is built on a library that does not keep to all rules of plans.
    pub is_legacy: bool,
    pub proposed: Value,
}

/// One object of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    pub identity: Option<Value>,
    pub name: String,
    pub state: Value,
}

impl Observe {
    pub(super) fn new(connection: &Rc<Connection>) -> Self {
        Self { connection: Rc::clone(connection), limit: connection.limit }
    }

    /// The same, with another limit for each call.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    async fn call<Q, A>(&self, call: Call, request: Q) -> Result<A, Trouble>
    where
        Q: prost::Message + Send + Sync + 'static,
        A: wire::Answer,
    {
        self.connection.within(self.limit, call, request, MAX_ANSWER).await
    }

    #[must_use]
    pub fn schemas(&self) -> &Schemas {
        &self.connection.schemas
    }

    /// The schema of a resource.
    pub fn resource(&self, of: &str) -> Result<&Block, Trouble> {
        self.connection.resource(of)
    }

    /// Checks a configuration.
    pub async fn validate(&self, of: &str, config: &Value) -> Result<(), Trouble> {
        let block = self.resource(of)?;
        let config = Some(encode(Call::ValidateResource, config, &block.implied())?);
        let client = wire::client();
        let request = wire::ValidateRequest { type_name: of.to_owned(), config, client };
        let _: wire::Diagnosed = self.call(Call::ValidateResource, request).await?;
        Ok(())
    }

    /// The beginning of an object, which a read completes.
    pub async fn import(&self, of: &str, id: &Id) -> Result<Object, Trouble> {
        let block = self.resource(of)?;
        let (id, identity) = match id {
            Id::Text(id) => (id.clone(), None),
            Id::Identity(value) => (String::new(), self.connection.put_identity(of, Some(value))?),
        };
        let client = wire::client();
        let request = wire::ImportRequest { type_name: of.to_owned(), id, client, identity };
        let answer: wire::ImportResponse = self.call(Call::Import, request).await?;
        let [one] = &answer.imported[..] else {
            let count = answer.imported.len();
            return Err(Trouble::malformed(
                Call::Import,
                format!("{count} objects instead of one"),
            ));
        };
        if one.type_name != of {
            return Err(Trouble::malformed(Call::Import, "an object of another type"));
        }
        let state = decode(Call::Import, one.state.as_ref(), &block.implied())?;
        let identity = self.connection.get_identity(Call::Import, of, one.identity.as_ref())?;
        Ok(Object { state, private: one.private.clone(), identity })
    }

    /// The object as it is now. None where it is gone.
    pub async fn read(&self, of: &str, object: &Object) -> Result<Option<Object>, Trouble> {
        let implied = self.resource(of)?.implied();
        let request = wire::ReadRequest {
            type_name: of.to_owned(),
            current_state: Some(encode(Call::Read, &object.state, &implied)?),
            private: object.private.clone(),
            client: wire::client(),
            current_identity: self.connection.put_identity(of, object.identity.as_ref())?,
        };
        let answer: wire::ReadResponse = self.call(Call::Read, request).await?;
        let state = decode(Call::Read, answer.new_state.as_ref(), &implied)?;
        if state.has_unknown() {
            return Err(Trouble::malformed(
                Call::Read,
                "the state of an object has unknown values",
            ));
        }
        let identity =
            self.connection.get_identity(Call::Read, of, answer.new_identity.as_ref())?;
        let identity = identity.or_else(|| object.identity.clone());
        Ok((!state.is_null()).then_some(Object { state, private: answer.private, identity }))
    }

    /// What would happen to an object, or to none. A configuration of null is a removal.
    pub async fn plan(
        &self,
        of: &str,
        prior: Option<&Object>,
        config: &Value,
    ) -> Result<Planned, Trouble> {
        let block = self.resource(of)?;
        let implied = block.implied();
        let none = Value::Null;
        let state = prior.map_or(&none, |prior| &prior.state);
        let proposed = match config {
            Value::Null => Value::Null,
            config => merge::propose(block, state, config),
        };
        let request = wire::PlanRequest {
            type_name: of.to_owned(),
            prior_state: Some(encode(Call::Plan, state, &implied)?),
            proposed_new_state: Some(encode(Call::Plan, &proposed, &implied)?),
            config: Some(encode(Call::Plan, config, &implied)?),
            prior_private: prior.map(|prior| prior.private.clone()).unwrap_or_default(),
            client: wire::client(),
            prior_identity: self
                .connection
                .put_identity(of, prior.and_then(|it| it.identity.as_ref()))?,
        };
        let answer: wire::PlanResponse = self.call(Call::Plan, request).await?;
        Ok(Planned {
            state: decode(Call::Plan, answer.planned_state.as_ref(), &implied)?,
            private: answer.planned_private,
            identity: self.connection.get_identity(
                Call::Plan,
                of,
                answer.planned_identity.as_ref(),
            )?,
            replace: answer.requires_replace.iter().map(trouble::path).collect(),
            is_legacy: answer.legacy_type_system,
            proposed,
        })
    }

    /// A state of a file, in the form of the current provider.
    pub async fn upgrade(&self, of: &str, version: i64, json: &str) -> Result<Value, Trouble> {
        let implied = self.resource(of)?.implied();
        let raw_state = Some(wire::RawState { json: json.as_bytes().to_vec() });
        let request = wire::UpgradeRequest { type_name: of.to_owned(), version, raw_state };
        let answer: wire::UpgradeResponse = self.call(Call::Upgrade, request).await?;
        let state = decode(Call::Upgrade, answer.upgraded_state.as_ref(), &implied)?;
        if state.is_null() || state.has_unknown() {
            return Err(Trouble::malformed(Call::Upgrade, "a state without an object"));
        }
        Ok(state)
    }

    /// The configuration that a state comes from; none where the provider does not offer it.
    pub async fn generate(&self, of: &str, state: &Value) -> Result<Option<Value>, Trouble> {
        let implied = self.resource(of)?.implied();
        let state = Some(encode(Call::Generate, state, &implied)?);
        let request = wire::GenerateRequest { type_name: of.to_owned(), state };
        let answer = self.call::<_, wire::GenerateResponse>(Call::Generate, request).await;
        match answer {
            Ok(answer) => {
                let config = decode(Call::Generate, answer.config.as_ref(), &implied)?;
                Ok((!config.is_null() && !config.has_unknown()).then_some(config))
            }
            Err(Trouble { why: Why::Refused(status, _), .. })
                if status == tonic::Code::Unimplemented as i32 =>
            {
                Ok(None)
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// What a data source says.
    pub async fn data(&self, of: &str, config: Value) -> Result<Value, Trouble> {
        let block =
            self.connection.schemas.data.get(of).ok_or_else(|| unknown("data source", of))?;
        let (config, implied) = (block.complete(config), block.implied());
        let value = Some(encode(Call::Data, &config, &implied)?);
        let type_name = of.to_owned();
        let check = wire::ValidateRequest { type_name, config: value.clone(), client: None };
        let _: wire::Diagnosed = self.call(Call::ValidateData, check).await?;
        let (type_name, client) = (of.to_owned(), wire::client());
        let request = wire::DataRequest { type_name, config: value, client };
        let answer: wire::DataResponse = self.call(Call::Data, request).await?;
        let state = decode(Call::Data, answer.state.as_ref(), &implied)?;
        if state.has_unknown() {
            return Err(Trouble::malformed(Call::Data, "a data source has unknown values"));
        }
        Ok(state)
    }

    /// The objects of a type that a configuration selects.
    pub async fn list(&self, of: &str, config: Value) -> Result<Vec<Listed>, Trouble> {
        let block = self.connection.schemas.lists.get(of).ok_or_else(|| unknown("list", of))?;
        let implied = self.resource(of)?.implied();
        let config = Some(encode(Call::List, &block.complete(config), &block.implied())?);
        let limit = i64::try_from(MAX_ELEMENTS).unwrap_or(i64::MAX);
        let type_name = of.to_owned();
        let request = wire::ListRequest { type_name, config, include_resource_object: true, limit };
        let events: Vec<wire::ListEvent> =
            self.connection.stream(self.limit, Call::List, request, MAX_ELEMENTS).await?;
        let each = events.into_iter().map(|event| {
            Ok(Listed {
                identity: self.connection.get_identity(Call::List, of, event.identity.as_ref())?,
                name: event.display_name,
                state: decode(Call::List, event.resource_object.as_ref(), &implied)?,
            })
        });
        each.collect()
    }
}

impl Connection {
    pub(super) fn resource(&self, of: &str) -> Result<&Block, Trouble> {
        self.schemas.resources.get(of).ok_or_else(|| unknown("resource", of))
    }

    fn identity(&self, of: &str) -> Option<Type> {
        self.schemas.identities.get(of).map(crate::schema::Identity::implied)
    }

    pub(super) fn put_identity(
        &self,
        of: &str,
        value: Option<&Value>,
    ) -> Result<Option<IdentityData>, Trouble> {
        let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
        let implied = self.identity(of).ok_or_else(|| unknown("identity", of))?;
        let data = Some(encode(Call::Import, value, &implied)?);
        Ok(Some(IdentityData { data }))
    }

    pub(super) fn get_identity(
        &self,
        call: Call,
        of: &str,
        value: Option<&IdentityData>,
    ) -> Result<Option<Value>, Trouble> {
        let (Some(data), Some(implied)) =
            (value.and_then(|value| value.data.as_ref()), self.identity(of))
        else {
            return Ok(None);
        };
        let value = decode(call, Some(data), &implied)?;
        Ok((!value.is_null()).then_some(value))
    }
}

fn unknown(what: &str, of: &str) -> Trouble {
    Trouble::invalid(format!("it has no {what} `{of}`"))
}
