"""What installs, of one day and machine: from pip's own report.

pip install --dry-run --ignore-installed --report - -q . | \\
  python .ci/supply.py lock > dist/locked.txt      # versions with hashes
  python .ci/supply.py sbom > dist/fairjax.cdx.json  # CycloneDX 1.6
"""

import json
import sys


def lock(packages: list[dict]) -> str:
  """Lines for `pip install --require-hashes -r`."""
  return '\n'.join(
    f'{one["name"]}=={one["version"]} --hash=sha256:{one["sha256"]}'
    for one in packages
  )


def sbom(packages: list[dict]) -> str:
  components = [
    {
      'type': 'library',
      'name': one['name'],
      'version': one['version'],
      'purl': f'pkg:pypi/{one["name"]}@{one["version"]}',
      'hashes': [{'alg': 'SHA-256', 'content': one['sha256']}],
    }
    for one in packages
  ]
  whole = {'bomFormat': 'CycloneDX', 'specVersion': '1.6', 'version': 1}
  return json.dumps(whole | {'components': components}, indent=1)


def installed(report: dict) -> list[dict]:
  """All but fairjax itself, which has no hash yet."""
  found = [
    {
      'name': one['metadata']['name'].lower().replace('_', '-'),
      'version': one['metadata']['version'],
      'sha256': one['download_info']['archive_info']['hashes']['sha256'],
    }
    for one in report['install']
    if 'archive_info' in one['download_info']
    and one['metadata']['name'] != 'fairjax'
  ]
  return sorted(found, key=lambda one: one['name'])


if __name__ == '__main__':
  print(
    {'lock': lock, 'sbom': sbom}[sys.argv[1]](installed(json.load(sys.stdin)))
  )
