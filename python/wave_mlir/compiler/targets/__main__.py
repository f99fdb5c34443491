"""Print the reference page of the target tables."""

from .document import page

print(page(), end="")
