"""Jobs of many ranks from Python: `gpu_profile.ranks`.

    files.py      the files of a job, in folders or behind any URL that fsspec opens
    reduction.py  one file as a summary, by the program in a process of its own; this runs on the workers
    engines.py    tasks on threads, an executor or Dask, and what is done when a worker or all of them are lost
    gather.py     the summaries of all files: those that are kept, and those that an engine makes
    summaries.py  summaries that are kept between runs, and the one of a rank that was lost
    job.py        `ranks` itself: the summaries joined by the program, as tables
    __main__.py   what `gpu-profile ranks` starts for URLs and Dask

Paths go to the workers and bytes come back. Only the program reads recordings and knows what the tables mean.
"""
