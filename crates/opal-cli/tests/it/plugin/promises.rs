//! What is promised about every command, every plan and every run with packages.

use std::net::TcpListener;

use opal_testing::guest;

use super::publish::Author;
use super::shelf::Shelf;
use super::wasm::decorator;
use super::{added, rooted};

#[test]
fn every_command_has_a_document_for_programs() {
    let author = Author::new();
    let to = author.address();
    let text = format!("[registries]\nacme = \"{to}\"\n");
    let opal = author.opal.file("opal.mod", text);
    let packed = opal.call(&["plugin", "pack", "vault", "--json"]).code(0).json();
    let checksum = packed["packed"]["checksum"].as_str().unwrap();
    let shelf = Shelf::new();
    let list = shelf.accepting("acme/vault", "1.0.0", checksum, "");
    for line in [
        &["init", "new"][..],
        &["verify", "vault"],
        &["publish", "vault", "--to", &to],
        &["search", "vault"],
        &["info", "acme/vault"],
        &["add", "acme/vault@1", "--accept", &list],
        &["install"],
        &["update"],
        &["list"],
        &["info", "acme/vault"],
        &["accepted"],
        &["trust", "vault"],
        &["mirror", "mirror"],
        &["yank", "acme/vault@1.0.0", "--to", &to],
        &["publish", "--refresh", "--to", &to],
        &["remove", "acme/vault"],
    ] {
        let ran = opal.call(&[&["plugin"], line, &["--json"]].concat());
        let document = ran.code(0).json();
        assert_eq!(document["version"], 1, "{line:?}: {document}");
    }
}

#[test]
fn the_short_command_yields_to_a_task_of_its_name() {
    let opal = added();
    opal.call(&["add"]).code(2);
    let text = opal.read("commands.opl");
    opal.write(
        "commands.opl",
        format!("{text}\nfun add(a: Int, b: Int) = echo $((@var.a + @var.b))\n"),
    );
    opal.call(&["add", "1", "2"]).code(0).stdout("3\n");
}

#[test]
fn plans_and_runs_fetch_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    let opal = rooted("fun hi() = @vault.hello()\n")
        .file(
            "opal.mod",
            format!("[registries]\nacme = \"{address}\"\n\n[plugins]\n\"acme/vault\" = \"1\"\n"),
        )
        .file(
            "opal.lock",
            format!(
                "version = 1\n\n[[plugin]]\nname = \"acme/vault\"\nversion = \"1.0.0\"\nsource = \
                 \"registry+{address}\"\nchecksum = \"sha256:{}\"\ncapabilities = []\nrequires = []\n",
                "0".repeat(64)
            ),
        );
    for line in [
        &["hi"][..],
        &["-n", "hi"],
        &["plan", "hi", "--resolve"],
        &["plan", "hi", "-o", "c.plan"],
        &["verify", "hi"],
        &["check"],
        &["list"],
        &["explain", "@vault.hello"],
        &["plugin", "list"],
    ] {
        // A verification that cannot verify has a code of its own.
        let code = if line[0] == "verify" { 3 } else { 69 };
        opal.call(line).code(code).says("opal plugin install");
        assert!(listener.accept().is_err(), "{line:?}");
    }
}

#[test]
fn a_proxy_that_hides_addresses_is_named_before_a_package_is_accepted() {
    let net =
        "  returns: {version: 1.0.0, type: string}\n  x-opal-capabilities: [\"net:a.example\"]\n";
    let toml = "[package]\nname = \"acme/guest\"\nversion = \"1.2.3\"\n[plugins]\nwasm = \"plugins/guest.wasm\"\n";
    let head = "x-opal-plugin: {name: acme/guest, version: 1.2.3}\nx-opal-decorators:\n";
    let opal = rooted("")
        .file("opal.mod", "name = \"shop\"\n")
        .file("guest/opal.toml", toml)
        .file("guest/dim.yaml", format!("{head}{}", decorator("fetch", net)))
        .file("guest/plugins/guest.wasm", guest::wasm());
    let says = "its requests go through your proxy";
    let add = ["plugin", "add", "./guest"];
    opal.call(&add).code(77).hides(says);
    opal.call_with(&[("https_proxy", "http://127.0.0.1:9")], &add).code(77).says(says);
}

#[test]
fn what_a_policy_denies_is_not_used_whatever_it_names() {
    let author = Author::new();
    let said = author.publish(&["--json"]).code(0).json();
    let checksum = said["published"]["checksum"].as_str().unwrap();
    let key = author.key("signing").to_string();
    let opal = rooted("fun hi() = @vault.hello()\n")
        .file("opal.mod", format!("[registries]\nacme = \"{}\"\n", author.address()));
    let shelf = Shelf::new();
    let list = shelf.accepting("acme/vault", "1.0.0", checksum, "");
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]).code(0);
    let text = opal.read("opal.mod");
    for denied in ["acme/vault", "acme/vault@1.0.0", checksum, &key] {
        opal.write("opal.mod", format!("{text}[policy.plugins]\ndeny = [\"{denied}\"]\n"));
        opal.call(&["hi"]).code(77).says(denied);
        opal.call(&["-n", "hi"]).code(77).says(denied);
    }
    opal.write("opal.mod", format!("{text}[policy.plugins]\ndeny = [\"acme/vault@1.0.1\"]\n"));
    opal.call(&["hi"]).code(0);
}

#[test]
fn an_imported_file_has_the_packages_of_the_project_that_runs() {
    let opal = added()
        .file("lib/opal.mod", "name = \"lib\"\n\n[plugins]\n\"./own\" = \"1.0.0\"\n")
        .file("lib/opal.lock", "version = 1\n")
        .file("lib/commands.opl", "fun helped() = @house.greet(\"lib\")\n");
    let text = opal.read("commands.opl");
    let uses = "fun go() = @cmd.lib.helped()\n";
    opal.write("commands.opl", format!("import \"lib/commands.opl\" as lib\n\n{text}\n{uses}"));
    opal.call(&["go"]).code(0).stdout("hello lib\n");
    opal.write("lib/commands.opl", "fun helped() = @own.greet(\"lib\")\n");
    let refused = opal.call(&["go"]);
    refused.code(65).says("unknown decorator `@own.greet`");
}

/// One plan has the packages of one project, in one version each: that of the project that runs.
#[test]
fn an_imported_project_has_no_packages_of_its_own_and_says_so() {
    let own = "[package]\nname = \"acme/own\"\nversion = \"1.0.0\"\n";
    let opal = added()
        .file("web/opal.mod", "name = \"web\"\n\n[plugins]\n\"./own\" = \"1.0.0\"\n")
        .file("web/own/opal.toml", own)
        .file(
            "web/own/decorators/a.opl",
            "# Greet.\nfun own.greet(who: String) = echo own @var.who\n",
        )
        .file(
            "web/commands.opl",
            "fun go() = @own.greet(\"web\")\nfun hi() = @house.greet(\"web\")\n",
        );
    let text = opal.read("commands.opl");
    opal.write("commands.opl", format!("import \"web\" as web\n\n{text}"));
    opal.call(&["plugin", "trust", "web"]).code(0);
    let lock = ["-C", "web", "plugin", "install"];
    opal.call(&lock).code(0);
    let says = "packages of the project `web` are not used here";
    for words in [&["web.go"][..], &["check"]] {
        let ran = opal.call(words);
        ran.code(65).says("unknown decorator `@own.greet`").says(says).says("opal web:TASK");
    }
    // The project itself has its own, and not those of the project around it.
    opal.call(&["web:go"]).code(0).stdout("own web\n");
    opal.call(&["web.hi"]).code(0).stdout("hello web\n");
    opal.call(&["web:hi"])
        .code(65)
        .says("unknown decorator `@house.greet`")
        .hides("are not used here");
}

/// What packages cost is paid by the sources that name them: the others run although a package is broken.
#[test]
fn a_source_that_names_no_decorator_of_a_package_does_not_read_it() {
    let opal = added()
        .file(
            "plain.opl",
            "fun plain(n: Int = 1) {\n    @retry(2) {\n        echo plain @var.n\n    }\n}\n",
        )
        .file("more.opl", "fun greet() = @house.greet(\"you\")\n")
        .file("main.opl", "import \"more.opl\"\nfun alone() = echo alone\n");
    for (file, text, code, says) in [
        ("opal.lock", "nonsense", 78, "opal.lock:1"),
        ("plugins/house/opal.toml", "[package]\nname = 3\n", 65, "opal.toml"),
        ("plugins/house/decorators/Greet.opl", "", 65, "is there twice"),
    ] {
        let before = std::fs::read(opal.path().join(file)).ok();
        opal.write(file, text);
        opal.call(&["-f", "plain.opl", "plain"]).code(0).stdout("plain 1\n");
        opal.call(&["-f", "plain.opl", "-n", "plain"]).code(0);
        opal.call(&["-f", "main.opl", "alone"]).code(0).stdout("alone\n");
        for words in [
            &["hi"][..],
            &["-n", "hi"],
            &["-f", "main.opl", "more.greet"],
            &["explain", "@house.greet"],
            &["plan", "hi", "-o", "c.plan"],
        ] {
            opal.call(words).code(code).says(says).hides("unknown decorator");
        }
        // Whoever checks wants to know.
        opal.call(&["check", "plain.opl"]).code(code).says(says);
        match before {
            Some(before) => opal.write(file, before),
            None => std::fs::remove_file(opal.path().join(file)).unwrap(),
        }
        opal.call(&["hi"]).code(0);
    }
}
