"""The runner's library: a module without names, whose file `native` loads with ctypes."""
