"""Purges: whose data an archive has to take out of files and figures."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from api.db import Base, now


class Purge(Base):
    """The purge of one archived profile, whose operational rows went with the archive.

    `files_removed_at` is set once no file of the lake or the inbox is the profile's; the next publication, which is
    built without the profile, completes the purge.
    """

    __tablename__ = "purges"

    profile_id: Mapped[str] = mapped_column(sa.ForeignKey("profiles.id"), primary_key=True)
    requested_at: Mapped[datetime] = mapped_column(default=now)
    files_removed_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
