"""The core of the application. It does not depend on the graphs, nodes, tools or apps."""
