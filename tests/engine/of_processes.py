"""What tests ask about processes that may end at any moment."""

import psutil


def is_gone(pid: int) -> bool:
    """Whether it has ended; one that nobody has waited for yet counts as ended, too."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
