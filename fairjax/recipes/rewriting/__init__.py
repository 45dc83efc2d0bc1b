"""What FairFlow and MBCDA share: texts rewritten, repaired and compared.

In this room:

  contenders            Contenders: rewritten texts compared, as tables 2 to 4
                        of FairFlow
  counterfactual_texts  FairFlow's stages 4 to 6: dictionary, repair,
                        generator, evaluation
  repairing             Error correction of swapped texts: detector, masks,
                        filler
  rewriter              A seq2seq or causal model that rewrites texts, fine-
                        tuned on pairs
  sampled               Which texts a rewriter is judged by, as in Table 1 of
                        FairFlow
"""
