/** `assize doctor` and `assize completion`. */
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';

const here = inTillFolder();
const { assize, json } = here;

test('doctor finds nothing wrong in a new folder, and says what comes next', async () => {
  const { code, out } = await assize('doctor');
  expect(code).toBe(0);
  expect(out).toContain('Write one with assize init.');
  expect(out).toMatch(/^remark store: sqlite:\.\/assize\.db does not exist yet$/m);
});

test('doctor finds a key that others can read, and a key that grants nothing', async () => {
  const store = ['--store', 'sqlite:./d.db'];
  expect((await assize('create', 'b', '--domain', 'budget', ...store)).code).toBe(0);
  const keys = async (code: number): Promise<any> =>
    (await json(code, 'doctor', ...store)).findings.find(({ check }: any) => check === 'keys');
  expect(await keys(0)).toMatchObject({ is: 'ok' });
  chmodSync(join(here.folder, 'd.db.root.key'), 0o644);
  expect(await keys(1)).toMatchObject({ found: expect.stringContaining('its mode is 644') });
  chmodSync(join(here.folder, 'd.db.root.key'), 0o600);
  writeFileSync(join(here.folder, 'd.db.anchors.json'), JSON.stringify(['0'.repeat(64)]));
  expect(await keys(1)).toMatchObject({ is: 'fault' });
});

test('doctor finds a port that another program has', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  writeFileSync(join(here.folder, 'assize.config.json'), JSON.stringify({ server: { port } }));
  const { out } = await assize('doctor');
  expect(out).toContain(`remark port: 127.0.0.1:${port} cannot be listened on`);
  server.close();
});

test.each([
  ['assize ha', 'halt'],
  ['assize effects calls se', 'settle'],
  ['assize halt --en', '--end --entry-key'],
  ['assize hoo', ''],
])('bash completes %j', async (line, words) => {
  const { out } = await assize('completion', 'bash');
  const typed = line.split(' ');
  const { stdout, stderr } = spawnSync('bash', {
    input: `${out}\nCOMP_WORDS=(${line})\nCOMP_CWORD=${typed.length - 1}\n_assize\necho "\${COMPREPLY[*]}"`,
    encoding: 'utf8',
  });
  expect({ stdout, stderr }).toEqual({ stdout: `${words}\n`, stderr: '' });
});
