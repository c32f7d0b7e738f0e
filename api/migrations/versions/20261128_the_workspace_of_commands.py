"""the workspace of commands."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'd2f4a81b6c07'
down_revision = 'c7a90d35e1f8'
branch_labels = None
depends_on = None

# until now it was known by its name alone; whoever makes a workspace through the API is a member of it
OWN = sa.text("""
    update workspaces set is_own = true where id = (
        select w.id from workspaces w
        where w.name = 'Touchledger' and w.archived_at is null
            and not exists (select 1 from memberships m where m.workspace_id = w.id)
        order by w.created_at limit 1
    )
""")


def upgrade() -> None:
    with op.batch_alter_table('workspaces') as batch_op:
        batch_op.add_column(sa.Column('is_own', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.execute(OWN)


def downgrade() -> None:
    with op.batch_alter_table('workspaces') as batch_op:
        batch_op.drop_column('is_own')
