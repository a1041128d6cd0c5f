"""(being written)"""


def register() -> None:
    pass
