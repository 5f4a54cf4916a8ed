/** `assize agents`: a stop, a pause and the way back, by the commands of a local store. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAssize } from 'assize/internal/config';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';

test('the commands stop, pause, list and bring back an agent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-cli-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { budget } = await import('@assize/cli/unstable/domains/budget');
  const world = await createAssize({
    store: `sqlite:${join(folder, 'a.db')}`,
    domain: budget as never,
  });
  await world.close();
  const assize = (...args: string[]) => runCommand(folder, 'sqlite:./a.db', ...args);
  const because = ['--reason', 'it pays twice'];
  expect(await assize('agents', 'pause', 'agent:scout', ...because)).toMatchObject({
    code: 0,
    err: '',
  });
  expect((await assize('agents', 'resume', 'agent:scout', ...because)).code).toBe(0);
  expect((await assize('agents', 'stop', 'agent:scout', ...because)).code).toBe(0);
  expect(JSON.parse((await assize('agents', 'list', '--json')).out).agents).toMatchObject([
    { name: 'agent:scout', is: 'stopped', by: 'operator', reason: 'it pays twice' },
  ]);
  const asked = await assize('agents', 'resume', 'agent:scout', ...because, '--json');
  expect(asked.code).toBe(1);
  const { entry_id } = JSON.parse(asked.out);
  const principals = { 'human:ida': { kinds: ['counselor'] }, 'human:eve': { kinds: ['auditor'] } };
  writeFileSync(
    join(folder, 'assize.config.json'),
    JSON.stringify({ store: 'sqlite:./a.db', principals }),
  );
  for (const name of ['human:eve', 'human:nobody'])
    expect(await assize('approve', entry_id, '--as', name)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${name} is not a counselor of the config`),
    });
  expect((await assize('approve', entry_id, '--as', 'human:ida')).code).toBe(0);
  expect(JSON.parse((await assize('agents', 'list', '--json')).out).agents).toEqual([]);
});

test('no command approves a proposal of a paused agent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-cli-agents-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { till } = await import('../../../tests/support/server/till.ts');
  const world = await createAssize({
    store: `sqlite:${join(folder, 'a.db')}`,
    domain: till as never,
    agent: 'agent:scout',
  });
  const ruling = await world.propose({
    ...{ action: 'pay', role: { name: 'clerk', params: { desk: 'a' } }, args: { amount: 500 } },
  } as never);
  await world.close();
  expect(ruling).toMatchObject({ ruling: 'escalated' });
  const { pending } = ruling as unknown as { pending: string };
  const assize = (...args: string[]) => runCommand(folder, 'sqlite:./a.db', ...args);
  const own = ['--domain', join(import.meta.dirname, '../../../tests/support/server/till.ts')];
  expect((await assize('agents', 'pause', 'agent:scout', '--reason', 'it pays twice')).code).toBe(
    0,
  );
  expect(await assize('approve', pending, '--as', 'boss:ada', ...own)).toMatchObject({
    err: expect.stringContaining('agent:scout is paused'),
  });
  expect((await assize('agents', 'resume', 'agent:scout', '--reason', 'mended')).code).toBe(0);
  expect(await assize('approve', pending, '--as', 'boss:ada', ...own)).toMatchObject({
    code: 0,
    err: '',
  });
});
