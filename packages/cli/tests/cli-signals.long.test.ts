import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startCommand } from '../../../tests/support/process/command.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-signals-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);

/** The commands that wait for a pipe, with the option or argument that names it. */
const WAITING: readonly (readonly string[])[] = [
  ['import', 'pipe'],
  ['writ', 'show', 'pipe'],
  ['keys', 'show', 'pipe'],
];

/** Starts the command, and ends it by the signal once it waits. */
async function endedBy(signal: NodeJS.Signals, args: readonly string[]) {
  const child = startCommand(folder, 'sqlite:./s.db', ...args);
  await sleep(3_000);
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code, by] = await Promise.race([ended, sleep(20_000).then(() => ['no end'])]);
  if (code === 'no end') child.kill('SIGKILL');
  // A shell reports the same number for either end.
  return code ?? 128 + constants.signals[by as NodeJS.Signals];
}

describe.skipIf(process.platform === 'win32')('a command that waits for a pipe', () => {
  beforeEach(async () => {
    await (await openStore(`sqlite:${at('s.db')}`)).close();
    execFileSync('mkfifo', [at('pipe')]);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('import from a pipe whose writer is silent ends by %s', async (signal, code) => {
    rmSync(at('s.db'));
    // Opened for both, so the command finds a writer.
    openSync(at('pipe'), 'r+');
    expect(await endedBy(signal, ['import', 'pipe'])).toBe(code);
    expect(existsSync(at('s.db'))).toBe(false);
  });

  test.each(WAITING)('%s %s ends by SIGTERM while the pipe has no writer', async (...args) => {
    expect(await endedBy('SIGTERM', args)).toBe(143);
  });
});

test.skipIf(process.platform === 'win32')(
  'under any umask no other user can read a store or write its anchors',
  async () => {
    const script = `umask 0; for each in "demo --store sqlite:./s.db" "export --store sqlite:./s.db --out x.jsonl" \\
    "backup b.db --store sqlite:./s.db" "keys new log.example --store sqlite:./s.db" "checkpoint --store sqlite:./s.db" \\
    "import x.jsonl --store sqlite:./i.db"; do ${process.execPath} ${join(import.meta.dirname, '../src/main.ts')} $each || exit; done`;
    const child = spawn('sh', ['-c', script], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = await once(child, 'exit');
    const modes = Object.fromEntries(
      readdirSync(folder).map((name) => [name, (statSync(at(name)).mode & 0o777).toString(8)]),
    );
    expect([code, modes]).toEqual([
      0,
      {
        'b.db': '600',
        'i.db': '600',
        'i.db.root.key': '600',
        's.db': '600',
        's.db-effects': '644',
        's.db-effects-queue': '644',
        's.db.anchors.json': '644',
        's.db.checkpoint': '600',
        's.db.key': '600',
        's.db.vkey': '644',
        'x.jsonl': '600',
      },
    ]);
  },
);
