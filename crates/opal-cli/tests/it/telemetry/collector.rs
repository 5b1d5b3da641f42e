//! A server that keeps what it is sent, and can misbehave.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// How it answers.
#[derive(Clone, Debug)]
pub(crate) enum Manner {
    /// As it should.
    Accepts,
    /// It reads, and never answers.
    Hangs,
    /// A good answer without an end.
    Endless,
    /// To another address.
    Redirects(String),
    /// With this status, and a text in which it repeats what it was sent.
    Says(u16),
    /// With this status, to metrics only.
    NoMetrics(u16),
    /// A good answer that rejects a span.
    Rejects,
    /// Bytes that are no HTTP.
    Babbles,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) path: String,
    /// As they came, each on its line.
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Collector {
    port: u16,
    posts: Arc<Mutex<Vec<Post>>>,
}

impl Collector {
    pub(crate) fn new() -> Self {
        Self::of(Manner::Accepts)
    }

    /// It ends with the process of the tests.
    pub(crate) fn of(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let posts = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&posts);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (manner, kept) = (manner.clone(), Arc::clone(&kept));
                thread::spawn(move || serve(stream, &manner, &kept));
            }
        });
        Self { port, posts }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What has come so far, traces before metrics: they come at the same time.
    pub(crate) fn posts(&self) -> Vec<Post> {
        let mut all = self.posts.lock().unwrap().clone();
        all.sort_by_key(|post| !post.path.contains("trace"));
        all
    }

    /// Forgets what has come.
    pub(crate) fn clear(&self) {
        self.posts.lock().unwrap().clear();
    }

    /// The spans of the one request for traces that came.
    #[track_caller]
    pub(crate) fn spans(&self) -> Vec<Span> {
        let posts = self.posts();
        let traces: Vec<_> = posts.iter().filter(|it| it.path.ends_with("/v1/traces")).collect();
        let [post] = traces[..] else { panic!("one request for traces in {posts:?}") };
        let request = ExportTraceServiceRequest::decode(&*post.body).unwrap();
        let scopes = request.resource_spans.into_iter().flat_map(|it| it.scope_spans);
        scopes.flat_map(|it| it.spans).collect()
    }

    #[track_caller]
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let posts = self.posts();
        let metrics: Vec<_> = posts.iter().filter(|it| it.path.ends_with("/v1/metrics")).collect();
        let [post] = metrics[..] else { panic!("one request for metrics in {posts:?}") };
        let request = ExportMetricsServiceRequest::decode(&*post.body).unwrap();
        let scopes = request.resource_metrics.into_iter().flat_map(|it| it.scope_metrics);
        scopes.flat_map(|it| it.metrics).collect()
    }
}

fn serve(stream: TcpStream, manner: &Manner, kept: &Mutex<Vec<Post>>) {
    let mut out = stream.try_clone().unwrap();
    let Some(post) = read(stream) else { return };
    let body = post.body.clone();
    let is_traces = post.path.contains("trace");
    kept.lock().unwrap().push(post);
    let good = |answer: Vec<u8>| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\nconnection: close\r\n";
        [format!("{head}content-length: {}\r\n\r\n", answer.len()).into_bytes(), answer].concat()
    };
    let accepted = match is_traces {
        true => ExportTraceServiceResponse::default().encode_to_vec(),
        false => ExportMetricsServiceResponse::default().encode_to_vec(),
    };
    let said = |status: u16, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 {status} No\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let answer = match manner {
        Manner::Hangs => {
            // Until opal has gone.
            let _ = out.read(&mut [0]);
            return;
        }
        Manner::Endless => {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n";
            let mut sent = out.write_all(head.as_bytes());
            let page = vec![b'x'; 1 << 20];
            while sent.is_ok() {
                sent = out.write_all(&page);
            }
            return;
        }
        Manner::Redirects(to) => {
            format!("HTTP/1.1 307 Elsewhere\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
                .into_bytes()
        }
        Manner::Says(status) => said(*status, &body),
        Manner::NoMetrics(status) if !is_traces => said(*status, b""),
        Manner::Rejects if is_traces => {
            let partial_success = Some(ExportTracePartialSuccess {
                rejected_spans: 1,
                error_message: "\u{1b}[31mtoo old".to_owned(),
            });
            good(ExportTraceServiceResponse { partial_success }.encode_to_vec())
        }
        Manner::Babbles => b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(),
        Manner::Accepts | Manner::NoMetrics(_) | Manner::Rejects => good(accepted),
    };
    let _ = out.write_all(&answer);
}

fn read(stream: TcpStream) -> Option<Post> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = String::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        headers.push_str(&line.to_ascii_lowercase());
    }
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    Some(Post { path, headers, body })
}

/// An attribute as text.
pub(crate) fn get(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|it| it.key == key)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::BoolValue(flag) => flag.to_string(),
        other => panic!("{other:?}"),
    })
}

/// The spans as a tree, with how each ended.
pub(crate) fn tree(spans: &[Span]) -> String {
    let mut text = String::new();
    let is_root = |span: &&Span| !spans.iter().any(|it| it.span_id == span.parent_span_id);
    for root in spans.iter().filter(is_root) {
        branch(spans, root, 0, &mut text);
    }
    text
}

fn branch(spans: &[Span], span: &Span, depth: usize, text: &mut String) {
    let names = ["cicd.pipeline.result", "cicd.pipeline.task.run.result", "opal.verification"];
    let end = names.iter().find_map(|name| get(&span.attributes, name)).unwrap_or_default();
    let error =
        get(&span.attributes, "error.type").map(|it| format!(" ({it})")).unwrap_or_default();
    let target =
        get(&span.attributes, "opal.target").map(|it| format!(" on {it}")).unwrap_or_default();
    text.push_str(&format!("{:1$}{2}{target}: {end}{error}\n", "", 2 * depth, span.name));
    for child in spans.iter().filter(|it| it.parent_span_id == span.span_id) {
        branch(spans, child, depth + 1, text);
    }
}

/// The errors that were counted: target, class, how many.
pub(crate) fn errors(metrics: &[Metric]) -> Vec<(String, String, i64)> {
    use opentelemetry_proto::tonic::metrics::v1::metric::Data;
    use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
    let found = metrics.iter().find(|it| it.name == "cicd.pipeline.run.errors");
    let Some(Data::Sum(sum)) = found.and_then(|it| it.data.as_ref()) else { return Vec::new() };
    let mut all = Vec::new();
    for point in &sum.data_points {
        let text = |key| get(&point.attributes, key).unwrap_or_default();
        let Some(Number::AsInt(count)) = point.value else { panic!("{point:?}") };
        all.push((text("opal.target"), text("error.type"), count));
    }
    all
}
