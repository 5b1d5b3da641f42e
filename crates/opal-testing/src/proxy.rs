//! A network that fails when a test says so: it passes the bytes of TCP connections on.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How often a stream that is held asks whether it may go on.
const TICK: Duration = Duration::from_millis(5);

/// It ends with the test; connections that it has passed on end with it.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Nothing passes, and nobody gets to know.
    is_stalled: AtomicBool,
    /// So many bytes of what the server sends pass, of all connections together.
    allowed: AtomicU64,
    /// Bytes of what servers have sent.
    passed: AtomicU64,
    /// Bytes of what clients have sent.
    sent: AtomicU64,
    delay_millis: AtomicU64,
    streams: Mutex<Vec<(TcpStream, Arc<AtomicBool>)>>,
    is_over: AtomicBool,
}

impl Proxy {
    /// In front of a port of this machine.
    ///
    /// # Panics
    /// If there is no port for it.
    #[must_use]
    pub fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        state.allowed.store(u64::MAX, Ordering::SeqCst);
        let inner = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if inner.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                inner.pass(&client, &server);
            }
        });
        Self { port, state }
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on nothing passes: both sides have a connection from which nothing comes.
    ///
    /// # Panics
    /// Never.
    pub fn stall(&self) {
        self.state.is_stalled.store(true, Ordering::SeqCst);
        for (_, is_dead) in self.state.streams.lock().unwrap().iter() {
            is_dead.store(true, Ordering::SeqCst);
        }
    }

    /// New connections pass; those that were stalled stay so for ever.
    pub fn heal(&self) {
        self.state.is_stalled.store(false, Ordering::SeqCst);
    }

    /// All connections are closed.
    ///
    /// # Panics
    /// Never.
    pub fn cut(&self) {
        for (stream, _) in self.state.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// After so many more bytes of the server all connections are closed.
    pub fn cut_after(&self, bytes: u64) {
        self.state.allowed.store(bytes, Ordering::SeqCst);
    }

    /// How many bytes servers have sent so far.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.state.passed.load(Ordering::SeqCst)
    }

    /// How many bytes clients have sent so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.state.sent.load(Ordering::SeqCst)
    }

    /// Every piece waits so long.
    pub fn delay(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.state.delay_millis.store(millis, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        self.cut();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl State {
    fn pass(self: &Arc<Self>, client: &TcpStream, server: &TcpStream) {
        // A connection that is stalled once is stalled for ever.
        let is_dead = Arc::new(AtomicBool::new(self.is_stalled.load(Ordering::SeqCst)));
        let pairs = [(client, server, false), (server, client, true)];
        for (from, to, counts) in pairs {
            let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { return };
            if let Ok(kept) = from.try_clone() {
                self.streams.lock().unwrap().push((kept, Arc::clone(&is_dead)));
            }
            let (state, is_dead) = (Arc::clone(self), Arc::clone(&is_dead));
            thread::spawn(move || state.copy(from, to, counts, &is_dead));
        }
    }

    fn copy(&self, mut from: TcpStream, mut to: TcpStream, counts: bool, is_dead: &AtomicBool) {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut chunk) {
            let delay = self.delay_millis.load(Ordering::SeqCst);
            thread::sleep(Duration::from_millis(delay));
            if is_dead.load(Ordering::SeqCst) {
                // Both sides keep their connection, and hear nothing.
                while !self.is_over.load(Ordering::SeqCst) {
                    thread::sleep(TICK);
                }
                return;
            }
            let counted = if counts { &self.passed } else { &self.sent };
            counted.fetch_add(count as u64, Ordering::SeqCst);
            if counts && self.spend(count as u64) {
                let _ = from.shutdown(Shutdown::Both);
                break;
            }
            if to.write_all(&chunk[..count]).is_err() {
                break;
            }
        }
        if !is_dead.load(Ordering::SeqCst) {
            let _ = to.shutdown(Shutdown::Both);
        }
    }

    /// Whether there is nothing left to spend.
    fn spend(&self, count: u64) -> bool {
        let left = self.allowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            Some(left.saturating_sub(count))
        });
        left.is_ok_and(|left| left < count)
    }
}
