"""The one training loop of the house, and prediction.

In this room:

  checkpoint  Checkpoints (orbax, async, atomic), and weights as safetensors
              files
  decisions   Logits in bfloat16 whose decisions are float32's
  loop        The one training loop: fit, and predict. Every recipe calls these
              two
  mesh        Devices and processes: the only file that counts them
  optim       Optimisers, learning rates, and the parameters that they update
  peers       The other processes of a run: that one has ended is known at once
  progress    Progress of a run: a live line, log.txt, metrics, events
  step        One training step and one forward pass, over all seeds at once
  stretch     Several training steps per dispatch, where a step is short
  watch       What a fit watches: losses, disk space, requests to stop
"""
