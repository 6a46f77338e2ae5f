"""Compiler: it plans the actions of a program, writes them as LLVM text beside the kernels, and caches the
machine code on disk.
"""
