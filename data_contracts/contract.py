"""The contracts: one YAML file (Open Data Contract Standard v3.1) per data set, read into what the code needs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import yaml
from open_data_contract_standard.model import OpenDataContractStandard, SchemaProperty

if TYPE_CHECKING:
    from data_contracts.judge import Judged

HOME = Path(__file__).resolve().parent
# served tables that are values of a fit: SQL cannot make them, so an asset writes them beside dbt's marts
FITTED = ("ad_likelihoods",)
# raised when the rules in code change their meaning, so that landed batches are known to be judged by older ones
RULES_VERSION = "2"
# every process reads all contracts, and the parser written in Python takes four times as long for the same values
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Kind = Literal["text", "timestamp", "date", "decimal", "integer", "boolean", "list"]
KINDS: dict[str, Kind] = {
    "string": "text",
    "timestamp": "timestamp",
    "date": "date",
    "number": "decimal",
    "integer": "integer",
    "boolean": "boolean",
    "array": "list",
}


@dataclass(frozen=True)
class Column:
    """One column of a contract; `minimum`, `above` and `maximum` bound numbers, `format` names a kind of text.

    `physical` is the type in the warehouse, where the contract fixes it (served tables do).
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    key_position: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    allowed: tuple[str, ...] = ()
    minimum: int | None = None
    above: int | None = None
    maximum: int | None = None
    precision: int = 18
    scale: int = 4
    physical: str | None = None
    items: str | None = None
    default: Any = None
    currency_column: str | None = None
    unbounded: bool = False
    personal: bool = False

    @property
    def is_id(self) -> bool:
        """Whether it names something by an id; a label and a click id may be any text."""
        named = self.name.endswith(("_id", "_key", "_ref")) and not self.name.startswith("utm_")
        return self.kind == "text" and named and self.name != "click_id"

    @property
    def arrow_type(self) -> pa.DataType:
        """The type of the column in raw files; lists are kept as JSON text."""
        if self.kind == "decimal":
            return pa.decimal128(self.precision, self.scale)
        return {
            "timestamp": pa.timestamp("us", tz="UTC"),
            "date": pa.date32(),
            "integer": pa.int64(),
            "boolean": pa.bool_(),
        }.get(self.kind, pa.string())


@dataclass(frozen=True)
class Rule:
    """One rule about whole rows, kept in `data_contracts.rules` under its name."""

    name: str
    description: str


@dataclass(frozen=True)
class Contract:
    """One data set: what one row is, its columns in order, its key and its rules about whole rows."""

    name: str
    folder: str
    grain: str
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...]
    fingerprint: str

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key's columns, in the order of the key."""
        keyed = [column for column in self.columns if column.key_position is not None]
        return tuple(column.name for column in sorted(keyed, key=lambda column: column.key_position or 0))

    @cached_property
    def column(self) -> Mapping[str, Column]:
        """The columns by name."""
        return {column.name: column for column in self.columns}

    @property
    def names_people(self) -> bool:
        """Whether a column of it tells who somebody is."""
        return any(column.personal for column in self.columns)

    def arrow_schema(self) -> pa.Schema:
        """The contract's columns as they are typed in raw files."""
        return pa.schema([pa.field(column.name, column.arrow_type) for column in self.columns])

    def judge(self, records: Iterable[Mapping[str, Any]], *, now: datetime | None = None) -> Judged:
        """Type and judge records; every one is either a row or rejected with one field and one reason."""
        from data_contracts.judge import judge

        return judge(self, records, now=now)


def _custom(element: SchemaProperty) -> dict[str, Any]:
    return {item.property or "": item.value for item in element.customProperties or []}


def _allowed(element: SchemaProperty) -> tuple[str, ...]:
    for check in element.quality or []:
        if check.metric == "invalidValues" and check.arguments:
            return tuple(str(value) for value in check.arguments["validValues"])
    return ()


def _column(element: SchemaProperty) -> Column:
    options, custom = element.logicalTypeOptions or {}, _custom(element)
    sized = re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", element.physicalType or "")
    precision, scale = (int(sized[1]), int(sized[2])) if sized else (18, 4)
    return Column(
        name=element.name or "",
        kind=KINDS[element.logicalType or "string"],
        description=element.description or "",
        required=bool(element.required),
        key_position=element.primaryKeyPosition if element.primaryKey else None,
        max_length=options.get("maxLength"),
        pattern=options.get("pattern"),
        format=options.get("format"),
        allowed=_allowed(element),
        minimum=options.get("minimum"),
        above=options.get("exclusiveMinimum"),
        maximum=options.get("maximum"),
        precision=precision,
        scale=scale,
        physical=element.physicalType,
        items=element.items.logicalType if element.items else None,
        default=custom.get("default"),
        currency_column=custom.get("currencyColumn"),
        unbounded=bool(custom.get("unbounded")),
        personal=element.classification == "restricted",
    )


def read(path: Path) -> Contract:
    """One contract from its file; its folder says whether it is inbound, internal or served."""
    text = path.read_text(encoding="utf-8")
    document = yaml.load(text, LOADER)  # noqa: S506 - both loaders are the safe ones
    (table,) = OpenDataContractStandard(**document).schema_ or []
    return Contract(
        name=table.name or path.stem,
        folder=path.parent.name,
        grain=table.description or "",
        columns=tuple(_column(element) for element in table.properties or []),
        rules=tuple(Rule(check.name or "", check.description or "") for check in table.quality or []),
        fingerprint=hashlib.sha256(f"{RULES_VERSION}\n{text}".encode()).hexdigest()[:16],
    )


@cache
def _folder(folder: str) -> Mapping[str, Contract]:
    return {path.stem: read(path) for path in sorted((HOME / folder).glob("*.yaml"))}


def inbound() -> Mapping[str, Contract]:
    """The public sets of what may come in, by name."""
    return _folder("inbound")


def internal() -> Mapping[str, Contract]:
    """The sets that the operational database hands to the pipeline, by name."""
    return _folder("internal")


def served() -> Mapping[str, Contract]:
    """The published tables, by name."""
    return _folder("served")


def modelled() -> Mapping[str, Contract]:
    """The published tables that dbt builds, by name."""
    return {name: contract for name, contract in served().items() if name not in FITTED}


def landed() -> Mapping[str, Contract]:
    """Every set that has raw files, inbound and internal, by name."""
    return {**inbound(), **internal()}


def load(name: str) -> Contract:
    """The landed contract of that name, else the served one. Raises KeyError for an unknown name."""
    found = landed().get(name) or served().get(name)
    if found is None:
        raise KeyError(f"no contract is named {name!r}")
    return found
