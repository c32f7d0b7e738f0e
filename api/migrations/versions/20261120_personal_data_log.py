"""personal data log; it and the audit trail can only be appended to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'de2f48e07b39'
down_revision = 'f7135b4e7ace'
branch_labels = None
depends_on = None

LOGS = ("audit_entries", "pii_accesses")


def upgrade() -> None:
    op.create_table('pii_accesses',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('at', UtcDateTime(), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('actor_kind', sa.String(length=16), nullable=False),
    sa.Column('actor_id', sa.String(length=36), nullable=False),
    sa.Column('credential_prefix', sa.String(length=24), nullable=True),
    sa.Column('method', sa.String(length=8), nullable=False),
    sa.Column('route', sa.String(length=120), nullable=False),
    sa.Column('subject', sa.String(length=8), nullable=False),
    sa.Column('customer_key', sa.String(length=64), nullable=True),
    sa.Column('record_count', sa.Integer(), nullable=False),
    sa.Column('pii_level', sa.String(length=6), nullable=False),
    sa.Column('request_id', sa.String(length=40), nullable=True),
    sa.CheckConstraint("pii_level in ('masked', 'full')", name=op.f('ck_pii_accesses_pii_level')),
    sa.CheckConstraint("subject in ('customer', 'visitor', 'order', 'payment', 'list')", name=op.f('ck_pii_accesses_subject')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_pii_accesses'))
    )
    with op.batch_alter_table('pii_accesses', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_pii_accesses_profile_id'), ['profile_id'], unique=False)
        batch_op.create_index('ix_pii_accesses_workspace_id_at', ['workspace_id', 'at'], unique=False)

    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "create function refuse_change() returns trigger language plpgsql as"
            " $$ begin raise exception '% can only be appended to', tg_table_name; end $$"
        )
    for table in LOGS:
        _guard(table)



def _guard(table: str) -> None:
    """A batch change of the table on SQLite makes it anew without its triggers: such a migration guards it again."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            f"create trigger append_only before update or delete or truncate on {table}"
            " for each statement execute function refuse_change()"
        )
        return
    for change in ("update", "delete"):
        op.execute(
            f"create trigger {table}_no_{change} before {change} on {table}"
            f" begin select raise(abort, '{table} can only be appended to'); end"
        )


def downgrade() -> None:
    postgres = op.get_context().dialect.name == "postgresql"
    for trigger in ["append_only on audit_entries"] if postgres else [f"audit_entries_no_{c}" for c in ("update", "delete")]:
        op.execute(f"drop trigger {trigger}")
    with op.batch_alter_table('pii_accesses', schema=None) as batch_op:
        batch_op.drop_index('ix_pii_accesses_workspace_id_at')
        batch_op.drop_index(batch_op.f('ix_pii_accesses_profile_id'))

    op.drop_table('pii_accesses')
    if postgres:
        op.execute("drop function refuse_change")
