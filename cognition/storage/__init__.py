"""Tables and files on this machine."""
