"""keys of app names."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from alembic import op
from api.app_names import key_of

revision = 'd3f1a86c27e4'
down_revision = '3d9b51c07e2a'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('apps', schema=None) as batch_op:
        batch_op.add_column(sa.Column('name_key', sa.String(length=64), nullable=True))
    apps = sa.table('apps', sa.column('id'), sa.column('name'), sa.column('name_key'), sa.column('created_at'))
    taken = set()
    database = op.get_bind()
    for app_id, name in database.execute(sa.select(apps.c.id, apps.c.name).order_by(apps.c.created_at, apps.c.id)).all():
        key = key_of(name)
        if key in taken:
            # twins that are there keep their names, until one of them is renamed
            key = hashlib.sha256(app_id.encode()).hexdigest()
        taken.add(key)
        database.execute(sa.update(apps).where(apps.c.id == app_id).values(name_key=key))
    with op.batch_alter_table('apps', schema=None) as batch_op:
        batch_op.alter_column('name_key', existing_type=sa.String(length=64), nullable=False)
        batch_op.create_unique_constraint(batch_op.f('uq_apps_name_key'), ['name_key'])


def downgrade() -> None:
    with op.batch_alter_table('apps', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('uq_apps_name_key'), type_='unique')
        batch_op.drop_column('name_key')
