# SPDX-License-Identifier: BSD-3-Clause
"""A client of `hunch serve`: one call per endpoint, in threads or in asyncio, with retries that do no harm."""

from __future__ import annotations

import asyncio
import functools
import http.client
import json
import math
import queue
import random
import ssl
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence
from typing import Tuple, TypeVar, Union

import numpy as np

from ._inputs import row_of
from ._learner import Learner, truth

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")
Json = Dict[str, Any]

NOT_DONE = ("busy", "storage", "stopping")  # reasons of a 503 that are reported before anything is done
PASSING = (*NOT_DONE, "not_durable", "out_of_memory")
BATCH_ITEMS = 500
BATCH_BYTES = 500_000  # the server accepts a megabyte by default


class ServerError(Exception):
    """What the server refused, and why."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{message} ({status} {code})")
        self.status = status  #: HTTP status
        self.code = code  #: the server's own word, such as "unknown_id"
        self.message = message


class BatchError(ServerError):
    """Some items of a batch were refused; the others were done. results has all answers in order."""

    def __init__(self, results: Sequence[Union[Any, ServerError]]) -> None:
        self.results = list(results)
        bad = [(i, item) for i, item in enumerate(results) if isinstance(item, ServerError)]
        first = bad[0][1]
        super().__init__(
            first.status, first.code, f"{len(bad)} of {len(results)} items; item {bad[0][0]}: {first.message}"
        )


@dataclass(frozen=True)
class Decision:
    """A label that the server chose, to be shown; its id is what feedback needs."""

    id: str
    label: str
    greedy: str
    probability: float  #: nan: of a logged one, not known
    scores: Optional[Dict[str, float]] = None
    confidence: Optional[float] = None
    chosen_by: str = "model"  #: or "baseline", "control"
    act: Optional[bool] = None  #: with act_at: whether to act on the label (True) or to hand it over (False)
    probabilities: Optional[Dict[str, float]] = None  #: of all labels, if asked for

    @property
    def explored(self) -> bool:
        """Whether the label is not the one with the largest score."""
        return self.label != self.greedy


class _Never(Exception):
    """The request has certainly not been done."""


def _example(x: Any) -> Any:
    """As JSON has it."""
    if isinstance(x, Mapping) and all(isinstance(name, str) for name in x):
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in x.items()}
    return row_of(x).to_plain()


def _decision(data: Json) -> Decision:
    probability = math.nan if data["probability"] is None else float(data["probability"])
    names = ("scores", "confidence", "chosen_by", "act", "probabilities")
    more = {name: data[name] for name in names if name in data}
    return Decision(data["id"], data["label"], data["greedy"], probability, **more)


def _error(status: int, data: Any) -> ServerError:
    error = data.get("error", {}) if isinstance(data, dict) else {}
    return ServerError(status, str(error.get("code", "unknown")), str(error.get("message", "no reason given")))


def _item(data: Any, take: Callable[[Json], T]) -> Union[T, ServerError]:
    if isinstance(data, dict) and "error" in data:
        return _error(int(data.get("status", 500)), data)
    return take(data)


def _parts(items: Sequence[Json]) -> Iterator[List[bytes]]:
    """Bodies of batches, none larger than the server takes."""
    some: List[bytes] = []
    size = 0
    for item in items:
        text = json.dumps(item, separators=(",", ":"), allow_nan=False).encode()
        if some and (len(some) == BATCH_ITEMS or size + len(text) > BATCH_BYTES):
            yield some
            some, size = [], 0
        some.append(text)
        size += len(text) + 1
    if some:
        yield some


class Client:
    """The server's endpoints as methods. Safe to use from several threads.

    url: "http://127.0.0.1:8811". token: of the server's token file. timeout: of one try, in seconds.
    retries: how often a request is tried again after a lost connection or a 503, with growing pauses. That is safe:
    feedback counts once however often it is sent, a prediction that nobody saw stays without an answer, and teach, which
    is neither, is only sent again when the first try has certainly not been done.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8811",
        token: Optional[str] = None,
        *,
        timeout: float = 30.0,
        retries: int = 5,
        pause: float = 0.1,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r}: an address such as http://127.0.0.1:8811 is expected")
        self._https = parts.scheme == "https"
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._token, self._timeout, self._retries, self._pause = token, timeout, retries, pause
        self._context = context
        self._idle: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue()
        self._closed = False

    # --- requests ---

    def _connection(self, again: bool) -> Tuple[http.client.HTTPConnection, bool]:
        """A connection, and whether it has been used before; what must not be sent twice gets a new one."""
        try:
            if again:
                return self._idle.get_nowait(), True
        except queue.Empty:
            pass
        made: http.client.HTTPConnection
        if self._https:
            context = self._context or ssl.create_default_context()
            made = http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=context)
        else:
            made = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            made.connect()
        except OSError as error:
            made.close()
            raise _Never(str(error)) from error
        return made, False

    def _once(self, method: str, path: str, body: Optional[bytes], again: bool = True) -> Tuple[int, bytes, float]:
        """Status, body, and how long the server wants to be left alone."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        connection, used = self._connection(again)
        try:
            connection.request(method, self._base + path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if used and isinstance(error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)):
                self._drop_idle()  # the server has let them go in the meantime, as it may
                return self._once(method, path, body, again)
            raise
        if answer.will_close or self._closed:
            connection.close()
        else:
            self._idle.put(connection)
        try:
            wait = float(answer.getheader("Retry-After") or 0)
        except ValueError:
            wait = 0.0
        return answer.status, data, wait

    def _drop_idle(self) -> None:
        try:
            while True:
                self._idle.get_nowait().close()
        except queue.Empty:
            pass

    def _request(self, method: str, path: str, body: Optional[bytes] = None, *, again: bool = True) -> bytes:
        """again: whether the request may be sent twice, even if the first was done."""
        pause = self._pause
        for left in range(self._retries, -1, -1):
            wait = 0.0
            try:
                status, data, wait = self._once(method, path, body, again)
                if status < 400:
                    return data
                refused = _error(status, _parsed(data))
                if refused.code not in (PASSING if again else NOT_DONE):
                    raise refused
                error: Exception = refused
            except _Never as never:
                error = ConnectionError(f"{self._host}: {never}")
            except (OSError, http.client.HTTPException) as lost:
                error = ConnectionError(f"{self._host}: {lost or type(lost).__name__}")
                if not again:
                    raise error from lost
            if not left:
                raise error
            time.sleep(min(max(pause, wait), 5.0) * (0.5 + random.random() / 2))
            pause *= 2
        raise AssertionError("not reached")

    def _json(self, method: str, path: str, body: Any = None, *, again: bool = True) -> Any:
        text = None if body is None else json.dumps(body, allow_nan=False).encode()
        return _parsed(self._request(method, path, text, again=again))

    def _model(self, name: str, rest: str = "") -> str:
        return f"/v1/models/{urllib.parse.quote(name, safe='')}{rest}"

    def _many(self, path: str, items: Sequence[Json], take: Callable[[Json], T], *, again: bool = True) -> List[T]:
        results: List[Union[T, ServerError]] = []
        for part in _parts(items):
            answers = _parsed(self._request("POST", path, b"[" + b",".join(part) + b"]", again=again))
            results += [_item(answer, take) for answer in answers]
        good = [result for result in results if not isinstance(result, ServerError)]
        if len(good) != len(results):
            raise BatchError(results)
        return good

    # --- models ---

    def create(
        self,
        name: str,
        labels: Union[int, Iterable[Union[str, Json]]],
        *,
        learner: Optional[str] = None,
        features: Optional[str] = None,
        hash_bits: Optional[int] = None,
        max_features: Optional[int] = None,
        reuse_names: Optional[bool] = None,
        memory: Optional[int] = None,
        seed: Optional[int] = None,
        ttl_seconds: Optional[int] = None,
        schema: Optional[Json] = None,
        answer_after: Optional[int] = None,
        answer_default: Optional[str] = None,
        late_feedback: Optional[str] = None,
        decides: Optional[str] = None,
        control: Optional[Json] = None,
        act_at: Optional[float] = None,
    ) -> Json:
        """Make a model with these labels (or that many); the same again changes nothing. A label may be {"name",
        "description", "examples"}. schema: it takes rows of such a table (Learner.schema). answer_after, answer_default:
        what silence means, and after how many seconds. decides, control: see set_policy. act_at: each decision says
        whether to act on it, see Learner.predict."""
        given: Json = {
            "learner": learner,
            "features": features,
            "hash_bits": hash_bits,
            "max_features": max_features,
            "reuse_names": reuse_names,
            "memory": memory,
            "seed": seed,
            "ttl_seconds": ttl_seconds,
            "schema": schema,
            "answer_after": answer_after,
            "answer_default": answer_default,
            "late_feedback": late_feedback,
            "decides": decides,
            "control": control,
            "act_at": act_at,
        }
        body = {key: value for key, value in given.items() if value is not None}
        body["classes" if isinstance(labels, int) else "labels"] = labels if isinstance(labels, int) else list(labels)
        made: Json = self._json("PUT", self._model(name), body)
        return made

    def models(self) -> List[Json]:
        """All models."""
        told = self._json("GET", "/v1/models")
        found: List[Json] = told["models"] if isinstance(told, dict) else told
        return found

    def model(self, name: str) -> Json:
        """One model: settings, counts, error rate and fraction of exploration over the last 1000."""
        told: Json = self._json("GET", self._model(name))
        return told

    def delete(self, name: str) -> None:
        """Delete a model and its log."""
        self._request("DELETE", self._model(name))

    def add_labels(self, name: str, labels: Iterable[str]) -> Json:
        """Add labels to a model."""
        told: Json = self._json("POST", self._model(name, "/labels"), {"labels": list(labels)}, again=False)
        return told

    def retire(self, name: str, labels: Iterable[str], retired: bool = True) -> Json:
        """Show labels no more (they are still taught and scored), or again (retired=False)."""
        told: Json = self._json("PATCH", self._model(name), {"retire" if retired else "restore": list(labels)})
        return told

    def set_policy(
        self, name: str, *, decides: Optional[str] = None, control: Union[Json, bool, None] = None
    ) -> Json:
        """Which side decides: "model", or "baseline", the application, which names its own label in each request. control: a
        share of the requests that the model does not decide, {"share": 0.1, "by": "baseline" or "uniform"} or
        {"share": 0.1, "label": ...}; False: none."""
        asked: Json = {} if decides is None else {"decides": decides}
        if control is not None:
            asked["control"] = control or None
        told: Json = self._json("PATCH", self._model(name), asked)
        return told

    def comparison(self, name: str) -> Json:
        """What the application's decisions were worth, what the model would have got in their place, and what the
        model's are worth beside a control: shares of right answers with intervals that hold however often one looks."""
        told: Json = self._json("GET", self._model(name, "/comparison"))
        return told

    def versions(self, name: str) -> Json:
        """The deciding learner of a model and its shadows, with their gains."""
        told: Json = self._json("GET", self._model(name, "/versions"))
        return told

    def add_version(self, name: str, learner: str, *, seed: Optional[int] = None, promote: str = "manual") -> Json:
        """Make another learner from the log, as a shadow. promote="auto": it takes over once it is certain to be better."""
        asked: Json = {"learner": learner, "promote": promote, **({} if seed is None else {"seed": seed})}
        told: Json = self._json("POST", self._model(name, "/versions"), asked, again=False)
        return told

    def promote(self, name: str, version: int) -> Json:
        """Let this version decide."""
        told: Json = self._json("POST", self._model(name, f"/versions/{int(version)}/promote"))
        return told

    def learner(self, name: str) -> Learner:
        """The model as it is now, to use here."""
        return Learner.from_bytes(self._request("GET", self._model(name, "/snapshot")))

    # --- rounds ---

    def predict(
        self,
        name: str,
        x: Any = None,
        *,
        row: Optional[Mapping[str, Any]] = None,
        scores: bool = False,
        durable: bool = False,
        among: Optional[Iterable[str]] = None,
        exclude: Optional[Iterable[str]] = None,
        event: Optional[str] = None,
        baseline: Optional[str] = None,
        defer: bool = False,
        act_at: Optional[float] = None,
        probabilities: bool = False,
        baseline_probability: Optional[float] = None,
    ) -> Decision:
        """Choose a label for x, or for a row of the model's table, among the labels given or all but those excluded.

        durable: only answer when the decision is on disk. event: your own id; the same again gets the same decision.
        baseline: the label that the application would show by itself, for set_policy, and its probability (1 if not
        given). defer: it waits for activate. act_at: instead of the model's. probabilities: of all labels, too.
        """
        asked = _ask(x, scores, durable, row)
        asked.update(_more(among, exclude, event, defer))
        if baseline is not None:
            asked["baseline"] = baseline
        if baseline_probability is not None:
            asked["baseline_probability"] = baseline_probability
        if act_at is not None:
            asked["act_at"] = act_at
        if probabilities:
            asked["probabilities"] = True
        return _decision(self._json("POST", self._model(name, "/predict"), asked))

    def log(
        self,
        name: str,
        x: Any = None,
        label: str = "",
        probability: Optional[float] = None,
        *,
        row: Optional[Mapping[str, Any]] = None,
        durable: bool = False,
        among: Optional[Iterable[str]] = None,
        exclude: Optional[Iterable[str]] = None,
        event: Optional[str] = None,
        defer: bool = False,
    ) -> Decision:
        """Log a label that the application has chosen itself, with its probability if that is known. Feedback comes as
        usual: the model learns without deciding. With event= it is tried again after a lost connection."""
        asked = _ask(x, False, durable, row)
        asked.update(_more(among, exclude, event, defer), label=label)
        if probability is not None:
            asked["probability"] = probability
        return _decision(self._json("POST", self._model(name, "/decisions"), asked, again=event is not None))

    def activate(self, name: str, decision: Union[str, Decision]) -> bool:
        """A deferred decision has been shown: from here on feedback is taken for it, and its time for an answer runs.
        False: it was activated before."""
        told = self._json("POST", self._model(name, "/activate"), {"id": _id(decision)})
        return bool(told["result"] == "activated")

    def predict_many(
        self, name: str, xs: Iterable[Any], *, scores: bool = False, durable: bool = False
    ) -> List[Decision]:
        """Choose a label for every example, in as few requests as need be."""
        return self._many(self._model(name, "/predict"), [_ask(x, scores, durable) for x in xs], _decision)

    def feedback(
        self, name: str, decision: Union[str, Decision], right: Optional[bool] = None, *, label: Optional[str] = None
    ) -> bool:
        """Tell whether a decision was right, or its true label. False: the same had been said before, or the
        model keeps to the answer that silence had become.

        Once this returns, it is on the server's disk.
        """
        told = self._json("POST", self._model(name, "/feedback"), _answer(decision, right, label))
        return bool(told["result"] in ("learned", "replaced"))

    def feedback_many(self, name: str, answers: Iterable[Tuple[Union[str, Decision], bool]]) -> List[bool]:
        """Many answers (decision, right), in as few requests as need be."""
        items = [_answer(decision, right, None) for decision, right in answers]
        return self._many(self._model(name, "/feedback"), items, lambda told: bool(told["result"] in ("learned", "replaced")))

    def teach(self, name: str, x: Any = None, label: str = "", *, row: Optional[Mapping[str, Any]] = None) -> None:
        """Teach an example without a decision; a row may have its label with it."""
        asked = _what(x, row)
        if label or row is None:
            asked["label"] = label
        self._json("POST", self._model(name, "/teach"), asked, again=False)

    def scores(self, name: str, x: Any = None, *, row: Optional[Mapping[str, Any]] = None) -> Dict[str, float]:
        """The scores of all labels; nothing is logged or changed."""
        told = self._json("POST", self._model(name, "/scores"), _what(x, row))
        scores: Dict[str, float] = told["scores"]
        return scores

    def explain(
        self,
        name: str,
        x: Any = None,
        *,
        row: Optional[Mapping[str, Any]] = None,
        decision: Union[str, Decision, None] = None,
        label: Optional[str] = None,
    ) -> Json:
        """The features that say most about a label: {"label", "explanation": [{"feature", "amount"}, ...]}, where amount is
        what the label's score would lose without the feature. Of an example (label: the one with the largest score unless
        given), or of a decision (its example and label), by the model as it is now."""
        asked = _what(x, row) if decision is None else {"id": _id(decision)}
        if label is not None:
            asked["label"] = label
        told: Json = self._json("POST", self._model(name, "/explain"), asked)
        return told

    def decisions(self, name: str, *, limit: int = 20, before: Union[int, str, None] = None) -> Json:
        """The latest decisions on disk, newest first. before: an id, or a place in the log."""
        rest = f"/decisions?limit={int(limit)}" + (f"&before={before}" if before is not None else "")
        told: Json = self._json("GET", self._model(name, rest))
        return told

    # --- the server ---

    def ready(self) -> bool:
        """Whether the server can be used."""
        try:
            status, _, _ = self._once("GET", "/readyz", None)
        except (_Never, OSError, http.client.HTTPException):
            return False
        return status == 200

    def close(self) -> None:
        """Let the connections go."""
        self._closed = True
        self._drop_idle()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _what(x: Any, row: Optional[Mapping[str, Any]]) -> Json:
    if (x is None) == (row is None):
        raise ValueError("give either x or row=...")
    return {"x": _example(x)} if row is None else {"row": _cells(row)}


def _cells(row: Mapping[str, Any]) -> Json:
    """What is not a number is missing."""
    cells = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
    return {name: None if value != value else value for name, value in cells.items()}


def _ask(x: Any, scores: bool, durable: bool, row: Optional[Mapping[str, Any]] = None) -> Json:
    asked = _what(x, row)
    if scores:
        asked["scores"] = True
    if durable:
        asked["durable"] = True
    return asked


def _more(
    among: Optional[Iterable[str]], exclude: Optional[Iterable[str]], event: Optional[str], defer: bool
) -> Json:
    given: Json = {
        "eligible": None if among is None else list(among),
        "exclude": None if exclude is None else list(exclude),
        "event": event,
        "defer": defer or None,
    }
    return {key: value for key, value in given.items() if value is not None}


def _id(decision: Union[str, Decision]) -> str:
    return decision.id if isinstance(decision, Decision) else decision


def _answer(decision: Union[str, Decision], right: Optional[bool], label: Optional[str]) -> Json:
    if (right is None) == (label is None):
        raise ValueError("tell either right=True or False, or label=...")
    told: Json = {"id": _id(decision)}
    if label is not None:
        told["label"] = label
    else:
        told["right"] = truth(right)
    return told


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return None


def _awaited(
    method: Callable[Concatenate[Client, P], T],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """The method for AsyncClient: it runs in one of the threads."""

    async def call(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        work = functools.partial(method, self._client, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    functools.update_wrapper(call, method)
    return call


class AsyncClient:
    """Client for asyncio: the same methods, to be awaited. Up to connections requests run at the same time, in threads.

    async with hunch.AsyncClient("http://127.0.0.1:8811") as client:
        decision = await client.predict("news", {"user=42": 1})
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8811",
        token: Optional[str] = None,
        *,
        connections: int = 8,
        timeout: float = 30.0,
        retries: int = 5,
        pause: float = 0.1,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._client = Client(url, token, timeout=timeout, retries=retries, pause=pause, context=context)
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="hunch-client")

    create = _awaited(Client.create)
    models = _awaited(Client.models)
    model = _awaited(Client.model)
    delete = _awaited(Client.delete)
    add_labels = _awaited(Client.add_labels)
    retire = _awaited(Client.retire)
    set_policy = _awaited(Client.set_policy)
    comparison = _awaited(Client.comparison)
    versions = _awaited(Client.versions)
    add_version = _awaited(Client.add_version)
    promote = _awaited(Client.promote)
    learner = _awaited(Client.learner)
    predict = _awaited(Client.predict)
    log = _awaited(Client.log)
    activate = _awaited(Client.activate)
    predict_many = _awaited(Client.predict_many)
    feedback = _awaited(Client.feedback)
    feedback_many = _awaited(Client.feedback_many)
    teach = _awaited(Client.teach)
    scores = _awaited(Client.scores)
    explain = _awaited(Client.explain)
    decisions = _awaited(Client.decisions)
    ready = _awaited(Client.ready)

    async def close(self) -> None:
        """Client.close."""
        self._client.close()
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
