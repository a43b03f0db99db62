"""`gpu-profile tune`: the folder of one investigation, with its recordings, predictions, trials and decisions."""
