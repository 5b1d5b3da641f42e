//! The sessions.

use super::Session;
use crate::support::Opal;

type Case = (&'static str, fn() -> Session);

pub(super) const CASES: &[Case] = &[
    ("runs", runs),
    ("dry_run", dry_run),
    ("plan", plan),
    ("contract", contract),
    ("apply", apply),
    ("records", records),
    ("check", check),
    ("help", help),
    ("keys", keys),
    ("convert", convert),
    ("modules", modules),
    ("module_init", module_init),
    ("blueprint", blueprint),
];

const TASKS: &str = "\
var VERSION = @env.VERSION(default=\"1.0\")

// Builds the site.
fun build(name: String = \"site\") {
    echo building @var.name @var.VERSION
}

// Deploys it, with a token.
fun deploy() {
    @cmd.build()
    @environ(TOKEN=@secret.env.TOKEN) { echo deploying }
}

fun fails() {
    echo before
    sh -c 'echo oops >&2; exit 3'
    echo never
}

fun caught() {
    try {
        sh -c 'exit 4'
    } catch {
        @log(\"it failed\", level=\"warn\")
    } finally {
        echo cleaned
    }
}

fun beside() {
    @parallel(max=1) {
        echo one
        echo two
    }
}

fun again() {
    @retry(2, delay=1ms) { sh -c 'exit 5' }
}

fun late() {
    @timeout(100ms) { sleep 600 }
}
";

fn tasks() -> Session {
    Session::new(Opal::machine(TASKS)).env("TOKEN", "hunter2-hunter2")
}

fn runs() -> Session {
    tasks()
        .types("build")
        .types("deploy")
        .types("fails")
        .types("caught")
        .types("beside")
        .types("again")
        .types("late")
        .types("build --json")
        .types("build -q")
        .types("build -v")
}

fn dry_run() -> Session {
    tasks().types("deploy --dry-run").types("-n caught").types("plan deploy --paths")
}

fn plan() -> Session {
    tasks()
        .types("plan deploy")
        .types("plan beside")
        .types("plan again --defaults")
        .types("plan build --json")
        .types("plan nothing")
}

fn contract() -> Session {
    tasks()
        .types("plan -o a.plan build")
        .types("plan show a.plan")
        .types("plan verify a.plan")
        .types("plan diff a.plan")
        .types("run --plan a.plan")
        .env("VERSION", "2.0")
        .types("plan diff a.plan")
        .types("run --plan a.plan")
        .types("plan -o b.plan --expires 1h --once build")
        .types("run --plan b.plan")
        .types("run --plan b.plan")
        .then("c.plan", "not a contract\n")
        .types("run --plan c.plan")
}

const CONFIG: &str = "\
version: 1
settings: {parallel: 1}
steps:
  - {id: web, type: directory, path: web}
  - {id: page, type: copy, source: page.html, destination: web/index.html, depends_on: [web]}
  - {id: done, type: command, command: touch done, check: test -e done, depends_on: [page]}
";

const DRIFT: &str = "\
version: 1
steps:
  - {id: port, type: line_in_file, file: app.conf, line: port=80, match: '^port='}
";

fn apply() -> Session {
    let opal = Opal::machine("").file("site.yaml", CONFIG).file("page.html", "hello\n");
    let opal = opal.file("drift.yaml", DRIFT).file("app.conf", "port=8080\n");
    Session::new(opal)
        .table()
        .types("verify site.yaml")
        .types("apply site.yaml --dry-run")
        .types("apply site.yaml")
        .types("verify site.yaml")
        .then("web/index.html", "other\n")
        .types("verify site.yaml -v")
        .types("apply site.yaml --verify-first")
        .types("verify drift.yaml -v")
        .types("apply drift.yaml --dry-run")
        .types("apply drift.yaml")
}

fn records() -> Session {
    tasks()
        .table()
        .types("runs list")
        .types("build -q")
        .types("fails -q")
        .types("runs list")
        .types("runs show")
        .types("runs show --logs")
        .types("runs tail")
        .types("build -q")
        .types("runs diff last last")
        .types("runs show nothing")
        .types("runs prune --keep 1")
}

const MISTAKES: &str = "\
fun build() {
    echo @var.NAEM
    @retri(2) { true }
}

fun  build() { @cmd.biuld() }
";

const UNTIDY: &str = "\
fun build( name:String='site' ){
  echo one
     if @var.name=='site'{ echo two }


  echo three   // and a comment
}
";

fn check() -> Session {
    let opal = Opal::project(MISTAKES).file("good.opl", "echo one\n").file("untidy.opl", UNTIDY);
    Session::new(opal)
        .types("check")
        .types("check --json")
        .types("check --format github")
        .types("check good.opl")
        .types("fmt --check")
        .types("fmt --diff good.opl")
        .types("fmt --diff untidy.opl")
        .types("build")
}

fn help() -> Session {
    tasks()
        .types("--help")
        .types("--version")
        .types("list")
        .types("list --json")
        .types("build -h")
        .types("plan --help")
        .types("explain E0401")
        .types("explain @retry")
        .types("explain nothing")
        .types("completions bash")
        .types("biuld")
        .types("build --nmae x")
}

fn keys() -> Session {
    Session::new(Opal::machine(""))
        .types("keys list")
        .types("keys generate release")
        .types("keys list")
        .types("keys show release")
        .types("keys generate release")
}

fn convert() -> Session {
    let opal = Opal::machine("").file("site.yaml", CONFIG).file("page.tmpl", "{{ .name }}\n");
    Session::new(opal).types("convert site.yaml").types("convert page.tmpl")
}

/// On a machine with a place for modules.
fn with_modules() -> Session {
    let opal = Opal::machine("").file("rel/modules/.keep", "");
    let path = |name: &str| opal.path().join(name).display().to_string();
    let (modules, root) = (path("rel/modules"), path("root"));
    Session::new(opal).env("HYOPS_MODULES_ROOT", modules).env("HYOPS_RUNTIME_ROOT", root)
}

fn modules() -> Session {
    with_modules()
        .table()
        .types("module list")
        .types("module new core/net")
        .types("module list")
        .types("module validate core/net")
        .types("module preflight core/net")
        .types("module plan core/net")
        .types("module apply core/net")
        .types("module verify core/net")
        .types("module show core/net")
        .types("module apply core/nte")
}

/// On a machine that has none of the tools.
fn module_init() -> Session {
    with_modules()
        .table()
        .env("PATH", "/nonexistent")
        .types("module init status")
        .types("module init hetzner")
        .types("module init hetzner")
        .types("module init local")
        .types("module init status")
        .types("module init hetzner --json")
        .types("module init hetznr")
}

const BLUEPRINT: &str = "\
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: demo/site@v1
steps:
  - {id: net, module_ref: core/net}
  - {id: host, module_ref: core/host}
";

fn blueprint() -> Session {
    let session = with_modules().table().types("module new core/net").types("module new core/host");
    std::fs::create_dir_all(session.opal.path().join("rel/blueprints/demo/site@v1")).unwrap();
    session
        .then("rel/blueprints/demo/site@v1/blueprint.yml", BLUEPRINT)
        .types("blueprint validate demo/site@v1")
        .types("blueprint plan demo/site@v1")
        .types("blueprint apply demo/site@v1")
}
