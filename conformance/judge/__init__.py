"""Judge of logs: the event schema, and the machines of the services that read a log."""
