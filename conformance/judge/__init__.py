"""Logs and their judge: the event schema, and the machines of the services that read a log."""
