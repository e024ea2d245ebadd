"""Entry points: the command line and the HTTP app. The only code that imports `graphs`."""
