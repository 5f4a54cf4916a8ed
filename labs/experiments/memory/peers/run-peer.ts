import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AnomalyError } from '../errors.ts';
import { endOf, nextFrom } from './child.ts';
import { beside } from './loading.ts';
import { PEERS, type Peer, type PeerAnswer, type PeerTask } from './peer.ts';

/** A peer takes some seconds. */
const TIMEOUT_MS = 60_000;

/**
 * Runs a peer in its own process and folder. Both are ended and removed in every case. A failure of
 * the peer is an answer.
 *
 * @throws AnomalyError `no_peers`
 */
export async function runPeer(folder: string, peer: Peer): Promise<PeerAnswer> {
  const scratch = mkdtempSync(join(tmpdir(), 'assize-peer-'));
  // The environment has no setting of the user, so no key of a user is ever sent. Reports to the
  // peer's maker are disabled.
  const env = { HOME: scratch, MEM0_DIR: scratch, MEM0_TELEMETRY: 'false' };
  const child = fork(fileURLToPath(beside('peer-process')), {
    cwd: scratch,
    env,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = endOf(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  try {
    const answered = nextFrom<PeerAnswer>(child);
    const failed = ended.then((end): PeerAnswer => ({ failed: `its process ended with ${end}` }));
    child.send({ peer: peer.name, folder: resolve(folder), scratch } satisfies PeerTask);
    return await Promise.race([answered, failed]);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    await ended;
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** That each of them is installed there, in its version. @throws AnomalyError `no_peers` */
export function checkPeers(folder: string): void {
  for (const { package: name, path, version } of PEERS) {
    const found = versionAt(join(resolve(folder), 'node_modules', path, 'package.json'));
    if (found === version) continue;
    throw new AnomalyError(
      'no_peers',
      `--peers ${folder} has ${found === undefined ? 'no' : `${found} and not`} ${name} ${version}. Install the pinned version: npm ci --prefix peers.`,
    );
  }
}

function versionAt(manifest: string): string | undefined {
  try {
    return JSON.parse(readFileSync(manifest, 'utf8')).version;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
}
