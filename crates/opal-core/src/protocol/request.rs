//! What a plugin asks opal to do. opal decides, acts and answers: a plugin has no power of its own.

use crate::wiped::Wiped;

use super::body::{Frames, Shape, View, record};
use super::words;
use crate::data::{Data, Secret};

words! {
    /// What opal does for plugins.
    Service {
        ProbeEnv = "probe.env",
        ProbeRead = "probe.read",
        ProbeAsk = "probe.ask",
        ProbeFetch = "probe.fetch",
        ProbeNow = "probe.now",
        StageRun = "stage.run",
        StageSend = "stage.send",
        StageWrite = "stage.write",
        StageRemove = "stage.remove",
        StagePause = "stage.pause",
        StageKeep = "stage.keep",
        StageLog = "stage.log",
        Reveal = "secret.reveal",
        InputRead = "input.read",
        OutputWrite = "output.write",
    }
}

impl Service {
    /// Whether it may change something.
    #[must_use]
    pub fn acts(self) -> bool {
        self.word().starts_with("stage.")
    }

    /// Whether it passes a piece of a stream of a step.
    #[must_use]
    pub const fn streams(self) -> bool {
        matches!(self, Self::InputRead | Self::OutputWrite)
    }
}

/// Text, or a secret that opal puts in its place.
#[derive(Clone, Debug)]
pub enum Part {
    Text(Secret),
    /// The number of a handle.
    Secret(u32),
}

impl Shape for Part {
    fn write(&self, frames: &mut Frames) -> Data {
        match self {
            Self::Text(text) => text.write(frames),
            Self::Secret(handle) => handle.write(frames),
        }
    }

    fn read(view: View<'_>) -> Option<Self> {
        match view.data {
            Data::Int(_) => u32::read(view).map(Self::Secret),
            _ => Secret::read(view).map(Self::Text),
        }
    }
}

record! {
    Command {
        program: String,
        args: Vec<Secret>,
        env: Vec<(String, Part)>,
        stdin: Vec<Part>,
    }
}

record! {
    Completed {
        code: i32,
        stdout: Wiped<Vec<u8>>,
        stderr: Wiped<Vec<u8>>,
    }
}

record! {
    HttpRequest {
        method: String,
        url: Secret,
        headers: Vec<(String, Vec<Part>)>,
        body: Vec<Part>,
    }
}

record! {
    HttpResponse {
        status: u16,
        headers: Vec<(String, Secret)>,
        body: Wiped<Vec<u8>>,
    }
}

record! {
    /// The name of a variable, a path, a token or a message.
    Named {
        name: Secret,
    }
}

record! {
    /// A secret that a call gets; none where the variable is not set.
    Handle {
        secret: Option<u32>,
    }
}

record! {
    Content {
        bytes: Wiped<Vec<u8>>,
    }
}

record! {
    WriteFile {
        path: Secret,
        bytes: Wiped<Vec<u8>>,
        mode: Option<u32>,
    }
}

record! {
    /// Milliseconds: a pause, or the time since 1970.
    Millis {
        ms: u64,
    }
}

record! {
    Revealed {
        text: Secret,
    }
}
