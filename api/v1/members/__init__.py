"""People of workspaces and profiles: members, their places, and invitations."""

from api.v1.members import app_routes, invitation_routes
from api.v1.members.routes import bp

__all__ = ["app_routes", "bp", "invitation_routes"]
