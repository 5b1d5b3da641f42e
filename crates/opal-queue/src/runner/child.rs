//! The `opal run` that works on a share: its lines, and what it hears.

use std::cell::RefCell;
use std::path::Path;
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;

use opal_vault::root::Root;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

/// Bytes of a line.
const MAX_LINE: usize = 1 << 20;

/// Bytes of what it says on standard error that are kept.
const MAX_SAID: usize = 16 * 1024;

/// How long it may take to end after it was asked to.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// How long its output is read after it has ended, where something else has it open.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// A line that it wrote.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    Event(Value),
    /// It asks whether a target may start.
    Ask(String),
    Journal {
        target: String,
        number: u64,
    },
    Ended {
        target: String,
        status: String,
    },
    Result {
        exit: i64,
        targets: Vec<Value>,
    },
    /// It is none of these.
    Unknown,
}

impl Line {
    fn read(text: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Self::Unknown };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let read = || {
            if value["event"].is_object() {
                return Some(Self::Event(value["event"].clone()));
            }
            if value["ask"] == "start" {
                return Some(Self::Ask(text(&value["target"])?));
            }
            if let Some(number) = value["journal"]["number"].as_u64() {
                return Some(Self::Journal { target: text(&value["journal"]["target"])?, number });
            }
            let ended = &value["ended"];
            if ended.is_object() {
                let (target, status) = (text(&ended["target"])?, text(&ended["status"])?);
                return Some(Self::Ended { target, status });
            }
            let result = &value["result"];
            let targets = result["targets"].as_array()?.clone();
            Some(Self::Result { exit: result["exit"].as_i64()?, targets })
        };
        read().unwrap_or(Self::Unknown)
    }
}

pub(crate) struct Child {
    process: tokio::process::Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    partial: Vec<u8>,
    /// The end of what it has said on standard error, and whoever reads that.
    said: Rc<RefCell<Vec<u8>>>,
    reading: tokio::task::JoinHandle<()>,
}

/// What it is started with: files of its share, and where its sources are.
pub(crate) struct Job<'j> {
    pub(crate) opal: &'j Path,
    pub(crate) root: &'j Root,
    /// The directory of contract and order.
    pub(crate) folder: &'j Path,
    /// The source, from the top of its archive.
    pub(crate) source: &'j str,
    pub(crate) share: u32,
}

impl Child {
    pub(crate) fn start(job: &Job<'_>) -> std::io::Result<Self> {
        let mut command = Command::new(job.opal);
        let plan = job.folder.join("plan");
        command
            .args(["--color", "never", "--root"])
            .arg(job.root.path())
            .args(["run", "--plan"])
            .arg(plan)
            .arg("--order")
            .arg(job.folder.join("order"))
            .args(["--share", &job.share.to_string(), "--strict-source", "--share-io"])
            .args(["-f", job.source])
            .current_dir(job.folder.join("source"))
            // Ctrl+C reaches the whole group: the runner tells it itself.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let missing = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let input = process.stdin.take();
        let output = process.stdout.take().ok_or_else(missing)?;
        let stderr = process.stderr.take().ok_or_else(missing)?;
        let said = Rc::<RefCell<Vec<u8>>>::default();
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
            partial: Vec::new(),
            reading: tokio::task::spawn_local(keep_last(stderr, Rc::clone(&said))),
            said,
        })
    }

    /// Whether it has ended, though something that it started may still have its standard output.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// The next line; none at its end. It may be asked for again where nobody waited for the answer.
    pub(crate) async fn line(&mut self) -> Option<Line> {
        loop {
            let read = self.output.fill_buf().await.ok()?;
            if read.is_empty() {
                return None;
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |at| at + 1);
            self.partial.extend(&read[..taken]);
            self.output.consume(taken);
            if self.partial.len() > MAX_LINE + 1 {
                self.kill();
                return None;
            }
            if end.is_some() {
                let line = std::mem::take(&mut self.partial);
                return Some(Line::read(String::from_utf8_lossy(&line).trim_end()));
            }
        }
    }

    /// Tells it something. It may have ended.
    pub(crate) async fn tell(&mut self, value: &Value) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(format!("{value}\n").as_bytes()).await;
            let _ = input.flush().await;
        }
    }

    pub(crate) async fn stop(&mut self, reason: &str) {
        self.tell(&json!({"stop": reason})).await;
    }

    pub(crate) fn kill(&mut self) {
        self.input = None;
        let pid = self.process.id().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Waits for its end: its exit code, none where a signal ended it, and what it said last.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        self.input = None;
        let ended = tokio::time::timeout(GRACE, self.process.wait()).await;
        let status = match ended {
            Ok(status) => status.ok(),
            Err(_) => {
                self.kill();
                self.process.wait().await.ok()
            }
        };
        // What it has started may live on, with its standard error.
        let _ = tokio::time::timeout(LINGER, &mut self.reading).await;
        self.reading.abort();
        let said = String::from_utf8_lossy(&self.said.borrow()).into_owned();
        (status.and_then(|it| it.code()), said)
    }
}

/// Keeps the end of what it says.
async fn keep_last(mut from: ChildStderr, kept: Rc<RefCell<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let mut kept = kept.borrow_mut();
        kept.extend(&buffer[..read]);
        let excess = kept.len().saturating_sub(MAX_SAID);
        kept.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that leaves another one, which has all of its output.
    #[test]
    fn what_a_process_has_started_is_not_waited_for() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("source")).unwrap();
        let (program, left) = (folder.path().join("opal"), folder.path().join("left"));
        let script = format!(
            "#!/bin/sh\nsleep 600 &\necho $! > {}\necho 'error: no route' >&2\necho '{{\"ask\":\"start\",\"target\":\"a\"}}'\nexit 69\n",
            left.display()
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let root = Root::new(folder.path());
        let job = Job { opal: &program, root: &root, folder: folder.path(), source: "x", share: 1 };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (line, ended) = tokio::task::LocalSet::new().block_on(&runtime, async {
            let mut child = Child::start(&job).unwrap();
            let line = child.line().await;
            while !child.has_ended() {
                tokio::task::yield_now().await;
            }
            (line, child.end().await)
        });
        opal_testing::processes::kill(std::fs::read_to_string(left).unwrap().trim());
        assert_eq!(line, Some(Line::Ask("a".into())));
        assert_eq!(ended, (Some(69), "error: no route\n".to_owned()));
    }

    #[test]
    fn lines_that_are_not_of_the_protocol_are_known() {
        assert_eq!(Line::read("{\"ask\":\"start\",\"target\":\"web1\"}"), Line::Ask("web1".into()));
        assert_eq!(
            Line::read("{\"event\":{\"kind\":\"started\"}}"),
            Line::Event(json!({"kind": "started"}))
        );
        let journal = Line::Journal { target: "web1".into(), number: 4 };
        assert_eq!(Line::read("{\"journal\":{\"target\":\"web1\",\"number\":4}}"), journal);
        let ended = Line::Ended { target: "web1".into(), status: "ok".into() };
        assert_eq!(Line::read("{\"ended\":{\"target\":\"web1\",\"status\":\"ok\"}}"), ended);
        let result = Line::Result { exit: 0, targets: Vec::new() };
        assert_eq!(Line::read("{\"result\":{\"exit\":0,\"targets\":[]}}"), result);
        for unknown in
            ["", "x", "[]", "{}", "{\"ask\":\"stop\"}", "{\"ended\":{}}", "{\"result\":{}}"]
        {
            assert_eq!(Line::read(unknown), Line::Unknown, "{unknown}");
        }
    }
}
