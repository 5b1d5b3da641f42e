//! A server over TLS with a certificate of our own authority: files, git repositories, and tokens for an OCI
//! registry.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::needs;

/// Files of a directory; below `/git/` its repositories, by `git http-backend`; `/token`, as the server of
/// tokens of a registry: for `user` and `pass`, signed with the key of the authority.
const SERVER: &str = r#"
import base64, http.server, json, os, ssl, subprocess, sys, time, urllib.parse
top, keys = sys.argv[1:]
def plain(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")
def token(scope, service):
    lines = open(keys + "/ca.pem").read().split("\n")
    certificate = "".join(lines[1:lines.index("-----END CERTIFICATE-----")])
    access = []
    for one in scope.split(" "):
        kind, _, rest = one.partition(":")
        name, _, actions = rest.rpartition(":")
        access.append({"type": kind, "name": name, "actions": actions.split(",")})
    now = int(time.time())
    head = {"typ": "JWT", "alg": "RS256", "x5c": [certificate]}
    body = {"iss": "tests", "sub": "user", "aud": service, "iat": now, "nbf": now - 60, "exp": now + 600,
            "jti": "1", "access": access}
    text = plain(json.dumps(head).encode()) + b"." + plain(json.dumps(body).encode())
    sign = ["openssl", "dgst", "-sha256", "-sign", keys + "/ca.key"]
    return (text + b"." + plain(subprocess.run(sign, input=text, stdout=-1, check=True).stdout)).decode()
class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=top)
    def give(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def git(self):
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        env = dict(os.environ, GIT_PROJECT_ROOT=top, GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path,
                   QUERY_STRING=query, REQUEST_METHOD=self.command, REMOTE_ADDR="127.0.0.1",
                   CONTENT_TYPE=self.headers.get("Content-Type") or "", CONTENT_LENGTH=str(length),
                   GIT_PROTOCOL=self.headers.get("Git-Protocol") or "",
                   HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding") or "")
        done = subprocess.run(["git", "http-backend"], input=self.rfile.read(length), env=env, stdout=-1)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.give(int(lines.get("Status", "200").split()[0]), body, lines.get("Content-Type", "text/plain"))
    def token(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        own = base64.b64encode(b"user:pass").decode()
        if self.headers.get("Authorization") != "Basic " + own:
            return self.give(401, b"{}")
        found = {"token": token(asked["scope"][0], asked["service"][0])}
        self.give(200, json.dumps(found).encode())
    def do_POST(self):
        self.git()
    def do_GET(self):
        if self.path.startswith("/git/"):
            self.git()
        elif self.path.startswith("/token?"):
            self.token()
        else:
            super().do_GET()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(keys + "/cert.pem", keys + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// It ends when it is dropped.
pub(crate) struct Secure {
    server: Child,
    keys: tempfile::TempDir,
    /// `127.0.0.1:1234`.
    pub(crate) host: String,
}

impl Drop for Secure {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub(crate) fn run(folder: &Path, line: &[&str]) {
    let done = Command::new(line[0]).args(&line[1..]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{line:?}: {}", String::from_utf8_lossy(&done.stderr));
}

impl Secure {
    /// A server of the files of a directory. None where a program is missing.
    pub(crate) fn start(folder: &Path) -> Option<Self> {
        if !["openssl", "python3", "git"].into_iter().all(needs::program) {
            return None;
        }
        let keys = tempfile::tempdir().unwrap();
        let place = keys.path();
        fs::write(place.join("server.py"), SERVER).unwrap();
        fs::write(place.join("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n").unwrap();
        let new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
        let own = ["-x509", "-subj", "/CN=our authority", "-keyout", "ca.key", "-out", "ca.pem"];
        run(place, &[&new[..], &own].concat());
        let asks = ["-subj", "/CN=127.0.0.1", "-keyout", "key.pem", "-out", "asks.pem"];
        run(place, &[&new[..5], &asks].concat());
        let sign = ["openssl", "x509", "-req", "-days", "2", "-in", "asks.pem", "-CA", "ca.pem"];
        let more = ["-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-out", "cert.pem"];
        run(place, &[&sign[..], &more].concat());
        let mut server = Command::new("python3")
            .args([place.join("server.py").as_path(), folder, place])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = format!("127.0.0.1:{}", line.trim());
        Some(Self { server, keys, host })
    }

    /// The certificate of the authority.
    pub(crate) fn authority(&self) -> String {
        self.file("ca.pem").display().to_string()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.keys.path().join(name)
    }
}
