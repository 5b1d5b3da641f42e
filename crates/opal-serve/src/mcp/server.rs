//! The protocol, by the official SDK: which tools there are, calls, and what comes back.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use opal_trust::policy::McpRules;
use opal_vault::Vault;
use opal_vault::root::Root;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::calls::{self, Answer};
use super::desk::{Desk, Queue};
use super::log;
use super::marked::{mark, untrusted};
use super::pages::Pages;
use super::projects::Projects;
use super::refusal::Refusal;
use super::started::Started;
use super::tools::{self, INSTRUCTIONS, Tool};
use crate::child::Opal;

#[derive(Clone)]
pub(super) struct Server(Arc<Desk>);

impl Server {
    pub(super) fn new(opal: PathBuf, root: Root, rules: McpRules) -> Result<Self, Refusal> {
        let projects = Projects::new(&rules).map_err(|error| Refusal::NotStarted(error.kind()))?;
        let opal = Opal::new(opal, root);
        log::ready(opal.root())?;
        let (pages, started, queue) = (Pages::default(), Started::default(), Queue::default());
        let vault = Vault::with_patterns();
        Ok(Self(Arc::new(Desk { opal, projects, started, rules, pages, queue, vault })))
    }

    /// What a tool answers: a document, and whether it is about something that went wrong.
    async fn answer(
        &self,
        tool: &'static Tool,
        given: Option<JsonObject>,
        seen: &mut Map<String, Value>,
    ) -> Result<(Value, bool), Refusal> {
        let desk = &self.0;
        log::ready(desk.root())?;
        if !desk.rules.allows(tool.name) {
            return Err(Refusal::NotEnabled(tool.name));
        }
        let arguments = Arguments::new(tool, given)?;
        if let Some(page) = arguments.text("page")? {
            let page = desk.pages.named(page)?;
            return Ok((json!({"version": 1, "page": page}), false));
        }
        // What stops a run does not wait for others.
        let _turn = if tool.name == "stop" { None } else { Some(desk.queue.turn().await?) };
        let answer = calls::answer(desk, tool, &arguments).await?;
        for name in ["contract", "run", "exit"] {
            if let Some(value) = answer.own.get(name) {
                seen.insert(name.to_owned(), value.clone());
            }
        }
        Ok((self.document(&answer), answer.is_error))
    }

    fn document(&self, answer: &Answer) -> Value {
        let mut document = Map::from_iter([("version".to_owned(), json!(1))]);
        document.extend(answer.own.clone());
        if let Some(result) = &answer.result {
            let result = if answer.is_own { result.clone() } else { mark(result) };
            let (result, page) = self.0.pages.fit(result);
            document.insert("result".to_owned(), result);
            document.extend(page.map(|page| ("page".to_owned(), page)));
        }
        if !answer.said.is_empty() {
            document.insert("said".to_owned(), untrusted(&answer.said));
        }
        document.into()
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("opal", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = opal_trust::policy::TOOLS.into_iter();
        let enabled = names.filter(|name| self.0.rules.allows(name)).filter_map(tools::named);
        Ok(ListToolsResult::with_all_items(enabled.map(Tool::described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let began = Instant::now();
        let mut line = Map::new();
        let client = context.client_info().map(|it| json!(format!("{} {}", it.name, it.version)));
        line.extend(client.map(|client| ("client".to_owned(), client)));
        line.insert("tool".to_owned(), json!(request.name));
        line.insert("arguments".to_owned(), log::given(request.arguments.as_ref()));
        let line = match log::shown(&self.0.vault, &line.into()) {
            Value::Object(line) => line,
            _ => Map::new(),
        };
        let mut seen = Map::new();
        let answered = match tools::named(&request.name) {
            Some(tool) => tokio::select! {
                answered = self.answer(tool, request.arguments, &mut seen) => Some(answered),
                () = context.ct.cancelled() => Some(Err(Refusal::Cancelled)),
            },
            None => None,
        };
        let mut line = line;
        line.extend(seen);
        match &answered {
            Some(Err(refusal)) => drop(line.insert("refused".to_owned(), json!(refusal.code()))),
            None => drop(line.insert("refused".to_owned(), json!("unknown_tool"))),
            Some(Ok(_)) => {}
        }
        line.insert("at".to_owned(), json!(jiff::Timestamp::now().to_string()));
        line.insert("took_ms".to_owned(), json!(began.elapsed().as_millis() as u64));
        let logged = log::add(self.0.root(), &line.into());
        let Some(answered) = answered else {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        };
        let result = match answered.and_then(|answer| logged.map(|()| answer)) {
            Ok((document, false)) => CallToolResult::structured(document),
            Ok((document, true)) => CallToolResult::structured_error(document),
            Err(refusal) => CallToolResult::structured_error(refusal.json()),
        };
        Ok(result.into())
    }
}
