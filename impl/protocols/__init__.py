"""Sans-IO protocol cores: messages and time go in, messages and deliveries come out, nothing else happens."""
