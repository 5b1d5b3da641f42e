//! Connections: one request each, and how long it may take from the first byte to the last.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use super::desk::Desk;
use super::life::Life;
use super::place::{Listener, Place};
use super::routes;

/// Connections at the same time; others wait.
const MOST: usize = 64;

/// Bytes of all headers of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Takes connections until the system gives none any more.
pub(super) async fn accept(place: &Place, desk: &Arc<Desk>) {
    let free = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(turn) = Arc::clone(&free).acquire_owned().await else { return };
        let desk = Arc::clone(desk);
        match &place.listener {
            Listener::Address(listener) => match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(async move {
                    serve(stream, desk).await;
                    drop(turn);
                })),
                Err(error) if is_passing(&error) => pause().await,
                Err(_) => return,
            },
            Listener::Socket(listener) => match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(async move {
                    serve(stream, desk).await;
                    drop(turn);
                })),
                Err(error) if is_passing(&error) => pause().await,
                Err(_) => return,
            },
        }
    }
}

/// Whether it is about one connection, or about a limit that may not hold for long.
fn is_passing(error: &io::Error) -> bool {
    // `EMFILE` and `ENFILE` have no kind of their own.
    let is_full = matches!(error.raw_os_error(), Some(23 | 24));
    is_full || matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Answers one request. Whoever is too slow, in asking or in listening, is left.
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, desk: Arc<Desk>) {
    let life = Life::default();
    let limit = desk.request_limit;
    let routes = routes::all(&desk).layer(Extension(life.clone()));
    let answered = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limit)
        .keep_alive(false)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    let mut answered = std::pin::pin!(answered);
    while tokio::time::timeout(limit, &mut answered).await.is_err() && life.is_long() {}
}
