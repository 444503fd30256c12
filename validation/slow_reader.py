"""Two ends of a connection whose receiving program reads slowly; for the live bench.

python3 slow_reader.py read PORT BYTES PAUSE_S       python3 slow_reader.py write HOST PORT BYTES
"""

import socket
import sys
import time


def read(port: int, size: int, pause_s: float) -> None:
    with socket.create_server(("", port)) as listening:
        connection = listening.accept()[0]
        while connection.recv(size):
            time.sleep(pause_s)


def write(host: str, port: int, size: int) -> None:
    with socket.create_connection((host, port)) as connection:
        connection.sendall(bytes(size))


if sys.argv[1] == "read":
    read(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
else:
    write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
