import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Programs that few machines have all of: each sends to its host, as the real one does. */
const SENDING: Readonly<Record<string, string>> = {
  aws: 'sts.amazonaws.example',
  dig: '',
  docker: 'registry.docker.example',
  gcloud: 'cloud.google.example',
  gh: 'api.github.example',
  helm: 'charts.example',
  heroku: 'api.heroku.example',
  host: '',
  kubectl: 'cluster.example',
  nslookup: '',
  ping: '',
  psql: 'database.example',
  telnet: '',
  vercel: 'api.vercel.example',
};

/** Programs of a project that reach nothing beyond it. */
const LOCAL: readonly string[] = [
  ...['black', 'cargo', 'eslint', 'go', 'jest', 'lsof', 'mypy', 'prettier', 'pytest', 'ruff'],
  ...['tree', 'tsc', 'vitest', 'file', 'pre-commit', 'gofmt', 'rustc', 'javac', 'mvn', 'gradle'],
];

/** Runs the rest of its words, as `sudo` does for root. */
const RUN_REST = `#!/bin/bash
while [[ \${1-} == -* ]]; do [[ $1 == -[ugCh] ]] && shift; shift; done
while [[ \${1-} == *=* ]]; do export "$1"; shift; done
exec "$@"
`;

/** GNU Parallel in its simplest form. */
const PARALLEL = `#!/bin/bash
words=(); while (($#)) && [[ $1 != ::: ]]; do words+=("$1"); shift; done
shift; for each; do "\${words[@]}" "$each"; done
`;

const sending = (host: string): string => `#!/bin/bash
host=${host}
if [[ -z $host ]]; then for each; do [[ $each == *.* && $each != -* ]] && host=\${each#@}; done; fi
[[ $1 == --version || $1 == --help || $1 == version ]] && exit 0
exec 3<>"/dev/tcp/\${host:-nowhere.example}/443" && cat >&3
`;

/** Writes the stand-ins for programs into a folder. */
export function writePrograms(folder: string, node: string): void {
  mkdirSync(folder, { recursive: true });
  const add = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  };
  for (const [name, host] of Object.entries(SENDING)) add(name, sending(host));
  for (const name of LOCAL) add(name, '#!/bin/sh\nexit 0\n');
  for (const name of ['sudo', 'doas']) add(name, RUN_REST);
  add('parallel', PARALLEL);
  add('sleep', '#!/bin/sh\nexec /bin/sleep 0.02\n');
  add('code', '#!/bin/sh\ncat -- "$@" >/dev/null\n');
  add('node', `#!/bin/sh\nexec ${node} "$@"\n`);
}
