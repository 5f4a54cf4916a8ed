/** `assize policy allow`: the rule that answers a question from now on. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'assize/internal/stores';
import { expect, onTestFinished, test } from 'vitest';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { runCommand } from '../../../tests/support/process/command.ts';
import { gateway, readRules } from '../src/gateway/index.ts';
import { CompiledRules } from '../src/gateway/judge/compiled-rules.ts';

const FILE = `# mine
id: shop
rules:
  - { id: remove, ask: shell/rm } # always
`;

const program = (tool: string, ...argv: string[]) => ({
  server: 'shell',
  tool,
  args: { argv, paths: ['/repo'], cwd: '/repo' },
});

test('the command adds the rule for a question, and says why it cannot', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-allow-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'assize.yaml');
  writeFileSync(file, FILE);
  const config = { store: 'sqlite:./calls.db', policy: './assize.yaml' };
  writeFileSync(join(folder, 'assize.config.json'), JSON.stringify(config));
  const { rules } = readRules(FILE);
  const store = await openStore(`sqlite:${join(folder, 'calls.db')}`);
  const domain = gateway({ rules });
  const assize = runtimeOver(store, [domain]);
  const writ = writFor('agent:ada');
  const trajectory = await assize.create(domain, { trajectoryId: 'calls', writs: [writ] });
  const asked = async (id: string, part: object): Promise<string> => {
    const call = { id, server: 'claude-code', tool: 'Bash', args: { command: id } };
    const ruling = await trajectory.propose({
      ...{ action: 'call', role: { name: 'agent', params: { agent: 'ada' } } as never, writ },
      args: { ...call, parts: [part], once: true } as never,
    });
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    return ruling.pending;
  };
  const [npm, rm] = [
    await asked('a', program('npm', 'test')),
    await asked('b', program('rm', 'x')),
  ];
  await assize.close();
  await store.close();
  const allow = (...args: string[]) => runCommand(folder, undefined, 'policy', 'allow', ...args);

  expect(await allow(npm)).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect(readFileSync(file, 'utf8')).toBe(FILE);
  const { code, out } = await allow(npm.slice(0, 12), '--yes');
  expect({ code, out }).toMatchObject({
    code: 0,
    out: expect.stringContaining('+   - { id: always-'),
  });
  const after = readFileSync(file, 'utf8');
  expect(after.startsWith(FILE)).toBe(true);
  expect(after.slice(FILE.length)).toMatch(
    /^ {2}- \{ id: always-\w{12}, allow: shell\/npm, path: \/repo, where: \[\{ path: \/argv, is: \[test\] \}\] \}\n$/,
  );
  const judged = (part: ReturnType<typeof program>) =>
    new CompiledRules(readRules(after).rules).judge({
      ...{ agent: 'ada', tool: 'claude-code/Bash', args: {} },
      parts: [{ tool: `shell/${part.tool}`, args: part.args }],
    });
  expect(judged(program('npm', 'test')).asks).toEqual([]);
  expect(judged(program('npm', 'publish')).asks).toHaveLength(1);

  expect(await allow(npm, '--yes')).toMatchObject({
    code: 2,
    err: expect.stringContaining('already'),
  });
  expect(await allow(rm, '--yes')).toMatchObject({
    code: 2,
    err: expect.stringContaining('[remove] the rule asks'),
  });
  expect(await allow('calls@0', '--yes')).toMatchObject({
    err: expect.stringContaining('not a question'),
  });
  expect(readFileSync(file, 'utf8')).toBe(after);
});
