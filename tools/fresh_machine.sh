#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a new user does, on a machine that has nothing: a bare Debian made by debootstrap, git and make installed, the committed
# tree cloned; make demo, make test, make install, the README's C program, pip install and the README's Python lines. Needs root and a
# mirror of Debian; exit code 77 where they are not there.
# Usage: tools/fresh_machine.sh [--quick] [FOLDER]       --quick: without make test; FOLDER is kept, and used again if it is there
# shellcheck disable=SC2016 # what is in single quotes is not for this shell
set -euo pipefail
cd "$(dirname "$0")/.."
quick=no folder=
for argument in "$@"; do
    case $argument in
    --quick) quick=yes ;;
    *) folder=$(realpath -m "$argument") ;;
    esac
done
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "SKIPPED: a fresh machine needs root and debootstrap"
    exit 77
fi
kept=$folder
[ -n "$folder" ] || folder=$(mktemp -d)
root=$folder/root
leave() {
    umount "$root/dev" "$root/proc" 2>/dev/null || true
    # not through a mount that could not be undone
    [ -n "$kept" ] || mountpoint -q "$root/dev" || mountpoint -q "$root/proc" || rm -rf "$folder"
}
trap leave EXIT

mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
if [ ! -e "$root/usr/bin/make" ]; then
    mkdir -p "$folder"
    debootstrap --variant=minbase "$release" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 || {
        echo "SKIPPED: debootstrap failed: $(tail -n 1 "$folder/debootstrap.log")"
        exit 77
    }
    cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
    [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/" # where its packages and certificates come from
    cp /etc/resolv.conf "$root/etc/"
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /etc/ssl/certs/ca-certificates.crt "$root/root/certificates.crt" 2>/dev/null || true
fi
rm -rf "$root/root/hunch.git" "$root/root/hunch"
git clone -q --bare . "$root/root/hunch.git"

# The README's program, in a frame that gives it the variable that it leaves open, and its Python lines.
{
    printf '#include "hunch.h"\nint main(void) {\nint right = 1;\n'
    sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d'
    printf 'return hunch_rounds(h) == 1 ? 0 : 1; }\n'
} >"$root/root/readme.c"
sed -n '/^```python$/,/^```$/p' README.md | sed '/^```/d' >"$root/root/readme.py"

in_there() { # title, lines for a shell: nothing of this machine's environment
    echo "-- $1"
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 /bin/bash -ec "cd /root; $2"
}
mount -t proc proc "$root/proc" 2>/dev/null || mount --bind /proc "$root/proc" 2>/dev/null || true
mount --bind /dev "$root/dev" 2>/dev/null || true
in_there "apt-get install git make" "apt-get update -qq && apt-get install -y -qq --no-install-recommends git make >/root/apt.log 2>&1 || { tail -n 20 /root/apt.log; false; }"
in_there "git clone" "git clone -q hunch.git hunch"
in_there "make demo" "make -s -C hunch demo >/root/demo.log 2>&1 || { tail -n 40 /root/demo.log; false; }; tail -n 4 /root/demo.log"
[ "$quick" = yes ] || in_there "make test" "make -s -C hunch test"
in_there "make install" "make -s -C hunch install; hunch --version; hunch serve --help >/root/help.txt; grep -q listen /root/help.txt"
in_there "the README's C program" 'cc readme.c -o readme $(pkg-config --cflags --libs hunch); ./readme; echo runs'
in_there "pip install . and the README's Python lines" '
    apt-get install -y -qq --no-install-recommends python3-venv python3-dev >/root/apt.log 2>&1 || { tail -n 20 /root/apt.log; false; }
    [ ! -e certificates.crt ] || cp certificates.crt /etc/ssl/certs/ca-certificates.crt
    python3 -m venv try
    try/bin/pip install -q --disable-pip-version-check ./hunch || { echo "pip install failed"; false; }
    try/bin/python readme.py; echo runs'
