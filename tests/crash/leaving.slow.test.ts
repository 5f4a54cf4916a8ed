import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { cases } from '../support/cases.ts';
import { runtimeOver } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';

// A process may end as soon as it knows that its effects are settled. The sink is blind, so an
// outcome that is not durable by then is in doubt afterwards.

const PROCESS = fileURLToPath(new URL('leaving-process.ts', import.meta.url));
const ROUNDS = cases(8);
const ORDERS = [1, 7];

test.each(['exit', 'kill', 'close'])('no settled effect is in doubt after: %s', async (way) => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-leaving-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const url = `sqlite:${join(folder, 'store.db')}`;
  const sink = join(folder, 'sink');
  const first = await openStore(url);
  await runtimeOver(first, [tally]).create(tally, { trajectoryId: 't' });
  await first.close();
  let lines = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const orders = ORDERS[round % ORDERS.length]!;
    lines += orders;
    const { signal, status, stderr } = spawnSync(process.execPath, [
      PROCESS,
      url,
      sink,
      way,
      `${orders}`,
    ]);
    expect([signal, status, `${stderr}`]).toEqual(
      way === 'kill' ? ['SIGKILL', null, ''] : [null, 0, ''],
    );
    const store = await openStore(url);
    const assize = runtimeOver(store, [], { tools: [] });
    expect(await assize.recoverEffects()).toEqual([]);
    await assize.close();
    expect(await store.openEffects()).toEqual([]);
    await store.close();
    expect(readFileSync(sink, 'utf8').split('\n')).toHaveLength(lines + 1);
  }
});
