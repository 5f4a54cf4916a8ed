/**
 * The steps of examples/operate/Dockerfile, run without Docker: in a root of Debian with the Node
 * of this repository, from the packed packages. The server runs as its user on a read-only root.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RULES_FILES } from '../../packages/cli/src/commands/init/rules-files.ts';
import { hasContainerTools } from '../support/container-tools.ts';
import { stepsOfDockerfile } from '../support/dockerfile.ts';
import { projectWithPackage } from '../support/packed.ts';
import { blockOf } from '../support/process/guide-files.ts';

const repository = join(import.meta.dirname, '../..');
const QUIET = { stdio: 'pipe', encoding: 'utf8', maxBuffer: 2 ** 26 } as const;

/** `node:24-bookworm-slim`: Debian with Node, npm and the user `node`. */
function baseImage(): string {
  const image = mkdtempSync(join(tmpdir(), 'assize-root-'));
  onTestFinished(() => rmSync(image, { recursive: true }));
  // The mounts of debootstrap end with its namespace.
  const making = ['debootstrap', '--variant=minbase', 'bookworm', image];
  execFileSync('unshare', ['--mount', ...making], QUIET);
  chmodSync(image, 0o755);
  copyFileSync(process.execPath, join(image, 'usr/local/bin/node'));
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], QUIET).trim())));
  cpSync(npm, join(image, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(image, 'usr/local/bin/npm'));
  execFileSync('chroot', [image, 'useradd', '--create-home', '--uid', '1000', 'node'], QUIET);
  return image;
}

/** A project with the packed packages and the files of the rules door, as the guide sets it up. */
function project(): string {
  const folder = projectWithPackage();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { 'assize.config.json': config = '', 'assize.yaml': rules = '' } = RULES_FILES;
  const container = JSON.parse(blockOf('server.md', 'json'));
  const whole = { ...JSON.parse(config), ...container };
  writeFileSync(join(folder, 'assize.config.json'), JSON.stringify(whole));
  writeFileSync(join(folder, 'assize.yaml'), rules);
  return folder;
}

test.skipIf(!hasContainerTools)(
  'the image serves without root, and writes to its volume alone',
  () => {
    const image = baseImage();
    const context = project();
    const env: Record<string, string> = { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
    let workdir = '/';
    let user = 'root';
    let check: string[] = [];
    let command: string[] = [];
    let volume = '';
    const inside = (mounts: readonly string[], args: readonly string[]) =>
      spawnSync(
        'bwrap',
        [
          ...mounts,
          ...['--dev', '/dev', '--proc', '/proc', '--perms', '1777', '--tmpfs', '/tmp'],
          ...[
            '--unshare-net',
            '--unshare-pid',
            '--die-with-parent',
            '--clearenv',
            '--chdir',
            workdir,
          ],
          ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
          ...['--', 'setpriv', '--reuid', user, '--regid', user, '--clear-groups'],
          ...['--no-new-privs', ...args],
        ],
        QUIET,
      );

    for (const { word, rest } of stepsOfDockerfile(join(repository, 'examples/operate/Dockerfile')))
      switch (word) {
        case 'FROM':
          expect(rest).toBe('node:24-bookworm-slim');
          expect(process.version).toMatch(/^v24\./);
          break;
        case 'ENV':
          for (const each of rest.split(' ')) {
            const [name = '', value = ''] = each.split('=');
            env[name] = value.replaceAll(/\$(\w+)/g, (_, other: string) => env[other] ?? '');
          }
          break;
        case 'WORKDIR':
          workdir = rest;
          mkdirSync(join(image, workdir), { recursive: true });
          break;
        case 'COPY': {
          const files = rest.split(' ').slice(0, -1);
          expect(rest.endsWith(' ./')).toBe(true);
          for (const file of files) copyFileSync(join(context, file), join(image, workdir, file));
          break;
        }
        case 'RUN': {
          // The packages are in no registry: npm takes their files, at the places in the lock file.
          const files = globSync('*.tgz', { cwd: context }).flatMap((file) => [
            ...['--ro-bind', join(context, file), join(workdir, file)],
          ]);
          const libraries = join(workdir, relative(context, repository));
          const settings = ['npm_config_offline=true', 'npm_config_install_links=true'];
          const { status, stderr } = inside(
            ['--bind', image, '/', ...files, '--ro-bind', repository, libraries],
            ['env', ...settings, 'sh', '-c', rest],
          );
          expect({ rest, status, stderr: status === 0 ? '' : stderr }).toEqual({
            rest,
            status: 0,
            stderr: '',
          });
          break;
        }
        case 'USER':
          user = rest;
          break;
        case 'VOLUME':
          volume = rest;
          break;
        case 'EXPOSE':
          break;
        case 'HEALTHCHECK':
          check = JSON.parse(rest.slice(rest.indexOf('[')));
          break;
        case 'CMD':
          command = JSON.parse(rest);
          break;
        default:
          throw new Error(`The test does not know the step ${word}.`);
      }

    const quoted = (words: readonly string[]) =>
      words.map((each) => `'${each.replaceAll("'", "'\\''")}'`).join(' ');
    const { stdout, stderr } = inside(
      ['--ro-bind', image, '/', '--bind', join(image, volume), volume],
      [
        'sh',
        '-c',
        `${quoted(command)} > /tmp/log 2>&1 & server=$!
         until ${quoted(check)} 2> /dev/null; do
           kill -0 $server || { cat /tmp/log; exit 1; }
           sleep 0.2
         done
         id -un
         touch ${workdir}/file 2> /dev/null || echo read-only
         assize token create agent:ada > /tmp/token && echo token
         kill -TERM $server; wait $server; echo ended with $?
         ls ${volume}`,
      ],
    );
    expect({ stdout, stderr }).toEqual({
      stdout: [
        ...['node', 'read-only', 'token', 'ended with 0'],
        ...['assize.db', 'assize.db.anchors.json', 'assize.db.root.key', ''],
      ].join('\n'),
      stderr: '',
    });
  },
);
