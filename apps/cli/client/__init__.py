"""The client that commands use: graphs in this process, or a running server over HTTP."""
