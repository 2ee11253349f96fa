"""What the proof of a claim states: methods, lines, cells and tangents, found with what the checker would compute of them.

The checker imports nothing of this; of what is found here it takes the numbers, and no word for it.
"""
