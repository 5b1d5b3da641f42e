# Starts what the measurement of runners needs, in the current directory: a queue on 127.0.0.1, a dispatcher
# and runners of the pool `bench`. `$1` is `opal`, `$2` the port of the queue, `$3` the one of its numbers, `$4`
# how many runners, `$5` how many targets, `$6` how many of them are worked on together: by one run, or by all
# runners. `max_concurrency` counts in a share, and a runner with room for one share has one at a time.
set -eu
opal=$1 port=$2 numbers=$3 runners=$4 targets=$5 together=$6 here=$(pwd)
rm -rf store d r[0-9]* project home ./*.plan* ./*.log
mkdir -p project home d/config
# A repository of its own: this directory is in one that ignores it, and ignored files stay at home.
git init --quiet project
chmod 700 d d/config
export HOME="$here/home" NATS_URL="nats://127.0.0.1:$port"

/usr/sbin/nats-server -a 127.0.0.1 -p "$port" -m "$numbers" -js -sd store -l nats.log &
echo $! >pids

cat >project/commands.opl <<OPL
fun pool() {
    @ssh.hosts(inventory="hosts.ini", connections=["local"], max_concurrency=$((together / runners))) {
        sleep 0.5
    }
}

fun direct() {
    @ssh.hosts(inventory="hosts.ini", connections=["local"], max_concurrency=$together) {
        sleep 0.5
    }
}
OPL
echo 'name = "bench"' >project/opal.mod
printf '[web]\nt[1:%s] ansible_connection=local\n' "$targets" >project/hosts.ini

"$opal" keys generate ops --sign --root d >/dev/null
signer=$(cat d/credentials/ops.pub) pool='' sealed=''
for number in $(seq "$runners"); do
    root="r$number"
    mkdir -p "$root/config"
    printf 'dispatchers = ["%s"]\n' "$signer" >"$root/config/policy.toml"
    chmod 700 "$root" "$root/config"
    line=$("$opal" runner --keys --root "$root")
    pool="$pool\"$line\", "
    sealed="$sealed --recipient ${line%% *}"
done
printf '[queue.pools]\nbench = [%s]\n' "$pool" >d/config/settings.toml
cd project
# shellcheck disable=SC2086
"$opal" plan pool -o ../pool.plan --root ../d $sealed >/dev/null
"$opal" plan direct -o ../direct.plan --root ../d >/dev/null
for number in $(seq "$runners"); do
    "$opal" runner --pool bench --insecure-queue --capacity 50 --root "../r$number" 2>"../r$number.log" &
    echo $! >>../pids
done
