#!/bin/sh
# Installs opal: downloads a release, checks its signature and its checksum, and puts the programs into
# one directory. Nothing is changed before both checks have passed.
set -eu

releases='@RELEASES@'
version='@VERSION@'
key='@KEY@'
namespace='opal-release'

directory=${OPAL_INSTALL_DIR:-}
temporary=''

usage() {
    cat <<'TEXT'
usage: install.sh [--dir DIRECTORY] [--from URL]

  --dir DIRECTORY  where the programs go; ~/.local/bin without it
  --from URL       where the release is; an http, https or file URL

Exit codes: 0 installed, 1 not installed, 2 wrong usage.
TEXT
}

fail() {
    printf 'opal was not installed: %s\n' "$1" >&2
    if [ $# -gt 1 ]; then printf '  %s\n' "$2" >&2; fi
    exit 1
}

clean() {
    if [ -n "$temporary" ]; then rm -rf "$temporary"; fi
}

need() {
    command -v "$1" >/dev/null 2>&1 || fail "\`$1\` was not found" "$2"
}

# download NAME FILE
download() {
    case $releases in
        file://*) cp -- "${releases#file://}/$1" "$2" 2>/dev/null ;;
        *)
            if command -v curl >/dev/null 2>&1; then
                curl --fail --silent --show-error --location --proto '=http,https' --max-time 600 \
                    --output "$2" -- "$releases/$1"
            else
                wget --quiet --timeout=60 --output-document="$2" -- "$releases/$1"
            fi
            ;;
    esac || fail "could not download \`$releases/$1\`" 'check the address and the connection, and try again'
}

triple() {
    case "$(uname -s)" in
        Linux) ;;
        *) fail "there is no release for $(uname -s)" 'build opal from its source: cargo install --path crates/opal-cli' ;;
    esac
    case "$(uname -m)" in
        x86_64 | amd64) printf 'x86_64-linux' ;;
        aarch64 | arm64) printf 'aarch64-linux' ;;
        *) fail "there is no release for $(uname -m)" 'build opal from its source: cargo install --path crates/opal-cli' ;;
    esac
}

main() {
    while [ $# -gt 0 ]; do
        case $1 in
            --dir) [ $# -gt 1 ] || { usage >&2; exit 2; }; directory=$2; shift 2 ;;
            --from) [ $# -gt 1 ] || { usage >&2; exit 2; }; releases=$2; shift 2 ;;
            -h | --help) usage; exit 0 ;;
            *) printf 'unknown argument `%s`\n' "$1" >&2; usage >&2; exit 2 ;;
        esac
    done
    if [ -z "$directory" ]; then
        [ -n "${HOME:-}" ] || fail 'HOME is not set' 'choose a directory: --dir DIRECTORY'
        directory=$HOME/.local/bin
    fi
    case $releases in
        http://* | https://* | file:///*) ;;
        *) fail "\`$releases\` is not an address of a release" 'name it: --from URL' ;;
    esac
    case $releases in
        file://*) ;;
        *)
            command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1 ||
                fail 'neither `curl` nor `wget` was found' 'install one of them'
            ;;
    esac
    need ssh-keygen 'it checks the signature; the package openssh-client has it'
    need sha256sum 'it checks the download; the package coreutils has it'
    need tar 'it unpacks the release'

    system=$(triple)
    name="opal-$version-$system.tar.gz"
    trap clean EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    temporary=$(mktemp -d) || fail 'there is no room for temporary files' 'set TMPDIR to a directory that can be written'
    download SHA256SUMS "$temporary/SHA256SUMS"
    download SHA256SUMS.sig "$temporary/SHA256SUMS.sig"
    printf 'release %s\n' "$key" >"$temporary/signers"
    ssh-keygen -Y verify -f "$temporary/signers" -I release -n "$namespace" -s "$temporary/SHA256SUMS.sig" \
        <"$temporary/SHA256SUMS" >/dev/null 2>&1 ||
        fail 'the signature of SHA256SUMS is not that of the key in this script' \
            'somebody may have changed the release; do not install it from there'

    awk -v name="$name" '$2 == name { print; exit }' "$temporary/SHA256SUMS" >"$temporary/sum"
    [ -s "$temporary/sum" ] || fail "the release has no \`$name\`" 'build opal from its source: cargo install --path crates/opal-cli'
    download "$name" "$temporary/$name"
    (cd "$temporary" && sha256sum --check --status sum) ||
        fail "the checksum of \`$name\` is not the one in SHA256SUMS" 'the download is damaged or was changed; try again'

    mkdir "$temporary/release"
    tar -xzf "$temporary/$name" -C "$temporary/release" --strip-components=1 --no-same-owner ||
        fail "could not unpack \`$name\`"
    mkdir -p -- "$directory" 2>/dev/null && [ -w "$directory" ] ||
        fail "\`$directory\` cannot be written" 'choose another directory: --dir DIRECTORY'
    # Beside the old program first, so that it is replaced in one step.
    for program in "$temporary"/release/bin/*; do
        target=$directory/${program##*/}
        cp -- "$program" "$target.new" && chmod 755 -- "$target.new" && mv -f -- "$target.new" "$target" || {
            rm -f -- "$target.new"
            fail "could not write \`$target\`" 'is the disk full, or the directory not yours?'
        }
    done

    printf 'installed opal %s in %s\n' "$version" "$directory"
    case ":${PATH:-}:" in
        *":$directory:"*) ;;
        *) printf 'add it to your PATH:\n  export PATH="%s:$PATH"\n' "$directory" ;;
    esac
    printf 'completion for your shell: opal completions --help\n'
}

# Everything is in functions, so that half a script does nothing.
main "$@"
