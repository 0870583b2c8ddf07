#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs a build folder below PREFIX and says what remains to be done for the loader, pkg-config and the shell to find it.
# Usage: [DESTDIR=FOLDER] tools/install.sh FOLDER PREFIX
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/steps.sh
folder=$1 prefix=$2

option() { # name
    "$PYTHON" - "$folder/meson-info/intro-buildoptions.json" "$1" <<'PY'
import json, sys
print(next(o["value"] for o in json.load(open(sys.argv[1])) if o["name"] == sys.argv[2]))
PY
}

# The folder may have been set up for another prefix.
[ "$(option prefix)" = "$prefix" ] || "$MESON" configure "$folder" --prefix="$prefix"
ninja -C "$folder" >"$folder/install.log" || { cat "$folder/install.log"; exit 1; }
"$MESON" install -C "$folder" --no-rebuild --quiet
libraries=$prefix/$(option libdir)
if [ -n "${DESTDIR:-}" ]; then
    echo "installed below $DESTDIR$prefix"
    exit 0
fi
echo "installed: $prefix/bin/hunch, $libraries/libhunch.so, $prefix/include/hunch.h"

# The loader's own folders; it finds a new library in them after ldconfig.
PATH=$PATH:/sbin:/usr/sbin
searched=$({ ldconfig -v -N 2>/dev/null || true; } | sed -n 's,^\(/[^:]*\):.*,\1,p' | xargs -r realpath -q --)
if grep -qxF "$(realpath "$libraries")" <<<"$searched"; then
    if [ "$(id -u)" = 0 ]; then
        ldconfig
    else
        echo "as root, so that programs find the library:      ldconfig"
    fi
else
    echo "so that programs find the library:              export LD_LIBRARY_PATH=$libraries"
fi
case :$(pkg-config --variable pc_path pkg-config 2>/dev/null): in
*:$libraries/pkgconfig:*) ;;
*) echo "so that pkg-config finds it:                    export PKG_CONFIG_PATH=$libraries/pkgconfig" ;;
esac
case :$PATH: in
*:$prefix/bin:*) ;;
*) echo "so that the shell finds the command:            export PATH=$prefix/bin:\$PATH" ;;
esac
