"""Nodes of the graphs: functions from state to partial state."""
