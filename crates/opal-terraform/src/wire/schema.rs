//! Schemas in both protocols. They differ in what follows field 9 of an attribute.

macro_rules! protocol {
    ($module:ident { $($own:tt)* } { $($more:tt)* }) => {
        pub mod $module {
            use std::collections::BTreeMap;

            use crate::wire::{Diagnostic, ServerCapabilities, messages};

            messages! {
                Block {
                    #[prost(message, repeated, tag = "2")] attributes: Vec<Attribute>,
                    #[prost(message, repeated, tag = "3")] block_types: Vec<NestedBlock>,
                    #[prost(string, tag = "4")] description: String,
                    #[prost(bool, tag = "6")] deprecated: bool,
                }

                Attribute {
                    #[prost(string, tag = "1")] name: String,
                    #[prost(bytes = "vec", tag = "2")] of: Vec<u8>,
                    #[prost(string, tag = "3")] description: String,
                    #[prost(bool, tag = "4")] required: bool,
                    #[prost(bool, tag = "5")] optional: bool,
                    #[prost(bool, tag = "6")] computed: bool,
                    #[prost(bool, tag = "7")] sensitive: bool,
                    #[prost(bool, tag = "9")] deprecated: bool,
                    $($own)*
                }

                NestedBlock {
                    #[prost(string, tag = "1")] type_name: String,
                    #[prost(message, optional, tag = "2")] block: Option<Block>,
                    #[prost(int32, tag = "3")] nesting: i32,
                    #[prost(int64, tag = "4")] min_items: i64,
                    #[prost(int64, tag = "5")] max_items: i64,
                }

                Schema {
                    #[prost(int64, tag = "1")] version: i64,
                    #[prost(message, optional, tag = "2")] block: Option<Block>,
                }

                Response {
                    #[prost(message, optional, tag = "1")] provider: Option<Schema>,
                    #[prost(btree_map = "string, message", tag = "2")]
                    resources: BTreeMap<String, Schema>,
                    #[prost(btree_map = "string, message", tag = "3")]
                    data_sources: BTreeMap<String, Schema>,
                    #[prost(message, repeated, tag = "4")] diagnostics: Vec<Diagnostic>,
                    #[prost(message, optional, tag = "6")]
                    capabilities: Option<ServerCapabilities>,
                    #[prost(btree_map = "string, message", tag = "9")]
                    lists: BTreeMap<String, Schema>,
                }
                $($more)*
            }
        }
    };
}

protocol! {
    v5 {
        #[prost(bool, tag = "10")] write_only: bool,
        #[prost(string, tag = "11")] deprecation_message: String,
    } {}
}

protocol! {
    v6 {
        #[prost(message, optional, tag = "10")] nested_type: Option<Object>,
        #[prost(bool, tag = "11")] write_only: bool,
        #[prost(string, tag = "12")] deprecation_message: String,
    } {
        Object {
            #[prost(message, repeated, tag = "1")] attributes: Vec<Attribute>,
            #[prost(int32, tag = "3")] nesting: i32,
        }
    }
}
