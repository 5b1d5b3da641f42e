# Starts what the measurements of targets need, in the current directory: an SSH server on 127.0.0.1 that
# lets root in, 100 names for it, and a container. `$1` is the port of the server, `$2` a port that
# delays what goes to it.
set -eu
port=$1 slow=$2 here=$(pwd)
mkdir -p bin store run /run/sshd
rm -f host host.pub id id.pub
ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -q -t ed25519 -N '' -f id
cp id.pub keys
cat >sshd_config <<END
ListenAddress 127.0.0.1
Port $port
HostKey $here/host
AuthorizedKeysFile $here/keys
PidFile $here/sshd.pid
StrictModes no
UsePAM no
PermitRootLogin yes
MaxStartups 100:30:200
LogLevel ERROR
END
echo "bench $(cut -d' ' -f1,2 host.pub)" >known_hosts
cat >ssh_config <<END
Host slow
    Port $slow
Host *
    HostName 127.0.0.1
    Port $port
    User root
    HostKeyAlias bench
    IdentityFile $here/id
    IdentitiesOnly yes
    UserKnownHostsFile $here/known_hosts
    GlobalKnownHostsFile /dev/null
    KexAlgorithms curve25519-sha256
    LogLevel ERROR
END
printf '#!/bin/sh\nexec /usr/bin/ssh -F %s "$@"\n' "$here/ssh_config" >bin/ssh
printf '#!/bin/sh\nexec /usr/bin/podman --storage-driver=vfs --root %s/store --runroot %s/run --cgroup-manager=cgroupfs --events-backend=file --runtime runc "$@"\n' "$here" "$here" >bin/podman
chmod +x bin/ssh bin/podman
/usr/sbin/sshd -f sshd_config

if [ -x /usr/bin/podman ] && [ -x /usr/sbin/runc ] && [ -x /bin/busybox ]; then
    bin/podman rm --all --force --time 0 >/dev/null
    rm -rf image
    for folder in bin tmp etc root dev proc sys; do mkdir -p "image/$folder"; done
    echo 'root:x:0:0::/root:/bin/sh' >image/etc/passwd
    cp /bin/busybox image/bin/
    for name in sh id ls head uname cat chmod mv rm mkdir sleep tr wc true; do
        ln -s busybox "image/bin/$name"
    done
    for library in $(ldd /bin/busybox | grep -o '/[^ ]*' || true); do
        mkdir -p "image$(dirname "$library")"
        cp "$library" "image$library"
    done
    tar -C image -cf image.tar .
    bin/podman import image.tar bench >/dev/null 2>&1
    bin/podman run -d --name bench --network host --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
        bench sh -c 'while :; do sleep 60; done' >/dev/null
fi
