import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { lastCheckpoint } from '@assize/audit/internal/commands/log-files.ts';
import {
  described,
  EXIT,
  green,
  inSession,
  installedVersion,
  line,
  project,
  readAnchors,
  red,
  type Session,
  type SharedOptions,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { findRootKey } from 'assize/internal/config';
import type { TrajectoryInfo } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { counted, readable, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';

/** The result of one check, with the next step. `remark`: it works, and could be better. */
interface Finding {
  readonly check: 'versions' | 'config' | 'keys' | 'store' | 'clock' | 'checkpoint' | 'port';
  readonly is: 'ok' | 'remark' | 'fault';
  readonly found: string;
  readonly advice?: string;
}

const PAINT = { ok: green, remark: yellow, fault: red } as const;

export function doctor(program: Command): void {
  withSharedOptions(
    program
      .command('doctor')
      .description('check versions, config, keys, store, clock and port, and say what to do'),
  )
    .addHelpText('after', 'It changes nothing. Negative: a check found a fault.')
    .action(
      inSession(async (session, _options: SharedOptions) => {
        const findings = [
          versions(),
          config(),
          keys(session.storeUrl),
          ...(await ofStore(session)),
          await port(),
        ];
        const { json, out } = session;
        if (json) out.document({ findings });
        else
          for (const { check, is, found, advice } of findings) {
            out.line(line`${PAINT[is](is)} ${check}: ${found}`);
            if (advice !== undefined) out.line(line`  ${advice}`);
          }
        return findings.some(({ is }) => is === 'fault') ? EXIT.negative : EXIT.ok;
      }),
    );
}

/** The command does not start on a Node that is too old. */
function versions(): Finding {
  const found = `assize ${installedVersion()}, Node ${process.versions.node}`;
  return { check: 'versions', is: 'ok', found };
}

/** A config that cannot be read has ended the command with its error. */
function config(): Finding {
  const file = project()?.file;
  if (file !== undefined) return { check: 'config', is: 'ok', found: file };
  const found = 'there is none in this folder or above it';
  return { check: 'config', is: 'remark', found, advice: 'Write one with assize init.' };
}

function keys(storeUrl: string): Finding {
  const check = 'keys';
  try {
    const root = findRootKey(storeUrl);
    if (root === undefined) {
      const advice = 'assize serve makes one. For a server, set ASSIZE_ROOT_KEY_FILE.';
      return { check, is: 'remark', found: 'the store has no root key', advice };
    }
    const { file, publicKey } = root;
    const place = file ?? 'the environment';
    if (readAnchors(storeUrl).includes(publicKey))
      return { check, is: 'ok', found: `the root key of ${place} is an anchor of the store` };
    const found = `the root key of ${place} is not an anchor of the store, so it grants nothing`;
    return { check, is: 'fault', found, advice: 'Name the right key in ASSIZE_ROOT_KEY_FILE.' };
  } catch (error) {
    return { check, is: 'fault', found: described(error).message };
  }
}

async function ofStore(session: Session): Promise<readonly Finding[]> {
  const { storeUrl } = session;
  if (storeUrl.startsWith('sqlite:') && !existsSync(storeUrl.slice('sqlite:'.length))) {
    const advice = 'assize serve and assize create make it. Pass another one with --store.';
    return [{ check: 'store', is: 'remark', found: `${storeUrl} does not exist yet`, advice }];
  }
  try {
    return await session.withStore('readonly', async (store) => {
      const trajectories = await store.trajectories();
      return [
        await sealed(store, trajectories),
        await clock(store, trajectories),
        await checkpoint(storeUrl),
      ];
    });
  } catch (error) {
    return [{ check: 'store', is: 'fault', found: described(error).message }];
  }
}

async function sealed(store: Store, trajectories: readonly TrajectoryInfo[]): Promise<Finding> {
  const entries = trajectories.reduce((sum, one) => sum + one.entries, 0);
  const found = `${counted(entries, 'entry')} in ${counted(trajectories.length, 'trajectory')}`;
  if (entries === 0 || (await store.sealState()) !== 'absent')
    return { check: 'store', is: 'ok', found };
  const advice = 'Stop its processes, and run assize keys seal.';
  return { check: 'store', is: 'remark', found: `${found}, not sealed`, advice };
}

/** The time of an entry never goes back, so a wrong clock shows beside the last one. */
async function clock(store: Store, trajectories: readonly TrajectoryInfo[]): Promise<Finding> {
  const now = systemClock.now();
  let last = '';
  for (const { trajectory_id } of trajectories) {
    const head = await store.head(trajectory_id);
    const at = (head && readable(head)?.payload.at) ?? '';
    if (at > last) last = at;
  }
  if (last <= now) return { check: 'clock', is: 'ok', found: shortTime(now) };
  const found = `it shows ${shortTime(now)}, before the last entry of ${shortTime(last)}`;
  const advice = 'Set the clock, and keep it right by NTP. Entries do not go back in time.';
  return { check: 'clock', is: 'fault', found, advice };
}

async function checkpoint(storeUrl: string): Promise<Finding> {
  const check = 'checkpoint';
  if ((await lastCheckpoint(storeUrl)) !== undefined)
    return { check, is: 'ok', found: 'there is one beside the store; keep a copy elsewhere' };
  const advice = 'Run assize checkpoint, and keep a copy elsewhere.';
  return { check, is: 'remark', found: 'there is none beside the store', advice };
}

async function port(): Promise<Finding> {
  const { port = 4517, host = '127.0.0.1' } = project()?.server ?? {};
  const place = `${host}:${port}`;
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(port, host, () => resolve(true));
  });
  probe.close();
  if (isFree) return { check: 'port', is: 'ok', found: `${place} is free` };
  const health = await fetch(`http://${place}/healthz`, { signal: AbortSignal.timeout(2_000) })
    .then(({ ok }) => ok)
    .catch(() => false);
  if (health) return { check: 'port', is: 'ok', found: `a server answers at ${place}` };
  const advice = 'Stop the other program, or pass --port to assize serve.';
  return { check: 'port', is: 'remark', found: `${place} cannot be listened on`, advice };
}
