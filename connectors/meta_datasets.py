"""Datasets of a Meta account, the ad sets that optimise on one, and customer lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from secrets import randbits
from typing import Any, Literal

from connectors.ad_platform import Row
from connectors.errors import Malformed
from connectors.meta_graph import MetaGraph
from connectors.transport import Transport

MOST_PEOPLE = 10_000
# (e-mail, phone), each SHA-256 in lower-case hexadecimal or empty
Person = tuple[str, str]
Operation = Literal["add", "remove", "replace"]


class MetaDatasets:
    """What belongs to one ad account, or to a messaging account; raises ConnectorErrors only."""

    def __init__(
        self, base_url: str, token: str, account_id: str, transport: Transport, *, app_secret: str | None = None
    ) -> None:
        self._account = f"act_{account_id.removeprefix('act_')}"
        self._messaging = account_id
        self._graph = MetaGraph(base_url.rstrip("/"), token, transport, app_secret)

    def datasets(self, *, of_messaging: bool = False) -> list[str]:
        """Ids of the account's datasets, the one it always had first."""
        return [_id(node) for node in self._datasets(of_messaging)]

    def make_dataset(self, name: str, *, of_messaging: bool = False) -> str:
        """Make one more, which takes a slot of the account for good; gives its id.

        One of that name is taken as it is: it was made when the answer got lost.
        """
        made = next((node for node in self._datasets(of_messaging) if node.get("name") == name), None)
        return _id(made or self._graph.make(self._edge(of_messaging), {"name": name}))

    def live_ad_sets(self, dataset_id: str) -> list[str]:
        """Ids of the ad sets that optimise on the dataset and deliver."""
        asked = {"fields": "id,effective_status,promoted_object", "effective_status": json.dumps(["ACTIVE"])}
        nodes = self._graph.walk(f"{self._account}/adsets", asked)
        return [_id(node) for node in nodes if _dataset_of(node) == dataset_id]

    def make_list(self, name: str) -> str:
        """Make an empty customer list; gives its id."""
        form = {"name": name, "subtype": "CUSTOM", "customer_file_source": "USER_PROVIDED_ONLY"}
        return _id(self._graph.make(f"{self._account}/customaudiences", form))

    def change_list(self, list_id: str, people: Sequence[Person], operation: Operation) -> None:
        """Add at most `MOST_PEOPLE` to the list, take them off, or make them the whole of it."""
        # in a schema of several keys, the names ending in SHA256 are unknown: its values are hashes anyway
        payload = {"schema": ["EMAIL", "PHONE"], "data": [list(person) for person in people]}
        session = {"session_id": randbits(62), "batch_seq": 1, "last_batch_flag": True}
        session["estimated_num_total"] = len(people)
        form = {"payload": json.dumps(payload, separators=(",", ":")), "session": json.dumps(session)}
        if operation == "remove":
            form["method"] = "delete"
        edge = "usersreplace" if operation == "replace" else "users"
        body = self._graph.post(f"{list_id}/{edge}", form)
        if body.get("num_invalid_entries") not in (0, None):
            raise Malformed("meta", "hashes that the platform calls invalid")

    def _datasets(self, of_messaging: bool) -> list[Row]:
        return self._graph.walk(self._edge(of_messaging), {"fields": "id,name"})

    def _edge(self, of_messaging: bool) -> str:
        return f"{self._messaging}/dataset" if of_messaging else f"{self._account}/adspixels"


def _id(body: Row) -> str:
    number = str(body.get("id") or "")
    if not number.isdigit():
        raise Malformed("meta", "something without an id")
    return number


def _dataset_of(node: dict[str, Any]) -> str | None:
    promoted = node.get("promoted_object")
    return str(promoted.get("pixel_id")) if isinstance(promoted, dict) else None
