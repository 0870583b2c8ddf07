#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the SQLite or the librdkafka of -Dbundled=true, and prints where its headers are and what to link.

Their sources come from crates.io, which carries them in the packages of their Rust bindings; what is fetched must have the
checksum below. Meson runs this at its setup.
Usage: tools/bundled.py sqlite|rdkafka FOLDER COMPILER...
"""
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

INDEX = 'https://index.crates.io'
PACKAGES = {  # the versions in their names; SHA-256 as the index has it
    'libsqlite3-sys': ('0.39.1', '14a5f01b87b92705d07b433c06f96cbc764637d81a0bffb5734ce17cf0f9a2b3'),  # SQLite 3.54.1
    'rdkafka-sys': ('4.10.0+2.12.1', 'e234cf318915c1059d4921ef7f75616b5219b10b46e9f3a511a15eb4b56a3f77'),  # librdkafka 2.12.1
}
SQLITE_OPTIONS = ['-DSQLITE_THREADSAFE=1', '-DSQLITE_DQS=0', '-DSQLITE_OMIT_LOAD_EXTENSION', '-DSQLITE_OMIT_DEPRECATED',
                  '-DSQLITE_OMIT_SHARED_CACHE', '-DSQLITE_LIKE_DOESNT_MATCH_BLOBS', '-DHAVE_FDATASYNC=1', '-DHAVE_USLEEP=1']


def fetch(folder, name):
    """The folder with a package's files."""
    version, checksum = PACKAGES[name]
    unpacked = folder / ('%s-%s' % (name, version))
    if unpacked.exists():
        return unpacked
    with urllib.request.urlopen(INDEX + '/config.json', timeout=60) as reply:
        where = json.load(reply)['dl']
    if '{crate}' in where:
        where = where.replace('{crate}', name).replace('{version}', version)
    else:
        where = '%s/%s/%s/download' % (where, name, version)
    with urllib.request.urlopen(where, timeout=300) as reply:
        data = reply.read()
    if hashlib.sha256(data).hexdigest() != checksum:
        sys.exit('%s %s is not what it was when its checksum was noted' % (name, version))
    part = folder / (name + '.part')
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(part)
    (part / unpacked.name).rename(unpacked)
    part.rmdir()
    return unpacked


def run(log, *command, **more):
    """A command whose output is shown only if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    log.write_text(done.stdout)
    if done.returncode:
        sys.exit('%s failed; %s ends with:\n%s' % (command[0], log, done.stdout[-2000:]))


def build_sqlite(folder, compiler):
    source, library = fetch(folder, 'libsqlite3-sys') / 'sqlite3', folder / 'libsqlite3.a'
    if not library.exists():
        run(folder / 'sqlite.log', *compiler, '-O2', '-fPIC', '-fvisibility=hidden', *SQLITE_OPTIONS, '-c', '-o', str(folder / 'sqlite3.o'),
            str(source / 'sqlite3.c'))
        run(folder / 'sqlite.log', 'ar', 'rcs', str(library), str(folder / 'sqlite3.o'))
    return source, [str(library)]


def build_rdkafka(folder, compiler):
    source = fetch(folder, 'rdkafka-sys') / 'librdkafka'
    library = source / 'src' / 'librdkafka.a'
    if not library.exists():
        env = dict(os.environ, CC=' '.join(compiler), CFLAGS='-O2 -fPIC')
        (source / 'configure').chmod(0o755)
        for script in [*source.glob('*.sh'), *source.glob('lds-gen.py')]:
            script.chmod(0o755)
        run(folder / 'rdkafka-configure.log', './configure', '--disable-debug-symbols', '--disable-lz4-ext', cwd=source, env=env)
        run(folder / 'rdkafka-make.log', 'make', '-C', 'src', 'librdkafka.a', cwd=source, env=env)
    libraries = [line.split('=', 1)[1].split() for line in (source / 'Makefile.config').read_text().splitlines()
                 if line.startswith('LIBS+=')]
    include = folder / 'include' / 'librdkafka'
    if not include.exists():
        include.parent.mkdir(exist_ok=True)
        include.symlink_to(source / 'src')
    return folder / 'include', [str(library), *sum(libraries, [])]


def main(name, folder, *compiler):
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    include, libraries = {'sqlite': build_sqlite, 'rdkafka': build_rdkafka}[name](folder, compiler)
    print(include, ' '.join(libraries), sep='\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
