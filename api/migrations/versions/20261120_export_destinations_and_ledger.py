"""Which conversions leave and where to, and the ledger of it, from which nothing can be deleted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '70edb1616728'
down_revision = '125c32c6e4e3'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('conversion_catalogs',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('family', sa.String(length=16), nullable=False),
    sa.Column('rules', sa.JSON(), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("family in ('standard', 'healthcare')", name=op.f('ck_conversion_catalogs_family')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_conversion_catalogs_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', 'family', name=op.f('pk_conversion_catalogs'))
    )
    op.create_table('export_destinations',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('kind', sa.String(length=24), nullable=False),
    sa.Column('name', sa.String(length=80), nullable=False),
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('target', sa.String(length=128), nullable=False),
    sa.Column('test_event_code', sa.String(length=64), nullable=True),
    sa.Column('conversion_types', sa.JSON(), nullable=False),
    sa.Column('send_value', sa.Boolean(), nullable=False),
    sa.Column('is_enabled', sa.Boolean(), nullable=False),
    sa.Column('disabled_reason', sa.String(length=40), nullable=True),
    sa.Column('consecutive_failures', sa.Integer(), nullable=False),
    sa.Column('failing_since', UtcDateTime(), nullable=True),
    sa.Column('failing_reason', sa.String(length=40), nullable=True),
    sa.Column('matched_snapshot_id', sa.String(length=36), nullable=True),
    sa.Column('last_sent_at', UtcDateTime(), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('updated_at', UtcDateTime(), nullable=False),
    sa.Column('deleted_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("kind in ('meta_capi', 'google_conversions', 'tiktok_events')", name=op.f('ck_export_destinations_kind')),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_export_destinations_connection_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_export_destinations_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_export_destinations'))
    )
    with op.batch_alter_table('export_destinations', schema=None) as batch_op:
        batch_op.create_index('ix_export_destinations_place', ['profile_id', 'kind', 'connection_id', 'target'], unique=True, sqlite_where=sa.text('deleted_at is null'), postgresql_where=sa.text('deleted_at is null'))
        batch_op.create_index(batch_op.f('ix_export_destinations_profile_id'), ['profile_id'], unique=False)

    op.create_table('export_rows',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('destination_id', sa.String(length=36), nullable=False),
    sa.Column('conversion_id', sa.String(length=36), nullable=False),
    sa.Column('event_id', sa.String(length=36), nullable=True),
    sa.Column('conversion_type', sa.String(length=40), nullable=False),
    sa.Column('occurred_at', UtcDateTime(), nullable=False),
    sa.Column('status', sa.String(length=8), nullable=False),
    sa.Column('reason', sa.String(length=40), nullable=True),
    sa.Column('attempts', sa.Integer(), server_default='0', nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('next_attempt_at', UtcDateTime(), nullable=True),
    sa.Column('sent_at', UtcDateTime(), nullable=True),
    sa.Column('failed_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("status in ('queued', 'sent', 'failed', 'skipped')", name=op.f('ck_export_rows_status')),
    sa.ForeignKeyConstraint(['destination_id'], ['export_destinations.id'], name=op.f('fk_export_rows_destination_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_export_rows_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_export_rows')),
    sa.UniqueConstraint('destination_id', 'conversion_id', name=op.f('uq_export_rows_destination_id_conversion_id'))
    )
    with op.batch_alter_table('export_rows', schema=None) as batch_op:
        batch_op.create_index('ix_export_rows_due', ['destination_id', 'status', 'next_attempt_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_export_rows_event_id'), ['event_id'], unique=False)
        batch_op.create_index('ix_export_rows_listed', ['profile_id', 'created_at', 'id'], unique=False)

    _refuse_deletion()


def _refuse_deletion() -> None:
    """A batch change of the table on SQLite makes it anew without its trigger: such a migration guards it again."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "create function refuse_deletion() returns trigger language plpgsql as"
            " $$ begin raise exception '% is kept as evidence', tg_table_name; end $$"
        )
        op.execute(
            "create trigger kept before delete or truncate on export_rows"
            " for each statement execute function refuse_deletion()"
        )
        return
    op.execute(
        "create trigger export_rows_kept before delete on export_rows"
        " begin select raise(abort, 'export_rows is kept as evidence'); end"
    )


def downgrade() -> None:
    postgres = op.get_context().dialect.name == "postgresql"
    op.execute("drop trigger kept on export_rows" if postgres else "drop trigger export_rows_kept")
    if postgres:
        op.execute("drop function refuse_deletion")
    with op.batch_alter_table('export_rows', schema=None) as batch_op:
        batch_op.drop_index('ix_export_rows_listed')
        batch_op.drop_index(batch_op.f('ix_export_rows_event_id'))
        batch_op.drop_index('ix_export_rows_due')

    op.drop_table('export_rows')
    with op.batch_alter_table('export_destinations', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_export_destinations_profile_id'))
        batch_op.drop_index('ix_export_destinations_place', sqlite_where=sa.text('deleted_at is null'), postgresql_where=sa.text('deleted_at is null'))

    op.drop_table('export_destinations')
    op.drop_table('conversion_catalogs')
