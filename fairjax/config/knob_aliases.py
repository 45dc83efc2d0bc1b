"""Config: other programs' names for our knobs, to suggest ours."""

# What transformers, scikit-learn and others call it: their last word → ours.
ALIASES = {
  theirs: ours
  for ours, names in {
    '--workdir': 'output_dir overwrite_output_dir out_dir logging_dir outdir',
    '--config.model': 'model_name model_name_or_path model_path checkpoint '
    'pretrained_model_name_or_path model_checkpoint',
    '--config.seeds': 'num_seeds n_seeds num_runs n_runs',
    '--config.seed': 'random_state random_seed data_seed',
    '--config.wandb': 'report_to wandb_project',
    '--config.mlflow': 'experiment_name mlflow_experiment_name',
    '--config.reuse': 'resume_from_checkpoint',
    '--config.data.name': 'dataset dataset_name task_name',
    '--config.data.path': 'train_file train_data_file data_dir data_path '
    'input_file dataset_path',
    '--config.data.valid_path': 'validation_file eval_file eval_data_file',
    '--config.data.test_path': 'test_file',
    '--config.data.text': 'text_column text_column_name text_column_names',
    '--config.data.label': 'label_column label_column_name target '
    'target_column',
    '--config.data.group': 'group_column sensitive_features '
    'sensitive_attribute protected_attribute',
    '--config.data.limit': 'max_train_samples max_samples num_samples',
    '--config.tokens.tokenizer': 'tokenizer_name tokenizer_name_or_path',
    '--config.tokens.max_length': 'max_seq_length max_seq_len '
    'max_source_length model_max_length',
    '--config.net.precision': 'bf16 fp16 int8 mixed_precision dtype '
    'torch_dtype',
    '--config.net.dropout': 'hidden_dropout_prob hidden_dropout',
    '--config.train.lr': 'learning_rate lr',
    '--config.train.epochs': 'num_train_epochs num_epochs n_epochs epochs '
    'max_steps',
    '--config.train.batch': 'per_device_train_batch_size batch_size '
    'per_device_eval_batch_size per_gpu_train_batch_size train_batch_size '
    'eval_batch_size',
    '--config.train.microbatches': 'gradient_accumulation_steps '
    'accumulate_grad_batches gradient_checkpointing',
    '--config.train.warmup': 'warmup_ratio warmup_steps num_warmup_steps',
    '--config.train.schedule': 'lr_scheduler_type lr_scheduler',
    '--config.train.optimizer': 'optim',
    '--config.train.beta1': 'adam_beta1',
    '--config.train.beta2': 'adam_beta2',
    '--config.train.eps': 'adam_epsilon adam_eps',
    '--config.train.metric_for_best': 'metric_for_best_model',
    '--config.train.load_best': 'load_best_model_at_end',
    '--config.train.patience': 'early_stopping_patience',
    '--config.train.save_every': 'save_steps',
    '--config.train.evals': 'eval_steps eval_strategy evaluation_strategy',
    '--config.train.max_grad_norm': 'gradient_clip_val',
    '--config.measures.resamples': 'n_bootstrap n_resamples',
    '--config.measures.pos_label': 'positive_label',
    '--config.pretrain.mask': 'mlm_probability',
    '--config.pretrain.length': 'block_size',
  }.items()
  for theirs in names.split()
}
