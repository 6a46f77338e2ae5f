"""Truth about the protocols: the language, the services, the published protocols and the ledger of their
claims.
"""
