"""Tokens of connections sealed at rest, what was granted with them, and their syncs."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime
from api.sealing import renewed, unseal

revision = 'b8230d1bfe66'
down_revision = '9530fff0c651'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('connection_syncs',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('status', sa.String(length=8), nullable=False),
    sa.Column('date_from', sa.Date(), nullable=True),
    sa.Column('date_to', sa.Date(), nullable=True),
    sa.Column('delivery_through', sa.Date(), nullable=True),
    sa.Column('error', sa.String(length=255), nullable=True),
    sa.Column('requested_at', UtcDateTime(), nullable=False),
    sa.Column('started_at', UtcDateTime(), nullable=True),
    sa.Column('finished_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("status in ('queued', 'running', 'done', 'failed')", name=op.f('ck_connection_syncs_status')),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_connection_syncs_connection_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_connection_syncs_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_connection_syncs'))
    )
    with op.batch_alter_table('connection_syncs', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_connection_syncs_connection_id'), ['connection_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_connection_syncs_profile_id'), ['profile_id'], unique=False)

    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.add_column(sa.Column('scopes_granted', sa.JSON(), server_default=sa.text("'[]'"), nullable=False))
        batch_op.alter_column('token',
               existing_type=sa.VARCHAR(length=512),
               type_=sa.Text(),
               existing_nullable=False)
        batch_op.drop_constraint(batch_op.f('uq_connections_profile_id_provider_external_account_id'), type_='unique')
        batch_op.create_index('uq_connections_account', ['profile_id', 'provider', 'external_account_id'], unique=True, sqlite_where=sa.text("status in ('active', 'needs_action', 'reconnect_required')"), postgresql_where=sa.text("status in ('active', 'needs_action', 'reconnect_required')"))

    _rewrite(renewed)


def _rewrite(into: Callable[[str], str | None]) -> None:
    table, bind = sa.table('connections', sa.column('id', sa.String), sa.column('token', sa.Text)), op.get_bind()
    for number, token in bind.execute(sa.select(table.c.id, table.c.token).where(table.c.token != '')).all():
        new = into(token)
        if new is not None:
            bind.execute(sa.update(table).where(table.c.id == number).values(token=new))


def downgrade() -> None:
    _rewrite(unseal)
    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.drop_index('uq_connections_account', sqlite_where=sa.text("status in ('active', 'needs_action', 'reconnect_required')"), postgresql_where=sa.text("status in ('active', 'needs_action', 'reconnect_required')"))
        batch_op.create_unique_constraint(batch_op.f('uq_connections_profile_id_provider_external_account_id'), ['profile_id', 'provider', 'external_account_id'])
        batch_op.alter_column('token',
               existing_type=sa.Text(),
               type_=sa.VARCHAR(length=512),
               existing_nullable=False)
        batch_op.drop_column('scopes_granted')

    with op.batch_alter_table('connection_syncs', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_connection_syncs_profile_id'))
        batch_op.drop_index(batch_op.f('ix_connection_syncs_connection_id'))

    op.drop_table('connection_syncs')
