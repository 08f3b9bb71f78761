"""An exploration on disk: resume points and all inputs since, in SQLite files."""
