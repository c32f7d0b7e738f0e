"""dead tokens of connections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = '6e2d90b7f4a1'
down_revision = 'b81f4ac2d937'
branch_labels = None
depends_on = None


def upgrade() -> None:
    table = sa.table('connections', sa.column('status'), sa.column('token'))
    op.execute(sa.update(table).where(table.c.status == 'reconnect_required').values(token=''))


def downgrade() -> None:
    """A token that a provider called dead is not to be had again."""
