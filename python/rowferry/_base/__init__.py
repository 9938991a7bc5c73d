"""What the drivers share and colour does not touch."""
