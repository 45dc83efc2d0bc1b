"""What installs, of one day and machine: from pip's own report.

pip install --dry-run --ignore-installed --report - -q . | \\
  python .ci/supply.py lock > dist/locked.txt      # versions with hashes
  python .ci/supply.py sbom > dist/fairjax.cdx.json  # CycloneDX 1.6
python .ci/supply.py valid < dist/fairjax.cdx.json  # by its schema

`valid` needs cyclonedx-python-lib[json-validation].
"""

import json
import sys


def lock(packages: list[dict]) -> str:
  """Lines for `pip install --require-hashes -r`."""
  return '\n'.join(
    f'{one["name"]}=={one["version"]} --hash=sha256:{one["sha256"]}'
    for one in packages
  )


def sbom(packages: list[dict], version: str) -> str:
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
  own = {'type': 'library', 'name': 'fairjax', 'version': version}
  whole = {'bomFormat': 'CycloneDX', 'specVersion': '1.6', 'version': 1}
  whole |= {'metadata': {'component': own}, 'components': components}
  return json.dumps(whole, indent=1)


def valid(text: str) -> None:
  from cyclonedx.schema import SchemaVersion
  from cyclonedx.validation.json import JsonStrictValidator

  if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
    sys.exit(f'the SBOM is not valid: {fault}')


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


def main(asked: str) -> None:
  if asked == 'valid':
    return valid(sys.stdin.read())
  report = json.load(sys.stdin)
  packages = installed(report)
  if asked == 'lock':
    return print(lock(packages))
  each = [one['metadata'] for one in report['install']]
  (version,) = [one['version'] for one in each if one['name'] == 'fairjax']
  print(sbom(packages, version))


if __name__ == '__main__':
  main(sys.argv[1])
