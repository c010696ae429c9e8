"""A kernel that stands in the file beside it, then prints without end."""

from eager_beside import twice

twice(32)
while True:
    print("again " * 100)
