//! What providers are asked and answer: protocols 5 and 6, as messages of protocol buffers.
//!
//! The two differ in the names of calls ([`Call`]) and in three fields of attributes, so only
//! [`schema`] has both. Fields that opal does not use are left out: they are skipped when read.

pub mod schema;

use std::collections::BTreeMap;

/// The versions of the protocol that opal speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Five,
    Six,
}

impl Protocol {
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Five => 5,
            Self::Six => 6,
        }
    }
}

macro_rules! calls {
    ($($case:ident = $five:literal, $six:literal;)*) => {
        /// Every call that opal makes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Call { $($case,)* }

        impl Call {
            /// Where it is in a protocol.
            #[must_use]
            pub const fn path(self, protocol: Protocol) -> &'static str {
                match (self, protocol) {
                    $((Self::$case, Protocol::Five) => concat!("/tfplugin5.Provider/", $five),
                    (Self::$case, Protocol::Six) => concat!("/tfplugin6.Provider/", $six),)*
                }
            }

            /// How messages name it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$case => $six,)* }
            }
        }
    };
}

calls! {
    Schema = "GetSchema", "GetProviderSchema";
    Identities = "GetResourceIdentitySchemas", "GetResourceIdentitySchemas";
    ValidateProvider = "PrepareProviderConfig", "ValidateProviderConfig";
    ValidateResource = "ValidateResourceTypeConfig", "ValidateResourceConfig";
    ValidateData = "ValidateDataSourceConfig", "ValidateDataResourceConfig";
    Configure = "Configure", "ConfigureProvider";
    Read = "ReadResource", "ReadResource";
    Plan = "PlanResourceChange", "PlanResourceChange";
    Apply = "ApplyResourceChange", "ApplyResourceChange";
    Import = "ImportResourceState", "ImportResourceState";
    Data = "ReadDataSource", "ReadDataSource";
    List = "ListResource", "ListResource";
    Upgrade = "UpgradeResourceState", "UpgradeResourceState";
    Generate = "GenerateResourceConfig", "GenerateResourceConfig";
    Stop = "Stop", "StopProvider";
}

/// A message of our own: its fields by number.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident { $($(#[$kind:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $name { $($(#[$kind])* pub $field: $ty,)* }
    )*};
}
pub(crate) use messages;

messages! {
    Empty {}

    /// A value: its type is in the schema.
    DynamicValue {
        #[prost(bytes = "vec", tag = "1")] msgpack: Vec<u8>,
        #[prost(bytes = "vec", tag = "2")] json: Vec<u8>,
    }

    Step {
        #[prost(string, optional, tag = "1")] attribute: Option<String>,
        #[prost(string, optional, tag = "2")] key: Option<String>,
        #[prost(int64, optional, tag = "3")] index: Option<i64>,
    }

    AttributePath {
        #[prost(message, repeated, tag = "1")] steps: Vec<Step>,
    }

    Diagnostic {
        /// 1 is an error, 2 a warning.
        #[prost(int32, tag = "1")] severity: i32,
        #[prost(string, tag = "2")] summary: String,
        #[prost(string, tag = "3")] detail: String,
        #[prost(message, optional, tag = "4")] attribute: Option<AttributePath>,
    }

    IdentityData {
        #[prost(message, optional, tag = "1")] data: Option<DynamicValue>,
    }

    /// What this client understands. Deferral is never allowed.
    ClientCapabilities {
        #[prost(bool, tag = "1")] deferral_allowed: bool,
        #[prost(bool, tag = "2")] write_only_attributes_allowed: bool,
    }

    ServerCapabilities {
        #[prost(bool, tag = "1")] plan_destroy: bool,
        #[prost(bool, tag = "2")] get_provider_schema_optional: bool,
    }

    IdentityAttribute {
        #[prost(string, tag = "1")] name: String,
        #[prost(bytes = "vec", tag = "2")] of: Vec<u8>,
        #[prost(bool, tag = "3")] required_for_import: bool,
        #[prost(bool, tag = "4")] optional_for_import: bool,
    }

    IdentitySchema {
        #[prost(int64, tag = "1")] version: i64,
        #[prost(message, repeated, tag = "2")] attributes: Vec<IdentityAttribute>,
    }

    IdentitySchemas {
        #[prost(btree_map = "string, message", tag = "1")] schemas: BTreeMap<String, IdentitySchema>,
        #[prost(message, repeated, tag = "2")] diagnostics: Vec<Diagnostic>,
    }

    ValidateProviderRequest {
        #[prost(message, optional, tag = "1")] config: Option<DynamicValue>,
    }

    /// Protocol 5 also has a changed configuration; it is deprecated, and opal sends its own.
    ValidateProviderResponse {
        #[prost(message, repeated, tag = "2")] diagnostics: Vec<Diagnostic>,
    }

    ValidateRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] config: Option<DynamicValue>,
        #[prost(message, optional, tag = "3")] client: Option<ClientCapabilities>,
    }

    ConfigureRequest {
        #[prost(string, tag = "1")] terraform_version: String,
        #[prost(message, optional, tag = "2")] config: Option<DynamicValue>,
        #[prost(message, optional, tag = "3")] client: Option<ClientCapabilities>,
    }

    /// The answer of a call that only has diagnostics.
    Diagnosed {
        #[prost(message, repeated, tag = "1")] diagnostics: Vec<Diagnostic>,
    }

    ReadRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] current_state: Option<DynamicValue>,
        #[prost(bytes = "vec", tag = "3")] private: Vec<u8>,
        #[prost(message, optional, tag = "5")] client: Option<ClientCapabilities>,
        #[prost(message, optional, tag = "6")] current_identity: Option<IdentityData>,
    }

    ReadResponse {
        #[prost(message, optional, tag = "1")] new_state: Option<DynamicValue>,
        #[prost(message, repeated, tag = "2")] diagnostics: Vec<Diagnostic>,
        #[prost(bytes = "vec", tag = "3")] private: Vec<u8>,
        #[prost(message, optional, tag = "4")] deferred: Option<Empty>,
        #[prost(message, optional, tag = "5")] new_identity: Option<IdentityData>,
    }

    PlanRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] prior_state: Option<DynamicValue>,
        #[prost(message, optional, tag = "3")] proposed_new_state: Option<DynamicValue>,
        #[prost(message, optional, tag = "4")] config: Option<DynamicValue>,
        #[prost(bytes = "vec", tag = "5")] prior_private: Vec<u8>,
        #[prost(message, optional, tag = "7")] client: Option<ClientCapabilities>,
        #[prost(message, optional, tag = "8")] prior_identity: Option<IdentityData>,
    }

    PlanResponse {
        #[prost(message, optional, tag = "1")] planned_state: Option<DynamicValue>,
        #[prost(message, repeated, tag = "2")] requires_replace: Vec<AttributePath>,
        #[prost(bytes = "vec", tag = "3")] planned_private: Vec<u8>,
        #[prost(message, repeated, tag = "4")] diagnostics: Vec<Diagnostic>,
        #[prost(bool, tag = "5")] legacy_type_system: bool,
        #[prost(message, optional, tag = "6")] deferred: Option<Empty>,
        #[prost(message, optional, tag = "7")] planned_identity: Option<IdentityData>,
    }

    ApplyRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] prior_state: Option<DynamicValue>,
        #[prost(message, optional, tag = "3")] planned_state: Option<DynamicValue>,
        #[prost(message, optional, tag = "4")] config: Option<DynamicValue>,
        #[prost(bytes = "vec", tag = "5")] planned_private: Vec<u8>,
        #[prost(message, optional, tag = "7")] planned_identity: Option<IdentityData>,
    }

    ApplyResponse {
        #[prost(message, optional, tag = "1")] new_state: Option<DynamicValue>,
        #[prost(bytes = "vec", tag = "2")] private: Vec<u8>,
        #[prost(message, repeated, tag = "3")] diagnostics: Vec<Diagnostic>,
        #[prost(bool, tag = "4")] legacy_type_system: bool,
        #[prost(message, optional, tag = "5")] new_identity: Option<IdentityData>,
    }

    ImportRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(string, tag = "2")] id: String,
        #[prost(message, optional, tag = "3")] client: Option<ClientCapabilities>,
        #[prost(message, optional, tag = "4")] identity: Option<IdentityData>,
    }

    Imported {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] state: Option<DynamicValue>,
        #[prost(bytes = "vec", tag = "3")] private: Vec<u8>,
        #[prost(message, optional, tag = "4")] identity: Option<IdentityData>,
    }

    ImportResponse {
        #[prost(message, repeated, tag = "1")] imported: Vec<Imported>,
        #[prost(message, repeated, tag = "2")] diagnostics: Vec<Diagnostic>,
        #[prost(message, optional, tag = "3")] deferred: Option<Empty>,
    }

    /// A state as a file has it.
    RawState {
        #[prost(bytes = "vec", tag = "1")] json: Vec<u8>,
    }

    UpgradeRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(int64, tag = "2")] version: i64,
        #[prost(message, optional, tag = "3")] raw_state: Option<RawState>,
    }

    UpgradeResponse {
        #[prost(message, optional, tag = "1")] upgraded_state: Option<DynamicValue>,
        #[prost(message, repeated, tag = "2")] diagnostics: Vec<Diagnostic>,
    }

    GenerateRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] state: Option<DynamicValue>,
    }

    GenerateResponse {
        #[prost(message, optional, tag = "1")] config: Option<DynamicValue>,
        #[prost(message, repeated, tag = "2")] diagnostics: Vec<Diagnostic>,
    }

    DataRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] config: Option<DynamicValue>,
        #[prost(message, optional, tag = "4")] client: Option<ClientCapabilities>,
    }

    DataResponse {
        #[prost(message, optional, tag = "1")] state: Option<DynamicValue>,
        #[prost(message, repeated, tag = "2")] diagnostics: Vec<Diagnostic>,
        #[prost(message, optional, tag = "3")] deferred: Option<Empty>,
    }

    ListRequest {
        #[prost(string, tag = "1")] type_name: String,
        #[prost(message, optional, tag = "2")] config: Option<DynamicValue>,
        #[prost(bool, tag = "3")] include_resource_object: bool,
        #[prost(int64, tag = "4")] limit: i64,
    }

    ListEvent {
        #[prost(message, optional, tag = "1")] identity: Option<IdentityData>,
        #[prost(string, tag = "2")] display_name: String,
        #[prost(message, optional, tag = "3")] resource_object: Option<DynamicValue>,
        #[prost(message, repeated, tag = "4")] diagnostics: Vec<Diagnostic>,
    }
}

/// What opal's client says of itself in every call that asks.
#[must_use]
pub const fn client() -> Option<ClientCapabilities> {
    Some(ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true })
}

/// Whether an answer has diagnostics, and which.
pub trait Answer: prost::Message + Default + 'static {
    fn diagnostics(&self) -> &[Diagnostic] {
        &[]
    }

    /// Whether the provider put the answer off, which opal does not allow.
    fn is_deferred(&self) -> bool {
        false
    }
}

macro_rules! answers {
    ($($name:ty),* ; $($deferred:ty),*) => {
        $(impl Answer for $name {
            fn diagnostics(&self) -> &[Diagnostic] { &self.diagnostics }
        })*
        $(impl Answer for $deferred {
            fn diagnostics(&self) -> &[Diagnostic] { &self.diagnostics }
            fn is_deferred(&self) -> bool { self.deferred.is_some() }
        })*
    };
}
answers!(
    IdentitySchemas, ValidateProviderResponse, Diagnosed, ApplyResponse, ListEvent, UpgradeResponse,
    GenerateResponse,
    schema::v5::Response, schema::v6::Response;
    ReadResponse, PlanResponse, ImportResponse, DataResponse
);

impl Answer for Empty {}
