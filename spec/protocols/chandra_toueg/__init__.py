"""Consensus by rotating coordinators and a failure detector of class eventually S (Chandra and Toueg)."""
