"""Reports of a workspace's profiles, and their schedules."""
