"""Words that no variable of a Promela model may have as its name: SPIN refuses them, or the C compiler after
it.

They were found by trying as a variable every word of SPIN's language, of C, of the verifier that SPIN 6.5.2
writes, and of the headers which that includes (gcc 12); those of newer C and of other machines stand beside
them. A word in capitals is a macro as a rule, and `t` with a number is a scratch variable of ours.
"""

import re

_TEXT = (
    """
    Air0 Air1 D_proctype G_int G_long IfNotBlocked L_ctermid L_tmpnam P_tmpdir PanSource Pprotocol
    SpinVersion StackSize UnBlock active alignas alignof always asm assert atomic auto bit bool break byte
    c_code c_decl c_expr c_state c_track case chan char const constexpr continue d_step default do double
    else empty enabled end enum equivalent errno eval eventually extern false fi float for full
    get_priority goto hidden i386 if implies init inline int len linux local long ltl main maxseq0 minseq0
    mips mtype nempty never next nfull notrace np_ nullptr od of pc_value pid printf printm priority
    proctype protocol provided rand register release restrict return run sa_handler sa_sigaction select
    set_priority short show si_addr si_addr_lsb si_arch si_band si_call_addr si_fd si_int si_lower
    si_overrun si_pid si_pkey si_ptr si_status si_stime si_syscall si_timerid si_uid si_upper si_utime
    si_value sigev_notify_attributes sigev_notify_function signed sizeof skip sparc st_atime st_ctime
    st_mtime static static_assert stronguntil struct sun sv switch thread_local timeout trace true typedef
    typeof typeof_unqual uchar uint ulong union unix unless unsigned until ushort void volatile wasnew
    weakuntil while xr xs
    """
)
_WORDS = frozenset(_TEXT.split())


def is_reserved(name: str) -> bool:
    """Return True for a word that may not be the name of a variable."""
    return name in _WORDS or re.fullmatch(r"[A-Z][A-Z0-9_]*|t[0-9]+|_.*", name) is not None
