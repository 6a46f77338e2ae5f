"""Specifications: the language, the services, the published protocols and the ledger of their claims."""
