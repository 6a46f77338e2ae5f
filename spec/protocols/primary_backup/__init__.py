"""Primary-backup replication, by the prose of sections 4.3.1 and 4.3.2 of the RBP report: alone, and over
view-synchronous communication.
"""
