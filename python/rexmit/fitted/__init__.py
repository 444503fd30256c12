"""The path of a capture: what its rows tell of rate, delay, queue, losses and hosts, as values and as a
scenario.
"""
