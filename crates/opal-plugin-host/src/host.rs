//! What a component asks of opal, passed on as it is.

use opal_core::data::Secret;
use opal_core::protocol::request::{
    Command, Completed, Content, Handle, HttpRequest, HttpResponse, Millis, Named, Part, Revealed,
    Service, WriteFile,
};
use opal_core::protocol::{Body, Kind, Refusal, Shape};
use opal_core::wiped::Wiped;
use wasmtime::component::Resource;

use crate::bindings::opal::plugin::host::{
    self, Error, ErrorKind, Host, HostInput, HostOutput, HostProbe, HostSecret, HostStage, Request,
    Response,
};
use crate::engine::State;

type Answer<T> = wasmtime::Result<Result<T, Error>>;

impl State {
    /// Asks opal, and expects an answer of a shape.
    fn pass<T: Shape>(&mut self, service: Service, params: Body) -> Answer<T> {
        match self.ask(service, params)? {
            Err(refusal) => Ok(Err(error(&refusal))),
            Ok(body) => match body.read() {
                Some(answer) => Ok(Ok(answer)),
                None => self.garbled(),
            },
        }
    }

    fn do_it(&mut self, service: Service, params: Body) -> Answer<()> {
        Ok(self.ask(service, params)?.map(|_| ()).map_err(|refusal| error(&refusal)))
    }
}

fn error(refusal: &Refusal) -> Error {
    let kind = match refusal.kind {
        Kind::Missing => ErrorKind::Missing,
        Kind::Denied => ErrorKind::Denied,
        Kind::Failed => ErrorKind::Failed,
        Kind::TimedOut => ErrorKind::TimedOut,
        Kind::TooLarge => ErrorKind::TooLarge,
        Kind::NotText => ErrorKind::NotText,
        Kind::Invalid => ErrorKind::Invalid,
    };
    let help = refusal.help.iter().map(|help| help.expose().to_owned()).collect();
    Error { kind, message: refusal.message.expose().to_owned(), help }
}

fn named(name: String) -> Body {
    Body::of(&Named { name: Secret::new(name) })
}

fn part(part: host::Part) -> Part {
    match part {
        host::Part::Text(text) => Part::Text(Secret::new(text)),
        host::Part::Secret(secret) => Part::Secret(secret.rep()),
    }
}

fn parts(all: Vec<host::Part>) -> Vec<Part> {
    all.into_iter().map(part).collect()
}

fn command(command: host::Command) -> Body {
    Body::of(&Command {
        program: command.program,
        args: command.args.into_iter().map(Secret::new).collect(),
        env: command.env.into_iter().map(|(name, value)| (name, part(value))).collect(),
        stdin: parts(command.stdin),
    })
}

fn completed(completed: Completed) -> host::Completed {
    host::Completed {
        code: completed.code,
        stdout: completed.stdout.to_vec(),
        stderr: completed.stderr.to_vec(),
    }
}

fn request(request: Request) -> Body {
    Body::of(&HttpRequest {
        method: request.method,
        url: Secret::new(request.url),
        headers: request.headers.into_iter().map(|(name, value)| (name, parts(value))).collect(),
        body: parts(request.body),
    })
}

fn response(response: HttpResponse) -> Response {
    let headers = response.headers.into_iter();
    Response {
        status: response.status,
        headers: headers.map(|(name, value)| (name, value.expose().to_owned())).collect(),
        body: response.body.to_vec(),
    }
}

impl Host for State {}

impl HostSecret for State {
    fn reveal(&mut self, secret: Resource<host::Secret>) -> Answer<String> {
        let params = Body::of(&Handle { secret: Some(secret.rep()) });
        let answer = self.pass::<Revealed>(Service::Reveal, params)?;
        Ok(answer.map(|revealed| revealed.text.expose().to_owned()))
    }

    fn drop(&mut self, _: Resource<host::Secret>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl HostProbe for State {
    fn env(
        &mut self,
        _: Resource<host::Probe>,
        name: String,
    ) -> Answer<Option<Resource<host::Secret>>> {
        let answer = self.pass::<Handle>(Service::ProbeEnv, named(name))?;
        Ok(answer.map(|handle| handle.secret.map(Resource::new_own)))
    }

    fn read(&mut self, _: Resource<host::Probe>, path: String) -> Answer<Vec<u8>> {
        let answer = self.pass::<Content>(Service::ProbeRead, named(path))?;
        Ok(answer.map(|content| content.bytes.to_vec()))
    }

    fn ask(&mut self, _: Resource<host::Probe>, it: host::Command) -> Answer<host::Completed> {
        Ok(self.pass(Service::ProbeAsk, command(it))?.map(completed))
    }

    fn fetch(&mut self, _: Resource<host::Probe>, it: Request) -> Answer<Response> {
        Ok(self.pass(Service::ProbeFetch, request(it))?.map(response))
    }

    fn now(&mut self, _: Resource<host::Probe>) -> Answer<u64> {
        let answer = self.pass::<Millis>(Service::ProbeNow, Body::default())?;
        Ok(answer.map(|millis| millis.ms))
    }

    fn drop(&mut self, _: Resource<host::Probe>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl HostStage for State {
    fn run(&mut self, _: Resource<host::Stage>, it: host::Command) -> Answer<host::Completed> {
        Ok(self.pass(Service::StageRun, command(it))?.map(completed))
    }

    fn send(&mut self, _: Resource<host::Stage>, it: Request) -> Answer<Response> {
        Ok(self.pass(Service::StageSend, request(it))?.map(response))
    }

    fn write(
        &mut self,
        _: Resource<host::Stage>,
        path: String,
        bytes: Vec<u8>,
        mode: Option<u32>,
    ) -> Answer<()> {
        let it = WriteFile { path: Secret::new(path), bytes: Wiped::new(bytes), mode };
        self.do_it(Service::StageWrite, Body::of(&it))
    }

    fn remove(&mut self, _: Resource<host::Stage>, path: String) -> Answer<()> {
        self.do_it(Service::StageRemove, named(path))
    }

    fn pause(&mut self, _: Resource<host::Stage>, ms: u32) -> Answer<()> {
        self.do_it(Service::StagePause, Body::of(&Millis { ms: ms.into() }))
    }

    fn keep(&mut self, _: Resource<host::Stage>, token: String) -> Answer<()> {
        self.do_it(Service::StageKeep, named(token))
    }

    fn log(&mut self, _: Resource<host::Stage>, message: String) -> wasmtime::Result<()> {
        // It has no result, so nobody hears of an error.
        self.ask(Service::StageLog, named(message)).map(|_| ())
    }

    fn drop(&mut self, _: Resource<host::Stage>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl HostInput for State {
    fn read(&mut self, _: Resource<host::Input>) -> Answer<Vec<u8>> {
        let answer = self.pass::<Content>(Service::InputRead, Body::default())?;
        Ok(answer.map(|content| content.bytes.to_vec()))
    }

    fn drop(&mut self, _: Resource<host::Input>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl HostOutput for State {
    fn write(&mut self, _: Resource<host::Output>, bytes: Vec<u8>) -> Answer<()> {
        let it = Content { bytes: Wiped::new(bytes) };
        self.do_it(Service::OutputWrite, Body::of(&it))
    }

    fn drop(&mut self, _: Resource<host::Output>) -> wasmtime::Result<()> {
        Ok(())
    }
}
