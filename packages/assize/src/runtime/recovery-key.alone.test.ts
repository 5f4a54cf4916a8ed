import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { generateKeys } from '#canon';
import { Assize, type AssizeOptions } from '#runtime';
import { openSqlite } from '#stores';
import { OutsideSink, Steps, tally, toolFor } from '../../../../tests/support/tools/effect-sink.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-recovery-key-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

test('a runtime with tools and no lasting recovery key warns, once', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const store = await openSqlite({ path: join(folder, 'store.db') });
  const outside = { sink: new OutsideSink('keyed'), steps: new Steps() };
  const tools = [toolFor(outside, 'reversible', 'externalised')];
  const { publicKey, ...signer } = generateKeys();
  const runtime = (options: Partial<AssizeOptions>): Assize =>
    new Assize({ store, domains: [tally], anchors: [publicKey], tools, ...options });
  runtime({ tools: [] });
  runtime({ store: new MemoryStore() });
  runtime({ signer: { publicKey, ...signer } });
  runtime({ effects: { recoveryKey: 'a secret of thirty-two characters.' } });
  runtime({ effects: { onRecoveryFailed: () => undefined } });
  expect(warned).not.toHaveBeenCalled();
  for (let n = 0; n < 2; n++) runtime({ effects: { maxAttempts: 3 } });
  expect(warned).toHaveBeenCalledOnce();
  expect(warned).toHaveBeenCalledWith(expect.stringContaining('Set effects.recoveryKey'), {
    code: 'no_recovery_key',
  });
  await store.close();
});
