"""What must be true: the specification language, the services, the published protocols and the ledger of claims."""
