#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages of the committed tree, from `meson dist` on: built, looked at by lintian (which must find nothing), their
# programs run from where they were unpacked, and, as root and with --chroot, installed and used in a fresh system made by
# debootstrap. The tests are those of `make test`: dpkg-buildpackage runs some of them only without nocheck.
# Usage: tools/package_debian.sh FOLDER [--chroot]      what was built stays in FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
tools/packages.sh build test package
mkdir -p "$1"
folder=$(realpath "$1") chroot=${2:-}

"$MESON" setup "$folder/dist" -Dtests=false >/dev/null
"$MESON" dist -C "$folder/dist" --no-tests --formats xztar >/dev/null
tarball=$(echo "$folder"/dist/meson-dist/hunch-*.tar.xz)
version=$(basename "$tarball" .tar.xz | sed 's/^hunch-//')
cp "$tarball" "$folder/hunch_$version.orig.tar.xz"
rm -rf "${folder:?}/hunch-$version" "$folder/dist"
tar -C "$folder" -xf "$folder/hunch_$version.orig.tar.xz"
git ls-files -z debian | xargs -0 cp --parents -t "$folder/hunch-$version" # not in the tarball: .gitattributes
grep -q "^hunch ($version-" debian/changelog || { echo "debian/changelog is not about $version"; exit 1; }

(cd "$folder/hunch-$version" && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc -j2 >"$folder/build.log" 2>&1) || {
    tail -n 40 "$folder/build.log"
    exit 1
}
# As root lintian drops to another user, who must be able to read the folder.
chmod a+rx "$folder"
lintian --fail-on error,warning --tag-display-limit 0 --allow-root "$folder"/*.changes
echo "built: $(cd "$folder" && echo *.deb)"

there=$folder/unpacked
for package in "$folder"/*.deb; do
    dpkg-deb -x "$package" "$there"
done
libraries=$(dirname "$(find "$there/usr/lib" -name libhunch.so)")
"$there/usr/bin/hunch" synth synsep --rows 500 -o "$folder/rows.svm"
"$there/usr/bin/hunch" run -q "$folder/rows.svm"
"$there/usr/bin/hunch" serve --help >"$folder/help.txt"
cc -I"$there/usr/include" examples/stream.c -o "$folder/stream" -L"$libraries" -lhunch
LD_LIBRARY_PATH=$libraries "$folder/stream" <"$folder/rows.svm" | tail -n 1
(cd / && PYTHONPATH=$(dirname "$(find "$there/usr/lib" -type d -path '*-packages/hunch')") "$PYTHON" -c 'import hunch; print(hunch.Learner(classes=3).predict([1.0, 2.0]))')
[ "$chroot" = --chroot ] || exit 0

# The mirror that this machine's apt uses.
# shellcheck disable=SC2016 # apt's own variable
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=$folder/root
debootstrap --variant=minbase "$release" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 || {
    tail -n 20 "$folder/debootstrap.log"
    exit 1
}
trap 'rm -rf "$root"' EXIT
cp "$folder"/*.deb "$root/tmp/"
cp examples/stream.c "$root/tmp/"
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
# shellcheck disable=SC2016 # meant for the shell in there
chroot "$root" /bin/sh -ec '
    export DEBIAN_FRONTEND=noninteractive HOME=/root
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends /tmp/*.deb gcc libc6-dev pkg-config >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
    cd /tmp
    hunch --version
    hunch serve --help >help.txt; grep -q -- --listen help.txt
    hunch synth synnonsep --rows 2000 -o syn.svm
    hunch run -q syn.svm --save model.hunch
    hunch predict --error model.hunch syn.svm >labels.txt
    cc stream.c -o stream $(pkg-config --cflags --libs hunch)
    ./stream <syn.svm | tail -n 1
    python3 -c "import hunch; print(hunch.Learner(classes=3).predict([1.0, 2.0]))"
    apt-get remove -y -qq hunch libhunch0 libhunch-dev python3-hunch >/dev/null
    test ! -e /usr/bin/hunch'
echo "installed, used and removed in a fresh $release"
