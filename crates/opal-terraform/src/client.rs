//! Calls of a provider: within time and size, and what may change the world apart from what may not.
//!
//! | what | where |
//! |---|---|
//! | finding, reading, planning: everything without an effect | [`Observe`] |
//! | applying | [`Change`] |
//! | the connection, which both use | here |
//!
//! The wall binds opal, not the provider: code that holds an [`Observe`] cannot ask for a change.
//!
//! ```compile_fail
//! async fn sneak(observe: &opal_terraform::client::Observe) {
//!     observe.apply();
//! }
//! ```
//! ```compile_fail
//! fn sneak(observe: opal_terraform::client::Observe) -> opal_terraform::client::Change {
//!     opal_terraform::client::Change::new(&observe)
//! }
//! ```

mod change;
mod observe;

use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::process::{Process, Start};
use crate::schema::{self, Schemas};
use crate::trouble::{self, Trouble, Why};
use crate::value::{Type, Value, msgpack};
use crate::wire::{self, Answer, Call, DynamicValue, Protocol};

pub use change::{Applied, Change};
pub use observe::{Id, Listed, Object, Observe, Planned};

/// Answers, at most.
const MAX_ANSWER: usize = 16 << 20;
const MAX_SCHEMA: usize = 256 << 20;
/// All answers of a call that streams them.
const MAX_STREAM: usize = 64 << 20;

/// Calls at once, for each process.
const MAX_CALLS: usize = 10;

/// How long a change may take: opal ends it earlier, if a step says so.
const APPLY: Duration = Duration::from_secs(24 * 3600);

/// Schemas are large: they may take this many times as long as another call.
const SCHEMA: u32 = 2;

/// How long a provider may take to stop what it does.
const STOP: Duration = Duration::from_secs(10);

/// A provider that runs, with its schemas.
#[derive(Debug)]
pub struct Provider {
    connection: Rc<Connection>,
    process: Process,
}

#[derive(Debug)]
struct Connection {
    grpc: Grpc<Channel>,
    protocol: Protocol,
    schemas: Schemas,
    calls: Semaphore,
    /// How long each call may take, where a step says nothing else.
    limit: Duration,
}

impl Provider {
    /// Starts a provider and reads its schemas. `limit` is for each later call, unless an [`Observe`] has
    /// one of its own.
    pub async fn start(start: &Start, limit: Duration) -> Result<Self, Trouble> {
        let process = Process::start(start).await?;
        let grpc = Grpc::new(channel(process.connect().await?).await?);
        let protocol = process.protocol;
        let calls = Semaphore::new(MAX_CALLS);
        let mut connection =
            Connection { grpc, protocol, schemas: Schemas::default(), calls, limit };
        match connection.read_schemas().await {
            Ok(schemas) => connection.schemas = schemas,
            Err(trouble) => return Err(explained(trouble, &process).await),
        }
        Ok(Self { connection: Rc::new(connection), process })
    }

    #[must_use]
    pub fn schemas(&self) -> &Schemas {
        &self.connection.schemas
    }

    #[must_use]
    pub const fn process(&self) -> &Process {
        &self.process
    }

    /// Checks the configuration of the provider, and configures it.
    pub async fn configure(&self, config: Value) -> Result<(), Trouble> {
        let block = &self.connection.schemas.provider;
        let config = block.complete(config);
        let value = Some(encode(Call::Configure, &config, &block.implied())?);
        let check = wire::ValidateProviderRequest { config: value.clone() };
        let _: wire::ValidateProviderResponse =
            self.connection.call(Call::ValidateProvider, check).await?;
        let request = wire::ConfigureRequest {
            // Providers refuse versions that are too old for them.
            terraform_version: "1.12.0".to_owned(),
            config: value,
            client: wire::client(),
        };
        let _: wire::Diagnosed = self.connection.call(Call::Configure, request).await?;
        Ok(())
    }

    /// The powers to look and to ask for plans.
    #[must_use]
    pub fn observe(&self) -> Observe {
        Observe::new(&self.connection)
    }

    /// The power to change.
    #[must_use]
    pub fn change(&self) -> Change {
        Change::new(&self.connection)
    }

    /// Why a call failed: where the process ended, that is why.
    pub async fn explain(&self, trouble: Trouble) -> Trouble {
        explained(trouble, &self.process).await
    }

    /// Asks it to stop what it does: open calls then end.
    pub async fn cancel(&self) {
        let stop = self.connection.send::<_, wire::Empty>(Call::Stop, wire::Empty {}, MAX_ANSWER);
        let _ = timeout(STOP, stop).await;
    }

    /// Ends it.
    pub async fn stop(self) {
        let path = PathAndQuery::from_static("/plugin.GRPCController/Shutdown");
        let mut grpc = self.connection.grpc.clone();
        let ask = async {
            grpc.ready().await.map_err(|_| ())?;
            let codec = ProstCodec::<wire::Empty, wire::Empty>::default();
            grpc.unary(Request::new(wire::Empty {}), path, codec).await.map_err(|_| ())
        };
        let _ = timeout(Duration::from_secs(1), ask).await;
        self.process.stop().await;
    }
}

/// The end of a process explains a connection that broke.
async fn explained(trouble: Trouble, process: &Process) -> Trouble {
    let is_cut = matches!(trouble.why, Why::Refused(..) | Why::Start(_));
    if !is_cut {
        return trouble;
    }
    match process.ended(Duration::from_millis(300)).await {
        Some((how, lines)) => Trouble { why: Why::Ended(how, lines), ..trouble },
        None => trouble,
    }
}

/// A channel over a connection that was checked. It is not opened again: nobody else is to answer.
async fn channel(stream: UnixStream) -> Result<Channel, Trouble> {
    let stream = Arc::new(Mutex::new(Some(stream)));
    let connect = tower::service_fn(move |_| {
        let stream = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gone = || io::Error::from(io::ErrorKind::NotConnected);
        async move { stream.map(TokioIo::new).ok_or_else(gone) }
    });
    let endpoint = Endpoint::from_static("http://provider");
    let channel = endpoint.connect_with_connector(connect).await;
    channel.map_err(|_| Trouble::start("it does not speak gRPC on its socket"))
}

impl Connection {
    async fn read_schemas(&self) -> Result<Schemas, Trouble> {
        let malformed = |why: schema::Malformed| Trouble::malformed(Call::Schema, why);
        let (limit, empty) = (self.limit * SCHEMA, wire::Empty {});
        let mut schemas = match self.protocol {
            Protocol::Five => {
                schema::v5(&self.within(limit, Call::Schema, empty, MAX_SCHEMA).await?)
            }
            Protocol::Six => {
                schema::v6(&self.within(limit, Call::Schema, empty, MAX_SCHEMA).await?)
            }
        }
        .map_err(malformed)?;
        let identities = self.within(limit, Call::Identities, wire::Empty {}, MAX_SCHEMA).await;
        match identities {
            Ok(identities) => {
                schemas.identities = schema::identities(&identities).map_err(malformed)?
            }
            // Older than identities.
            Err(Trouble { why: Why::Refused(status, _), .. })
                if status == Code::Unimplemented as i32 => {}
            Err(trouble) => return Err(trouble),
        }
        Ok(schemas)
    }

    /// One call, within the limit of this connection.
    async fn call<Q, A>(&self, call: Call, request: Q) -> Result<A, Trouble>
    where
        Q: prost::Message + Send + Sync + 'static,
        A: Answer,
    {
        self.within(self.limit, call, request, MAX_ANSWER).await
    }

    async fn within<Q, A>(
        &self,
        limit: Duration,
        call: Call,
        request: Q,
        most: usize,
    ) -> Result<A, Trouble>
    where
        Q: prost::Message + Send + Sync + 'static,
        A: Answer,
    {
        // Whoever waits for a turn does not use up its time.
        let _turn = self.calls.acquire().await;
        timed(limit, call, async {
            let answer: A = self.send(call, request, most).await?;
            judge(call, answer)
        })
        .await
    }

    async fn send<Q, A>(&self, call: Call, request: Q, most: usize) -> Result<A, Trouble>
    where
        Q: prost::Message + Send + Sync + 'static,
        A: prost::Message + Default + Send + Sync + 'static,
    {
        let mut grpc = self.grpc.clone().max_decoding_message_size(most);
        grpc.ready()
            .await
            .map_err(|error| Trouble::new(call, refused(&Status::from_error(Box::new(error)))))?;
        let path = PathAndQuery::from_static(call.path(self.protocol));
        let answer = grpc.unary(Request::new(request), path, ProstCodec::default()).await;
        answer
            .map(tonic::Response::into_inner)
            .map_err(|status| Trouble::new(call, refused(&status)))
    }

    /// All answers of a call that streams them, up to a number and a size.
    async fn stream<Q, A>(
        &self,
        limit: Duration,
        call: Call,
        request: Q,
        most: usize,
    ) -> Result<Vec<A>, Trouble>
    where
        Q: prost::Message + Send + Sync + 'static,
        A: Answer,
    {
        let failed = |status: Status| Trouble::new(call, refused(&status));
        let _turn = self.calls.acquire().await;
        timed(limit, call, async {
            let mut grpc = self.grpc.clone().max_decoding_message_size(MAX_ANSWER);
            grpc.ready().await.map_err(|error| failed(Status::from_error(Box::new(error))))?;
            let path = PathAndQuery::from_static(call.path(self.protocol));
            let codec = ProstCodec::<Q, A>::default();
            let streaming = grpc.server_streaming(Request::new(request), path, codec).await;
            let mut streaming = streaming.map_err(failed)?.into_inner();
            let (mut all, mut size) = (Vec::new(), 0);
            while let Some(answer) = streaming.message().await.map_err(failed)? {
                let answer: A = judge(call, answer)?;
                size += answer.encoded_len();
                all.push(answer);
                if all.len() > most || size > MAX_STREAM {
                    return Err(Trouble::new(call, Why::TooLarge));
                }
            }
            Ok(all)
        })
        .await
    }
}

async fn timed<T>(
    limit: Duration,
    call: Call,
    work: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    match timeout(limit, work).await {
        Ok(result) => result,
        Err(_) => Err(Trouble::new(call, Why::TimedOut(limit))),
    }
}

/// An answer, unless it reports errors.
fn judge<A: Answer>(call: Call, answer: A) -> Result<A, Trouble> {
    let errors = trouble::errors(answer.diagnostics());
    if !errors.is_empty() && call != Call::Apply {
        return Err(Trouble::new(call, Why::Said(errors)));
    }
    if answer.is_deferred() {
        return Err(Trouble::malformed(call, "it is deferred, which opal does not allow"));
    }
    Ok(answer)
}

fn refused(status: &Status) -> Why {
    match status.code() {
        Code::OutOfRange | Code::ResourceExhausted => Why::TooLarge,
        code => Why::Refused(code as i32, opal_core::data::Secret::new(status.message())),
    }
}

fn encode(call: Call, value: &Value, of: &Type) -> Result<DynamicValue, Trouble> {
    let msgpack = msgpack::encode(value, of).map_err(|why| {
        Trouble::new(
            call,
            Why::Invalid(format!("the configuration does not fit its schema: {why}")),
        )
    })?;
    Ok(DynamicValue { msgpack, json: Vec::new() })
}

fn decode(call: Call, value: Option<&DynamicValue>, of: &Type) -> Result<Value, Trouble> {
    match value {
        None => Ok(Value::Null),
        Some(value) if value.msgpack.is_empty() && value.json.is_empty() => Ok(Value::Null),
        Some(value) if value.msgpack.is_empty() => {
            Err(Trouble::malformed(call, "a value is JSON, which providers do not send"))
        }
        Some(value) => {
            msgpack::decode(&value.msgpack, of).map_err(|why| Trouble::malformed(call, why))
        }
    }
}
