"""An independent computation of what a recording contains.

Written from the recording's own JSON and from public descriptions of the formats, never from the product's
sources, so that a mistake in the product is not repeated here. All times are exact integers (nanoseconds):
decimal microseconds are read as decimals, never as floats. Plain lists and loops, no speed tricks.
The rules it follows are written down in README.md next to this file.
"""
