"""The lake: raw landing of every data set, whole or not at all; what is bad is kept with its reason."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from data_contracts.contract import Contract, landed, load
from data_contracts.judge import judge
from orchestration import durable, gathered
from orchestration.batch_file import ContentHash, Draft, Place, empty_file, raw_schema
from orchestration.chunks import chunks
from orchestration.landed_facts import SCHEMA, Facts, read_facts
from orchestration.replay import parts_of, refill, rejudged

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,149}")


@dataclass(frozen=True)
class Landing:
    """What one landing did; `changed` is False when the same content was there already."""

    dataset: str
    profile_id: str | None
    source: str
    batch: str
    rows_in: int
    rows_loaded: int
    rows_quarantined: int
    seq: int
    loaded_at: datetime
    changed: bool
    path: Path
    quarantine: Path | None = None

    def bad_rows(self, most: int) -> list[dict[str, Any]]:
        """The first quarantined records: {row, field, reason} each, without the record itself."""
        rows = itertools.chain.from_iterable(parts_of(self.quarantine, ["line", "field", "reason"]))
        return [
            {"row": one["line"], "field": one["field"], "reason": one["reason"]} for one in itertools.islice(rows, most)
        ]


class Lake:
    """Raw files under `raw/`, rejected records under `quarantine/`; one writer at a time."""

    def __init__(self, root: Path) -> None:
        self.root, self.raw, self.quarantine = root, root / "raw", root / "quarantine"

    def prepare(self) -> None:
        """Make the folders and one empty file per data set, and clear what a killed writer left.

        Beside a writer, which may take hours, a lake that has them all is left as it is: whoever only looks goes on.
        Raises OSError for a folder whose files nobody would miss: one that may not be read, or a link.
        """
        self.require_open()
        lacks_one = any(not self._has_schema(*one) for one in landed().items())
        with self._writing(wait=lacks_one) as is_ours:
            if not is_ours:
                return
            for dataset, contract in landed().items():
                self._write_schema(dataset, contract)
            for left in self.root.rglob("*.tmp"):
                left.unlink()
            gathered.finish(self.root)
            self._drop_orphans()

    def require_open(self) -> None:
        """Raise OSError for a folder that the database passes over."""
        # raw or quarantine, data set, profile and source; below a data set DuckDB follows no link
        durable.require_open(self.root, depth=4, linked=2)

    def land(
        self,
        *,
        dataset: str,
        profile_id: str | None,
        source: str,
        batch: str,
        records: Iterable[Mapping[str, Any]],
        origin: str | None = None,
        complete_from: datetime | None = None,
        asked_at: datetime | None = None,
        keeps_place: bool = False,
        now: datetime | None = None,
    ) -> Landing:
        """Land the records as one batch, replacing what the batch held; in = loaded + quarantined.

        Equal content leaves the file untouched, but for one landed before `complete_from`, when what it tells of was
        not over: it is landed again once that instant has passed. `origin` names what the records are computed from:
        when the landed file names the same, they are not even read. Nor are they where the batch landed after
        `asked_at`, from when on they were asked for: it may be newer. What replaces a batch is the newest landing, or
        as new as the batch was when it `keeps_place`. An exception of `records` lands nothing. `records` must not land.
        """
        place, contract = _place(dataset, profile_id, source, batch), load(dataset)
        with self._writing():
            gathered.take_out(self.raw / place.file)
            before = self._facts(place)
            told = before and origin and (before.origin, before.contract) == (origin, contract.fingerprint)
            if before and (told or before.landed_since(asked_at)):
                return self._landing(place, before, changed=False)
            draft = self._draft(place, contract)
            seq = before.seq if before and keeps_place else draft.seq
            try:
                content = _fill(draft, contract, records, seq, now)
                if before and _same(before, draft, content, contract) and not before.ended(complete_from, draft.now):
                    draft.discard()
                    return self._landing(place, before, changed=False)
                return self._commit(place, draft, contract, content, origin=origin, seq=seq)
            except BaseException:
                draft.discard()
                raise

    def replay(self, *, now: datetime | None = None) -> list[Landing]:
        """Judge every quarantined record again; those that pass join their batch, at their old place in the order."""
        with self._writing():
            places = [place for dataset in landed() for place, facts in self._landed(dataset) if facts.rows_quarantined]
            return [landing for place in places if (landing := self._replay(place, now))]

    def batches(self, dataset: str) -> list[Landing]:
        """Every landed batch of a data set, oldest landing first."""
        found = [self._landing(place, facts, changed=False) for place, facts in self._landed(dataset)]
        return sorted(found, key=lambda landing: landing.seq)

    def holds(self, *, dataset: str, profile_id: str | None, source: str, batch: str) -> bool:
        """Whether that batch is landed."""
        return (self.raw / _place(dataset, profile_id, source, batch).file).exists()

    def judged_by(self, *, dataset: str, profile_id: str | None, source: str, batch: str) -> str | None:
        """The fingerprint of the contract that batch was judged by; None where it is not landed."""
        facts = self._facts(_place(dataset, profile_id, source, batch))
        return facts.contract if facts else None

    def named(self, *, dataset: str, profile_id: str | None, source: str, beginning: str) -> list[Path]:
        """The landed files of one source whose batches' names begin so, in the order of their names."""
        folder = self.raw / _place(dataset, profile_id, source, beginning).folder
        return sorted(folder.glob(f"{beginning}*.parquet"))

    @contextmanager
    def _writing(self, *, wait: bool = True) -> Iterator[bool]:
        durable.make_folder(self.raw)
        durable.make_folder(self.quarantine)
        with durable.exclusive(self.root / ".lock", wait=wait) as is_ours:
            yield is_ours

    def _has_schema(self, dataset: str, contract: Contract) -> bool:
        path = self.raw / dataset / SCHEMA
        try:
            return path.exists() and bool(pq.read_schema(path).equals(raw_schema(contract)))
        except (pa.ArrowException, OSError) as error:
            # a damaged one is made anew; what the disk itself refuses has a number
            if isinstance(error, OSError) and error.errno is not None:
                raise
            return False

    def _write_schema(self, dataset: str, contract: Contract) -> None:
        if self._has_schema(dataset, contract):
            return
        path = self.raw / dataset / SCHEMA
        durable.make_folder(path.parent)
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(empty_file(raw_schema(contract)))
        durable.put_in_place(temporary, path)

    def _facts(self, place: Place) -> Facts | None:
        path = self.raw / place.file
        return read_facts(path) if path.exists() else None

    def _landed(self, dataset: str) -> Iterator[tuple[Place, Facts]]:
        for path in sorted((self.raw / dataset).glob("*/*/*.parquet")):
            scope, source = path.parts[-3:-1]
            place = Place(dataset, None if scope == "_shared" else scope, source, path.stem)
            # put together with others since the folder was listed
            with suppress(FileNotFoundError):
                yield place, read_facts(path)

    def _next_seq(self) -> int:
        counter = self.root / "_seq"
        try:
            last = int(counter.read_text())
        except (FileNotFoundError, ValueError):
            # not there yet, lost, or damaged
            last = max((facts.seq for dataset in landed() for _, facts in self._landed(dataset)), default=0)
        durable.write_text(counter, str(last + 1))
        return last + 1

    def _draft(self, place: Place, contract: Contract) -> Draft:
        for root in (self.raw, self.quarantine):
            durable.make_folder(root / place.folder)
        seq = self._next_seq()
        raw = self.raw / place.folder / f".{place.batch}.{seq}.tmp"
        return Draft(contract, place, raw, self.quarantine / place.folder / f".{place.batch}.{seq}.tmp", seq)

    def _commit(
        self,
        place: Place,
        draft: Draft,
        contract: Contract,
        content: str,
        *,
        origin: str | None,
        seq: int | None = None,
    ) -> Landing:
        # the raw file names its quarantine file, so the one rename of the raw file moves both from old to new
        beside = f"{place.batch}.{draft.seq}.parquet" if draft.rows_quarantined else None
        facts = Facts(
            seq=draft.seq if seq is None else seq,
            rows_in=draft.rows_loaded + draft.rows_quarantined,
            rows_loaded=draft.rows_loaded,
            rows_quarantined=draft.rows_quarantined,
            content=content,
            contract=contract.fingerprint,
            origin=origin,
            quarantine=beside,
            loaded_at=draft.now.isoformat(),
        )
        before = self._facts(place)
        draft.close(facts)
        if beside:
            durable.put_in_place(draft.quarantine, self.quarantine / place.folder / beside)
        durable.put_in_place(draft.raw, self.raw / place.file)
        if before and before.quarantine:
            (self.quarantine / place.folder / before.quarantine).unlink(missing_ok=True)
        return self._landing(place, facts, changed=True)

    def _replay(self, place: Place, now: datetime | None) -> Landing | None:
        """The batch with the records that pass now; None, and nothing touched, when none does."""
        facts, contract = read_facts(self.raw / place.file), load(place.dataset)
        quarantine, moment = self._landing(place, facts, changed=False).quarantine, now or datetime.now(UTC)
        if not any(part.lines for part in rejudged(contract, quarantine, moment)):
            return None
        draft = self._draft(place, contract)
        try:
            judged = rejudged(contract, quarantine, moment)
            refill(draft, contract, self.raw / place.file, judged, facts.seq)
            return self._commit(place, draft, contract, facts.content, origin=facts.origin, seq=facts.seq)
        except BaseException:
            draft.discard()
            raise

    def _drop_orphans(self) -> None:
        """Remove quarantine files that no raw file names: a writer was killed around its rename."""
        for path in self.quarantine.glob("*/*/*/*.parquet"):
            raw = self.raw / path.relative_to(self.quarantine).with_name(f"{path.stem.rpartition('.')[0]}.parquet")
            if not raw.exists() or read_facts(raw).quarantine != path.name:
                path.unlink()

    def _landing(self, place: Place, facts: Facts, *, changed: bool) -> Landing:
        return Landing(
            dataset=place.dataset,
            profile_id=place.profile_id,
            source=place.source,
            batch=place.batch,
            rows_in=facts.rows_in,
            rows_loaded=facts.rows_loaded,
            rows_quarantined=facts.rows_quarantined,
            seq=facts.seq,
            loaded_at=facts.loaded,
            changed=changed,
            path=self.raw / place.file,
            quarantine=self.quarantine / place.folder / facts.quarantine if facts.quarantine else None,
        )


def _place(dataset: str, profile_id: str | None, source: str, batch: str) -> Place:
    for part in (profile_id or "shared", source, batch):
        if not _SAFE.fullmatch(part):
            raise ValueError(f"{part!r} cannot name a folder or file of the lake")
    return Place(dataset, profile_id, source, batch)


def _same(before: Facts, draft: Draft, content: str, contract: Contract) -> bool:
    # the judgement may change with the day (a date is no longer ahead), so its outcome is compared as well
    judged = (draft.rows_quarantined, contract.fingerprint, content)
    return (before.rows_quarantined, before.contract, before.content) == judged


def _fill(
    draft: Draft, contract: Contract, records: Iterable[Mapping[str, Any]], seq: int, now: datetime | None
) -> str:
    """Judge and write chunk by chunk, at a place in the order of landings; gives the hash of what came in."""
    content, moment, line = ContentHash(), now or datetime.now(UTC), 1
    for chunk in chunks(records):
        content.add(chunk)
        judged = judge(contract, chunk, now=moment, first_line=line)
        draft.add_rows(draft.table(judged, seq=seq))
        draft.add_rejected(judged.rejected)
        line += len(chunk)
    return content.value
