"""The steps of the graphs: State in, partial State out."""
