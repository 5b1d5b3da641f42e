//! The provider of AWS, and services that moto answers for.

#![expect(clippy::disallowed_methods, reason = "the server is killed when it is dropped")]

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use opal_testing::guest::build_directory;
use opal_testing::processes::eventually;

use crate::needs;
use crate::providers::{built, project};

const RECIPES: &str = "\n[terraform.recipes.aws_vpc]\n\
    mark = { in = \"tags\", data = { type = \"aws_vpcs\", tags = { opal = \"{mark}\" } } }\n\n\
    [terraform.recipes.\"aws_*\"]\nwhere = \"aws_caller_identity\"\n";

/// The account that moto pretends to be.
const ACCOUNT: &str = "123456789012";

struct Moto {
    server: Child,
    url: String,
}

impl Moto {
    fn start() -> Option<Self> {
        let program = build_directory().join("tools/moto/bin/moto_server");
        if !needs::has("`moto_server` in target/tools/moto", program.is_file()) {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moto = Self { server, url: format!("http://127.0.0.1:{port}") };
        eventually("moto answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(moto)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn objects_of_three_services_are_found_by_name_and_by_mark_made_corrected_and_removed() {
    let Some(program) = built("aws", "cargo xtask clouds aws") else { return };
    let Some(moto) = Moto::start() else { return };
    let block = |expect: &str| {
        format!("    @aws.provider(region=\"eu-west-1\", s3_use_path_style=true{expect}) {{\n")
    };
    let opal = project(&program, "hashicorp/aws", RECIPES)
        .file(
            "commands.opl",
            format!(
                "fun infra(path: String = \"/\") {{\n{}        @aws.s3_bucket(bucket=\"opal-logs\")\n        \
                 @aws.iam_user(name=\"deploy\", path=path)\n        \
                 let.net = @aws.vpc(cidr_block=\"10.1.0.0/16\", mark=\"net\")\n        \
                 echo net @let.net.cidr_block\n    }}\n}}\n\n\
                 fun gone() {{\n{}        @aws.s3_bucket.absent(bucket=\"opal-logs\")\n    }}\n}}\n\n\
                 fun other() {{\n{}        @aws.iam_user.absent(name=\"deploy\")\n    }}\n}}\n",
                block(""),
                block(&format!(", expect={{account: \"{ACCOUNT}\"}}")),
                block(", expect={account: \"999999999999\"}"),
            ),
        )
        .env("AWS_ENDPOINT_URL", &moto.url)
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test");
    let verify = |code: i32| opal.call(&["verify", "infra"]).code(code).stdout.clone();
    let before = verify(1);
    for key in ["aws_s3_bucket:opal-logs", "aws_iam_user:deploy", "aws_vpc:net"] {
        assert!(before.contains(key), "{before}");
    }
    opal.call(&["infra"]).code(0).says("net 10.1.0.0/16").says("created: vpc-");
    assert!(!verify(0).contains("missing"));
    opal.call(&["infra"]).code(0).says("3 already satisfied");
    let drifted = opal.call(&["verify", "infra", "/ci/"]);
    drifted.code(1).says("path: expected \"/ci/\", actual \"/\"");
    opal.call(&["infra", "/ci/"]).code(0).says("changed: path \"/\" → \"/ci/\"");
    let other = opal.call(&["other", "--yes"]);
    assert_ne!(other.code, 0);
    other.says("in another account than `expect` says");
    opal.call(&["gone"]).code(0).says("removed");
    assert!(verify(1).contains("missing"));
}
