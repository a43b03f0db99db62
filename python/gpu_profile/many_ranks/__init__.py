"""Jobs of many ranks from Python: `gpu_profile.ranks`.

    job.py           `ranks` itself: the job that the program has joined, as tables
    conversation.py  does what the program asks for: names files, has them read, puts summaries where they belong
    files.py         files behind any URL that fsspec opens
    engines.py       tasks on threads, an executor or Dask, and what is done when a worker or all of them are lost
    reduction.py     one file as a summary, by the program in a process of its own; this runs on the workers
    __main__.py      what `gpu-profile ranks` starts for URLs and Dask

The program decides: which files there are, of which ranks, which of their summaries are kept, what is tried again, and what is said of
files that are lost. Only it reads recordings and knows what the tables mean. Paths go to the workers and bytes come back.
"""
