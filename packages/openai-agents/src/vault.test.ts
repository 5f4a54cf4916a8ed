/** The vault: a paused run is taken back once, as it was put. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunContext } from '@openai/agents';
import { expect, onTestFinished, test } from 'vitest';
import { decide, deskOf, pay } from '../../../tests/support/openai-agents-runs.ts';
import { type RunStateVault, runStateVault } from './index.ts';

function vaultIn(): { readonly vault: RunStateVault; readonly folder: string } {
  const parent = mkdtempSync(join(tmpdir(), 'assize-vault-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, 'states');
  return { vault: runStateVault({ folder }), folder };
}

test('a state is taken back once, and the run goes on', async () => {
  const it = await deskOf();
  const { vault, folder } = vaultIn();
  const { state, held } = await it.start([pay('c1', 'bob', 500)]);
  const token = await vault.put(state);
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(folder, token)).mode & 0o77).toBe(0);
  await decide(it, held[0]!, 'approve');
  const taken = await vault.take(it.agent, token);
  expect((await it.resume(taken as never)).told).toEqual([['c1', 'paid bob']]);
  await expect(vault.take(it.agent, token)).rejects.toMatchObject({
    code: 'wrong_state',
    message: expect.stringContaining('taken already'),
  });
  expect(readdirSync(folder)).toEqual([`${token}.taken`]);
});

test('of several takers, one gets the state', async () => {
  const it = await deskOf();
  const { vault, folder } = vaultIn();
  const token = await vault.put((await it.start([pay('c1', 'bob', 500)])).state);
  const others = [
    vault,
    runStateVault({ folder }),
    runStateVault({ folder }),
    runStateVault({ folder }),
  ];
  const ended = await Promise.allSettled(others.map((other) => other.take(it.agent, token)));
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const end of ended)
    if (end.status === 'rejected')
      expect(end.reason).toMatchObject({
        code: 'wrong_state',
        message: expect.stringContaining('The state was taken already, and a state is'),
      });
});

test('a state that returns to the folder is not taken again', async () => {
  const it = await deskOf();
  const { vault, folder } = vaultIn();
  const token = await vault.put((await it.start([pay('c1', 'bob', 500)])).state);
  const kept = readFileSync(join(folder, token));
  await vault.take(it.agent, token);
  writeFileSync(join(folder, token), kept);
  await expect(vault.take(it.agent, token)).rejects.toMatchObject({
    code: 'wrong_state',
    message: expect.stringContaining('The state was taken already, and a state is'),
  });
});

test('a changed state is refused, and an unknown one', async () => {
  const it = await deskOf();
  const { vault, folder } = vaultIn();
  const { state } = await it.start([pay('c1', 'bob', 500)]);
  const token = await vault.put(state);
  const path = join(folder, token);
  writeFileSync(path, readFileSync(path, 'utf8').replace('500', '900'));
  await expect(vault.take(it.agent, token)).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringContaining('is not as it was put, so it is not resumed'),
  });
  for (const unknown of ['0'.repeat(64), '', '../secret', `${token}.taken`, state.toString()])
    await expect(vault.take(it.agent, unknown)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('The vault has no state for this token'),
    });
});

test('the same state that is put twice has two tokens', async () => {
  const it = await deskOf();
  const { vault } = vaultIn();
  const { state } = await it.start([pay('c1', 'bob', 500)]);
  const [one, two] = [await vault.put(state), await vault.put(state)];
  expect(one).not.toBe(two);
  await vault.take(it.agent, one);
  const again = await it.resume((await vault.take(it.agent, two)) as never);
  expect(again.paused).toEqual(['c1']);
});

test('a state is taken with a context of the program', async () => {
  const it = await deskOf({ approver: (_answer, _held, { context }) => context.user });
  const { vault } = vaultIn();
  const token = await vault.put((await it.start([pay('c1', 'bob', 500)])).state);
  const context = new RunContext({ runId: 'r1', user: 'manager:grace' });
  const taken = await vault.take(it.agent, token, { context });
  taken.approve(taken.getInterruptions()[0]!);
  expect((await it.resume(taken as never)).told).toEqual([['c1', 'paid bob']]);
});
