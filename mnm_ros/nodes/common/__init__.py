"""What several nodes share."""
