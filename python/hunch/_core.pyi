# SPDX-License-Identifier: BSD-3-Clause
"""libhunch's public API by numbers; the rest of the package is what people use."""

import os
from typing import Any, Optional, Tuple, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

_U32 = NDArray[np.uint32]
_I64 = NDArray[np.int64]
_F32 = NDArray[np.float32]

MAX_FEATURES: int
MAX_CLASSES: int

class SettingRow(TypedDict):
    name: str
    kind: str
    default: str
    low: float
    high: float
    choices: list[str]
    help: str

class AlgorithmRow(TypedDict):
    name: str
    title: str
    paper: str
    full_information: bool
    settings: list[SettingRow]

class ModelError(ValueError): ...
class ModelFileError(ModelError, OSError): ...

def algorithms() -> list[AlgorithmRow]: ...
def common_settings() -> list[SettingRow]: ...
def default_learner() -> str: ...
def version() -> str: ...

_RawChoice = Tuple[int, float, int, int, int]
_Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]

class Learner:
    def __new__(
        cls,
        spec: Optional[str] = ...,
        classes: int = ...,
        features: int = ...,
        max_features: int = ...,
        seed: int = ...,
        memory: int = ...,
    ) -> Learner: ...
    @property
    def classes(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def spec(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    def predict(self, index: Optional[_U32], value: _F32, /) -> _RawChoice: ...
    def feedback(self, index: Optional[_U32], value: _F32, choice: _RawChoice, right: bool, /) -> None: ...
    def teach(self, index: Optional[_U32], value: _F32, label: int, /) -> None: ...
    def run(
        self,
        start: Optional[_I64],
        index: Optional[_U32],
        value: _F32,
        labels: _U32,
        label: Optional[_U32],
        greedy: Optional[_U32],
        prob: Optional[NDArray[np.float64]],
        note: Optional[_U32],
        round: Optional[NDArray[np.uint64]],
        /,
    ) -> None: ...
    def teach_batch(self, start: Optional[_I64], index: Optional[_U32], value: _F32, labels: _U32, /) -> None: ...
    def score_batch(
        self,
        start: Optional[_I64],
        index: Optional[_U32],
        value: _F32,
        rows: int,
        labels: Optional[_U32],
        scores: Optional[_F32],
        /,
    ) -> None: ...
    def add_classes(self, more: int, /) -> None: ...
    def reseed(self, seed: int, /) -> None: ...
    def tensors(self) -> list[tuple[str, int, int]]: ...
    def tensor(self, name: str, rows: int, columns: int, out: NDArray[np.float64], /) -> None: ...
    def save(self, path: _Path, /) -> None: ...
    def write(self) -> Any: ...  # bytes; the name is taken by the property above
    @classmethod
    def load(cls, path: _Path, /) -> Learner: ...
    @classmethod
    def read(cls, data: Any, /) -> Learner: ...
    def merge(self, other: Learner, /) -> None: ...
    def set_meta(self, key: str, value: Any, /) -> None: ...
    def get_meta(self, key: str, /) -> Any: ...
