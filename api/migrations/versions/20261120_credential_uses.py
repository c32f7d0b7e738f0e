"""What credentials were used for, by day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'e605d150ead6'
down_revision = 'b45f65686434'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('credential_uses',
    sa.Column('place_id', sa.String(length=36), nullable=False),
    sa.Column('day', sa.Date(), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('credential_id', sa.String(length=36), nullable=False),
    sa.Column('requests', sa.BigInteger(), nullable=False),
    sa.Column('units', sa.BigInteger(), nullable=False),
    sa.Column('refused_4xx', sa.BigInteger(), nullable=False),
    sa.Column('failed_5xx', sa.BigInteger(), nullable=False),
    sa.Column('rate_limited', sa.BigInteger(), nullable=False),
    sa.PrimaryKeyConstraint('place_id', 'day', 'kind', 'credential_id', name=op.f('pk_credential_uses'))
    )


def downgrade() -> None:
    op.drop_table('credential_uses')
