//! Texts in quotes that a step runs: they are read with any value in their variables.

use opal_core::Data;
use opal_core::script::admit;

use crate::session::places::{VALUES, assert_quiet, contexts, is_refused};
use crate::session::support::{Only, Place};

/// Each has a text that evaluates a variable, and a way for it to a shell.
const EVALUATING: &[&str] = &[
    "eval \"declare -i $N\"; n=@var.x",
    "eval 'declare -i n'; m=@var.x",
    "eval 'exec > >(bash)'; echo @var.x",
    "source <(echo 'f() { eval \"$1\"; }'); f @var.x",
    "eval 'f() { eval \"$1\"; }'; f @var.x",
    "trap 'f() { eval \"$1\"; }' DEBUG; f @var.x",
    "X=@var.x; export X; envsubst < t | bash",
    "bash -s -- @var.x <<'E'\neval \"$1\"\nE",
    "bash <(echo 'eval \"$1\"') @var.x",
    "bash -c \"cd $PWD; eval \\\"\\$1\\\"\" _ @var.x",
    "bash -c \"$(cat <<'E'\neval \"$1\"\nE\n)\" _ @var.x",
    "echo 'eval \"$1\"' | bash -s -- @var.x",
    "bash -c \"$(echo 'eval \"$1\"')\" _ @var.x",
    "echo @var.x | xargs -I{} bash -c 'eval \"$1\"' _ {}",
    "echo @var.x | xargs bash -c 'eval \"$1\"' _",
    "find @var.x -exec bash -c 'eval \"$1\"' _ {} +",
    "su root -c 'eval \"$1\"' _ @var.x",
    "su root -c 'eval \"$1\"' -- _ @var.x",
    "f() { eval \"$1\"; }; export -f f; bash -c 'f \"$1\"' _ @var.x",
    "f() { eval \"$1\"; }; x=@var.x; trap 'f \"$x\"' EXIT",
    "set -- @var.x; trap 'eval \"$1\"' EXIT",
    "bash -c '`cat`' <<< @var.x",
    "bash -c 'eval \"`cat`\"' <<< @var.x",
    "zsh -c '${=1}' _ @var.x",
    "zsh -c 'print ${(e)1}' _ @var.x",
    "pre='set -e;'; bash -c \"$pre eval \\\"\\$1\\\"\" _ \"@var.x\"",
    "SUDO='sudo sh -c'; bash -c \"$SUDO \\\"\\$1\\\"\" _ \"@var.x\"",
    "CMD=eval; bash -c \"$CMD \\\"\\$1\\\"\" _ \"@var.x\"",
    "SH=bash; bash -c \"$SH -c \\\"\\$1\\\"\" _ \"@var.x\"",
    "FLAG=-c; bash -c \"bash $FLAG \\\"\\$1\\\"\" _ \"@var.x\"",
    "bash -c \"${RUN:-eval} \\\"\\$1\\\"\" _ \"@var.x\"",
    "bash -c \"$(echo eval) \\\"\\$1\\\"\" _ \"@var.x\"",
    "OP=-gt; bash -c \"[[ \\$1 $OP 3 ]]\" _ \"@var.x\"",
    "op='$n -gt 3'; n=\"@var.x\"; eval \"[[ $op ]]\"",
    "c=eval; x=\"@var.x\"; trap \"$c \\\"\\$x\\\"\" EXIT",
    "c=eval; x=\"@var.x\"; trap \"$c\"' \"$x\"' EXIT",
    "c=eval; cat <<E | bash -s -- \"@var.x\"\n$c \"\\$1\"\nE",
    "c=eval; echo \"$c \\\"\\$1\\\"\" | bash -s -- \"@var.x\"",
    "SH=bash; bash -c \"cat | $SH\" <<< \"@var.x\"",
    "SH=bash; su root -c \"exec $SH\" <<< \"@var.x\"",
    "SH=bash; timeout 9 sh -c \"exec $SH -s\" <<< \"@var.x\"",
    "HOOK=\"${HOOK:-eval \\\"\\$1\\\"}\"; bash -c \"$HOOK\" _ \"@var.x\"",
    ": \"${HOOK:=eval \\\"\\$1\\\"}\"; bash -c \"$HOOK\" _ \"@var.x\"",
    "bash -c \"${HOOK:-eval \\\"\\$1\\\"}\" _ \"@var.x\"",
    "sed 's/a/a/' <<'E' | bash -s -- \"@var.x\"\neval \"$1\"\nE",
    "tr -d '\\r' <<'E' | bash -s -- \"@var.x\"\neval \"$1\"\nE",
    "t=$(tr -d '\\r' <<'E'\neval \"$1\"\nE\n); bash -c \"$t\" _ \"@var.x\"",
    "awk 'BEGIN{print \"eval \\\"$1\\\"\"}' | bash -s -- \"@var.x\"",
    "printf '%s \"$1\"\n' 'bash -c' | bash -s -- \"@var.x\"",
    "printf -v t '%s \"$1\"' eval; bash -c \"$t\" _ \"@var.x\"",
    "f() { read -r l; eval \"$l\"; }; export -f f; echo \"@var.x\" | bash -c f",
    "f() { read -r l; eval \"$l\"; }; export -f f; echo \"@var.x\" | timeout 5 bash -c 'f'",
    "f() { bash; }; eval f <<< \"@var.x\"",
    "f() { bash; }; trap 'echo \"$x\" | f' EXIT; x=\"@var.x\"",
    "x=\"@var.x\"; source <(echo 'y=\"$x\"'); eval \"$y\"",
    "x=\"@var.x\"; . /dev/stdin <<< 'y=$x'; (( y ))",
    "x=\"@var.x\"; source /dev/stdin <<< 'set -- \"$x\"'; bash -c \"$1\"",
    "x=\"@var.x\"; trap 'y=$x' USR1; kill -USR1 $$; echo $((y))",
    "x=\"@var.x\"; trap 'y=$x' DEBUG; :; bash -c \"$y\"",
    "x=\"@var.x\"; c='y=$x'; trap \"$c\" DEBUG; :; echo $((y))",
    "x=\"@var.x\"; mapfile -C 'y=$x;:' -c 1 a <<< b; eval \"$y\"",
    "eval 'read -r y' <<< \"@var.x\"; eval \"$y\"",
    "eval read -r y <<< \"@var.x\"; eval \"$y\"",
    "eval \"mapfile -t y\" <<< \"@var.x\"; eval \"$y\"",
    "f() { read -r y; }; eval f <<< \"@var.x\"; echo $((y))",
    "trap 'read -r y' DEBUG; exec <<< \"@var.x\"; :; echo $((y))",
    "trap bash EXIT; exec <<< \"@var.x\"",
    "touch \"@var.x\"; n=$(grep -cHefoo \"@var.x\"); (( n ))",
    "touch \"@var.x\"; n=$(grep -cH --regexp=foo \"@var.x\"); (( n ))",
    "touch \"@var.x\"; n=$(grep -c --with-filename -efoo \"@var.x\"); (( n ))",
    "f() { find $@; }; f \"@var.x\"",
    "f() { $*; }; f find \"@var.x\"",
    "f() { sudo $@; }; f \"@var.x\"",
    "f() { timeout 5 $@; }; f \"@var.x\"",
    "f() { ssh $@; }; f \"@var.x\"",
    "c=(\"@var.x\"); find ${c[@]}",
    "c=(find \"@var.x\"); ${c[@]}",
    "set -- \"@var.x\"; find $*",
    "set -- \"@var.x\"; find ${@:1}",
    "set -- \"@var.x\"; find ${*:-.}",
    "opts=(\"@var.x\"); find ${opts[@]:-}",
    "declare -A o=([a]=\"@var.x\"); find ${o[@]}",
    "N=\"@var.x\" bash -c 'a[N]=1'",
    "N=\"@var.x\" bash -c 'a=([N]=1)'",
    "typeset -l t='EVAL \"$1\"'; bash -c \"$t\" _ \"@var.x\"",
    "t='EVAL \"$1\"'; bash -c \"${t,,}\" _ \"@var.x\"",
];

/// The texts only use their variables, or nothing in the step runs them.
const USING: &[&str] = &[
    "su app -c 'cat > f' <<< \"@var.x\"",
    "runuser -u app -- tee f <<< \"@var.x\"",
    "if [ \"$(df --output=avail \"@var.x\" | tail -1)\" -gt 5 ]; then a; fi",
    "trap 'rm -rf \"$tmp\"' EXIT; tool \"@var.x\"",
    "trap 'rm -rf $tmp' EXIT; tool \"@var.x\"",
    "trap 'code=$?; rm -f \"$tmp\"; exit $code' EXIT; tool \"@var.x\"",
    "trap 'echo \"failed on line $LINENO\"' ERR; tool \"@var.x\"",
    "cleanup() { rm -f \"$tmp\"; }; trap cleanup EXIT; tool \"@var.x\"",
    "cleanup() { rm -f \"$1\"; }; trap 'cleanup \"$tmp\"' EXIT; tool \"@var.x\"",
    "trap 'kill $pid' EXIT; tool \"@var.x\"",
    "trap 'kill \"$pid\" 2>/dev/null || true' EXIT INT TERM; tool \"@var.x\"",
    "eval \"$(ssh-agent -s)\"; ssh-add \"@var.x\"",
    "eval \"$(direnv hook bash)\"; tool \"@var.x\"",
    "source .env; tool \"@var.x\"",
    ". venv/bin/activate; pip install \"@var.x\"",
    "source <(kubectl completion bash); tool \"@var.x\"",
    "set -a; source .env; set +a; tool \"@var.x\"",
    "bash script.sh \"@var.x\"",
    "bash -c 'cmd \"$1\"' _ \"@var.x\"",
    "bash -ec 'cd \"$1\" && make' _ \"@var.x\"",
    "bash -s -- \"@var.x\" <<'E'\ncp \"$1\" /tmp\nE",
    "bash <<'E'\ncp a /tmp\nE\ntool \"@var.x\"",
    "find . -name '*.x' -exec bash -c 'mv \"$1\" \"${1%.x}\"' _ {} \\; ; tool \"@var.x\"",
    "find \"@var.x\" -exec sh -c 'echo \"$1\"' _ {} \\;",
    "ls | xargs -I{} sh -c 'echo {}'; tool \"@var.x\"",
    "docker exec app sh -c 'pg_dump -U \"$POSTGRES_USER\"' > \"@var.x\"",
    "docker exec app sh -c \"pg_dump -U $USER\" > \"@var.x\"",
    "kubectl exec p -- sh -c 'echo $HOSTNAME'; tool \"@var.x\"",
    "ssh host 'cd /srv && make'; tool \"@var.x\"",
    "ssh host \"cd $DIR && make\"; tool \"@var.x\"",
    "sudo -u app bash -c 'cd /srv && git pull'; tool \"@var.x\"",
    "su - app -c \"cd $DIR && make\"; tool \"@var.x\"",
    "timeout 5 bash -c 'until nc -z localhost 80; do sleep 1; done'; tool \"@var.x\"",
    "timeout 5 bash -c \"until nc -z localhost $PORT; do sleep 1; done\"; tool \"@var.x\"",
    "timeout 30 bash -c 'until curl -sf \"$0\"; do sleep 1; done' \"@var.x\"",
    "eval \"$(minikube docker-env)\"; docker build -t \"@var.x\" .",
    "NODE_ENV=production bash -c 'npm run build'; tool \"@var.x\"",
    "watch -n 1 'kubectl get pods'; tool \"@var.x\"",
    "bash -c 'for i in $(seq 1 3); do echo $i; done'; tool \"@var.x\"",
    "bash -c 'x=$((1+2)); echo $x'; tool \"@var.x\"",
    "bash -c 'if [[ $(id -u) -eq 0 ]]; then echo root; fi'; tool \"@var.x\"",
    "curl -fsSL https://example.com/i.sh | bash; tool \"@var.x\"",
    "curl -fsSL https://example.com/i.sh | bash -s -- \"@var.x\"",
    "bash <(curl -s https://example.com/i.sh) \"@var.x\"",
    "flock /tmp/l -c 'make all'; tool \"@var.x\"",
    "script -qc 'make' /dev/null; tool \"@var.x\"",
    "parallel -j4 'gzip {}' ::: *.log; tool \"@var.x\"",
    "python3 -c 'import sys; print(sys.argv[1])' \"@var.x\"",
    "awk -v x=\"@var.x\" 'BEGIN { print x }'",
    "PS4='+ ${BASH_SOURCE}:${LINENO}: '; set -x; tool \"@var.x\"",
    "export -f f; tool \"@var.x\"",
    "f() { echo \"$1\"; }; export -f f; bash -c 'f \"$1\"' _ \"@var.x\"",
    "pid=$(ps aux | awk '$11 == \"x\" {print $2}'); bash deploy.sh \"@var.x\"",
    "sed -i 's/$foo/bar/' f; bash deploy.sh \"@var.x\"",
    "bash -c 'i=0; while [ $i -lt 5 ]; do i=$((i+1)); done'; tool \"@var.x\"",
    "query='select $1 from (a)'; bash -c 'psql -c \"$0\"' \"$query\"; tool \"@var.x\"",
    "su app -c 'cat > f' <<< \"@var.x\"",
    "runuser -u app -- tee f <<< \"@var.x\"",
    "hcloud server ssh \"@var.x\"",
    "doctl compute ssh \"@var.x\" --ssh-user root",
    "bash -c 'n=$(wc -l < \"$1\"); echo $((n + 1))' _ \"@var.x\"",
    "bash -c 'until nc -z \"$1\" \"$2\"; do sleep 1; done' _ \"@var.x\" \"@var.y\"",
    "timeout 60 bash -c 'until nc -z \"$1\" \"$2\"; do sleep 1; done' _ \"@var.x\" \"@var.y\"",
    "find \"@var.x\" -name '*.log' -print0 | xargs -0 -P4 -n1 bash -c 'gzip -9 \"$1\"; touch \"$1.done\"' _",
    "PY=$(command -v python3); \"$PY\" manage.py \"@var.x\"",
    "bash -c \"cd $DIR && tool \\\"\\$1\\\"\" _ \"@var.x\"",
    "bash -c \"cd '$DIR' && tool \\\"\\$1\\\"\" _ \"@var.x\"",
    "trap 'rc=$?; rm -rf \"$tmp\"; exit $rc' EXIT; tmp=$(mktemp -d); cp \"@var.x\" \"$tmp\"",
    "printf '%s\n' \"$a\" \"@var.x\" | sort; bash x.sh",
    "echo \"Deploying $APP ($VERSION) at $(date)\"; bash deploy.sh \"@var.x\"",
    "curl -sf -H \"Authorization: Bearer $TOKEN\" \"https://x/$(date +%s)\" | jq -r '.a[] | select(.b == \"c\") | .d'; bash deploy.sh \"@var.x\"",
    "msg=\"costs \\$5\"; bash deploy.sh \"@var.x\"",
    "cat > f.yaml <<'E'\nname: ${NAME}\ncmd: [\"sh\", \"-c\", \"echo $((1+2))\"]\nE\nbash deploy.sh \"@var.x\"",
    "kubectl exec \"$pod\" -- sh -c \"pg_dump -U $USER $DB\" > \"@var.x\"",
    "ssh \"$HOST\" \"cd $DIR && docker compose up -d\"; tool \"@var.x\"",
    "x=$(ps aux | awk '$11 == \"x\" {print $2}'); bash deploy.sh \"@var.x\"",
    "v=$(echo \"$a\" | sed 's/\\(.*\\)-$b/\\1/'); bash deploy.sh \"@var.x\"",
    "export VERSION=\"@var.x\"; envsubst '$VERSION' < t.yaml | kubectl apply -f -",
    "count=$(grep -c \"@var.x\" access.log || true); if (( count > 100 )); then echo many; fi",
    "f() { local name=$1; echo \"$name\"; }; f \"@var.x\"",
    "f() { echo \"$*\"; }; f a \"@var.x\"",
    "log() { printf '%s\n' \"$*\" >&2; }; log \"deploying @var.x\"",
    "die() { echo \"error: $*\" >&2; exit 1; }; [ -f a ] || die \"missing @var.x\"",
    "files=(\"@var.x\" b); tar czf out.tgz -- \"${files[@]}\"",
    "f() { local -a xs=(\"$@\"); printf '%s\n' \"${xs[@]}\"; }; f \"@var.x\"",
    "docker exec \"$C\" -c x; echo \"@var.x\"",
    "msg=\"[$(date)] @var.x\"; bash notify.sh \"$msg\"",
    "bash -c 'echo \"[info] $1\"' _ \"@var.x\"",
    "perl -e 'print 1'; echo \"@var.x\"",
    "trap 'echo \"[error] line $LINENO\"' ERR; tool \"@var.x\"",
];

#[test]
fn a_step_with_a_text_that_evaluates_takes_only_values_that_are_harmless_everywhere() {
    let place = Place::new(Only::Bash);
    for line in EVALUATING {
        for value in VALUES.iter().filter(|value| !value.starts_with('/')) {
            assert!(is_refused(&place, line, value), "{line} with {value:?}");
            assert_quiet(&place, line);
        }
        let is_allowed =
            |value: &str| contexts(line).iter().all(|it| admit(*it, &Data::text(value)).is_ok());
        assert!(is_allowed("v1.2.3-rc.1") && is_allowed("50%"), "{line}");
    }
}

/// Steps of everyday operations, one a line.
const ORDINARY: &str = include_str!("ordinary.txt");

#[test]
fn ordinary_steps_and_texts_that_only_use_their_variables_take_any_value() {
    for line in USING.iter().copied().chain(ORDINARY.lines()) {
        let places = contexts(line);
        assert!(!places.is_empty(), "{line} has no reference");
        for value in ["a b", "$(touch pwned)", "'; touch pwned", "It's \"new\""] {
            for context in &places {
                let admitted = admit(*context, &Data::text(value));
                assert!(admitted.is_ok(), "{line} with {value:?}: {admitted:?}");
            }
        }
    }
}
