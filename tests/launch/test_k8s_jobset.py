"""The Kubernetes job sets agree with themselves."""

import yaml

from .programs import LAUNCH


def test_the_jobset_is_consistent():
  spec = yaml.safe_load((LAUNCH / 'k8s_jobset.yaml').read_text())
  assert (spec['apiVersion'], spec['kind']) == (
    'jobset.x-k8s.io/v1alpha2',
    'JobSet',
  )
  known = {'network', 'failurePolicy', 'replicatedJobs'}
  assert set(spec['spec']) == known
  (hosts,) = spec['spec']['replicatedJobs']
  job = hosts['template']['spec']
  pod = job['template']['spec']
  (container,) = pod['containers']
  flags = dict(
    word.removeprefix('--').split('=', 1)
    for word in container['command']
    if word.startswith('--')
  )
  count = int(flags['num_processes'])
  assert job['completionMode'] == 'Indexed'
  assert job['completions'] == job['parallelism'] == count
  name, network = spec['metadata']['name'], spec['spec']['network']
  assert network['enableDNSHostnames'] is True
  host, _, port = flags['coordinator_address'].partition(':')
  assert host == f'{name}-{hosts["name"]}-0-0.{network["subdomain"]}'
  assert {p['containerPort'] for p in container['ports']} == {int(port)}
  assert flags['process_id'] == '$(JOB_COMPLETION_INDEX)'
  assert {e['name'] for e in container['env']} == {'JOB_COMPLETION_INDEX'}
  limits = check_pods(job)
  assert limits == {'nvidia.com/gpu': 8}


def check_pods(job):
  """What pods of either kind promise; the limits of their container."""
  pod = job['template']['spec']
  (container,) = pod['containers']
  ignore, fail = job['podFailurePolicy']['rules']
  assert (ignore['action'], fail['action']) == ('Ignore', 'FailJob')
  assert ignore['onExitCodes']['values'] == [75]  # saved, resume
  assert fail['onExitCodes']['values'] == [2]  # fairjax.main's MISTAKE
  for rule in (ignore, fail):
    assert rule['onExitCodes']['containerName'] == container['name']
  assert pod['restartPolicy'] == 'Never'  # as a podFailurePolicy demands
  assert {'cpu', 'memory'} == set(container['resources']['requests'])
  rights = container['securityContext']
  assert rights['allowPrivilegeEscalation'] is False
  assert rights['capabilities'] == {'drop': ['ALL']}
  assert pod['securityContext']['seccompProfile'] == {'type': 'RuntimeDefault'}
  volumes = {v['name'] for v in pod['volumes']}
  assert {m['name'] for m in container['volumeMounts']} == volumes
  mounts = [m['mountPath'] for m in container['volumeMounts']]
  (workdir,) = (w for w in container['command'] if w.startswith('--workdir='))
  assert any(workdir.split('=')[1].startswith(m + '/') for m in mounts)
  return container['resources']['limits']


def test_the_jobset_of_tpus_fills_its_slices():
  spec = yaml.safe_load((LAUNCH / 'k8s_jobset_tpu.yaml').read_text())
  assert spec['metadata']['annotations'] == {
    'alpha.jobset.sigs.k8s.io/exclusive-topology': (
      'cloud.google.com/gke-nodepool'
    )
  }
  (slices,) = spec['spec']['replicatedJobs']
  job = slices['template']['spec']
  pod = job['template']['spec']
  limits = check_pods(job)
  selector = pod['nodeSelector']
  chips = 1
  for side in selector['cloud.google.com/gke-tpu-topology'].split('x'):
    chips *= int(side)
  assert 'cloud.google.com/gke-tpu-accelerator' in selector
  assert job['parallelism'] == job['completions']
  assert job['parallelism'] * limits['google.com/tpu'] == chips
  assert '--distributed' in pod['containers'][0]['command']
