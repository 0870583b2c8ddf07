# SPDX-License-Identifier: BSD-3-Clause
"""The readers of the stream room; see _tables.py. Not in every build."""

from typing import Optional, Tuple

_Options = Tuple[
    Optional[str], Optional[str], Optional[str], Optional[str], Optional[str], Optional[str], Optional[str],
    Optional[str], Optional[str], Optional[str], bool, bool, bool, bool, int, int, int,
]  # fmt: skip

def read(
    path: str,
    data: Optional[bytes],
    format: str,
    index_base: int,
    options: _Options,
    known: Tuple[Optional[bytes], Optional[bytes], Optional[bytes]],
    /,
) -> Tuple[bytes, bytes, bytes, bytes, bytes, Optional[bytes], Optional[bytes], list[str], Optional[bytes], int, int]: ...
