"""Experts as Agent Skills: the file format and the vault."""
