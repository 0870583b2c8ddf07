# SPDX-License-Identifier: BSD-3-Clause
"""meson-python, but for `pip install -e .`: that puts the extension beside the Python files and the folder on the path.

meson-python's own way builds anew at every import with the ninja of pip's build environment, which is gone by then.
"""

import base64
import hashlib
import pathlib
import tempfile
import zipfile

from mesonpy import *  # noqa: F403  # the other hooks are its own
from mesonpy import build_wheel

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "python"


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel of metadata and a path file."""
    with tempfile.TemporaryDirectory() as work:
        name = build_wheel(work, config_settings, metadata_directory)
        with zipfile.ZipFile(pathlib.Path(work, name)) as wheel:
            files = {}
            for entry in wheel.namelist():
                if entry.endswith(".so"):
                    target = FOLDER / entry
                    target.unlink(missing_ok=True)  # a process may have the old one mapped
                    target.write_bytes(wheel.read(entry))
                    target.chmod(0o755)
                elif ".dist-info/" in entry and not entry.endswith("/RECORD"):
                    files[entry] = wheel.read(entry)
    info = next(iter(files)).partition("/")[0]
    files["hunch_learn.pth"] = f"{FOLDER}\n".encode()
    record = "".join(f"{entry},{_digest(data)},{len(data)}\n" for entry, data in files.items())
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w") as wheel:
        for entry, data in files.items():
            wheel.writestr(entry, data)
        wheel.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return name


def _digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
