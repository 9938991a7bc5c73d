"""What the drivers share and is written for asyncio; the blocking halves lie one folder up."""
