"""The command line: talk, ask, look after what is remembered, find out what is wrong."""
