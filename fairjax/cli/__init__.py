"""The command line: commands that stand for configs, and help.

In this room:

  commands  The subcommands of `fairjax`: the config and the knobs each stands
            for
  manual    Help, made from what is declared: commands, knobs, configs,
            registries
"""
