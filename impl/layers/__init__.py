"""What stands around every protocol core: queues that lose nothing, batches, pieces, bounded buffers."""
