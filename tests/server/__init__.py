"""Tests of `rowferry serve` by door."""
