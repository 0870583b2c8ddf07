#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes sure that what hunch needs is there. On Debian and its kin: installs the missing packages as root or with sudo, and
# names them otherwise. On other systems: says what is missing, and is content when nothing is.
# Usage: tools/packages.sh build|test|ci|bench|package ...
set -euo pipefail

# shellcheck disable=SC2034 # the groups are looked up by name below
build="gcc libc6-dev meson ninja-build pkg-config python3 ca-certificates
  libxxhash-dev libarchive-dev libzstd-dev libjansson-dev libsqlite3-dev libmicrohttpd-dev libgnutls28-dev
  libcurl4-openssl-dev nettle-dev libunistring-dev"
# shellcheck disable=SC2034
test="g++ libcmocka-dev python3-numpy python3-pandas python3-scipy python3-sklearn python3-pytest python3-mesonpy python3-dev python3-matplotlib openssl
  mandoc groff-base zsh fish librsvg2-bin fonts-dejavu-core xz-utils zstd bzip2 gzip curl sqlite3 locales"
# shellcheck disable=SC2034
ci="clang clang-tidy clang-format libclang-rt-14-dev shellcheck librdkafka-dev default-jre-headless maven haproxy openssl iproute2 chromium git python3-venv"
# shellcheck disable=SC2034
bench="libopenblas-dev wrk valgrind python3-venv"
# shellcheck disable=SC2034
package="build-essential debhelper dh-python python3-all-dev fakeroot lintian debootstrap abigail-tools rpm"

# The same for systems without dpkg: programs, and modules of pkg-config.
programs="cc ninja pkg-config python3"
modules="libxxhash libarchive libzstd jansson sqlite3 libmicrohttpd gnutls libcurl nettle"

elsewhere() {
    local missing=""
    [ -x "${MESON:-}" ] || programs="$programs meson"
    case " $* " in *" test "*) modules="$modules cmocka" ;; esac
    for program in $programs; do
        command -v "$program" >/dev/null || missing="$missing $program"
    done
    for module in $modules; do
        pkg-config --exists "$module" 2>/dev/null || missing="$missing $module"
    done
    [ -z "$missing" ] && return 0
    echo "hunch needs these programs and libraries (with their headers); please install them and run make again:" >&2
    echo "   $missing" >&2
    return 1
}
command -v dpkg-query >/dev/null || { elsewhere "$@"; exit; }

wanted=""
for group in "$@"; do
    wanted="$wanted ${!group}"
done

missing=""
for package in $wanted; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "hunch needs these Debian packages; please install them as root and run make again:" >&2
    echo "    apt-get install$missing" >&2
    exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # the list is meant to be split
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
