//! Every place of a command × values that would run if the shell read them again, in real shells:
//! either the value is refused, or nothing of it runs.

use std::collections::BTreeSet;

use opal_core::Data;
use opal_core::context::Context;
use opal_core::resolver::{ScriptPart, TroubleKind};
use opal_core::script::{CASES, Role};
use opal_plan::Words;
use opal_plan::lower;
use opal_plan::unit::{Piece, StatementKind, Work};

use crate::session::support::{Only, Place, SHELLS};

/// Each makes the file `pwned` where a shell reads it as code, as a name or as a number.
pub(super) const VALUES: [&str; 12] = [
    "$(touch pwned)",
    "`touch pwned`",
    "x[$(touch pwned)]",
    "a[`touch pwned`]+1",
    "([$(touch pwned)]=1)",
    "($(touch pwned))",
    "; touch pwned",
    "touch pwned",
    "x\ntouch pwned\n",
    "' ; touch pwned ; '",
    "\" ; touch pwned ; \"",
    "/dev/tcp/127.0.0.1/1",
];

/// Spellings of rows of the table that must be refused as well.
#[rustfmt::skip]
const REFUSED: &[&str] = &[
    // Command words.
    "e\"va\"l @var.x", "\\eval @var.x", "'eval' @var.x", "$'eval' @var.x", "$\"eval\" @var.x", "e\\val @var.x",
    "ev$(echo al) @var.x", "ev`echo al` @var.x", "ev{,}al @var.x", "{eval,@var.x}", "$X @var.x", "\"$X\" @var.x",
    "${SHELL:-bash} -c @var.x", "/bin/ba\"\"sh -c @var.x", "/bin/ba* -c @var.x", "command eval @var.x",
    "builtin eval @var.x", "exec bash -c @var.x", "command -p eval @var.x", "time eval @var.x",
    "time -p eval @var.x", "! eval @var.x", "coproc eval @var.x", "coproc N { eval @var.x; }",
    "function f { eval @var.x; }; f", "f() { eval @var.x; }; f", "if true; then eval @var.x; fi",
    "for i in 1; do eval @var.x; done", "while eval @var.x; do break; done", "until eval @var.x; do break; done",
    "case a in a) eval @var.x;; esac", "{ eval @var.x; }", "(eval @var.x)", "echo $(eval @var.x)",
    "echo `eval @var.x`", "cat <(eval @var.x)", "X=1 eval @var.x", "> f eval @var.x", "2>/dev/null eval @var.x",
    "select i in a; do eval @var.x; break; done <<< 1", "true && eval @var.x", "echo a | eval @var.x",
    "eval \"echo $(echo @var.x)\"", "eval -- @var.x", "sudo -u root bash -c @var.x", "env -i A=b bash -c @var.x",
    "busybox sh -c @var.x", "docker exec app 'sh' -c @var.x", "nohup bash -c @var.x", "xargs -I{} sh -c @var.x",
    "timeout 5 bash -c @var.x", "sudo -- bash -c @var.x", "nice -n 5 bash -c @var.x", "stdbuf -oL bash -c @var.x",
    // Options.
    "bash -c@var.x", "bash -ec @var.x", "bash -ceu @var.x", "bash -euo pipefail -c @var.x", "bash -co pipefail @var.x",
    "bash -\"c\" @var.x", "bash \"-c\" @var.x", "bash -c -- @var.x", "bash --norc -c @var.x", "bash +x -c @var.x",
    "su -c\"@var.x\"", "su root -c @var.x", "su -lc @var.x", "su - root -- -c @var.x", "env \"-S@var.x\"", "env -S\"a @var.x\"",
    "env --split-string @var.x", "env -iS @var.x", "printf -v@var.x a", "printf -\"v\" @var.x a",
    "mapfile -tC @var.x -c 1 a <<< x", "read -ra @var.x <<< y", "wait -np @var.x",
    // Redirections.
    "echo a >& @var.x", "echo a >&@var.x", "echo a 1>& @var.x", "echo a >& logs/@var.x.log", "echo a >& \"@var.x\"",
    "cat <& @var.x", "exec {fd}>& @var.x", "{ echo a; } >& @var.x", "(echo a) >& @var.x", "exec {a[@var.x]}>f",
    "exec {a[\"@var.x\"]}>f",
    // Names.
    "test -v @var.x", "[ -v @var.x ]", "[ ! -v @var.x ]", "[ -n a -a -v @var.x ]", "[ \"-v\" @var.x ]", "[ -\\v @var.x ]",
    "test -v a@var.x", "test -v \"a[@var.x]\"", "[[ -v @var.x ]]", "[[\t-v @var.x ]]", "[[ ! -v @var.x ]]",
    "[[ (-v @var.x) ]]", "[[ -v a[@var.x] ]]", "[[ -v \"a@var.x\" ]]", "read a @var.x <<< y", "read -r @var.x <<< y",
    "unset -v @var.x", "unset a[@var.x]", "unset \"a[@var.x]\"", "declare \"@var.x=1\"", "declare a[@var.x]=1",
    "declare -n r=@var.x; echo $r", "declare -gn r=@var.x", "f() { local -n r=@var.x; r=1; }; f", "typeset -n r=@var.x",
    "declare -i n=@var.x", "declare -xi n=@var.x", "declare -i \"n=@var.x\"", "declare -i n; n=@var.x",
    "declare -i n; n=1@var.x", "declare -i n; read n <<< @var.x", "declare -i n; for n in @var.x; do :; done",
    "declare -i n; printf -v n %s @var.x", "f() { n=@var.x; }; declare -i n; f", "declare -n r; r=@var.x; echo $r",
    "declare -i n; export n=@var.x", "declare -ai a=(@var.x)", "declare -i a=(@var.x)",
    "declare -a a=@var.x", "declare -A a=@var.x", "readonly -a a=@var.x", "export -a a=@var.x", "declare -a \"a=@var.x\"",
    "local -a a=@var.x", "a=(); declare a=\"(@var.x)\"", "a=(); declare \"a=(@var.x)\"",
    "a=([@var.x]=1)", "a+=([1@var.x]=1)", "a[@var.x]=1", "a[1+@var.x]=1", "a[\"@var.x\"]+=1", "export a[@var.x]=1",
    // Sums.
    "echo $((@var.x))", "echo \"$((1 + @var.x))\"", "echo $((a[@var.x]))", "((@var.x))", "(( a = @var.x ))",
    "for ((i=@var.x; i<1; i++)); do :; done", "echo $[@var.x]", "echo \"$[1 + @var.x]\"", "let a=@var.x", "let \"a = @var.x\"",
    "echo ${PATH:@var.x}", "echo \"${PATH:0:@var.x}\"", "[[ @var.x -eq 1 ]]", "[[ 1 -lt \"@var.x\" ]]", "[[ a@var.x -ge 1 ]]",
    "echo $(( $(echo @var.x) ))", "echo $(( `printf %s @var.x` ))", "echo $(( $(cat <<< @var.x) ))",
    // Expansions.
    "echo ${@var.x}", "echo ${!@var.x}", "echo ${#@var.x}", "echo ${a[@var.x]}", "echo ${a[b[1]+@var.x]}", "echo ${a[@var.x]:-b}",
    "echo ${HOME/a/@var.x}", "echo ${x:=@var.x}", "echo ${HOME//\"a/b\"/@var.x}",
    // Variables that are interpreted.
    "PS4=@var.x", "PATH=@var.x ls", "export PATH=@var.x:$PATH", "IFS=@var.x", "BASH_ENV=@var.x bash -c :", "ENV=@var.x sh -c :",
    "LD_PRELOAD=@var.x ls", "RANDOM=@var.x", "OPTIND=@var.x", "HISTCMD=@var.x", "SRANDOM=@var.x", "PROMPT_COMMAND=@var.x",
    "env BASH_ENV=@var.x bash -c :", "sudo PATH=@var.x ls", "declare PS4=@var.x", "export \"PS4=@var.x\"", "readonly IFS=@var.x",
    "for IFS in @var.x; do :; done", ": ${PS4:=@var.x}", ": \"${PATH:=@var.x}\"", "BASH_ALIASES[a]=@var.x", "env -i \"PATH=@var.x\" ls",
    // Input that is run.
    "bash <<< @var.x", "bash -s <<< @var.x", "bash -s a b <<< @var.x", "<<< @var.x bash", "bash 0<<< @var.x",
    "source /dev/stdin <<< @var.x", ". /dev/stdin <<< @var.x", ". /dev/fd/3 3<<< @var.x", "command . /dev/stdin <<< @var.x",
    "bash /dev/stdin <<< @var.x", "source <(echo @var.x)", "bash <(echo @var.x)", "bash --rcfile <(echo @var.x) -i",
    "echo @var.x | bash", "printf %s @var.x | bash", "echo @var.x | cat | bash", "cat <<< @var.x | bash", "echo @var.x | sudo bash",
    "{ bash; } <<< @var.x", "(bash) <<< @var.x", "echo @var.x | { bash; }", "if true; then bash; fi <<< @var.x",
    "find . -exec sh -c \"@var.x\" ';'", "find . -exec bash -c @var.x {} +", "echo @var.x > >(bash)", "echo @var.x | tee >(bash)",
    "bash < <(echo @var.x)", "bash <<< \"$(echo @var.x)\"", ". <(cat <<< @var.x)", "echo ${HOME:$(echo @var.x)}", "echo \"${a[$(echo @var.x)]}\"", "a[$(echo @var.x)]=1",
    "eval \"$(echo @var.x)\"", "bash -c \"$(echo @var.x)\"", "bash -c \"$(cat <<< @var.x)\"", "echo @var.x | xargs -I{} sh -c {}",
    "ssh host <<< @var.x", "ssh host bash -s <<< @var.x", "echo @var.x | ssh host bash", "at now <<< @var.x",
    "bash <<E\n@var.x\nE", "source /dev/stdin <<E\n@var.x\nE", "<<E bash\n@var.x\nE", "bash -s <<E a\n@var.x\nE",
    "cat <<E | bash\n@var.x\nE", "cat <<E |\n@var.x\nE\nbash", "{ bash; } <<E\n@var.x\nE", "eval \"$(cat <<E\n@var.x\nE\n)\"",
    // Builtins with callbacks.
    "trap @var.x EXIT", "trap -- @var.x EXIT", "trap \"rm @var.x\" EXIT", "alias a=@var.x", "alias \"a=@var.x\"", "compgen -W @var.x",
    "compgen -C @var.x", "complete -C @var.x a", "hash -p @var.x ls", "bind -x @var.x", "enable -f @var.x a", "fc -s @var.x",
    "history -p @var.x", "jobs -x eval @var.x",
    // Options that a value chooses or completes, and abbreviations of long ones.
    "su -@var.x \"@env.Y\"", "su --@var.x \"@env.Y\"", "su --comm@var.x=\"@env.Y\"", "su --comm \"@var.x\"", "su --comm=@var.x",
    "env --split \"@var.x\"", "env --split-s=@var.x", "script --comm @var.x log", "flock lock --com=@var.x", "printf -@var.x @env.Y a",
    "wait -@var.x @env.Y", "compgen -@var.x @env.Y", "[ -@var.o @var.x ]", "[ -$O @var.x ]", "test -\"$O\" @var.x",
    // Programs that are started by others.
    "env - su -c @var.x", "setpriv --reuid 5 su -c @var.x", "docker exec app su -c @var.x", "docker exec app env -S @var.x",
    "kubectl exec pod -- ssh host \"rm @var.x\"", "docker exec app ssh host \"rm @var.x\"", "find . -exec ssh host rm @var.x ';'",
    "sudo -i echo @var.x", "sudo -s echo @var.x", "sudo -iu root echo @var.x", "sudo -u root -i -- echo @var.x", "sudo --login echo @var.x",
    "gcloud compute ssh a -- rm @var.x", "vagrant ssh -- rm @var.x", "minikube ssh -- rm @var.x", "clush -w a,b rm @var.x",
    "echo @var.x | xargs ssh host", "echo @var.x | xargs env", "echo @var.x | xargs sudo", "echo @var.x | xargs -I{} ssh host \"rm {}\"",
    "echo @var.x | parallel", "cat <<E | parallel\n@var.x\nE", "basename @var.x | bash", "sed \"s/a/@var.x/\" f | bash", "yes @var.x | bash",
    // Attributes that are given later, or by `eval`.
    "for i in 1 2; do n=@var.x; declare -i n; done", 
    
    // Indices, up to their own bracket.
    "a[b[0]+@var.x]=1", "a[${m[k]}+@var.x]=1", "arr=([b[0]+@var.x]=1)", "arr=([1 + @var.x]=1)", "arr=( [ 1+@var.x ]=1)",
    "declare -a arr=([b[0]+@var.x]=1)", "a[1 + @var.x]=1", "a[\"]\"+@var.x]=1", "a[(1)+@var.x]=1", "a[1|@var.x]=1", "a[1<@var.x]=1",
    "arr=(a [${m[k]} + @var.x]=1)", "arr+=([ (1) + @var.x ]+=1)", "a[$(echo ])+@var.x]=1", "arr=([1\n+@var.x]=1)", "a\\\n[@var.x]=1",
    // Lines that are continued within a word.
    "[[ @var.x -e\\\nq 1 ]]", "[[ -\\\nv @var.x ]]", "[\\\n[ @var.x -eq 1 ]]", "PS\\\n4=@var.x", "ev\\\nal @var.x", "declare -i nn; n\\\nn=@var.x",
    "[[ 1 -l\\\nt @var.x ]]", "decl\\\nare a[@var.x]=1",
    // The text of `env -S`, and the names of settings.
    "env -S \"bash -c\" @var.x", "env -S\"bash -c\" @var.x", "env -iS 'bash -c' @var.x", "env --split-string='bash -c' @var.x",
    "env --split 'bash -c' @var.x", "env @var.k=@var.x true", "env LD_@var.x=y true", "env LD_@var.x true", "sudo @var.x=1 true",
    "env A=b @var.x=1 true", "env -- @var.x=1 true", "doas @var.x=1 true", "env B\"A\"@var.x=1 true",
    // Programs that start a shell.
    "pwsh -Command @var.x", "pwsh -NoProfile -com echo @var.x", "powershell @var.x", "pwsh -c @var.x", "pwsh -EncodedCommand @var.x",
    "pwsh <<< @var.x", "pwsh -Command - <<< @var.x", "plink host @var.x", "sops exec-file --no-fifo f @var.x", "heroku run -a app @var.x",
    "yarn exec @var.x", "doppler run --command=@var.x", "{ bash; python3; } <<< @var.x", "echo @var.x | { python3; bash; }",
    "echo @var.x | xargs $CMD", "echo @var.x | xargs @env.Y",
    "coproc @var.x { cat; }", "git submodule foreach --recursive \"git tag @var.x\"",
    // Places inside of quotes and expansions.
    "echo ${HOME:\"@var.x\"}", "echo \"${HOME:\"@var.x\"}\"", "echo ${a[\"@var.x\"]}", "echo ${HOME:${Y:-@var.x}}", "echo ${a[${Y:-@var.x}]}",
    "a[${Y:-@var.x}]=1", "a[\"${Y:-@var.x}\"]=1", "a=([${Y:-@var.x}]=1)", "a=([$(echo @var.x)]=1)", "echo \"${HOME#'\"'}\" ; eval @var.x # }\"",
    // Keywords beside brackets.
    "( if((@var.x > 3)); then echo big; fi )", "while((@var.x)); do break; done", "until((@var.x)); do break; done", "if true; then((@var.x)); fi",
    "for i in 1; do((@var.x)); done", "if false; then :; else((@var.x)); fi", "for((i=@var.x; i<1; i++)); do :; done", "!((@var.x))", "time((@var.x))",
    "case x in x) echo in; eval \"@var.x\";; esac", "case x in x) grep -q in /dev/null; eval @var.x;; esac", "case x in x) echo in | bash <<< \"@var.x\";; esac",
    "[[ a ]]>/dev/null; eval @var.x; [[ b ]]", "[[ a ]]</dev/null; eval @var.x; [[ b ]]", "[[ (a == a)]]; eval @var.x; [[ a ]]",
    // Backticks.
    "x=`echo \\`eval @var.x\\``", "x=`ev\\\\al @var.x`", "x=`bash \\\\-c @var.x`", "x=\"`ev\\\"\\\"al @var.x`\"", "x=`echo \\$((@var.x))`", "x=`echo \\${a[@var.x]}`",
    "echo `echo \"` ; eval @var.x ; echo `\"`",
    // Long options that are given something.
    "bash --rcfile /dev/null -c \"@var.x\"", "bash --init-file f -c @var.x", "zsh --emulate sh -c @var.x", "flock --timeout 5 lock -c @var.x", "flock --wait 5 lock -c @var.x",
    "flock --conflict-exit-code 5 lock -c @var.x", "setpriv --reuid 0 ssh host \"rm @var.x\"", "systemd-run --unit a ssh host \"rm @var.x\"", "bash $OPTS @var.x",
    "bash --unheard-of x -c @var.x",
    // Variables that are interpreted, given something in another way.
    "printf -v PS4 %s @var.x; set -x; :", "read -r PS4 <<< @var.x; set -x; :", "mapfile -t PS4 <<< @var.x; set -x; :", "echo @var.x | { read -r PS4; set -x; :; }",
    "printf -v BASH_ENV %s @var.x; export BASH_ENV; bash -c :", "read -r BASH_ENV <<E\n@var.x\nE\nexport BASH_ENV; bash -c :", "set -k; bash /dev/null BASH_ENV=@var.x",
    // Integers.
    "declare -i n; : \"${n:=@var.x}\"", "declare -i n; read n <<E\n@var.x\nE", "declare -i n; { read n; } <<< @var.x", "echo @var.x | { declare -i n; read n; }",
    "declare -i n{1,2}; n1=@var.x", "I=1; declare -i n$I; n1=@var.x", "SECONDS+=@var.x", "SECONDS=@var.x",
    // Descriptors and coprocesses.
    "echo hi >& \"$(echo @var.x)\"", "coproc bash; echo @var.x >&${COPROC[1]}", "coproc N ((@var.x)); wait", "coproc N [[ @var.x -eq 1 ]]; wait",
    // Lines that are continued inside an operator.
    "echo hi >\\\n& @var.x", "echo @var.x |\\\n& bash", "bash <\\\n(echo @var.x)", "( for PS\\\n4 in @var.x; do set -x; echo hi; done )", "echo $\\\n((@var.x))", "echo $(\\\n(@var.x))",
    "echo $\\\n[@var.x]", "(\\\n(n=@var.x))", "( for (\\\n(i=@var.x;i<1;i++)); do :; done )", "typeset -i n; n+\\\n=@var.x", "i\\\nf eval @var.x; then :; fi",
    // Several values that make up one word.
    "env @var.x@var.y bash -c :", "bash @var.x@var.y c", "su root @var.x@var.y", "printf @var.x@var.y c hi", "ssh \"@var.x@var.y\" host",
    // Variables of the shell.
    "X=@var.x; eval \"$X\"", "X=@var.x; bash -c \"echo $X\"", "X=@var.x; Y=$X; eval $Y", "X=@var.x; [[ $X -eq 1 ]]", "X=@var.x; echo $((X))", "X=@var.x; echo ${!X}",
    "X=@var.x; echo ${X@P}", "X=@var.x; test -v \"$X\"", "X=@var.x; ssh host \"rm $X\"", "X=@var.x; echo \"$X\" | bash",
    "for i in @var.x; do eval $i; done", "read -r X <<< @var.x; eval \"$X\"", "while read -r l; do bash -c \"$l\"; done <<< @var.x", "f() { eval \"$1\"; }; f @var.x",
    "f() { bash; }; echo @var.x | f", "f() { echo @var.x; }; f | bash", "set -- @var.x; eval \"$1\"", "X=$(echo @var.x); eval \"$X\"", "X=@var.x; PS4=$X; set -x; :",
    "X=@var.x; declare -i n=$X", "X=@var.x; let n=$X", "local X=@var.x; (( X > 1 ))", "export X=@var.x; trap \"echo $X\" EXIT", "eval \"$X\"; X=@var.x",
    "cmd=(bash -c @var.x); \"${cmd[@]}\"", "set -- bash -c \"echo @var.x\"; \"$@\"", "f() { \"$@\"; }; f eval @var.x", "f() { \"$@\" | bash; }; f echo @var.x",
    "f() { \"$@\"; }; f export n=@var.x; echo $((n))", "export \"N=@var.x\"; echo $((N + 1))", "builtin export n=@var.x; echo $((n))", "\\export n=@var.x; echo $((n))",
    "printf -vn %s @var.x; echo $((n))", "printf -v \"n\" %s @var.x; echo $((n))", "printf -v 'a[0]' %s @var.x; echo $((a[0]))", "read \"n\" <<< @var.x; echo $((n))", "read a[0] <<< @var.x; echo $((a[0]))",
    "read -p prompt <<< @var.x; echo $((REPLY))", "\\set -- @var.x; bash -c \"$1\"", "command set -- @var.x; echo $(($1))", "f() { bash -c \"echo $1\"; }; \"f\" @var.x", "f() { echo @var.x; }; \"f\" | bash",
    "\"exec\" 3<<< @var.x; bash <&3", "A=1 exec 3<<< @var.x; bash <&3", "mkdir -p @var.x; cd @var.x && bash -c \"ls $PWD\"", ": @var.x; bash -c \"echo $_\"", "[[ @var.x =~ .* ]]; echo $((BASH_REMATCH))",
    "getopts a: n -a @var.x; echo $((OPTARG))", "n=@var.x; [[ n -gt 3 ]]", "n=@var.x; let m=n", "n=@var.x; declare -i m=n", "n=@var.x; declare -i m; m=n", "n=@var.x; RANDOM=n", "n=@var.x; m=n; echo $((m))",
    "n=@var.x; f() { (( $1 > 3 )); }; f n", "n=@var.x; unset 'a[n]'", "n=@var.x; [[ -v a[n] ]]", "n=@var.x; test -v 'a[n]'", "n=@var.x; printf -v 'a[n]' %s 1", "n=@var.x; read 'a[n]' <<< 1",
    "set -o keyword; bash -c true BASH_ENV=@var.x", "copro\\\nc bash; echo @var.x >&${COPROC[1]}", "expor\\\nt n=@var.x; echo $((n))", "functio\\\nn f [[ $1 -eq 1 ]]; f @var.x",
    "true; { bash -c \"$(</dev/stdin)\"; } <<< @var.x", "exec 3<<< @var.x; bash < /dev/fd/3", "true; { read n < /dev/fd/3; echo $((n)); } 3<<< @var.x", "echo &>/dev/null eval @var.x",
    "X=@var.x; exec > >(bash); echo \"$X\"",
    "parallel ::: \"@var.x\"", "exec <<< @var.x; bash", "$(f() { eval \"$1\"; }; f @var.x)", "command_not_found_handle() { eval \"$2\"; }; nosuch @var.x",
    "echo @var.x >(bash)", "echo @var.x | tee >(cat | bash)",
    // Shells in the text for another machine.
    "ssh host \"bash -s\" <<< @var.x", "ssh host \"cd /tmp && bash\" <<< @var.x", "ssh host 'exec sh' <<< @var.x", "ssh host env A=b bash <<< @var.x",
    "ssh host timeout 5 bash <<< @var.x", "ssh host \"bash /dev/stdin\" <<< @var.x", "echo @var.x | ssh host \"A=b sudo -n bash\"",
    "ssh host \"if true; then bash; fi\" <<< @var.x", "ssh host \"cat $F; bash\" <<< @var.x", "ssh a ssh b <<< @var.x",
    "ssh host \"docker exec -i app sh\" <<< @var.x",
    // Containers.
    "docker run --rm --entrypoint sh alpine -c \"echo @var.x\"", "docker run --entrypoint=sh alpine -ec \"echo @var.x\"",
    "docker run --entrypoint /bin/sh alpine -c @var.x", "docker run -i --entrypoint sh alpine <<< @var.x", "docker run alpine ssh host \"rm @var.x\"",
    "podman run --rm img timeout 5 ssh host \"rm @var.x\"", "nerdctl run img env -S @var.x",
    // Groups.
    "sg root @var.x", "sg - root @var.x", "sg root <<< @var.x", "newgrp <<< @var.x", "sg root -c @var.x",
    // Long options, however short or written.
    "su --c \"echo @var.x\"", "env --s=@var.x", "script -q --c @var.x log", "flock --wai 5 f -c @var.x", "bash -rcfile x -c @var.x",
    "bash -init-file x -c @var.x",
    // Programs that start a shell where no command is given.
    "script <<< @var.x", "script log <<< @var.x", "chroot / <<< @var.x", "unshare <<< @var.x", "unshare -r <<< @var.x", "setarch x86_64 <<< @var.x",
    "linux64 <<< @var.x", "linux32 <<< @var.x", "i386 <<< @var.x", "x86_64 -R <<< @var.x", "nsenter -t 1 <<< @var.x", "sudo -i <<< @var.x",
    "sudo -s <<< @var.x", "find . -maxdepth 0 -exec bash \\; <<< @var.x", "find . -maxdepth 0 -exec sudo bash \";\" <<< @var.x",
    // Words that xargs and find put into a command.
    "echo @var.x | xargs -I% find . -maxdepth 0 -exec sh -c 'echo %' \\;", "find @var.x -exec sh -c \"echo {}\" \\;",
    "find . @var.x -execdir bash -c \"cat {}\" +", "echo @var.x | xargs sh", "echo @var.x | xargs bash -c", "echo @var.x | xargs sudo bash",
    "echo @var.x | xargs timeout 5", "echo @var.x | xargs nice env", "echo @var.x | xargs sudo ssh", "echo @var.x | xargs docker exec app",
    "echo @var.x | xargs -I{} sh -c 'echo {}'", "echo @var.x | xargs -i sh -c 'echo {}'", "echo @var.x | xargs -I '{}' sudo sh -c 'echo {}'",
    "echo @var.x | xargs -I{a} sh -c 'echo {a}'", "echo @var.x | xargs --replace=% sh -c 'echo %'", "echo @var.x | xargs git",
    "echo @var.x | xargs git submodule foreach", "echo @var.x | xargs npm exec",
    // The input by other names.
    "bash //dev/stdin <<< @var.x", "bash /./dev/stdin <<< @var.x", "cd /dev && bash stdin <<< @var.x", "cd /dev; sh fd/0 <<< @var.x",
    "bash /proc/self/fd/0 <<< @var.x",
    // Through lists, wrappers, names that a variable holds, keys and what programs print.
    "args=(-c \"@var.x\"); bash \"${args[@]}\"", "args=(-c); bash \"${args[@]}\" @var.x",
    "args=(); args+=(-c); args+=(\"@var.x\"); bash \"${args[@]}\"", "args=(1 eval @var.x); \"${args[@]:1}\"", "o=-c; bash \"$o\" \"@var.x\"",
    "o=-c; bash $o \"@var.x\"", "c=\"bash -c\"; $c \"@var.x\"", "bash \"${F[@]}\" -c \"echo @var.x\"", "bash -$FLAGS \"echo @var.x\"",
    "bash -{c,x} @var.x", "F=(); bash ${F[@]+\"${F[@]}\"} -c \"echo @var.x\"", "f() { command \"$@\"; }; f eval @var.x",
    "f() { sudo \"$@\"; }; f bash -c \"echo @var.x\"", "retry() { local n=$1; shift; \"$@\"; }; retry 3 bash -c \"echo @var.x\"",
    "retry() { \"${@:2}\"; }; retry 3 eval @var.x", "f() { local a=(\"$@\"); \"${a[@]}\"; }; f eval @var.x",
    "f() { shift; g \"$@\"; }; g() { \"$@\"; }; f 1 eval @var.x", "set -- 1 eval @var.x; shift; \"$@\"", "set -- @var.x; bash -c \"${!#}\"",
    "f() { eval \"${!#}\"; }; f @var.x", "f() { bash -c \"${01}\"; }; f @var.x", "v=n; printf -v \"$v\" %s @var.x; bash -c \"$n\"",
    "f() { printf -v \"$1\" %s @var.x; }; f n; bash -c \"$n\"", "v=n; declare \"$v=@var.x\"; bash -c \"$n\"",
    "f() { local -n out=$1; out=@var.x; }; f n; bash -c \"$n\"", "read -ran <<< @var.x; bash -c \"$n\"",
    "port_dev=@var.x; v=port_dev; bash -c \"${!v}\"", "declare -A m; m[a]=1; m+=([\"@var.x\"]=1); for k in \"${!m[@]}\"; do eval \"$k\"; done",
    "k=@var.x; declare -A m; m[$k]=1; for i in \"${!m[@]}\"; do eval \"$i\"; done", "HOME=@var.x; eval ls ~", "mkdir -p @var.x; cd @var.x; eval ls ~+",
    "exec 3< <(echo @var.x); bash < /dev/null <&3", "f() { eval \"$2\"; }; mapfile -C f -c 1 n <<< @var.x",
    "find . -maxdepth 0 {-exec,@var.x,pwned} \\;", "X=@var.x; export X; bash -c \"$(printf %s \"$X\")\"", "declare -{i,x} n; n=@var.x",
    "for i in @var.x; do set -- \"$i\"; done; bash -c \"$1\"", "env \"$(basename @var.x)\" true",
    "port_dev=@var.x; for e in dev; do v=port_$e; bash -c \"${!v}\"; done",
    "f=>(bash); echo @var.x > $f",
    "n=@var.x; declare 'a[n]=1'",
    "n=@var.x; a=(1); unset a[n]",
    "exec 3<<< @var.x; . /dev/fd/3 < /dev/null",
    "mkdir -p @var.x; cd @var.x && bash -c \"ls $(pwd)\"",
    "set -- -a @var.x; getopts a: n; echo $((OPTARG))",
    "xargs -a <(echo \"@var.x\") -I% sh -c \"echo %\"",
    "choom -n 0 -- sg root @var.x",
    "x=@var.x; declare \"a[x]=1\"",
    // Machines, containers and tools that give their words or their input to a shell, and texts that read it.
    "adb shell \"rm @var.x\"", "adb -s emu shell rm @var.x", "docker-machine ssh m \"rm @var.x\"",
    "podman machine ssh \"rm @var.x\"", "podman machine ssh m rm @var.x", "tsh ssh host \"rm @var.x\"",
    "tsh ssh --cluster c host rm @var.x", "gh codespace ssh -- \"rm @var.x\"", "gh codespace ssh -c name rm @var.x",
    "gh cs ssh \"rm @var.x\"", "devbox run \"echo @var.x\"", "devbox run -- echo @var.x",
    "pnpm -c exec \"echo @var.x\"", "pnpm exec -c \"echo @var.x\"", "pnpm --shell-mode exec \"echo @var.x\"",
    "cross-env-shell A=b \"echo @var.x\"", "aws ssm send-command --document-name AWS-RunShellScript --parameters commands=\"rm @var.x\"", "aws ssm send-command --parameters \"commands=[rm @var.x]\"",
    "aws ecs execute-command --cluster a --command \"ls @var.x\" --interactive", "az container exec -n a --exec-command \"ls @var.x\"", "docker run --health-cmd=\"curl @var.x\" img",
    "podman run --health-cmd \"curl @var.x\" img", "docker create --health-cmd @var.x img", "cmd /c \"dir @var.x\"",
    "cmd.exe /C dir @var.x", "vagrant ssh <<< @var.x", "vagrant ssh web <<< @var.x",
    "gcloud compute ssh a <<< @var.x", "gcloud compute ssh a --zone z <<< @var.x", "wsl <<< @var.x",
    "wsl ls @var.x", "limactl shell m <<< @var.x", "multipass shell m <<< @var.x",
    "adb shell <<< @var.x", "docker-machine ssh m <<< @var.x", "podman machine ssh <<< @var.x",
    "tsh ssh h <<< @var.x", "minikube ssh <<< @var.x", "colima ssh <<< @var.x",
    "fly ssh console <<< @var.x", "gh codespace ssh <<< @var.x", "bash -c \"bash\" <<< @var.x",
    "bash -c 'cat | sh' <<< @var.x", "gcloud compute ssh a --command \"bash -s\" <<< @var.x", "vagrant ssh -c bash <<< @var.x",
    "gcloud compute ssh a -- bash -s <<< @var.x", "timeout 5 bash -c bash <<< @var.x", "watch bash <<< @var.x",
    "flock lock -c bash <<< @var.x",
    // Texts in single quotes that run what they are given.
    "bash -c 'eval \"$1\"' _ @var.x", "bash -c 'eval \"$@\"' _ @var.x", "bash -c '\"$@\"' _ eval @var.x",
    "sh -c 'bash -c \"$1\"' _ @var.x", "bash -c 'echo $(($1))' _ @var.x", "bash -c '[[ $1 -eq 1 ]]' _ @var.x",
    "X=@var.x bash -c 'eval \"$X\"'", "export X=@var.x; bash -c 'eval \"$X\"'", "x=@var.x; trap 'eval \"$x\"' EXIT",
    "x=@var.x; eval 'eval \"$x\"'", "sudo bash -c 'eval \"$1\"' _ @var.x", "docker exec app sh -c 'eval \"$1\"' _ @var.x",
    "find . -exec bash -c 'eval \"$1\"' _ @var.x \\;", "bash -c 'read -r x; eval \"$x\"' <<< @var.x", "bash -c 'eval \"$(cat)\"' <<< @var.x",
    "echo @var.x | bash -c 'while read l; do eval \"$l\"; done'", "printf '%s\\n' @var.x | ssh host 'read -r v; eval \"$v\"'", "ssh host 'x=$(cat); bash -c \"$x\"' <<< @var.x",
    "bash -c 'shift; ssh host \"rm $1\"' _ a @var.x", "env A=@var.x sh -c 'eval \"$A\"'", "bash -c \"bash -c 'eval \\\"\\$1\\\"' _ \\\"\\$1\\\"\" _ @var.x",
    // Letters in one word, a lone dash, abbreviations, commands that quotes have kept together.
    "bash -euxoc pipefail \"make @var.x\"", "bash -oc pipefail @var.x", "bash -Oc extglob @var.x",
    "bash +oc pipefail @var.x", "sh -oc errexit @var.x", "bash -oo pipefail errexit -c @var.x",
    "a=(-oc pipefail); bash \"${a[@]}\" @var.x", "echo @var.x | bash -os pipefail - a", "bash -os pipefail <<< @var.x",
    "bash -Os extglob a <<< @var.x", "echo @var.x | bash -oO pipefail extglob", "echo @var.x | dash -ox errexit",
    "bash -c - @var.x", "bash -ec - @var.x", "bash -c -e - @var.x",
    "find . -exec sh -c - @var.x \\;", "f() { bash -c \"$@\"; }; f - @var.x", "o=-; bash -c \"$o\" @var.x",
    "echo a | xargs --max-lines sh -c @var.x", "echo @var.x | xargs --max-lines -I% sh -c %", "echo @var.x | xargs --repl=% sh -c %",
    "echo @var.x | xargs --repl sh -c {}", "S=sh\\ -c; $S \"@var.x\"", "S=\"sh\"\" -c\"; $S \"@var.x\"",
    "IFS=,; S=sh,-c; $S \"@var.x\"", "S=ls; eval S=eval; $S \"@var.x\"", "S=ls; source <(echo S=eval); $S \"@var.x\"",
    "fish -C @var.x -c ls", "fish -c ls -c @var.x", "bash -c 'eval $0' @var.x",
    "fish -c 'eval $argv' @var.x", "X=@var.x su root -c 'eval \"$X\"'", "X=@var.x flock f -c 'eval \"$X\"'",
    // Names that the shell changes, keys, the shell by another name, and commands of other machines.
    "declare -l S=EVAL; $S @var.x", "typeset -u S=x; $S @var.x", "a=([0]='sh -c'); S=${a[0]}; $S @var.x",
    "b='sh -c'; S=$b; $S @var.x", "/proc/$$/exe -c @var.x", "/proc/self/exe -c @var.x",
    "start-stop-daemon --start --exec /bin/bash -- -c @var.x", "mapfile -C eval -c 1 <<< @var.x", "mapfile -tCeval -c1 <<< @var.x",
    "su app --command=bash <<< @var.x", "su app -cbash <<< @var.x", "su -s /bin/bash app <<< @var.x", "runuser -u app <<< @var.x",
    "runuser -u app -- bash <<< @var.x", "flock l --command=bash <<< @var.x", "script -qcbash log <<< @var.x",
    "aws ssm send-command --cli-input-json @var.x", "pnpm -rc exec @var.x", "cmd //c @var.x", "cmd /R @var.x", "bun exec @var.x",
    "lerna exec -- @var.x", "cf ssh app -c @var.x", "eb ssh -c @var.x", "virtctl ssh vm --command @var.x", "scw ssh <<< @var.x", "osh -c @var.x",
    "trap -- 'eval \"$x\"' EXIT; x=@var.x", "podman run --health-startup-cmd \"curl @var.x\" img",
    // Texts that run what is in a variable of the step.
    "f() { bash -c \"$*\"; }; f ls \"@var.x\"",
    "as() { local u=$1; shift; su \"$u\" -c \"$*\"; }; as root ls \"@var.x\"",
    "in_c() { docker exec c sh -c \"$*\"; }; in_c ls \"@var.x\"",
    "retry() { until bash -c \"$*\"; do break; done; }; retry ls \"@var.x\"",
    "f() { local c=\"$*\"; bash -c \"$c\"; }; f ls \"@var.x\"",
    "f() { g \"$*\"; }; g() { ssh host \"$1\"; }; f ls \"@var.x\"",
    "c=(ls \"@var.x\"); bash -c \"${c[*]}\"",
    "c=(ls \"@var.x\"); d=\"${c[*]}\"; bash -c \"$d\"",
    "set -- ls \"@var.x\"; bash -c \"$*\"",
    "RETRIES=\"@var.x\" bash -c 'for ((i=0; i<RETRIES; i++)); do make test && exit 0; done'",
    "rc=\"@var.x\"; trap '((rc > 3)) && rm -f lock' EXIT",
    "export RETRIES=\"@var.x\"; timeout 60 bash -c 'while ((i++ < RETRIES)); do make; done'",
    "export N=\"@var.x\"; bash <<'E'\nif (( N > 3 )); then\n  echo many\nfi\nE",
    "N=\"@var.x\"; eval '((N > 3))'",
    "N=\"@var.x\"; c='((N > 3))'; eval \"$c\"",
    "N=\"@var.x\"; source <(echo '((N > 3))')",
    "export N=\"@var.x\"; echo '((N > 3))' | bash",
    "N=\"@var.x\" bash -c '[[ N -gt 3 ]]'",
    "N=\"@var.x\" bash -c '[[ -v a[N] ]]'",
    "N=\"@var.x\" bash -c 'printf -v \"a[N]\" x'",
    "N=\"@var.x\" bash -c 'test -v \"a[N]\"'",
    "docker exec -e N=\"@var.x\" c bash -c 'let i=N'",
    "docker exec -e N=\"@var.x\" c bash -c 'eval \"$N\"'",
    "kubectl run --env=\"N=@var.x\" p --image=i -- bash -c 'eval \"$N\"'",
    "systemd-run --setenv=N=\"@var.x\" bash -c 'eval \"$N\"'",
    "docker exec c $S -c \"@var.x\"",
    "docker run i \"$S\" -c \"@var.x\"",
    "kubectl exec p -- \"$S\" -c \"@var.x\"",
    "f() { local hosts=(); local hosts=\"$1\"; }; f \"@var.x\"",
    "f() { local hosts; read -ra hosts <<< \"a b\"; local hosts=$1; }; f \"@var.x\"",
    "a=(); x=\"@var.x\"; declare a=\"$x\"",
    "a=(); x=\"@var.x\"; declare \"a=$x\"",
    "a=(); x=\"@var.x\"; declare a+=$x",
    "a=(); declare a=$(echo \"@var.x\")",
    "a=(); f() { declare -g a=\"$1\"; }; f \"@var.x\"",
    "capsh -- <<< \"@var.x\"",
    "eval 'typeset -n r'; r=@var.x",
    "eval \"declare -i n\"; n=@var.x",
    "eval declare -i n; n=@var.x",
    "eval 'a=1; declare -gi n'; n=@var.x",
    "eval declare -n r=x; x=@var.x; echo \"$r\"",
    "eval 'declare -n r=x'; x=@var.x; echo \"$r\"",
    "x=@var.x; PS4='$(eval \"$x\")'; set -x; true",
    "x=\"@var.x\"; source <(sed 's/^ *//' <<< '  echo $((x))')",
    "x=\"@var.x\"; source <(grep -v '^#' <<< 'eval \"$x\"')",
    "check() { (( N > 3 )); }; export -f check; env N=\"@var.x\" timeout 5 bash -c 'until check; do sleep 1; done'",
    "check() { (( N > 3 )); }; export -f check; sudo N=\"@var.x\" bash -c check",
    "x=\"@var.x\"; if true; then . <(echo 'echo $((x))'); fi",
    "x=\"@var.x\"; if . <(echo 'echo $((x))'); then :; fi",
    "x=\"@var.x\"; ! . <(echo 'echo $((x))')",
    "x=\"@var.x\"; command . <(echo 'echo $((x))')",
    "x=\"@var.x\"; A=1 . <(echo 'echo $((x))')",
    "x=\"@var.x\"; case a in a) . /dev/stdin <<< 'echo $((x))';; esac",
    "x=\"@var.x\"; PS4+='$((x))'; set -x; true",
    "x=\"@var.x\"; PS4[0]='$((x))'; set -x; true",
    "mise x -c @var.x", "consul exec @var.x", "infisical run --command @var.x",
    // Shells of machines, containers and queues.
    "docker run --entrypoint '[\"sh\",\"-c\"]' image @var.x", "docker compose run --entrypoint \"sh -c\" app @var.x",
    "docker run --entrypoint=\"/bin/sh -ec\" image @var.x", "flatpak run --command=sh app -c @var.x", "arch-chroot /mnt <<< @var.x",
    "systemd-nspawn -D /m <<< @var.x", "machinectl shell m <<< @var.x", "lxc-attach -n c <<< @var.x", "toolbox enter <<< @var.x",
    "distrobox enter box <<< @var.x", "guix shell hello <<< @var.x", "poetry shell <<< @var.x", "nix shell a <<< @var.x",
    "bsub -q short \"rm @var.x\"", "bsub <<< @var.x", "qsub <<< @var.x", "fab -H host -- \"rm @var.x\"",
    // A program prints the variable as it is.
    "X=@var.x; export X; bash -c \"$(printenv X)\"",
    "export X=@var.x; bash -c 'eval \"$(printenv X)\"'",
    "X=@var.x; export X; bash -c 'eval \"$(printenv X)\"'",
];

/// Places that are data, whatever is in them. Each works in both shells, except those with `# bash`.
#[rustfmt::skip]
const ALLOWED: &[&str] = &[
    "echo @var.x", "echo \"@var.x\"", "echo a@var.x b", "printf '%s\\n' @var.x", "printf \"@var.x\"", "cat <<E\n@var.x\nE",
    "cat <<E | cat\n@var.x\nE", "A=@var.x; echo \"$A\"", "A=@var.x env", "export A=@var.x", "export \"A=@var.x\"",
    "readonly A=@var.x", "f() { local a=@var.x; echo \"$a\"; }; f", "echo a > \"f-@var.x\"", "echo ${none:-@var.x}", "echo \"${none:+@var.x}\"",
    "echo \"${HOME#@var.x}\"", "case @var.x in @var.x) echo same;; *) echo not;; esac", "for i in @var.x b; do echo \"$i\"; done",
    "test -n @var.x", "[ @var.x = a ]", "[ -f @var.x ]", "[ a = \"@var.x\" ] || echo no", "test @var.x -eq 1", "set -- @var.x; echo \"$1\"",
    "echo $(echo @var.x)", "echo \"`printf %s @var.x`\"", "sh -c 'echo \"$1\"' _ @var.x # any", "env A=@var.x printenv A", "trap - EXIT; echo @var.x",
    "trap 'echo bye' EXIT; echo @var.x", "read a; echo @var.x", "unset A; echo @var.x", "cd . && echo @var.x", "eval 'echo a' && echo @var.x",
    "f() { echo \"$1\"; }; f @var.x", "echo a | cat - @var.x", "echo eval @var.x", "ls -- @var.x", "( echo @var.x ) | { cat; }",
    "if [ -n @var.x ]; then echo @var.x; fi", "\"$PWD\"/nosuch @var.x", "./nosuch-$$ @var.x", "command -v @var.x", "type @var.x", "exit @var.x",
    "umask @var.x", "kill @var.x", "echo @var.x >&2", "echo @var.x 2>&1", "wait; echo @var.x", "echo {a,@var.x}", "PATHS=@var.x; echo \"$PATHS\"",
    "a=(@var.x b); echo \"${a[@]}\" # bash", "a=(); a+=(@var.x); echo \"${a[0]}\" # bash", "declare A=@var.x; echo \"$A\" # bash",
    "[[ @var.x == a* ]] # bash", "[[ a =~ @var.x ]] # bash", "[[ -n @var.x && -z \"@var.x\" ]] # bash", "cat <<< @var.x # bash",
    "read -r a <<< @var.x; echo \"$a\" # bash", "mapfile -t a <<< @var.x; echo \"${a[0]}\" # bash", "diff <(echo @var.x) <(echo b) # bash",
    "echo a &> \"f-@var.x\" # bash", "echo \"${HOME/a/@var.x}\" # bash", "b=${HOME/a/@var.x} # bash", "printf -v a %s @var.x # bash",
    "declare -r A=@var.x # bash", "declare -x A=@var.x # bash", "function f { echo @var.x; }; f # bash", "time echo @var.x # bash",
    "wait -n; echo @var.x # bash", "read -p @var.x a <<< b # bash", "declare -i n=1; m=@var.x # bash",
    "(( 1 )) && echo @var.x # bash", "for ((i=0; i<1; i++)); do echo @var.x; done # bash", "select i in @var.x; do break; done <<< 1 # bash",
    "eval 'declare -x n'; n=@var.x # bash", "printf %s @var.x | xargs -0 echo # any",
    "a=([0]=@var.x [1]=b); echo \"${a[0]}\" # bash", "a[b[0]]=@var.x; echo \"${a[0]}\" # bash", "arr=([1 + 1]=@var.x); echo \"${arr[2]}\" # bash",
    "a[1 + 1]=@var.x; echo \"${a[2]}\" # bash", "[[ a == a\\\n && -n @var.x ]] # bash", "arr=([a-z]* @var.x); echo \"${arr[1]}\" # bash",
    "env A=b printenv A; echo @var.x",
    "echo \"@var.x@var.x\"", "test \"@var.x@var.x\" = ab", "true &&\\\necho @var.x", "true;\\\necho @var.x", "echo a |\\\ncat - @var.x", "echo \"@var.x\"\\\n b",
    "set -- @var.x; echo $((7+7)) \"$1\"", "log() { echo \"[$1] $2\"; }; b=$((5 * 1024)); log info @var.x", "retry() { local n=0; until \"$@\"; do n=$((n+1)); break; done; }; retry test -n @var.x # bash",
    "set -- @var.x; [ $# -gt 0 ]", "set -- @var.x; [[ $# -gt 0 ]] # bash", "a=(@var.x b); for i in \"${!a[@]}\"; do echo \"${a[$i]}\"; done # bash", "s=@var.x; [[ ${#s} -gt 63 ]] # bash",
    "a=(@var.x); (( ${#a[@]} == 0 )) # bash", "a=(@var.x); n=${#a[@]}; echo $((n+1)) # bash", "FOO=${FOO:-\"@var.x\"}; echo \"$FOO\"", "echo \"${S:-\"ci/@var.x/a.tar\"}\"", "A=(b); echo ${A[@]+\"${A[@]}\"} @var.x # bash",
    "echo \"${FOO:-'a b'}\" @var.x", "x=@var.x; echo \"${x//$'\\n'/ }\" # bash", "x=@var.x; echo \"${x//./\\\\.}\" # bash", "x=@var.x; echo \"${x//\\\"/\\\\\\\"}\" # bash", "if hash cat 2>/dev/null; then echo @var.x; fi",
    "exec > >(cat); echo @var.x # bash", "echo @var.x | tee >(cat) # bash", "tag=@var.x; echo \"a:$tag\" && printf '%s\\n' \"$tag\"", "x=@var.x; [ \"$x\" = a ] || echo \"$x\"", "d=@var.x; trap 'echo \"$d\"' EXIT",
    "eval \"$(echo true)\"; echo @var.x", "x=$(printf %s @var.x); echo \"$x\"", "for f in @var.x; do echo \"$f\"; done; n=0; n=$((n+1))", "cd . && echo \"$PWD\" @var.x && echo $((1))",
    "while read -r l; do echo \"$l\"; done <<< @var.x # bash", "shopt -s nullglob; echo @var.x # bash", "pushd . ; echo @var.x # bash",
    "./eval @var.x", "./read @var.x", "script/test @var.x @env.Y", "./bin/export --to @var.x", "$PWD/trap @var.x",
    "printf %s @var.x | xargs -0 printf %s # any", "printf %s @var.x | xargs -0 -I{} sh -c 'echo \"$1\"' _ {}",
    "printf %s @var.x | xargs -0 -n1 sh -c 'echo \"$1\"' _", "printf %s @var.x | xargs -0 timeout 5 echo",
    "printf %s @var.x | xargs -0 nice env A=b echo", "printf '%s\\n' @var.x | ssh host 'read -r v; deploy \"$v\"'",
    "printf %s @var.x | ssh host \"cat > $DIR/f\"", "printf %s @var.x | ssh host 'cd /tmp && cat > bash.txt'",
    "printf %s @var.x | ssh host \"bash deploy.sh\"", "d=@var.x; trap 'echo \"$d\"' EXIT",
    "set -eou pipefail; echo @var.x # bash", "f=@var.x; n=$(wc -l < \"$f\"); [[ $n -gt 2 ]] || true # bash",
    "f=@var.x; n=$(grep -c a \"$f\" | wc -l); (( n >= 0 )) # bash", "A=@var.x; B=A; echo \"${!B}\" # bash", "SUDO=; $SUDO ls -d @var.x # bash",
    "RUN=\"echo run\"; $RUN @var.x # bash", "cmd=(echo a); \"${cmd[@]}\" \"@var.x\" # bash", "cmd=(echo \"@var.x\"); \"${cmd[@]}\" # bash",
    "run() { \"$@\"; }; run echo @var.x # bash",
    "try() { local max=$1; shift; local n=1; while ! \"$@\"; do [[ $n -lt $max ]] || return 1; n=$((n+1)); done; }; try 5 echo @var.x # bash",
    "i=0; for f in @var.x b; do i=$((i+1)); echo \"$i $f\"; done # bash", "m=@var.x; for ((i=0;i<2;i++)); do echo \"$m\"; done # bash",
    "m=@var.x; printf '%s\\n' \"$m\" \"${m%.*}\" # bash", "f() { local name=$1 port=${2:-80}; echo \"$name:$port\"; }; f @var.x # bash",
    "a=(@var.x b); for i in \"${!a[@]}\"; do echo \"${a[$i]}\"; done # bash",
    "f() { local a=$1; test \"$a\" = b; }; f \"@var.x\" # bash",
    "x=@var.x; A=$x; test \"$A\" = b",
    "bash -s -- --to a @var.x < /dev/null",
    "x=@var.x; git --version -m \"${x#v}\" || true # bash",
];

/// Spellings of rows that are warned about, and places beside them.
#[rustfmt::skip]
const WARNED: &[&str] = &[
    "echo @var.x | python3", "printf %s @var.x | perl", "python3 - a <<< @var.x", "python3 <<E\n@var.x\nE",
    "cat <<E | psql db\n@var.x\nE", "{ python3; } <<< @var.x", "echo @var.x | tee >(python3)", "mysql -u root db <<< @var.x",
    "tclsh <<< @var.x", "ex -c @var.x f", "ipython -c @var.x", "tsx -e @var.x", "git config core.pager @var.x",
    "git config --global alias.co @var.x", "git config set core.sshCommand @var.x", "export PERL5OPT=@var.x",
    "env NODE_OPTIONS=@var.x node app.js", "RSYNC_RSH=@var.x rsync -a b host:b", "LESSOPEN=@var.x less f",
    "git clone -u @var.x url", "git clone -q -c core.sshCommand=@var.x url", "make -f - <<< @var.x", "make -f- <<< @var.x", "sed -f - <<< @var.x",
    "awk -f - <<< @var.x f", "sed --file=- f <<< @var.x", "psql -f - <<< @var.x", "scp -O host:@var.x .", "scp -rO a host:@var.x",
    "python3 /dev/stdin <<< @var.x", "echo @var.x | xargs make", "node -p \"@var.x\"", "node --eval \"@var.x\"", "node --print \"@var.x\"",
    "psql --command=\"select @var.x\"", "mysql --execute=\"select @var.x\"", "ansible all -m shell --args @var.x",
    "python3 <(echo \"@var.x\")", "perl <(echo \"@var.x\")", "sed -f <(echo \"@var.x\") f", "awk -f <(echo \"@var.x\") f",
    "make -f <(echo \"@var.x\")", "vim -S <(echo \"@var.x\")", "git rebase -x @var.x main", "vim +@var.x f",
    "less +@var.x f", "node -r @var.x f.js", "go build -toolexec=@var.x", "GIT_CONFIG_VALUE_0=@var.x git fetch",
    "KUBE_EDITOR=@var.x kubectl edit a", "echo @var.x | xargs tar cf a.tar f", "echo @var.x | xargs find", "echo @var.x | xargs sed s/a/b/",
    "echo @var.x | xargs git fetch", "echo @var.x | xargs sudo apt-get install -y", "git clone -u@var.x url", "gdb -ex=@var.x f", "su -s @var.x root",
    "sftp -D@var.x host", "ed \"!@var.x\"", "docker exec -i db sh -c 'psql -U app' <<< @var.x",
    "awk 'BEGIN { system(\"ping \" ARGV[1]) }' @var.x", "echo @var.x | awk '{ print | \"sh\" }'", "echo @var.x | sed 's/^/ls /e'",
    "perl -e 'system(\"ping $ARGV[0]\")' @var.x", "python3 -c 'import os, sys; os.system(sys.argv[1])' @var.x",
    "ruby -e 'puts `ls #{ARGV[0]}`' @var.x", "git -c alias.x='!ls' x @var.x", "sftp -b - host <<< @var.x", "lftp host <<< @var.x",
    "docker run --rm -i image <<< @var.x", "docker build - <<< @var.x", "aws ec2 run-instances --user-data=@var.x",
];

#[rustfmt::skip]
const NOT_WARNED: &[&str] = &[
    "git commit -m @var.x", "git -C @var.x status", "tar -cf @var.x b", "find @var.x -name '*.rs'", "find . -name @var.x",
    "python3 script.py @var.x", "ssh @var.x uptime", "ssh -i @var.x host uptime", "rsync -a @var.x host:b",
    "awk -v a=@var.x '{ print a }' f", "awk '{ print $1 }' @var.x", "psql -d @var.x -f f.sql", "node app.js @var.x",
    "find . -exec cp {} @var.x ';'", "sort @var.x", "kubectl apply -f @var.x", "kubectl set env deploy/a A=@var.x",
    "kubectl exec pod -- ls @var.x", "docker run -e A=@var.x img", "docker exec app ls @var.x",
    "apt-get install -y ssh curl @var.x", "grep su @var.x", "grep su <<< @var.x", "npm run watch @var.x",
    "npm run script -- @var.x", "sudo -u root ls @var.x", "sudo -E ls @var.x", "make -C @var.x all", "make -j @var.x",
    "sed -e s/a/b/ @var.x", "sed -i s/a/b/ @var.x", "sed -i '' s/a/b/ @var.x", "sed -f a.sed @var.x", "awk -f a.awk @var.x",
    "jq . @var.x", "jq --arg v @var.x '.a = $v' f", "jq -r --arg v @var.x --arg w @var.x '.a = $v' f", "jq -f a.jq @var.x",
    "yq eval .a @var.x", "sqlite3 @var.x '.tables'", "ansible-playbook -i @var.x site.yml",
    "gcloud compute ssh @var.x --zone=@var.x", "go test -run @var.x ./...", "cargo test @var.x",
    "helm install @var.x chart --set a=@var.x", "git submodule foreach --quiet 'git fetch' && echo @var.x",
    "curl -H \"A: @var.x\" url", "python3 script.py <<< @var.x", "python3 -c 'import sys' <<< @var.x",
    "python3 -m json.tool <<< @var.x", "echo @var.x | perl -ne 'print'", "echo @var.x | node app.js",
    "psql -c '\\copy a from stdin' <<< @var.x", "sqlite3 f.db '.import /dev/stdin a' <<< @var.x", "php -r 'echo 1;' <<< @var.x",
    "git config user.name @var.x", "git config --global user.email @var.x", "sops exec-env @var.x ./deploy", "sops -d @var.x",
    "heroku config:set A=@var.x", "yarn add @var.x", "doppler run -- ls @var.x", "plink @var.x uptime",
    "hyperfine ls --export-json \"@var.x\"", "tmux kill-session -t @var.x", "tmux new-session -d -s \"@var.x\"", "git -c user.name=\"@var.x\" commit",
    "ssh -o \"User=@var.x\" host uptime", "ssh -oUser=@var.x host uptime", "python3 -I script.py @var.x",
    "pwsh -File a.ps1 @var.x", "pwsh a.ps1 @var.x", "KUBECONFIG=@var.x kubectl get pods",
    "mysql -p\"@var.x\"", "mysql -u root -p@var.x db", "wget -O\"@var.x\" url", "wget -qO\"@var.x\" url", "wget -P@var.x url", "tar -xf@var.x",
    "tar -C@var.x -xf a.tar", "tar -czf@var.x a", "sed -i\"@var.x\" s/a/b/ f", "ansible-playbook -e @@var.x site.yml",
    "echo @var.x | xargs sudo rm -f", "echo @var.x | xargs git log", "echo @var.x | xargs timeout 5 curl",
    "echo @var.x | xargs nice cp -t /tmp", "echo @var.x | xargs git checkout", "echo @var.x | xargs npm install",
    "echo @var.x | xargs kubectl delete pod --", "echo @var.x | xargs docker exec app rm -f", "heroku run -a @var.x rake db:migrate",
    "heroku run --app=@var.x rake db:migrate", "heroku run --app @var.x rake", "watch -x kubectl get pods -n @var.x", "watch -n 5 -x ls @var.x",
    "watch --exec ls @var.x", "parallel --jobs \"@var.x\" echo ::: a", "git apply --index @var.x", "git push -u origin @var.x", "git clone @var.x",
    "git clone -b @var.x url", "scp -O @var.x host:b", "scp host:@var.x .", "make -f @var.x all", "find @var.x -exec cat {} +",
    "find @var.x -exec sh -c 'cat \"$1\"' _ {} \\;", "find . -name @var.x -exec bash f.sh {} \\;",
    "docker run --entrypoint sh -e A=@var.x img -c \"echo hi\"", "docker run --entrypoint sh img -c 'echo \"$1\"' _ @var.x",
    "docker run --rm img time @var.x", "sg @var.x \"ls\"", "ssh host \"cat > f\" <<< @var.x", "sudo ls <<< @var.x", "chroot / cat <<< @var.x",
    "script -c cat <<< @var.x", "git push -u origin @var.x", "git clean -x @var.x", "vim @var.x", "less @var.x", "ed @var.x", "bash -c 'cat > f' <<< @var.x",
    "docker build -t @var.x .", "docker exec @var.c ls @var.x", "@var.engine run --rm @var.x", "podman machine start @var.x", "gh pr create --title @var.x",
    "aws cloudformation create-stack --parameters ParameterKey=a,ParameterValue=@var.x", "aws s3 cp @var.x s3://b/", "adb push @var.x /sdcard",
    "adb -s @var.x shell ls", "tsh ssh @var.x uptime", "tar cz @var.x | gcloud compute ssh a --command \"tar xz\"", "limactl shell m ls @var.x",
    "multipass exec m -- ls @var.x", "pnpm exec eslint @var.x", "pnpm add @var.x", "devbox add @var.x", "wsl -e ls @var.x", "wsl -d Ubuntu --exec ls @var.x",
    "echo $(( $(wc -l < \"@var.x\") + 1 ))", "SUDO=\"\"; [ \"$(id -u)\" = 0 ] || SUDO=sudo; $SUDO apt-get install \"@var.x\"", "hash @var.x",
    "bash -c 'echo \"$1\"' _ @var.x", "bash -c 'for f in \"$@\"; do echo \"$f\"; done' _ @var.x", "printf '%s\\n' @var.x | ssh host 'read -r v; deploy \"$v\"'",
    "printf %s @var.x | ssh host \"cat > $DIR/f\"", "X=@var.x bash -c 'echo \"$X\"'", "d=@var.x; trap 'rm -rf \"$d\"' EXIT",
    "find . -exec sh -c 'cp \"$1\" \"$2\"' _ {} @var.x \\;", "eval \"$(ssh-agent -s)\"; echo @var.x", "bash -c 'set -euo pipefail; cd \"$1\" && make' _ @var.x",
    "bash -c 'if [ -f \"$1\" ]; then cat \"$1\"; fi' _ @var.x", "x=@var.x; bash -c 'y=1; echo $((y + 1))'",
    "python3 <(cat @var.x)",
    "perl -e 'system(qw(ping), $ARGV[0])' @var.x", "echo @var.x | sed 's/^/ls /'", "echo @var.x | sed 's,a,some/e,'",
    "docker run -i image cat <<< @var.x", "docker run --rm image @var.x", "npm pkg set version=@var.x", "sftp @var.x",
    "arch-chroot /mnt ls @var.x", "podman unshare ls @var.x", "nix develop -c make @var.x", "poetry run python a.py @var.x",
];

/// The parts of a command in which every reference is this value.
pub(super) fn parts(line: &str, value: &Data) -> Vec<ScriptPart> {
    let registry = opal_decorators::registry();
    // After another command the shell's own `for`, `{` and `f()` are shell text.
    let source = format!("true; {line}\n");
    let parse = opal_syntax::parse(&source, &Words(&registry));
    let is_error = |it: &&opal_core::Diagnostic| it.code.severity() == opal_core::Severity::Error;
    let errors: Vec<_> = parse.errors.iter().filter(is_error).collect();
    assert!(errors.is_empty(), "{line}: {errors:?}");
    let unit = lower::unit(&parse, &source);
    let mut parts = Vec::new();
    for statement in &unit.script.statements {
        let StatementKind::Step(step) = &statement.kind else { panic!("{line}: {statement:?}") };
        let Work::Shell(text) = &step.first.work else { panic!("{line}") };
        for piece in &text.pieces {
            parts.push(match piece {
                Piece::Text(text) => ScriptPart::Text(text.clone()),
                Piece::AtWord(name) => ScriptPart::Text(format!("@{}", name.text)),
                Piece::Reference(_, context) => ScriptPart::Data(value.clone(), *context),
            });
        }
    }
    parts
}

pub(super) fn contexts(line: &str) -> Vec<Context> {
    let of = |part: ScriptPart| match part {
        ScriptPart::Data(_, context) => Some(context),
        _ => None,
    };
    parts(line, &Data::text("x")).into_iter().filter_map(of).collect()
}

#[track_caller]
pub(super) fn assert_quiet(place: &Place, case: &str) {
    assert!(!place.path().join("pwned").exists(), "{case}");
}

/// Whether the last line of defence refuses it; if not, it has run, in this place.
pub(super) fn is_refused(place: &Place, line: &str, value: &str) -> bool {
    let done = place.parts(&parts(line, &Data::text(value)));
    match done.ended {
        Err(trouble) => {
            assert_eq!(trouble.kind, TroubleKind::Invalid, "{line} {trouble:?}");
            true
        }
        Ok(_) => false,
    }
}

#[test]
fn every_row_of_the_table_is_found_in_its_example() {
    let mut lost = Vec::new();
    for case in &CASES {
        let found = contexts(case.example).iter().any(|context| context.found() == Some(case));
        lost.extend((!found).then_some(case.example));
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn every_refused_row_is_refused_for_every_value_and_nothing_runs() {
    let place = Place::new(Only::Bash);
    let mut allowed = BTreeSet::new();
    let rows = CASES.iter().filter(|case| case.role != Role::Warn).map(|case| case.example);
    for line in rows.chain(REFUSED.iter().copied()) {
        for value in VALUES {
            let case = format!("{line} with {value:?}");
            if !is_refused(&place, line, value) {
                allowed.insert(line);
            }
            assert_quiet(&place, &case);
        }
    }
    assert!(allowed.is_empty(), "{allowed:#?}");
}

/// opal does not follow what these do with the value.
const NOT_FOLLOWED: &[&str] = &[
    "bash -c '$1' _ @var.x",
    "bash -c 'exec $1' _ @var.x",
    "x=@var.x; trap '$x' EXIT",
    "bash -c '$0' @var.x",
    "bash -c 'if $1; then :; fi' _ @var.x",
    "bash -c 'a[$1]=1' _ @var.x",
    "bash -c 'echo ${a[$1]}' _ @var.x",
    "bash -c 'coproc eval \"$1\"' _ @var.x",
    ": @var.x; echo $[$_]",
    "n=@var.x; [[ $n -e\\\nq 1 ]]",
    "X=@var.x; exec {a[$X]}>f",
    "flag=@var.x; if $flag; then echo on; fi",
    "n=@var.x; [ $n -gt 3 ]",
    "x=@var.x; [ -n $x ]",
    "[ -n $(echo @var.x) ]",
    "x=@var.x; find . -maxdepth 0 $x",
    "eval \"$(date \"+@var.x\")\"",
    "n=$(date \"+@var.x\"); echo $((n+1))",
    "bash -c \"$(jq -rn --arg x @var.x '$x')\"",
    "set -- @var.x; $1",
    "X=@var.x; y=`echo \\$X`",
    "shopt -s expand_aliases; echo @var.x",
    "set -k; echo @var.x",
    "for i in @var.x; do y=${i:$(echo 1):${z:-1}}; done",
    "set $OPTIONS; echo @var.x",
    "x=@var.x; tar -czf app-$x.tgz f",
    "x=@var.x; env A=$x true",
    "x=@var.x; nice -n $x true",
    "x=@var.x; [ a$x = b ]",
    "x=@var.x; env \"${x#* }\" true",
    "x=@var.x; find \"${x:2}\"",
    "read -ra a <<< @var.x; find \"${a[@]}\"",
    "read -ra a <<< @var.x; \"${a[@]}\"",
    "x=@var.x; for w in $x; do env \"$w\" true; done",
    "ab=@var.x; read p <<< ab; echo $((p))",
    "k=@var.x; a[$k]=1",
    "eval \"$(timeout 5 date \"+@var.x\")\"",
    "eval \"$(cut -d: -f1,2 --output-delimiter=@var.x f)\"",
    "e=$(cd @var.x 2>&1); eval \"echo $e\"",
    "e=$(cd @var.x 2> /dev/stdout); bash -c \"echo $e\"",
    "e=$(cat < @var.x 2>&1); bash -c \"$e\"",
    "x=@var.x; eval \"n=\\$x\"; bash -c \"$n\"",
    "X=@var.x; a[$X]=1",
    "X=@var.x; echo ${a[$X]}",
    "p=x; x=@var.x; echo \"${!p@P}\"",
    "i=@var.x; a=(1 2); n=\"a[i]\"; echo \"${!n}\"",
];

#[test]
fn text_that_opal_does_not_follow_takes_only_values_that_are_harmless_everywhere() {
    let place = Place::new(Only::Bash);
    for line in NOT_FOLLOWED {
        for value in VALUES.iter().filter(|value| !value.starts_with('/')) {
            assert!(is_refused(&place, line, value), "{line} with {value:?}");
            assert_quiet(&place, line);
        }
        for value in ["v1.2.3-rc.1", "registry.example.com:5000/app@sha256:00ff", "50%"] {
            assert!(!is_refused(&place, line, value), "{line} with {value:?}");
        }
        assert!(is_refused(&place, line, "-rf"), "{line}");
    }
    // What ended before it, and cannot reach it, is read as ever.
    for line in
        ["echo @var.x; y=`echo \\a`", "echo @var.x && exec {a[1]}>f", "echo @var.x\ncoproc cat"]
    {
        for value in VALUES.iter().filter(|value| !value.starts_with('/')) {
            assert!(!is_refused(&place, line, value), "{line} with {value:?}");
            assert_quiet(&place, line);
        }
    }
}

#[test]
fn what_is_data_is_allowed_and_runs_nothing_in_both_shells() {
    let mut refused = BTreeSet::new();
    for only in SHELLS {
        let place = Place::new(only);
        for line in ALLOWED {
            let (line, shell) = line.split_once(" # ").unwrap_or((line, ""));
            if shell == "bash" && only == Only::Dash {
                continue;
            }
            for value in VALUES.iter().filter(|it| !it.contains('/')) {
                let case = format!("{only:?} {line} with {value:?}");
                let declared = line.contains("declare") || line.contains("local");
                if is_refused(&place, line, value) && !(declared && value.starts_with('(')) {
                    refused.insert(line);
                }
                assert_quiet(&place, &case);
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

/// dash, which does not know `[[`, would run what follows `||` in it.
#[test]
fn a_test_of_bash_with_a_value_in_it_does_not_run_in_another_shell() {
    let place = Place::new(Only::Dash);
    for line in ["[[ a == b || @var.x ]]", "[[ -z @var.x || @var.x == c ]]", "[[ a\n@var.x ]]"] {
        assert!(is_refused(&place, line, "./pwn"), "{line}");
    }
    assert!(!is_refused(&place, "echo '[[' @var.x", "a"));
}

#[test]
fn programs_that_run_an_option_are_warned_about_and_only_there() {
    let warned = |line: &str| {
        contexts(line).iter().any(|it| it.found().is_some_and(|it| it.role == Role::Warn))
    };
    let rows = CASES.iter().filter(|case| case.role == Role::Warn).map(|case| case.example);
    let lost: Vec<&str> = rows.chain(WARNED.iter().copied()).filter(|line| !warned(line)).collect();
    let is_found = |line: &&&str| contexts(line).iter().any(|it| it.found().is_some());
    let found: Vec<&&str> = NOT_WARNED.iter().filter(is_found).collect();
    assert!(lost.is_empty() && found.is_empty(), "lost: {lost:#?}, found: {found:#?}");
}

/// The beginning of a word counts as the shell puts it together.
#[test]
fn a_value_that_would_begin_a_word_with_a_dash_is_refused_however_the_word_begins() {
    let place = Place::new(Only::Bash);
    for line in [
        "ls @var.x",
        "ls \"@var.x\"",
        "ls \"\"@var.x",
        "ls ''@var.x",
        "ls \"\"''\"@var.x\"",
        "ls $NONE@var.x",
        "ls \"$NONE\"@var.x",
        "ls \"$NONE@var.x\"",
        "ls ${NONE}@var.x",
        "ls $(true)@var.x",
        "ls `true`@var.x",
        "ls ${NONE:-@var.x}",
        "ls \"${NONE:-@var.x}\"",
        "ls ${NONE-\"@var.x\"}",
        "ls {a,@var.x}",
        "ls {@var.x,b}",
        "ls ''{a,@var.x}",
        "ls $1@var.x",
        "ls $@@var.x",
        "ls \\\n@var.x",
        "ls \"${HOME/x/@var.x}\"",
        "ls @var.y()@var.x",
        "a=([0]=@var.x); env \"${a[@]}\" true",
    ] {
        assert!(is_refused(&place, &line.replace("@var.y", "@env.Y"), "-la"), "{line}");
    }
    for line in [
        "ls -- @var.x",
        "ls -- \"\"@var.x",
        "ls a@var.x",
        "ls \"a@var.x\"",
        "ls --x=@var.x",
        "ls $NONE/@var.x",
        "ls \"$NONE/\"@var.x",
        "ls ${NONE:-a@var.x}",
        "ls a{b,@var.x}",
        "A=@var.x; true",
        "true <<< @var.x",
        "echo a > f@var.x",
        "ls 'a'@var.x",
        "ls \\a@var.x",
        "ls {a,b@var.x}",
        "cat <<E\n@var.x\nE",
        "ls $((1))@var.x",
        "ls \"$NONE\"a@var.x",
    ] {
        assert!(!is_refused(&place, line, "-la"), "{line}");
    }
}

#[test]
fn a_redirection_of_a_value_opens_no_connection() {
    let place = Place::new(Only::Bash);
    for (line, value) in [
        ("echo a > @var.x", "/dev/tcp/127.0.0.1/1"),
        ("cat < \"@var.x\"", "/dev/udp/127.0.0.1/1"),
        ("echo a > /@var.x", "dev/tcp/127.0.0.1/1"),
        ("echo a >> /dev/@var.x", "tcp/127.0.0.1/1"),
        ("echo a > $NONE/@var.x", "dev/tcp/127.0.0.1/1"),
        ("echo a &> @var.x", "/dev/tcp/h/1"),
    ] {
        assert!(is_refused(&place, line, value), "{line} {value}");
    }
    assert!(!is_refused(&place, "echo a > @var.x", "/dev/null"));
    assert!(!is_refused(&place, "echo a > /dev/@var.x", "null"));
}

#[test]
fn a_value_that_names_the_program_is_not_a_shell_where_other_values_follow() {
    let place = Place::new(Only::Bash);
    for line in [
        "@var.x -c \"@env.Y\"",
        "\"@var.x\" @env.Y",
        "sudo @var.x @env.Y",
        "@var.x <<< @env.Y",
        "/bin/@var.x @env.Y",
    ] {
        assert!(is_refused(&place, line, "bash"), "{line}");
        assert!(is_refused(&place, line, "eval"), "{line}");
    }
    assert!(!is_refused(&place, "@var.x --version", "bash"));
    assert!(!is_refused(&place, "@var.x a", "ls"));
    assert!(!is_refused(&place, "@var.x @env.Y", "ls"));
}
