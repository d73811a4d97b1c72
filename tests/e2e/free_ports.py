"""Ports for processes that a test starts."""

import os
import socket


def free_ports(count):
    """The first of so many ports in a row that nobody listens at. Two runs at once look in
    different places: a port is free until its process has begun to listen."""
    lowest, highest = 20000, 32000  # below those that the system gives to clients
    place = os.getpid() * 64 % (highest - lowest)
    for step in range(0, highest - lowest, count + 7):
        first = lowest + (place + step) % (highest - lowest)
        sockets = []
        try:
            for port in range(first, first + count):
                one = socket.socket()
                sockets.append(one)
                one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no ports are free")
