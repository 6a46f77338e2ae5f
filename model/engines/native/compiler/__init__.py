"""The compiler: it plans the actions of a program, writes them as LLVM text beside the kernels, and keeps the
machine code on disk.
"""
