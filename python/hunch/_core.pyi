# SPDX-License-Identifier: BSD-3-Clause
"""libhunch's public API by numbers; the rest of the package is what people use."""

import os
from typing import Any, Optional, Tuple, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]

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

RawChoice = Tuple[int, float, int, int, int]
Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]

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
    def predict(self, index: Optional[U32], value: F32, /) -> RawChoice: ...
    def feedback(self, index: Optional[U32], value: F32, choice: RawChoice, right: bool, /) -> None: ...
    def teach(self, index: Optional[U32], value: F32, label: int, /) -> None: ...
    def run(
        self,
        start: Optional[I64],
        index: Optional[U32],
        value: F32,
        labels: U32,
        label: Optional[U32],
        greedy: Optional[U32],
        prob: Optional[NDArray[np.float64]],
        note: Optional[U32],
        round: Optional[NDArray[np.uint64]],
        /,
    ) -> None: ...
    def teach_batch(self, start: Optional[I64], index: Optional[U32], value: F32, labels: U32, /) -> None: ...
    def score_batch(
        self,
        start: Optional[I64],
        index: Optional[U32],
        value: F32,
        rows: int,
        labels: Optional[U32],
        scores: Optional[F32],
        /,
    ) -> None: ...
    def add_classes(self, more: int, /) -> None: ...
    def reseed(self, seed: int, /) -> None: ...
    def tensors(self) -> list[tuple[str, int, int]]: ...
    def tensor(self, name: str, rows: int, columns: int, out: NDArray[np.float64], /) -> None: ...
    def save(self, path: Path, /) -> None: ...
    def write(self) -> Any: ...  # bytes; the name is taken by the property above
    @classmethod
    def load(cls, path: Path, /) -> Learner: ...
    @classmethod
    def read(cls, data: Any, /) -> Learner: ...
    def merge(self, other: Learner, /) -> None: ...
    def set_meta(self, key: str, value: Any, /) -> None: ...
    def get_meta(self, key: str, /) -> Any: ...
